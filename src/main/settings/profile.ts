// Profiles: settings saved in a JSON file, one object by key, `{ "compression.strategy": "one-shot", … }`. Validated like other
// settings when read and written.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { CtxfoldError } from '../../shared/errors.js';
import { assertString } from '../../shared/misuse.js';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { parseEphemeralSettings } from './parse-ephemeral-settings.js';
import { replaceFile } from './replace-file.js';
import { SETTINGS_REGISTRY } from './settings-registry.js';
import type { SettingSpec } from './settings-registry.js';

const MAX_PROFILE_BYTES = 65_536;

/**
 * Reads a profile, for the option `profile` of `createCompactor`.
 *
 * @throws CtxfoldError `PROFILE_UNREADABLE` if the file does not exist, is not a JSON object, or has an unknown or invalid
 *   setting; see `cause`.
 */
export async function loadProfile(path: string): Promise<EphemeralSettings> {
  assertString('path', path);
  try {
    return parseEphemeralSettings(JSON.parse(await readText(path)));
  } catch (cause) {
    throw new CtxfoldError(
      `Cannot use the profile ${path}. ${messageOf(cause)}`,
      'PROFILE_UNREADABLE',
      { cause },
    );
  }
}

/**
 * Writes the settings that belong in a profile, without defaults; `session.settings.all()` returns those of a session. Replaces
 * the file atomically.
 *
 * @throws as `parseEphemeralSettings` does; CtxfoldError `PROFILE_WRITE_FAILED` if the file cannot be written, for example
 *   because its folder does not exist; see `cause`.
 */
export async function saveProfile(path: string, settings: EphemeralSettings): Promise<void> {
  assertString('path', path);
  const persistent = selectPersistent(parseEphemeralSettings(settings));
  try {
    await replaceFile(path, `${JSON.stringify(persistent, null, 2)}\n`);
  } catch (cause) {
    throw new CtxfoldError(
      `Cannot save the profile ${path}. ${messageOf(cause)}`,
      'PROFILE_WRITE_FAILED',
      { cause },
    );
  }
}

/** Returns the settings that belong in a profile, in registry order. */
export function selectPersistent(
  settings: EphemeralSettings,
  registry: readonly SettingSpec[] = SETTINGS_REGISTRY,
): EphemeralSettings {
  const keys = registry.filter((spec) => spec.persistToProfile).map((spec) => spec.key);
  return Object.fromEntries(keys.map((key) => [key, settings[key]]));
}

async function readText(path: string): Promise<string> {
  // Non-blocking: opening a named pipe would wait for a writer, and block a thread of the pool meanwhile.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new TypeError('Expected a file, got something else.');
    if (status.size > MAX_PROFILE_BYTES) {
      throw new RangeError(
        `Expected at most ${MAX_PROFILE_BYTES} bytes of settings, got ${status.size}.`,
      );
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } finally {
    await file.close();
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
