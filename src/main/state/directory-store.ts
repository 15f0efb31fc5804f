// A store in a directory, for processes that share a file system. Each version is a file of its own: the process that creates the
// next one first wins, and a crash leaves no lock behind. Knows no sessions.

import { hash, randomUUID } from 'node:crypto';
import {
  constants,
  copyFile,
  link,
  open,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ifThere, makeFolder, syncFolder } from '../host/folders.js';
import { systemCode } from '../../shared/errors.js';
import { completeStoreOptions, NO_STATE } from './state-store.js';
import type {
  SaveOutcome,
  StateStore,
  StoredState,
  StoreLimits,
  StoreOptions,
} from './state-store.js';

/** A state's version, such as `v00000007`. */
const VERSION = /^v(\d{8,15})$/;
/** The folder of a key. */
const FOLDER = /^[0-9a-f]{64}$/;
const SWEEP_MS = 3_600_000;
/** Drafts older than this were left behind by a process that died. */
const DRAFT_MS = 3_600_000;
/** Maximum retries if the folder is removed while a file is created in it. */
const MAX_TRIES = 10;

/**
 * Makes a store in a directory, which the first save creates (mode 0700; files 0600). A save resolves once the state is on
 * disk, and is atomic.
 */
export function directoryStore(path: string, options: StoreOptions = {}): StateStore {
  if (typeof path !== 'string' || path === '') {
    throw new TypeError('Expected the path of a directory.');
  }
  // A URL would be taken for the name of a directory in the working directory.
  if (/^[a-z][\w+.-]+:\/\//i.test(path)) {
    throw new TypeError(
      'Expected the path of a directory, got a URL. A database is redis://… or postgres://… on a command line, else the store that ctxfold/redis or ctxfold/postgres makes.',
    );
  }
  return new DirectoryStore(resolve(path), options);
}

/** Opens the store of an option: a string is the path of a directory. */
export function resolveStore(store: StateStore | string | undefined): StateStore | undefined {
  return typeof store === 'string' ? directoryStore(store) : store;
}

class DirectoryStore implements StateStore {
  readonly limits: StoreLimits;
  readonly #root: string;
  readonly #ttlMs: number;
  #sweptAtMs = 0;

  constructor(root: string, options: StoreOptions) {
    const { ttlMs, limits } = completeStoreOptions(options);
    this.#root = root;
    this.#ttlMs = ttlMs;
    this.limits = limits;
  }

  async load(key: string): Promise<StoredState | null> {
    const folder = this.#folderOf(key);
    for (;;) {
      const [version] = await versionsIn(folder);
      if (version === undefined) return null;
      const file = join(folder, nameOf(version));
      const status = await ifThere(stat(file));
      if (status !== undefined && this.#isOld(status)) return null;
      const state = status && (await ifThere(readFile(file, 'utf8')));
      // If the file is gone, a concurrent save has removed it: read the newer version.
      if (state !== undefined) return state === NO_STATE ? null : { state, version };
    }
  }

  async save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome> {
    const folder = this.#folderOf(key);
    const former = await versionsIn(folder);
    const current = former[0] ?? 0;
    const isThere = current > 0 && !(await this.#isGone(join(folder, nameOf(current)), true));
    if ((isThere ? current : null) !== expectedVersion) return 'conflict';
    const version = current + 1;
    const isMade = await createFile(folder, nameOf(version), state);
    if (!isMade) return 'conflict';
    // Race: others may have saved newer versions and removed this one's predecessor since the check.
    if ((await versionsIn(folder))[0] !== version) {
      await removeFile(join(folder, nameOf(version)));
      return 'conflict';
    }
    // There is more than one former version if a process died before it removed them.
    for (const older of former) await removeFile(join(folder, nameOf(older)));
    this.#sweepSometimes();
    return version;
  }

  /** Writes an empty version: removing the folder would restart the version numbers. */
  async delete(key: string): Promise<void> {
    const folder = this.#folderOf(key);
    for (let isMade = false; !isMade;) {
      const former = await versionsIn(folder);
      const [current] = former;
      isMade = current === undefined || (await createFile(folder, nameOf(current + 1), NO_STATE));
      if (isMade) for (const older of former) await removeFile(join(folder, nameOf(older)));
    }
    await rm(join(folder, 'originals'), { recursive: true, force: true, maxRetries: 3 });
    // Succeeds only if there never was a state.
    await rmdir(folder).catch(() => undefined);
  }

  async put(key: string, name: string, original: string): Promise<void> {
    const folder = join(this.#folderOf(key), 'originals');
    await createFile(folder, hash('sha256', name), original);
  }

  async get(key: string, name: string): Promise<string | null> {
    const file = join(this.#folderOf(key), 'originals', hash('sha256', name));
    return (await ifThere(readFile(file, 'utf8'))) ?? null;
  }

  /** The folder of a key, named by its hash, since a key may contain any characters. */
  #folderOf(key: string): string {
    return join(this.#root, hash('sha256', key));
  }

  /** @param isForgotten whether a version without a state (an empty file) also counts as gone */
  async #isGone(file: string, isForgotten: boolean = false): Promise<boolean> {
    const status = await ifThere(stat(file));
    return status === undefined || (isForgotten && status.size === 0) || this.#isOld(status);
  }

  #isOld({ mtimeMs }: { readonly mtimeMs: number }): boolean {
    return Date.now() - mtimeMs >= this.#ttlMs;
  }

  /** Sweeps expired keys at most once per `SWEEP_MS`, in the background. Failures are ignored. */
  #sweepSometimes(): void {
    if (Date.now() - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = Date.now();
    this.#sweep().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const names = await readdir(this.#root);
    for (const name of names.filter((one) => FOLDER.test(one))) {
      const path = join(this.#root, name);
      const [version] = await versionsIn(path);
      const newest = version === undefined ? path : join(path, nameOf(version));
      const isGone = await this.#isGone(newest);
      await removeDrafts(path);
      if (!isGone) continue;
      // Remove file by file, never the whole folder, so that a concurrent save keeps its state and folder.
      if (version !== undefined) await removeFile(newest);
      if ((await versionsIn(path)).length > 0) continue;
      await rm(join(path, 'originals'), { recursive: true, force: true });
      await rmdir(path).catch(() => undefined);
    }
  }
}

/** The versions in a folder, newest first. */
async function versionsIn(folder: string): Promise<readonly number[]> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const versions = names.map((name) => Number(VERSION.exec(name)?.[1] ?? 0));
  return versions.filter((version) => version > 0).sort((a, b) => b - a);
}

async function removeDrafts(folder: string): Promise<void> {
  for (const place of [folder, join(folder, 'originals')]) {
    for (const name of (await ifThere(readdir(place))) ?? []) {
      if (!name.startsWith('.')) continue;
      const draft = join(place, name);
      // A draft that is gone has been completed since.
      const status = await ifThere(stat(draft));
      if (status !== undefined && Date.now() - status.mtimeMs >= DRAFT_MS) await removeFile(draft);
    }
  }
}

function nameOf(version: number): string {
  return `v${String(version).padStart(8, '0')}`;
}

/** Creates a file atomically with its full content. Returns `false` if the name exists. */
async function createFile(folder: string, name: string, text: string): Promise<boolean> {
  for (let triesLeft = MAX_TRIES; ; triesLeft -= 1) {
    try {
      await makeFolder(folder);
      return await createFileIn(folder, name, text);
    } catch (error) {
      // Another process removed the empty folder.
      if (systemCode(error) !== 'ENOENT' || triesLeft === 0) throw error;
    }
  }
}

async function createFileIn(folder: string, name: string, text: string): Promise<boolean> {
  const draft = join(folder, `.${randomUUID()}`);
  const handle = await open(draft, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(text);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await putInPlace(draft, join(folder, name));
    // Without this, a power failure could undo the new name but not the removal of older versions that follows.
    await syncFolder(folder);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await removeFile(draft);
  }
}

/** Error codes of file systems without hard links, such as memory cards and some network drives. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Gives a draft its final name, unless a file has that name. Without hard links the draft is copied, and a crash may leave a partial
 * file, which the checksum of a state detects.
 */
async function putInPlace(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (!NO_LINKS.has(systemCode(error))) throw error;
    await copyFile(draft, path, constants.COPYFILE_EXCL);
    const handle = await open(path, 'r+');
    await handle.datasync().finally(() => handle.close());
  }
}

async function removeFile(path: string): Promise<void> {
  await ifThere(unlink(path));
}
