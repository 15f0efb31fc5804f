// Requests summaries in the background before they are due, so that no turn waits for the model. Keeps at most one summary until
// it lands; the preflight applies it.

import { asError, SummaryRejectedError } from '../../shared/errors.js';
import { isReadable } from '../strategies/provider-compaction.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { LeftToOtherProcess } from '../summarizer/summarizer.js';
import { abortable, backgroundController, heldWhile } from '../waiting/abortable.js';
import { setImmediate } from '../waiting/event-loop-turn.js';
import { moveNoteToEnd } from './add-work-note.js';
import { makeCompression } from './make-compression.js';
import type { MadeCompression } from './make-compression.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { SummaryAccount } from './summary-account.js';
import { TrackedHistory } from './tracked-history.js';
import type { Rebasing } from './tracked-history.js';
import type { AskedSummary, SummaryCounts, SummaryMemory } from '../state/session-state.js';

interface Job {
  readonly strategy: CompressionStrategy;
  readonly asked: AskedSummary;
  readonly controller: AbortController;
  /** Begins the work; until then, no model has been called. */
  readonly start: () => void;
  /** Resolves when the summary is made or has failed; never rejects. */
  readonly ended: Promise<void>;
  /** Tracks what becomes of the summarized entries; set once work has begun. */
  tracked?: TrackedHistory;
  unwatch?: () => void;
  summary?: Summary;
  /** Whether the summary is being applied: changes of the history are then made by this job. */
  isLanding?: boolean;
}

/** The finished summary of a job. */
interface Summary extends Rebasing {
  readonly made: MadeCompression;
}

/** The background compressions of one session. */
export class CompressionAhead {
  #parts: SessionParts;
  #job: Job | undefined;
  #failure: Error | undefined;
  #account: SummaryAccount;
  /** The request of another process that `takeOver` has tried last: it is tried once, because each try reads the whole history. */
  #lastTakeOver: AskedSummary | undefined;
  /** Whether the provider's last compaction failed. */
  #hasFailed = false;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#account = new SummaryAccount(parts.history, parts.former?.summaries);
  }

  /** What a later session of this history remembers. */
  get memory(): SummaryMemory {
    return this.#account.memory(this.#job?.asked);
  }

  get counts(): SummaryCounts {
    return this.#account.counts;
  }

  /** Whether a summary is being made, by this process or, as far as it knows, another one. */
  get isUnderWay(): boolean {
    if (this.#job !== undefined) return this.#job.summary === undefined;
    return this.#account.askedElsewhere !== undefined;
  }

  /** Whether a finished summary can be applied. */
  get isMade(): boolean {
    return this.#job?.summary !== undefined;
  }

  /** Whether reasoning behind the finished compression stays valid. */
  get keepsReasoning(): boolean {
    const { summary, tracked } = this.#job ?? {};
    if (summary?.made.keepsReasoning !== true || tracked === undefined) return false;
    // The provider compacted the entries before the edit; reasoning made after an edit in front is bound to the edited entries.
    return tracked.firstEdited >= summary.firstKept;
  }

  /** Returns and clears the last failure. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Whether compressions by this strategy are made in the background now; otherwise the turn that needs one waits for it. */
  makes({ name, requiresLLM }: CompressionStrategy): boolean {
    if (name === 'provider' && (this.#parts.compactByProvider === undefined || this.#hasFailed))
      return false;
    const { landed, thrownAway } = this.counts;
    // Summaries cost money: pause while more were discarded than landed.
    return requiresLLM && this.#startShare < 1 && thrownAway <= landed;
  }

  /** Whether the history is large enough to request or apply a summary. */
  isWorthwhile(): boolean {
    const { history, gauge, config } = this.#parts;
    const threshold = config.runtimeContext.ephemerals.compressionThreshold();
    const share = Math.min(this.#startShare, threshold);
    return history.getTotalTokens() >= gauge.thresholdTokens(gauge.pendingTokens, share);
  }

  /** Plans a compression of the present history, unless a job exists or the guard holds compressions. `start` runs it. */
  begin(strategy: CompressionStrategy, promptId: string): void {
    const { history, guard } = this.#parts;
    if (this.#job !== undefined || this.isUnderWay || this.#isClosed || !this.makes(strategy))
      return;
    if (guard.holdReason(history.getTotalTokens()) !== null) return;
    const { revision, journal } = history;
    const asked = { entries: journal.length, edits: journal.count, at: Date.now() };
    let start = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      start = () => setImmediate(resolve);
    }).then(() => (history.revision === revision ? this.#make(job, promptId) : this.#end(job)));
    const job: Job = { strategy, asked, controller: backgroundController(), start, ended };
    this.#job = job;
    this.#account.replaceAsked();
  }

  /** Starts the planned compression in the next turn of the event loop. */
  start(): void {
    this.#job?.start();
  }

  /** Waits until the running compression has ended, whatever its outcome. @throws the signal's reason. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    this.start();
    await heldWhile(abortable(this.#job?.ended ?? Promise.resolve(), signal));
  }

  /** Stops watching the history, which is about to be replaced by another process's version. `goOn` must follow. */
  pause(): void {
    this.#job?.unwatch?.();
  }

  /**
   * Continues with the state that another process has saved. The job of this process is kept if that state waits for the same
   * summary. Else the job is aborted; the other process has already counted its summary as thrown away.
   */
  resume(parts: SessionParts): void {
    this.#parts = parts;
    this.#account = new SummaryAccount(parts.history, parts.former?.summaries);
    const job = this.#job;
    if (job === undefined) return;
    const { tracked, asked } = job;
    if (tracked !== undefined && this.#account.isAwaited(asked)) {
      tracked.moveTo(parts.history.getRawHistory());
      this.#watch(job, tracked);
      this.#account.takeOver();
      return;
    }
    this.#end(job);
    job.controller.abort(new Error('Another process was faster.'));
  }

  /** Takes over a summary that another process has requested and left behind, if the model has written it by now. */
  async takeOver(
    strategy: CompressionStrategy,
    promptId: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const asked = this.#account.askedElsewhere;
    const { history } = this.#parts;
    if (asked === undefined || asked === this.#lastTakeOver || this.#job !== undefined) return;
    this.#lastTakeOver = asked;
    const raw = history.getRawHistory();
    const contents = raw.slice(0, raw.length - (history.journal.length - asked.entries));
    const tracked = new TrackedHistory(contents);
    const controller = new AbortController();
    const job: Job = {
      ...{ strategy, asked, controller },
      start: () => undefined,
      ended: Promise.resolve(),
    };
    this.#watch(job, tracked);
    try {
      if (!this.#isShared(strategy)) return;
      const then = { ...asked, contents };
      const made = await makeCompression(this.#parts, strategy, promptId, signal, then);
      if (this.#account.askedElsewhere !== asked || tracked.isGone || this.#isClosed) return;
      this.#keep(job, tracked, made);
      this.#job = job;
      this.#account.takeOver();
    } catch {
      // The summary is not written yet, or cannot be used.
      signal?.throwIfAborted();
    } finally {
      if (this.#job !== job) job.unwatch?.();
    }
  }

  /** Returns the finished compression, rebased on the present history, if any. Its outcome must be passed to `noteEnd`. */
  take(strategy: CompressionStrategy): MadeCompression | undefined {
    const job = this.#job;
    if (job?.summary === undefined) return undefined;
    const { made, rebase } = job.summary;
    const { history } = this.#parts;
    const [first] = made.newHistory;
    const isForOther =
      made.by.name === 'provider' && first !== undefined && !isReadable(first, history.modelName);
    if (job.strategy !== strategy || isForOther) {
      this.#discard(job);
      return undefined;
    }
    job.isLanding = true;
    const present = history.getRawHistory();
    const rebased = rebase(present);
    const { keepsReasoning } = this;
    const newHistory = keepsReasoning ? moveNoteToEnd(rebased, present) : rebased;
    return { ...made, newHistory, keepsReasoning, isAhead: true };
  }

  /** Notes the outcome of any compression. @param event `undefined` if it failed: a background summary may still land later */
  noteEnd(event: CompressedEvent | undefined): void {
    const job = this.#job;
    if (job?.isLanding === true) {
      job.isLanding = false;
      if (event !== undefined) this.#end(job);
      else if (job.tracked?.isGone === true) this.#discard(job);
    }
    if (event?.llmCallMade !== true) return;
    if (event.strategy === 'provider') this.#hasFailed = false;
    this.#account.replaceAsked();
    if (event.outcome === 'applied') this.#account.noteLanded();
    else if (event.isAhead === true) this.#account.noteThrownAway();
  }

  /** Aborts a running compression, or leaves it to the next process of a named conversation. No other one can begin. */
  close(): void {
    this.#isClosed = true;
    const job = this.#job;
    if (job === undefined) return;
    const isLeft = this.#parts.keeper?.isNamed === true && this.#isShared(job.strategy);
    if (!isLeft || job.tracked === undefined) {
      this.#discard(job, new Error('The session was closed.'));
      return;
    }
    // The last save may be the only one that tells the next process of it.
    this.#end(job);
    this.#account.leave(job.asked);
    job.controller.abort(new LeftToOtherProcess());
  }

  /** Whether another process can take over a summary by this strategy. */
  #isShared({ requiresLLM, name }: CompressionStrategy): boolean {
    if (!requiresLLM || name === 'provider') return false;
    try {
      return this.#parts.compressionInputs?.().summarizer?.answerTo !== undefined;
    } catch {
      // The host's function failed that chooses the summarizer.
      return false;
    }
  }

  /** Share of the window from which on summaries are requested. */
  get #startShare(): number {
    return this.#parts.config.runtimeContext.ephemerals.compressionAhead?.() ?? 1;
  }

  async #make(job: Job, promptId: string): Promise<void> {
    const { signal } = job.controller;
    if (signal.aborted) return;
    const { history } = this.#parts;
    const tracked = new TrackedHistory(history.getRawHistory());
    this.#watch(job, tracked);
    try {
      const made = await makeCompression(this.#parts, job.strategy, promptId, signal);
      if (this.#job === job) this.#keep(job, tracked, made);
    } catch (thrown) {
      // The job was aborted, and whoever did that has counted its summary.
      if (this.#job !== job) return;
      this.#end(job);
      if (thrown instanceof SummaryRejectedError) this.#account.noteThrownAway();
      // No background retry of the provider: the turn that needs the compaction retries once, then uses the fallback strategy.
      if (job.strategy.name === 'provider') this.#hasFailed = true;
      else {
        const error = asError(thrown);
        this.#failure = error;
        this.#parts.logger.warn('a compression in the background failed', { error });
      }
    }
  }

  #keep(job: Job, tracked: TrackedHistory, made: MadeCompression): void {
    job.summary = { made, ...tracked.rebasing(made.newHistory) };
  }

  #watch(job: Job, tracked: TrackedHistory): void {
    job.tracked = tracked;
    job.unwatch = this.#parts.history.watch((change) => {
      tracked.note(change);
      // Edits by preflights are tracked. After a rewrite or `clear`, the summary no longer describes this history.
      if (tracked.isGone && job.isLanding !== true) this.#discard(job);
    });
  }

  #discard(job: Job, why: Error = new Error('The history was rewritten meanwhile.')): void {
    if (this.#job !== job) return;
    this.#end(job);
    if (job.tracked !== undefined) this.#account.noteThrownAway();
    job.controller.abort(why);
  }

  #end(job: Job): void {
    job.unwatch?.();
    if (this.#job === job) this.#job = undefined;
  }
}
