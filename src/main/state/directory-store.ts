// A store in a directory, for processes that share a file system. A version is a file of its own: whoever makes the next one
// first has won, and no lock is left behind by who dies. Knows no sessions.

import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { systemCode } from '../removal-log/removal-log-errors.js';
import { completeStoreOptions, NO_STATE } from './state-store.js';
import type {
  SaveOutcome,
  StateStore,
  StoredState,
  StoreLimits,
  StoreOptions,
} from './state-store.js';

/** `v00000007`: a state by its version. */
const VERSION = /^v(\d{8,15})$/;
/** What stands in the directory for a key. */
const FOLDER = /^[0-9a-f]{64}$/;
const SWEEP_MS = 3_600_000;
/** A draft that is so old is of somebody who died. */
const DRAFT_MS = 3_600_000;
/** How often a folder may go while a file is made in it. */
const MAX_TRIES = 10;

/**
 * Makes a store of a directory, which is made with the first save (0700; files 0600). A state is on the device before a save
 * resolves, and there is none in half.
 */
export function directoryStore(path: string, options: StoreOptions = {}): StateStore {
  if (typeof path !== 'string' || path === '') {
    throw new TypeError('Expected the path of a directory.');
  }
  return new DirectoryStore(resolve(path), options);
}

/** The store that an option names: a path is that of a directory. */
export function resolveStore(store: StateStore | string | undefined): StateStore | undefined {
  return typeof store === 'string' ? directoryStore(store) : store;
}

class DirectoryStore implements StateStore {
  readonly limits: StoreLimits;
  readonly #root: string;
  readonly #ttlMs: number;
  #sweptAtMs = 0;

  constructor(root: string, options: StoreOptions) {
    const { ttlMs, ...limits } = completeStoreOptions(options);
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
      try {
        if (await this.#isExpired(file)) return null;
        const state = await readFile(file, 'utf8');
        return state === NO_STATE ? null : { state, version };
      } catch (error) {
        // Overtaken between the look and the reading: there is a newer one.
        if (systemCode(error) !== 'ENOENT') throw error;
      }
    }
  }

  async save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome> {
    const folder = this.#folderOf(key);
    const former = await versionsIn(folder);
    const current = former[0] ?? 0;
    const isThere = current > 0 && !(await this.#isGone(join(folder, nameOf(current)), true));
    if ((isThere ? current : null) !== expectedVersion) return 'conflict';
    const version = current + 1;
    const isMade = await makeWhole(folder, nameOf(version), state);
    if (!isMade) return 'conflict';
    // Others may have gone on and cleaned up behind them since the look.
    if ((await versionsIn(folder))[0] !== version) {
      await unlinkIfThere(join(folder, nameOf(version)));
      return 'conflict';
    }
    // Who died before he came to this has left more than one.
    for (const older of former) await unlinkIfThere(join(folder, nameOf(older)));
    this.#sweepSometimes();
    return version;
  }

  /** The next version is an empty one: a folder that is gone would have its versions begin again. */
  async delete(key: string): Promise<void> {
    const folder = this.#folderOf(key);
    for (let isMade = false; !isMade;) {
      const former = await versionsIn(folder);
      const [current] = former;
      isMade = current === undefined || (await makeWhole(folder, nameOf(current + 1), NO_STATE));
      if (isMade) for (const older of former) await unlinkIfThere(join(folder, nameOf(older)));
    }
    await rm(join(folder, 'originals'), { recursive: true, force: true, maxRetries: 3 });
  }

  async put(key: string, name: string, original: string): Promise<void> {
    const folder = join(this.#folderOf(key), 'originals');
    await makeWhole(folder, hashOf(name), original);
  }

  async get(key: string, name: string): Promise<string | null> {
    try {
      return await readFile(join(this.#folderOf(key), 'originals', hashOf(name)), 'utf8');
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** A key may hold anything: the name of its folder is a hash. */
  #folderOf(key: string): string {
    return join(this.#root, hashOf(key));
  }

  /** @param isForgotten whether one without a state in it is gone, too */
  async #isGone(file: string, isForgotten: boolean = false): Promise<boolean> {
    try {
      return (isForgotten && (await stat(file)).size === 0) || (await this.#isExpired(file));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return true;
      throw error;
    }
  }

  async #isExpired(file: string): Promise<boolean> {
    return Date.now() - (await stat(file)).mtimeMs >= this.#ttlMs;
  }

  /** What nobody asks for any more goes some day; that it does not is no failure of anybody's turn. */
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
      // File by file: who saves a new state just now keeps it, and its folder.
      if (version !== undefined) await unlinkIfThere(newest);
      if ((await versionsIn(path)).length > 0) continue;
      await rm(join(path, 'originals'), { recursive: true, force: true });
      await rmdir(path).catch(() => undefined);
    }
  }
}

/** The versions in a folder, the newest first. */
async function versionsIn(folder: string): Promise<readonly number[]> {
  const versions = (await namesIn(folder)).map((name) => Number(VERSION.exec(name)?.[1] ?? 0));
  return versions.filter((version) => version > 0).sort((a, b) => b - a);
}

/** The names in a folder; none where it is not there. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function removeDrafts(folder: string): Promise<void> {
  for (const place of [folder, join(folder, 'originals')]) {
    for (const name of await namesIn(place)) {
      const draft = join(place, name);
      if (name.startsWith('.') && Date.now() - (await stat(draft)).mtimeMs >= DRAFT_MS) {
        await unlinkIfThere(draft);
      }
    }
  }
}

function nameOf(version: number): string {
  return `v${String(version).padStart(8, '0')}`;
}

/** Makes a file with all of a text in it, unless there is one of that name: returns whether it did. */
async function makeWhole(folder: string, name: string, text: string): Promise<boolean> {
  for (let triesLeft = MAX_TRIES; ; triesLeft -= 1) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return await makeIn(folder, name, text);
    } catch (error) {
      // The folder was empty, and somebody has taken it away.
      if (systemCode(error) !== 'ENOENT' || triesLeft === 0) throw error;
    }
  }
}

async function makeIn(folder: string, name: string, text: string): Promise<boolean> {
  const draft = join(folder, `.${randomUUID()}`);
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, join(folder, name));
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlinkIfThere(draft);
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
