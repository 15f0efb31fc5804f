// Derives the path of a session's removal log. Ids are untrusted: on any system, the path must neither
// leave the directory nor name a device.

import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Lower case only, because some file systems ignore case. */
const PLAIN_ID = /^[a-z0-9](?:[a-z0-9_-]{0,126}[a-z0-9])?$/;
/** Device names on Windows, where any extension is ignored. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * Returns the path of a session's removal log in a directory: `<id>.removals.jsonl`, or
 * `sha256.<hex>.removals.jsonl` if the id is not a safe name on every system. Different ids have
 * different paths, even if the file system ignores case.
 *
 * @throws TypeError if the id is not a string.
 */
export function removalLogPathIn(directory: string, sessionId: string): string {
  if (typeof sessionId !== 'string') {
    throw new TypeError(`Expected a session id that is a text, got ${typeof sessionId}.`);
  }
  const isPlain = PLAIN_ID.test(sessionId) && !DEVICE_NAME.test(sessionId);
  // A plain id has no dot, so it never equals a digest. UTF-16, so that lone surrogates stay different.
  const name = isPlain
    ? sessionId
    : `sha256.${createHash('sha256').update(sessionId, 'utf16le').digest('hex')}`;
  return join(directory, `${name}.removals.jsonl`);
}
