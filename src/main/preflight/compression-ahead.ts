// Has a model asked for a summary before it is due, in the background, of the history as it stands then: so that no turn
// waits for the model. Keeps one at a time until it lands; lands nothing itself.

import type { IContent } from '../../shared/content.js';
import { asError, SummaryRejectedError } from '../../shared/errors.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { abortable } from '../waiting/abortable.js';
import { setImmediate } from '../waiting/event-loop-turn.js';
import { FollowedHistory } from './followed-history.js';
import { makeCompression } from './make-compression.js';
import type { MadeCompression } from './make-compression.js';
import type { CompressedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/** What became of summaries that were asked for ahead of time, and of those that a turn has waited for. */
export interface SummaryCounts {
  /** Summaries of a model that are or were in the history. */
  readonly landed: number;
  /** Summaries that were asked for ahead of time and never landed: at most one more than have. */
  readonly thrownAway: number;
}

interface Job {
  readonly strategy: CompressionStrategy;
  readonly controller: AbortController;
  /** Settles when it is made or has failed; never rejects. */
  readonly ended: Promise<void>;
  /** What becomes of the entries that it is made of, once it has begun. */
  followed?: FollowedHistory;
  unwatch?: () => void;
  made?: MadeCompression;
  /** Puts what was made on the history as it stands. */
  rebase?: (history: readonly IContent[]) => readonly IContent[];
  /** It is being put in place: what becomes of the history then is its own doing. */
  isLanding?: boolean;
}

/** The compressions of one session that are made ahead of time. */
export class CompressionAhead {
  readonly #parts: SessionParts;
  #job: Job | undefined;
  #failure: Error | undefined;
  #landed = 0;
  #thrownAway = 0;
  /** Whether the provider could not compact when it was asked last. */
  #hasFailed = false;
  #isClosed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  get counts(): SummaryCounts {
    return { landed: this.#landed, thrownAway: this.#thrownAway };
  }

  /** Whether one is being made. */
  get isUnderWay(): boolean {
    return this.#job !== undefined && this.#job.made === undefined;
  }

  /** What one has failed with since this was asked last. */
  takeFailure(): Error | undefined {
    const failure = this.#failure;
    this.#failure = undefined;
    return failure;
  }

  /** Whether compressions by that strategy are made ahead of time now; else a turn that needs one waits for it. */
  makes({ name, requiresLLM }: CompressionStrategy): boolean {
    // Summaries cost money: none is asked for on trust as long as more were thrown away than have landed.
    if (name === 'provider' && (this.#parts.compactByProvider === undefined || this.#hasFailed))
      return false;
    return requiresLLM && this.#share < 1 && this.#thrownAway <= this.#landed;
  }

  /** Whether the history holds so much that a summary is worth asking for, or landing. */
  isWorthwhile(pendingTokens: number): boolean {
    const { history, gauge, runtimeContext } = this.#parts;
    const share = Math.min(this.#share, runtimeContext.ephemerals.compressionThreshold());
    return history.getTotalTokens() >= gauge.budget.thresholdTokens(share, pendingTokens);
  }

  /** Has one made in the background, once the event loop has turned, unless there is one or it would lead nowhere. */
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

  /** Waits until the one that is being made has ended, well or not. @throws the signal's reason. */
  async settled(signal: AbortSignal | undefined): Promise<void> {
    await abortable(this.#job?.ended ?? Promise.resolve(), signal);
  }

  /** Returns the one that is ready, as it stands on the history now, if any. `noteEnd` is to be told what became of it. */
  take(strategy: CompressionStrategy): MadeCompression | undefined {
    const job = this.#job;
    if (job?.made === undefined || job.rebase === undefined) return undefined;
    if (job.strategy !== strategy) {
      this.#discard(job);
      return undefined;
    }
    job.isLanding = true;
    const newHistory = job.rebase(this.#parts.history.getRawHistory());
    return { ...job.made, newHistory, isAhead: true };
  }

  /** Notes how any compression has ended. @param event absent for one that failed: what was made ahead may land yet */
  noteEnd(event: CompressedEvent | undefined): void {
    const job = this.#job;
    if (job?.isLanding === true) {
      job.isLanding = false;
      if (event !== undefined) this.#end(job);
      else if (job.followed?.isGone === true) this.#discard(job);
    }
    if (event?.llmCallMade !== true) return;
    if (event.strategy === 'provider') this.#hasFailed = false;
    if (event.outcome === 'applied') this.#landed += 1;
    else if (event.isAhead === true) this.#thrownAway += 1;
  }

  /** Calls off what is under way. Final. */
  close(): void {
    this.#isClosed = true;
    if (this.#job !== undefined) this.#discard(this.#job);
  }

  /** Share of the window from which on summaries are made. */
  get #share(): number {
    return this.#parts.runtimeContext.ephemerals.compressionAhead?.() ?? 1;
  }

  async #make(job: Job, promptId: string): Promise<void> {
    const { signal } = job.controller;
    if (signal.aborted) return;
    const { history } = this.#parts;
    const followed = new FollowedHistory(history.getRawHistory());
    job.followed = followed;
    job.unwatch = history.watch((change) => {
      followed.note(change);
      // Edits of a preflight are followed. Another list, or none, is no history that this is a summary of.
      if (followed.isGone && job.isLanding !== true) this.#discard(job);
    });
    try {
      const made = await makeCompression(this.#parts, job.strategy, promptId, signal);
      if (this.#job !== job) return;
      job.rebase = followed.rebasing(made.newHistory);
      job.made = made;
    } catch (thrown) {
      // One that was called off is accounted for by who did that.
      if (this.#job !== job) return;
      this.#end(job);
      if (thrown instanceof SummaryRejectedError) this.#thrownAway += 1;
      // The turn that needs it asks once more, and has another strategy take its place.
      if (job.strategy.name === 'provider') this.#hasFailed = true;
      else this.#failure = asError(thrown);
    }
  }

  #discard(job: Job): void {
    if (this.#job !== job) return;
    this.#end(job);
    if (job.followed !== undefined) this.#thrownAway += 1;
    job.controller.abort(new Error('The history was rewritten while it was summarized.'));
  }

  #end(job: Job): void {
    job.unwatch?.();
    if (this.#job === job) this.#job = undefined;
  }
}
