// Writes the transcript: append-only, one serial writer per file, acknowledged when it is on the disk.
// Decides nothing about what is recorded, and changes nothing that was written.

import { assertFilePath, openAppendFile, prepareParentDirectory } from './append-file.js';
import type { AppendFile } from './append-file.js';
import { CallIndex } from './call-index.js';
import { acquireFileLock } from './file-lock.js';
import type { FileLock } from './file-lock.js';
import type { PendingAppend } from './pending-append.js';
import { enqueueAppend } from './pending-append.js';
import { RecordFile } from './record-file.js';
import type { RemovalDraft } from './removal-record.js';
import { readRemovals } from './removal-reader.js';
import { restoreFromSightings } from './restore.js';
import type { RestoredResponse } from './restore.js';
import type { SessionScope } from './session-scope.js';
import { notInTranscript, writeFailed, writerClosed } from './transcript-errors.js';
import { readTranscriptTail } from './transcript-tail.js';

export interface TranscriptWriterOptions {
  /** How long `close` waits for what is being written, in milliseconds. @default 5_000 */
  readonly closeTimeoutMs?: number;
  /** The clock, in milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
  /** Opens the file. @default a regular file, made with mode 0600 */
  readonly openFile?: (path: string) => Promise<AppendFile>;
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
  readonly records: RecordFile;
  readonly lock: FileLock;
  readonly earlierBytes: number;
  readonly closeTimeoutMs: number;
}

/**
 * Appends records to a transcript.
 *
 * What waits while a write is under way goes out as one batch: one write per megabyte, one
 * `fdatasync`, and only then are its appends acknowledged. When any of that fails, every append of the
 * batch is rejected and none of its records counts, although some may be in the file: a record that
 * was not acknowledged says nothing about the history. The next batch starts on a line of its own, so
 * that a torn record never takes another one with it.
 */
export class TranscriptWriter {
  /** The file, with the symbolic links of its directories resolved. */
  readonly path: string;
  readonly #records: RecordFile;
  readonly #lock: FileLock;
  readonly #closeTimeoutMs: number;
  /** Bytes that were in the file when it was opened; their index is made when it is first needed. */
  readonly #earlierBytes: number;
  #earlierIndex: Promise<CallIndex> | undefined;
  readonly #index = new CallIndex();
  #waiting = new Set<PendingAppend>();
  #inFlight: readonly PendingAppend[] = [];
  /** Ends when nothing waits any more; `undefined` while idle. */
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor({ path, records, lock, earlierBytes, closeTimeoutMs }: WriterParts) {
    this.path = path;
    this.#records = records;
    this.#lock = lock;
    this.#earlierBytes = earlierBytes;
    this.#closeTimeoutMs = closeTimeoutMs;
  }

  /**
   * Opens a transcript, and makes it with its directories when it is missing (0600, directories 0700).
   * One writer at a time: a lock file beside it, `<path>.lock`, says who.
   *
   * @throws CompressionStrategyError `TRANSCRIPT_WRITE_FAILED` when that is not possible or another
   * writer, in this process or another one, has it open. TypeError or RangeError when an argument is
   * none of the expected.
   */
  static async open(
    path: string,
    options: TranscriptWriterOptions = {},
  ): Promise<TranscriptWriter> {
    const { now = Date.now, openFile = openAppendFile } = options;
    const { closeTimeoutMs = DEFAULT_CLOSE_TIMEOUT_MS } = options;
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
      lock = await acquireFileLock(resolved);
      file = await openFile(resolved);
      const tail = await readTranscriptTail(resolved);
      const records = new RecordFile(resolved, file, tail, now);
      const earlierBytes = tail.sizeBytes;
      return new TranscriptWriter({ path: resolved, records, lock, earlierBytes, closeTimeoutMs });
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
   * @throws CompressionStrategyError `TRANSCRIPT_WRITE_FAILED`, with the system's error as the cause,
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
   * Restores the original response to a call, as `restore` does, from the records it needs alone. What
   * was in the file before it was opened is read through once, when this is first called.
   *
   * @throws CompressionStrategyError `NOT_IN_TRANSCRIPT` when no original is on record,
   * `TRANSCRIPT_READ_FAILED` when the file cannot be read.
   */
  async restore(callId: string, scope: SessionScope): Promise<RestoredResponse> {
    this.#earlierIndex ??= indexBefore(this.path, this.#earlierBytes);
    const earlier = await this.#earlierIndex.catch((error: unknown) => {
      // The next call tries again.
      this.#earlierIndex = undefined;
      throw error;
    });
    const sightings = [...earlier.sightings(callId), ...this.#index.sightings(callId)];
    const restored = await restoreFromSightings(this.path, callId, sightings, scope);
    if (restored === undefined) throw notInTranscript(this.path, callId, 0);
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

  async #shutDown(): Promise<void> {
    const isReleased = (this.#draining ?? Promise.resolve()).then(() => this.#release());
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
        const written = await this.#records.write(this.#inFlight);
        for (const { draft, seq, replacementCrc, location } of written) {
          const { sessionId, entry } = draft;
          this.#index.note({ seq, sessionId, entry, replacementCrc }, location);
        }
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

async function indexBefore(path: string, endOffset: number): Promise<CallIndex> {
  const index = new CallIndex();
  if (endOffset === 0) return index;
  for await (const { record, location } of readRemovals(path, { endOffset })) {
    index.note(record, location);
  }
  return index;
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
