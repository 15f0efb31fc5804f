// Requests summaries in the background before they are due, so that no turn waits for the model. Keeps at most one until it
// lands; applying it is the preflight's job.

import type { IContent } from '../../shared/content.js';
import { asError, SummaryRejectedError } from '../../shared/errors.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { abortable } from '../waiting/abortable.js';
import { setImmediate } from '../waiting/event-loop-turn.js';
import { noteLast } from './add-work-note.js';
import { makeCompression } from './make-compression.js';
import type { MadeCompression } from './make-compression.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { TrackedHistory } from './tracked-history.js';

/** What became of requested summaries, in the background or in a turn. */
export interface SummaryCounts {
  /** Summaries by a model that were applied. */
  readonly landed: number;
  /** Background summaries that were discarded: at most one more than have landed. */
  readonly thrownAway: number;
}

interface Job {
  readonly strategy: CompressionStrategy;
  readonly controller: AbortController;
  /** Settles when the summary is made or has failed; never rejects. */
  readonly ended: Promise<void>;
  /** Tracks the summarized entries, once work has begun. */
  tracked?: TrackedHistory;
  unwatch?: () => void;
  made?: MadeCompression;
  /** Index of the first summarized entry that it keeps. */
  firstKept?: number;
  /** Applies the compression to the present history. */
  rebase?: (history: readonly IContent[]) => readonly IContent[];
  /** It is being applied: changes of the history are its own. */
  isLanding?: boolean;
}

/** The background compressions of one session. */
export class CompressionAhead {
  readonly #parts: SessionParts;
  #job: Job | undefined;
  #failure: Error | undefined;
  #landed: number;
  #thrownAway: number;
  /** Whether the provider's last compaction failed. */
  #hasFailed = false;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { landed = 0, thrownAway = 0 } = parts.former?.summaries ?? {};
    this.#landed = landed;
    this.#thrownAway = thrownAway;
  }

  /** The counts for a later session of this history. One that is being made dies with the process. */
  get memory(): SummaryCounts {
    const { landed, thrownAway } = this.counts;
    return { landed, thrownAway: this.#job === undefined ? thrownAway : thrownAway + 1 };
  }

  get counts(): SummaryCounts {
    return { landed: this.#landed, thrownAway: this.#thrownAway };
  }

  get isUnderWay(): boolean {
    return this.#job !== undefined && this.#job.made === undefined;
  }

  /** Whether the finished compression leaves reasoning behind it valid. */
  get keepsReasoning(): boolean {
    const { made, tracked, firstKept = 0 } = this.#job ?? {};
    // What was said since an edit in front is bound to the edited entries, which are not those that the provider has compacted.
    return made?.keepsReasoning === true && (tracked?.firstEdited ?? 0) >= firstKept;
  }

  /** Returns and clears the last failure. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Whether compressions by this strategy are made in the background now; otherwise the turn that needs one waits for it. */
  makes({ name, requiresLLM }: CompressionStrategy): boolean {
    // Summaries cost money: pause while more were discarded than landed.
    if (name === 'provider' && (this.#parts.compactByProvider === undefined || this.#hasFailed))
      return false;
    return requiresLLM && this.#share < 1 && this.#thrownAway <= this.#landed;
  }

  /** Whether the history is large enough to request or apply a summary. */
  isWorthwhile(pendingTokens: number): boolean {
    const { history, gauge, runtimeContext } = this.#parts;
    const share = Math.min(this.#share, runtimeContext.ephemerals.compressionThreshold());
    return history.getTotalTokens() >= gauge.budget.thresholdTokens(share, pendingTokens);
  }

  /** Starts a compression in the next turn of the event loop, unless one exists or it could not help. */
  begin(strategy: CompressionStrategy, promptId: string): void {
    const { history, guard } = this.#parts;
    if (this.#job !== undefined || this.#isClosed || !this.makes(strategy)) return;
    if (guard.holdReason(history.getTotalTokens()) !== null) return;
    const { revision } = history;
    const ended = new Promise<void>((resolve) => {
      setImmediate(resolve);
    }).then(() => (history.revision === revision ? this.#make(job, promptId) : this.#end(job)));
    const job: Job = { strategy, controller: new AbortController(), ended };
    this.#job = job;
  }

  /** Waits until the running compression has ended, whatever its outcome. @throws the signal's reason. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    await abortable(this.#job?.ended ?? Promise.resolve(), signal);
  }

  /** Returns the finished compression, rebased on the present history, if any. Its outcome must be passed to `noteEnd`. */
  take(strategy: CompressionStrategy): MadeCompression | undefined {
    const job = this.#job;
    if (job?.made === undefined || job.rebase === undefined) return undefined;
    if (job.strategy !== strategy) {
      this.#discard(job);
      return undefined;
    }
    job.isLanding = true;
    const history = this.#parts.history.getRawHistory();
    const rebased = job.rebase(history);
    const { keepsReasoning } = this;
    const newHistory = keepsReasoning ? noteLast(rebased, history) : rebased;
    return { ...job.made, newHistory, keepsReasoning, isAhead: true };
  }

  /** Notes the outcome of any compression. @param event `undefined` if it failed: a background one may still land later */
  noteEnd(event: CompressedEvent | undefined): void {
    const job = this.#job;
    if (job?.isLanding === true) {
      job.isLanding = false;
      if (event !== undefined) this.#end(job);
      else if (job.tracked?.isGone === true) this.#discard(job);
    }
    if (event?.llmCallMade !== true) return;
    if (event.strategy === 'provider') this.#hasFailed = false;
    if (event.outcome === 'applied') this.#landed += 1;
    else if (event.isAhead === true) this.#thrownAway += 1;
  }

  /** Aborts a running compression. Final. */
  close(): void {
    this.#isClosed = true;
    if (this.#job !== undefined) this.#discard(this.#job);
  }

  /** Share of the window from which on summaries are requested. */
  get #share(): number {
    return this.#parts.runtimeContext.ephemerals.compressionAhead?.() ?? 1;
  }

  async #make(job: Job, promptId: string): Promise<void> {
    const { signal } = job.controller;
    if (signal.aborted) return;
    const { history } = this.#parts;
    const tracked = new TrackedHistory(history.getRawHistory());
    job.tracked = tracked;
    job.unwatch = history.watch((change) => {
      tracked.note(change);
      // Edits of a preflight are tracked. After a rewrite or `clear`, the summary describes another history.
      if (tracked.isGone && job.isLanding !== true) this.#discard(job);
    });
    try {
      const made = await makeCompression(this.#parts, job.strategy, promptId, signal);
      if (this.#job !== job) return;
      job.firstKept = tracked.firstKept(made.newHistory);
      job.rebase = tracked.rebasing(made.newHistory);
      job.made = made;
    } catch (thrown) {
      // Whoever aborted it has counted it.
      if (this.#job !== job) return;
      this.#end(job);
      if (thrown instanceof SummaryRejectedError) this.#thrownAway += 1;
      // The turn that needs it tries once more, then falls back to another strategy.
      if (job.strategy.name === 'provider') this.#hasFailed = true;
      else this.#failure = asError(thrown);
    }
  }

  #discard(job: Job): void {
    if (this.#job !== job) return;
    this.#end(job);
    if (job.tracked !== undefined) this.#thrownAway += 1;
    job.controller.abort(new Error('The history was rewritten while it was summarized.'));
  }

  #end(job: Job): void {
    job.unwatch?.();
    if (this.#job === job) this.#job = undefined;
  }
}
