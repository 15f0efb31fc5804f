// Profiles: settings saved in a JSON file, one object by key, `{ "compression.strategy": "one-shot", … }`. Validated like other
// settings when read and written.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { assertString } from '../../shared/misuse.js';
import { syncFolder } from '../host/folders.js';
import type { EphemeralSettings } from './ephemeral-settings.js';
import { parseEphemeralSettings } from './parse-ephemeral-settings.js';
import { SETTINGS_REGISTRY } from './settings-registry.js';

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
      `Cannot use the profile ${path}. ${asError(cause).message}`,
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
  const given = parseEphemeralSettings(settings);
  // In the order of the registry.
  const persistent = SETTINGS_REGISTRY.filter((spec) => spec.persistToProfile).map(({ key }) => [
    key,
    given[key],
  ]);
  try {
    await replaceFile(path, `${JSON.stringify(Object.fromEntries(persistent), null, 2)}\n`);
  } catch (cause) {
    throw new CtxfoldError(
      `Cannot save the profile ${path}. ${asError(cause).message}`,
      'PROFILE_WRITE_FAILED',
      { cause },
    );
  }
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

/** Readable and writable by the owner only: settings reveal something about an agent. */
const FILE_MODE = 0o600;

/**
 * Replaces a file atomically: a reader, or a crash at any moment, finds the whole old or the whole new one. Accessible by its
 * owner only. Resolves once the file is on disk. A symbolic link is kept, and its target replaced. The folder must exist.
 *
 * @throws file system errors. The file is unchanged then, or it is the new one if only syncing its folder failed.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  // In the same folder: a rename is atomic only within a file system.
  const temporary = join(folder, `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(text);
      // Before the rename: otherwise a crash could leave the new name with an empty file.
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(folder);
}
