// The folder for per-user state.

import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Returns ctxfold's folder for per-user state: in `XDG_STATE_HOME`, on Windows in `LOCALAPPDATA`, else in `~/.local/state`. Does not
 * create it.
 *
 * @throws SystemError if the user has no home directory.
 */
export function userStateFolder(
  { XDG_STATE_HOME, LOCALAPPDATA }: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const given = XDG_STATE_HOME ?? (platform === 'win32' ? LOCALAPPDATA : undefined);
  const isGiven = given !== undefined && isAbsolute(given);
  return join(isGiven ? given : join(homedir(), '.local/state'), 'ctxfold');
}
