// The diagnostics channels: what ctxfold tells monitoring, and how it is published. A message holds
// numbers, ids, codes and names of tasks, steps and strategies, and nothing of what a history says.

import { channel } from 'node:diagnostics_channel';
import { CtxfoldError, ERROR_CODES } from '../../shared/errors.js';
import type { ErrorCode } from '../../shared/errors.js';
import type { CacheMissCause, CacheMissedEvent } from '../preflight/cache-misses.js';
import type {
  CompressionOutcome,
  CompressedEvent,
  FittedEvent,
  PrunedEvent,
} from '../preflight/session-events.js';
import type { CompressionStrategyName } from '../strategies/strategy.js';
import type { HistoryService } from '../history-service.js';
import type { StepReport } from '../preflight/preflight.js';

/** The code of an error of this package; `UNKNOWN` stands for all others. */
export type FailureCode = ErrorCode | 'UNKNOWN';

/** A piece of heavy work that was done: a density pass, a batch counted, a compression planned. */
export interface PassMessage {
  readonly sessionId: string;
  /** `open` hands a whole history to the thread that keeps it from then on. */
  readonly task: 'optimize' | 'count' | 'compress' | 'open';
  /** On a worker that keeps the history, on one that was sent it, or on the calling thread. */
  readonly ranOn: 'resident' | 'snapshot' | 'inline';
  /** Entries of the history, or of the batch that was counted. */
  readonly entries: number;
  /** Time that the task waited for a free thread, in milliseconds. */
  readonly queueMs: number;
  /** Time that it ran, where it ran, in milliseconds. */
  readonly runMs: number;
  /** Wall time that was neither waiting nor running, in milliseconds. */
  readonly transferMs: number;
  /** Time for which the calling thread was kept busy, in milliseconds. */
  readonly mainThreadMs: number;
  /** Size of the text that was posted, as an estimate: UTF-16 units. 0 when nothing was posted. */
  readonly bytesSent: number;
}

/** Work meant for a worker ran on the calling thread, because workers failed, or tokens were estimated. */
export interface FallbackMessage {
  readonly sessionId: string;
  readonly task: PassMessage['task'] | 'send';
  /** The code of the last failure. */
  readonly code: FailureCode;
  /** What it came from, in the words of the innermost error that is ctxfold's. Foreign texts stay in the `fallback` event. */
  readonly cause: string;
  /** Attempts made on workers before. */
  readonly attempts: number;
}

/** An edit of a preflight that landed, or a step that was to make one and ended otherwise. */
export interface CompactionMessage {
  readonly sessionId: string;
  /** Pruning, compressing, or the last resort over the hard limit. */
  readonly step: 'pruned' | 'compressed' | 'fitted';
  /** The strategy at work; absent for `fitted`, which needs none. */
  readonly strategy?: CompressionStrategyName;
  /** `applied`: the edit landed. Otherwise the history is as it was. */
  readonly outcome: CompressionOutcome | 'failed' | 'aborted';
  /** Why it failed. */
  readonly code?: FailureCode;
  /** The configured strategy and its failure, when truncation took its place. */
  readonly fallbackFrom?: {
    readonly strategy: CompressionStrategyName;
    readonly code: FailureCode;
  };
  /** The model that the session talks to, as it was named last; absent when nobody named one. */
  readonly modelName?: string;
  /** Tokens of the whole history. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly entriesBefore?: number;
  readonly entriesAfter?: number;
  /** Entries that were removed or replaced. */
  readonly changedEntries?: number;
  readonly llmCallMade?: boolean;
  /** When the step began, in milliseconds since the epoch. */
  readonly startTimeMs: number;
  readonly durationMs: number;
}

/** A preflight that has ended. */
export interface PreflightMessage {
  readonly sessionId: string;
  readonly promptId: string;
  /** Who asked for it. */
  readonly source: string;
  /** Tokens that the request holds besides the history. */
  readonly pendingTokens: number;
  /** Tokens of the history afterwards. */
  readonly totalTokens: number;
  /** Time from its beginning, without waiting for an earlier preflight of the session. */
  readonly durationMs: number;
  readonly outcome: 'done' | 'aborted' | 'failed';
  /** Why it failed. */
  readonly code?: FailureCode;
}

/** A request read much less from the provider's cache than it could have. */
export interface CacheMissMessage {
  readonly sessionId: string;
  /** The model that the session talks to, as it was named last; absent when nobody named one. */
  readonly modelName?: string;
  readonly cause: CacheMissCause;
  /** What was there to read, in the model's own tokens. */
  readonly expectedTokens: number;
  readonly readTokens: number;
}

/** What is published, by the name of its channel. */
export interface TelemetryMessages {
  readonly 'ctxfold:pass': PassMessage;
  readonly 'ctxfold:fallback': FallbackMessage;
  readonly 'ctxfold:compaction': CompactionMessage;
  readonly 'ctxfold:preflight': PreflightMessage;
  readonly 'ctxfold:cache-miss': CacheMissMessage;
}

/**
 * Publishes what `build` returns; it is called only when somebody listens. A listener that throws
 * harms neither the others nor the publisher: Node raises it as an uncaught exception afterwards.
 */
export type Publish<Message> = (build: () => Message) => void;

function publisherOf<Name extends keyof TelemetryMessages>(
  name: Name,
): Publish<TelemetryMessages[Name]> {
  const target = channel(name);
  return (build) => {
    if (target.hasSubscribers) target.publish(build());
  };
}

export const publishPass: Publish<PassMessage> = publisherOf('ctxfold:pass');
export const publishFallback: Publish<FallbackMessage> = publisherOf('ctxfold:fallback');
export const publishCompaction: Publish<CompactionMessage> = publisherOf('ctxfold:compaction');
export const publishPreflight: Publish<PreflightMessage> = publisherOf('ctxfold:preflight');
export const publishCacheMiss: Publish<CacheMissMessage> = publisherOf('ctxfold:cache-miss');

/** The innermost error of ctxfold's own in a chain of causes: its message holds no content, as what others throw may. */
export function innermostFailure(error: Error): Error {
  let innermost = error;
  for (let link: unknown = error, depth = 0; depth < MAX_CAUSES; depth += 1) {
    if (!(link instanceof Error)) break;
    if (link instanceof CtxfoldError) innermost = link;
    link = link.cause;
  }
  return innermost;
}

const MAX_CAUSES = 8;

/** The code that messages name a failure by. Codes of foreign errors could say anything, and are not passed on. */
export function failureCode(thrown: unknown): FailureCode {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return ERROR_CODES.find((known) => known === code) ?? 'UNKNOWN';
}

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
