// Writes the removal log: append-only, one serial writer per file, acknowledged when it is on the disk.
// Decides nothing about what is recorded, and changes nothing that was written.

import { CtxfoldError } from '../../shared/errors.js';
import { assertFilePath, openAppendFile, prepareParentDirectory } from './append-file.js';
import type { AppendFile } from './append-file.js';
import { CallIndex } from './call-index.js';
import { acquireFileLock } from './file-lock.js';
import type { FileLock, LockTiming } from './file-lock.js';
import type { PendingAppend } from './pending-append.js';
import { enqueueAppend } from './pending-append.js';
import { RecordFile } from './record-file.js';
import type { RemovalDraft } from './removal-record.js';
import { RemovalReading } from './removal-reader.js';
import type { RemovalSource } from './removal-reader.js';
import { restoreFromSightings } from './restore.js';
import type { RestoredResponse } from './restore.js';
import type { SessionScope } from './session-scope.js';
import { notInRemovalLog, readFailed, writeFailed, writerClosed } from './removal-log-errors.js';
import { readLogTail } from './log-tail.js';

export interface RemovalLogOptions {
  /** How long `close` waits for what is being written, in milliseconds. @default 5_000 */
  readonly closeTimeoutMs?: number;
  /** The clock, in milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
  /** Opens the file. @default a regular file, made with mode 0600 */
  readonly openFile?: (path: string) => Promise<AppendFile>;
  /** How its lock lives and dies. @default signs of life every 2 seconds, a lease of 6 */
  readonly lockTiming?: LockTiming;
}

export interface AppendOptions {
  /** Takes the records off the queue. Once their write has begun it has no effect. */
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_CLOSE_TIMEOUT_MS = 5_000;
/** Beyond this, timers fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface WriterParts {
  readonly path: string;
  readonly file: AppendFile;
  readonly records: RecordFile;
  readonly lock: FileLock;
  readonly closeTimeoutMs: number;
}

/**
 * Appends records to a removal log.
 *
 * What waits while a write is under way goes out as one batch: one write per megabyte, one
 * `fdatasync`, and only then are its appends acknowledged. When any of that fails, every append of the
 * batch is rejected and none of its records counts, although some may be in the file: a record that
 * was not acknowledged says nothing about the history. The next batch starts on a line of its own, so
 * that a torn record never takes another one with it.
 */
export class RemovalLog {
  /** The file, with the symbolic links of its directories resolved. */
  readonly path: string;
  readonly #file: AppendFile;
  readonly #records: RecordFile;
  readonly #lock: FileLock;
  readonly #closeTimeoutMs: number;
  /** Of the file up to an offset: nothing is kept before somebody restores. */
  #index = new CallIndex();
  #indexedBytes = 0;
  /** Ends when nobody reads the file any more. */
  #restoring: Promise<unknown> = Promise.resolve();
  #waiting = new Set<PendingAppend>();
  #inFlight: readonly PendingAppend[] = [];
  /** Ends when nothing waits any more; `undefined` while idle. */
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor({ path, file, records, lock, closeTimeoutMs }: WriterParts) {
    this.path = path;
    this.#file = file;
    this.#records = records;
    this.#lock = lock;
    this.#closeTimeoutMs = closeTimeoutMs;
  }

  /**
   * Opens a removal log, and makes it with its directories when it is missing (0600, directories 0700).
   * One writer at a time: a lock file beside it, `<path>.lock`, says who. Where its holder may live, as in
   * another container, this waits for a sign of that, six seconds at most, and then takes it over.
   *
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED` when that is not possible or another
   * writer, in this process or another one, has it open. TypeError or RangeError when an argument is
   * none of the expected.
   */
  static async open(path: string, options: RemovalLogOptions = {}): Promise<RemovalLog> {
    const { now = Date.now, openFile = openAppendFile } = options;
    const { closeTimeoutMs = DEFAULT_CLOSE_TIMEOUT_MS, lockTiming } = options;
    assertFilePath(path);
    if (!(closeTimeoutMs >= 0 && closeTimeoutMs <= MAX_TIMER_MS)) {
      throw new RangeError(
        `Expected closeTimeoutMs to be from 0 to ${MAX_TIMER_MS}, got ${closeTimeoutMs}.`,
      );
    }
    let lock: FileLock | undefined;
    let file: AppendFile | undefined;
    try {
      const resolved = await prepareParentDirectory(path);
      lock = await acquireFileLock(resolved, lockTiming);
      file = await openFile(resolved);
      const tail = await readLogTail(resolved);
      const records = new RecordFile(resolved, file, tail, now);
      return new RemovalLog({ path: resolved, file, records, lock, closeTimeoutMs });
    } catch (error) {
      // The first error is the one to tell.
      await file?.close().catch(() => undefined);
      await lock?.release().catch(() => undefined);
      throw writeFailed(path, error);
    }
  }

  /**
   * Appends records, next to each other and behind those of earlier calls. Resolves when they are on
   * the disk. They are encoded when their turn comes and must not be changed until then.
   *
   * @throws CtxfoldError `REMOVAL_LOG_WRITE_FAILED`, with the system's error as the cause,
   * when they are not known to be on the disk; `CLOSED` after `close`; the signal's reason when it
   * aborts before their write begins.
   */
  append(drafts: readonly RemovalDraft[], { signal }: AppendOptions = {}): Promise<void> {
    if (this.#closing !== undefined) {
      return Promise.reject(writerClosed(this.path, 'open another one to append.'));
    }
    if (drafts.length === 0 && signal?.aborted !== true) return Promise.resolve();
    const appended = enqueueAppend(this.#waiting, drafts, signal);
    // Beginning in a microtask lets what one macrotask appends go out as one batch.
    this.#draining ??= Promise.resolve().then(() => this.#drain());
    return appended;
  }

  /**
   * Restores the original response to a call, as `restore` does, from the records it needs alone. Before
   * that it reads what the file has grown by since this was last called. While the writer is open, it reads
   * the file that it writes, whatever has become of its name.
   *
   * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` when no original is on record,
   * `REMOVAL_LOG_READ_FAILED` when the file cannot be read.
   */
  restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    const restored = this.#restoring.then(() => this.#restore(callId, scope));
    this.#restoring = restored.catch(() => undefined);
    return restored;
  }

  /**
   * Writes what waits, closes the file and releases its lock. Final: appending afterwards is refused.
   * When that takes longer than `closeTimeoutMs`, what is not acknowledged by then is rejected with
   * `CLOSED`, and the rest happens in the background. Never rejects; further calls wait for the first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    const isOpen = this.#closing === undefined;
    const source = { path: this.path, file: isOpen ? this.#file : undefined };
    try {
      await this.#readNew(source);
    } catch (error) {
      // The next call begins anew.
      this.#forgetIndex();
      throw error instanceof CtxfoldError ? error : readFailed(this.path, error);
    }
    const sightings = this.#index.sightings(callId);
    const restored = await restoreFromSightings(source, callId, sightings, scope);
    if (restored === undefined) throw notInRemovalLog(this.path, callId, 0);
    return restored;
  }

  async #readNew(source: RemovalSource): Promise<void> {
    const { endOffset } = this.#records;
    // The file was cut off behind the writer, and something was written since.
    if (endOffset < this.#indexedBytes) this.#forgetIndex();
    if (source.file !== undefined) {
      const { sizeBytes } = await this.#file.status();
      if (sizeBytes < endOffset) throw new Error('it was cut off while it was open');
    }
    const reading = new RemovalReading(source, { startOffset: this.#indexedBytes, endOffset });
    for await (const located of reading) this.#index.note(located);
    this.#indexedBytes = endOffset;
  }

  #forgetIndex(): void {
    this.#index = new CallIndex();
    this.#indexedBytes = 0;
  }

  async #shutDown(): Promise<void> {
    const isIdle = Promise.all([this.#draining, this.#restoring]);
    const isReleased = isIdle.then(() => this.#release());
    if (await settlesWithin(isReleased, this.#closeTimeoutMs)) return;
    const error = writerClosed(
      this.path,
      'its deadline passed before the records were on the disk.',
    );
    const left = [...this.#inFlight, ...this.#waiting];
    this.#waiting.clear();
    for (const append of left) append.reject(error);
  }

  async #release(): Promise<void> {
    // All that was acknowledged is on the disk: nothing of it is lost when these fail.
    await this.#records.close().catch(() => undefined);
    await this.#lock.release().catch(() => undefined);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      this.#inFlight = [...this.#waiting];
      this.#waiting = new Set();
      for (const append of this.#inFlight) append.begin();
      try {
        await this.#lock.assertHeld();
        await this.#records.write(this.#inFlight);
        // Who was suspended in between may have written into the midst of another writer's records.
        await this.#lock.assertHeld();
        for (const append of this.#inFlight) append.resolve();
      } catch (error) {
        const failure = writeFailed(this.path, error);
        for (const append of this.#inFlight) append.reject(failure);
      }
      this.#inFlight = [];
    }
    this.#draining = undefined;
  }
}

/** Whether a promise settles within a time; it must not reject. */
async function settlesWithin(promise: Promise<void>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const isSettled = await Promise.race([promise.then(() => true), deadline]);
  clearTimeout(timer);
  return isSettled;
}
