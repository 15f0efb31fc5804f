// The writer of a removal log: append-only, one writer per file, writes acknowledged once they are on disk.

import type { FileHandle } from 'node:fs/promises';
import { CtxfoldError } from '../../shared/errors.js';
import { abortable, withDeadline } from '../waiting/abortable.js';
import { assertFilePath, openAppendFile, prepareParentDirectory } from './append-file.js';
import { CallIndex } from './call-index.js';
import { acquireFileLock } from './file-lock.js';
import type { FileLock, LockTiming } from './file-lock.js';
import { writeRecords } from './write-records.js';
import type { RemovalDraft } from './removal-record.js';
import { RemovalReading } from './removal-reader.js';
import type { RemovalSource } from './removal-reader.js';
import { PLACES, readFound } from './restore.js';
import type { BlockPlace, RestoredResponse } from './restore.js';
import type { SessionScope } from './session-scope.js';
import { notInRemovalLog, readFailed, writeFailed, writerClosed } from './removal-log-errors.js';

export interface RemovalLogOptions {
  /** The clock, in milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
  /**
   * Opens the file. @default a regular file, created with mode 0600
   *
   * @internal because the package's declarations must not need Node's
   */
  readonly openFile?: (path: string) => Promise<FileHandle>;
  /** Timing of the file's lock. @default a heartbeat every 2 seconds, a lease of 6 seconds */
  readonly lockTiming?: LockTiming;
}

/** How long `close` waits for pending writes. */
const CLOSE_TIMEOUT_MS = 5_000;

/** A file that is open for writing, its lock, and the index of its first bytes, which `restore` extends. */
interface OpenLog {
  readonly path: string;
  readonly file: FileHandle;
  /** End of the part of the file that is known to be on disk. */
  endOffset: number;
  readonly now: () => number;
  readonly lock: FileLock;
  index: PartialIndex;
}

/** An index of the first bytes of a file. */
class PartialIndex extends CallIndex<BlockPlace, BlockPlace> {
  bytes: number = 0;

  constructor() {
    super(PLACES);
  }
}

/**
 * Appends records to a removal log.
 *
 * Appends are written one after the other, each with one write per megabyte and one `fdatasync`, and then acknowledged. If any step
 * fails, the append is rejected. Some of its records may be in the file all the same, so an unacknowledged record does not prove that
 * its change was applied. The next append starts on a new line, so that a torn record never damages another record.
 */
export class RemovalLog {
  /** Path of the file, with the symbolic links of its directories resolved. */
  readonly path: string;
  /** Opens the file and its lock again, as `open` did. */
  readonly #reopen: () => Promise<OpenLog>;
  #parts: OpenLog;
  /** Settles when the last `restore` has ended. */
  #restoring: Promise<unknown> = Promise.resolve();
  /** Resolves when all appends have ended. */
  #appending: Promise<unknown> = Promise.resolve();
  /** Gives up the appends that are left when closing takes too long. */
  readonly #late = new AbortController();
  #closing: Promise<void> | undefined;

  private constructor(parts: OpenLog, reopen: () => Promise<OpenLog>) {
    this.path = parts.path;
    this.#parts = parts;
    this.#reopen = reopen;
  }

  /**
   * Opens a removal log. Creates it and its directories if they are missing (0600, directories 0700). The lock file `<path>.lock`
   * permits one writer at a time. If its holder may be alive, for example in another container, this waits up to six seconds for a
   * heartbeat, and takes the lock over if there is none.
   *
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED` if the file cannot be opened or another writer, in
   * this process or another one, has it open. TypeError for an invalid path.
   */
  static async open(path: string, options: RemovalLogOptions = {}): Promise<RemovalLog> {
    assertFilePath(path);
    const openParts = (): Promise<OpenLog> => openLog(path, options);
    try {
      return new RemovalLog(await openParts(), openParts);
    } catch (error) {
      throw writeFailed(path, error);
    }
  }

  /**
   * Appends records, contiguously and after those of earlier calls. Resolves when they are on disk. Records are encoded when they are
   * written, and must not change until then.
   *
   * @param signal aborting removes the records from the queue; has no effect once their write has begun
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED`, with the system's error as the cause, if the records are not known to be on disk;
   * `CLOSED` after `close`; the signal's reason if it aborts before the write begins.
   */
  append(drafts: readonly RemovalDraft[], signal?: AbortSignal): Promise<void> {
    if (this.#closing !== undefined) {
      return Promise.reject(writerClosed(this.path, 'open another one to append.'));
    }
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (drafts.length === 0) return Promise.resolve();
    const before = this.#appending;
    const appended = abortable(before, signal).then(() => this.#append(drafts));
    this.#appending = before.then(() => appended).catch(() => undefined);
    return abortable(appended, this.#late.signal);
  }

  /**
   * Restores the original response to a call, as `restore` does, but indexes only what was appended since the last call, and then reads
   * single records. While the writer is open, this reads the file that it writes, even if the file was renamed or deleted.
   *
   * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` if no original is on record, `REMOVAL_LOG_READ_FAILED` if
   * the file cannot be read.
   */
  restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    const restored = this.#restoring.then(() => this.#restore(callId, scope));
    this.#restoring = restored.catch(() => undefined);
    return restored;
  }

  /**
   * Writes pending appends, closes the file and releases its lock. Later appends are refused. After
   * five seconds, unacknowledged appends are rejected with `CLOSED`, and closing continues in the
   * background. Never rejects; idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    // A deleted file may be replaced while this one is read.
    const parts = this.#parts;
    const file = this.#closing === undefined ? parts.file : undefined;
    const source = { path: this.path, file };
    try {
      await readNew(source, parts);
    } catch (error) {
      // The next call rebuilds the index.
      parts.index = new PartialIndex();
      throw error instanceof CtxfoldError ? error : readFailed(this.path, error);
    }
    const found = parts.index.find(callId, scope);
    if (found === undefined) throw notInRemovalLog(this.path, callId, 0);
    return readFound(source, callId, found);
  }

  async #shutDown(): Promise<void> {
    const isIdle = Promise.all([this.#appending, this.#restoring]);
    const isReleased = isIdle.then(async () => {
      // Failures to close lose nothing, because acknowledged records are on disk.
      await this.#parts.file.close().catch(() => undefined);
      await this.#parts.lock.release().catch(() => undefined);
    });
    const timeout = (): Error =>
      writerClosed(this.path, 'its deadline passed before the records were on the disk.');
    try {
      await withDeadline(CLOSE_TIMEOUT_MS, undefined, timeout, () => isReleased);
    } catch (error) {
      this.#late.abort(error);
    }
  }

  /**
   * Begins a new file if somebody deleted this one or its folder. Otherwise nothing could be recorded, and therefore nothing removed,
   * for the rest of the session. The records in the deleted file are lost.
   */
  async #replaceDeleted(): Promise<void> {
    const { file, lock } = this.#parts;
    if (!(await lock.isDeleted()) && (await file.stat()).nlink > 0) return;
    await lock.release();
    this.#parts = await this.#reopen();
    // Closed later, because a `restore` may still be reading the old file.
    void this.#restoring.then(() => file.close()).catch(() => undefined);
  }

  async #append(drafts: readonly RemovalDraft[]): Promise<void> {
    this.#late.signal.throwIfAborted();
    try {
      await this.#replaceDeleted();
      const parts = this.#parts;
      await parts.lock.assertHeld();
      parts.endOffset = await writeRecords(parts.file, drafts, parts.now);
      // If this process was suspended during the write, its records may be mixed with those of another writer.
      await parts.lock.assertHeld();
    } catch (error) {
      throw writeFailed(this.path, error);
    }
  }
}

/** Extends the index by what was appended since. @throws the system's error */
async function readNew(source: RemovalSource, parts: OpenLog): Promise<void> {
  const { endOffset } = parts;
  // Somebody truncated the file and more was written since, so the index is wrong.
  if (endOffset < parts.index.bytes) parts.index = new PartialIndex();
  if (source.file !== undefined) {
    const { size } = await parts.file.stat();
    if (size < endOffset) throw new Error('it was cut off while it was open');
  }
  const { index } = parts;
  const reading = new RemovalReading(source, { startOffset: index.bytes, endOffset });
  for await (const located of reading) index.note(located);
  index.bytes = endOffset;
}

/** @throws the system's error, or that of the lock. */
async function openLog(
  path: string,
  { now = Date.now, openFile = openAppendFile, lockTiming }: RemovalLogOptions,
): Promise<OpenLog> {
  let lock: FileLock | undefined;
  let file: FileHandle | undefined;
  try {
    const resolved = await prepareParentDirectory(path);
    lock = await acquireFileLock(resolved, lockTiming);
    file = await openFile(resolved);
    const { size: endOffset } = await file.stat();
    return { path: resolved, file, endOffset, now, lock, index: new PartialIndex() };
  } catch (error) {
    // Errors of the cleanup must not hide the first one.
    await file?.close().catch(() => undefined);
    await lock?.release().catch(() => undefined);
    throw error;
  }
}
