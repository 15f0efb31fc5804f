// When a history is compressed without being asked to: over the threshold, unless that would lead nowhere,
// and over the limit, where a failure must not end the window. Compresses nothing itself.

import { asError, SummaryRejectedError } from '../../shared/errors.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import { heldCompression } from './held-compression.js';
import type { ProgressGuard } from './progress-guard.js';
import type { CompressedEvent } from './session-events.js';
import type { AbortOptions, SessionParts } from './session-parts.js';

export interface AutomaticCompressionOptions {
  readonly parts: SessionParts;
  readonly guard: ProgressGuard;
  /** Whether the history fits the window beside so many of the model's tokens. */
  readonly fits: (pendingTokens: number) => boolean;
  /** Whether it reaches the threshold with them. */
  readonly isDue: (pendingTokens: number) => boolean;
  /** Compresses once, and tells how that ended. */
  readonly compress: (promptId: string, options: AbortOptions) => Promise<CompressedEvent>;
  /** Told of a compression that was due and did not run. */
  readonly tellHeld: (event: CompressedEvent) => void;
  /** Told of what a compression threw that does not end the window. */
  readonly tellFailure: (error: Error) => void;
}

/** Compresses one session's history when it is due. */
export class AutomaticCompression {
  readonly #options: AutomaticCompressionOptions;

  constructor(options: AutomaticCompressionOptions) {
    this.#options = options;
  }

  /**
   * Compresses a history over the threshold or the limit.
   *
   * @returns how that ended, or `null` when it was not due, could not be recorded, failed over the limit, or the
   * model's summary was unfit
   * @throws what compressing threw besides, unless the history is over the limit; or the signal's reason.
   */
  async runWhenDue(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Promise<CompressedEvent | null> {
    const { fits, isDue } = this.#options;
    if (!fits(pendingTokens)) return this.runOverLimit(promptId, pendingTokens, options);
    if (!isDue(pendingTokens)) return null;
    try {
      return await this.#run(promptId, pendingTokens, options);
    } catch (thrown) {
      if (isWriteFailure(thrown) && fits(pendingTokens)) return null;
      // What a model wrote must not fail a turn whose history fits.
      if (!(thrown instanceof SummaryRejectedError)) throw thrown;
      this.#options.tellFailure(thrown);
      return null;
    }
  }

  /** What a strategy throws must not keep a history from being made to fit: it is told, and that is all. */
  async runOverLimit(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Promise<CompressedEvent | null> {
    try {
      return await this.#run(promptId, pendingTokens, options);
    } catch (thrown) {
      options.signal?.throwIfAborted();
      this.#options.tellFailure(asError(thrown));
      return null;
    }
  }

  /** Compresses unless that would lead nowhere. */
  async #run(
    promptId: string,
    pendingTokens: number,
    options: AbortOptions,
  ): Promise<CompressedEvent> {
    const { parts, guard, isDue, compress, tellHeld } = this.#options;
    const reason = guard.holdReason(parts.history.getTotalTokens());
    if (reason !== null) {
      const event = heldCompression(parts, reason);
      tellHeld(event);
      return event;
    }
    try {
      const event = await compress(promptId, options);
      guard.noteEnd(event.tokensAfter, !isDue(pendingTokens));
      return event;
    } catch (error) {
      if (options.signal?.aborted !== true) guard.noteFailure();
      throw error;
    }
  }
}
