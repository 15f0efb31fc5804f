// Tells monitoring what one session does in its preflights: publishes how they and their steps ended. It has no effect
// on what it is told of.

import type { HistoryService } from '../history-service.js';
import type { CacheMissedEvent } from '../preflight/cache-misses.js';
import type { StepReport } from '../preflight/preflight.js';
import type { CompressedEvent, FittedEvent, PrunedEvent } from '../preflight/session-events.js';
import { failureCode, publishCacheMiss, publishCompaction, publishPreflight } from './channels.js';
import type { CompactionMessage, PreflightMessage } from './channels.js';

/** Whose telemetry it is. */
export interface SessionTelemetryOptions {
  readonly sessionId: string;
  readonly history: Pick<HistoryService, 'getTotalTokens' | 'modelName'>;
}

/** What a preflight is known by. */
export type PreflightDetails = Pick<PreflightMessage, 'promptId' | 'source' | 'pendingTokens'> & {
  readonly signal?: AbortSignal | undefined;
};

/** Publishes what one session does. */
export class SessionTelemetry {
  readonly #sessionId: string;
  readonly #history: SessionTelemetryOptions['history'];

  constructor(options: SessionTelemetryOptions) {
    this.#sessionId = options.sessionId;
    this.#history = options.history;
  }

  /** Publishes the end of a preflight that has just begun. Settles as that does. */
  async watchPreflight<Result>(
    details: PreflightDetails,
    running: Promise<Result>,
  ): Promise<Result> {
    const start = performance.now();
    try {
      const result = await running;
      this.#publishPreflight(details, start, { outcome: 'done' });
      return result;
    } catch (thrown) {
      const isAborted = details.signal?.aborted === true;
      this.#publishPreflight(details, start, endOf(thrown, isAborted));
      throw thrown;
    }
  }

  /** Publishes how a step ended, unless it had nothing to do. An edit that has landed counts, whatever failed after it. */
  noteStep(report: StepReport): void {
    if (report.step === 'none' || report.event === null) return;
    const { step, event, failure, isAborted, startTimeMs, durationMs } = report;
    const strategy = 'strategy' in report ? report.strategy : undefined;
    const { modelName } = this.#history;
    publishCompaction(() => ({
      sessionId: this.#sessionId,
      step,
      ...(strategy !== undefined && { strategy }),
      ...(modelName !== undefined && { modelName }),
      ...(event === undefined
        ? { ...this.#unchangedTokens(), ...endOf(failure?.thrown, isAborted) }
        : endingOf(event)),
      startTimeMs,
      durationMs,
    }));
  }

  /** Publishes a miss of the cache, without the provider's reason: that is foreign text. */
  noteCacheMiss({ cause, expectedTokens, readTokens }: CacheMissedEvent): void {
    const { modelName } = this.#history;
    publishCacheMiss(() => ({
      sessionId: this.#sessionId,
      ...(modelName !== undefined && { modelName }),
      ...{ cause, expectedTokens, readTokens },
    }));
  }

  #unchangedTokens(): Pick<CompactionMessage, 'tokensBefore' | 'tokensAfter'> {
    const tokens = this.#history.getTotalTokens();
    return { tokensBefore: tokens, tokensAfter: tokens };
  }

  #publishPreflight(
    { promptId, source, pendingTokens }: PreflightDetails,
    start: number,
    end: Pick<PreflightMessage, 'outcome' | 'code'>,
  ): void {
    publishPreflight(() => ({
      sessionId: this.#sessionId,
      promptId,
      source,
      pendingTokens,
      totalTokens: this.#history.getTotalTokens(),
      durationMs: performance.now() - start,
      ...end,
    }));
  }
}

type Ending = Omit<
  CompactionMessage,
  'sessionId' | 'step' | 'modelName' | 'startTimeMs' | 'durationMs'
>;

function endingOf(event: PrunedEvent | CompressedEvent | FittedEvent): Ending {
  const { tokensBefore, tokensAfter } = event;
  if ('changes' in event) {
    const changedEntries = event.changes.length;
    return { outcome: 'applied', tokensBefore, tokensAfter, changedEntries };
  }
  const { strategy, outcome, llmCallMade, entriesBefore, entriesAfter, fallbackFrom } = event;
  return {
    strategy,
    outcome,
    llmCallMade,
    tokensBefore,
    tokensAfter,
    entriesBefore,
    entriesAfter,
    ...(fallbackFrom !== undefined && {
      fallbackFrom: { strategy: fallbackFrom.strategy, code: failureCode(fallbackFrom.error) },
    }),
  };
}

/** An abort rejects with any reason the caller likes: the signal says whether it was one. */
function endOf(
  thrown: unknown,
  isAborted: boolean,
):
  | { readonly outcome: 'aborted' }
  | (Pick<Required<PreflightMessage>, 'code'> & { readonly outcome: 'failed' }) {
  return isAborted ? { outcome: 'aborted' } : { outcome: 'failed', code: failureCode(thrown) };
}
