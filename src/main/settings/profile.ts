// A profile: settings in a JSON file, one object by key, `{ "compression.strategy": "one-shot", … }`.
// It is checked like any other settings on its way in and out.

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
 * @throws CtxfoldError `PROFILE_UNREADABLE` when there is no such file, when it is no JSON
 *   object, and for each setting in it that is unknown or wrong; `cause` has the reason.
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
 * Writes the settings that belong into a profile, and no defaults; `session.settings.all()` gives those
 * of a session. Replaces the file as a whole: until the new one is complete, the old one is there.
 *
 * @throws as `parseEphemeralSettings` does; CtxfoldError `PROFILE_WRITE_FAILED` when the
 *   file cannot be written, for example because its folder does not exist; `cause` has the reason.
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

/** Returns those of the settings that belong into a profile, in the order of the registry. */
export function selectPersistent(
  settings: EphemeralSettings,
  registry: readonly SettingSpec[] = SETTINGS_REGISTRY,
): EphemeralSettings {
  const keys = registry.filter((spec) => spec.persistToProfile).map((spec) => spec.key);
  return Object.fromEntries(keys.map((key) => [key, settings[key]]));
}

async function readText(path: string): Promise<string> {
  // To open a named pipe would otherwise wait for a writer, and hold a thread of the process as long.
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
