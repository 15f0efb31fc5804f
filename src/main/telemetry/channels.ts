// The diagnostics channels: what ctxfold reports to monitoring, and how a session publishes it. Messages contain numbers, ids,
// codes and names of tasks, steps and strategies, never content of a history. Publishing has no effect on the session.

import { channel } from 'node:diagnostics_channel';
import { causesOf, CtxfoldError, ERROR_CODES, isError, textOf } from '../../shared/errors.js';
import type { ErrorCode } from '../../shared/errors.js';
import type { HistoryService } from '../history-service.js';
import type {
  CacheMissCause,
  CacheMissedEvent,
  StepReport,
  CompressionOutcome,
  CompressedEvent,
  FittedEvent,
  PrunedEvent,
} from '../preflight/session-events.js';
import type { CompressionStrategyName } from '../strategies/strategy.js';

/** The code of an error of this package; `UNKNOWN` for all others. */
export type FailureCode = ErrorCode | 'UNKNOWN';

/** A completed piece of heavy work: a density pass, a counted batch, a planned compression. */
export interface PassMessage {
  readonly sessionId: string;
  /** `open` moves a whole history to the thread that keeps it from then on. */
  readonly task: 'optimize' | 'count' | 'compress' | 'open';
  /** On the worker that keeps the history, on a worker that was sent a copy, or on the calling thread. */
  readonly ranOn: 'resident' | 'snapshot' | 'inline';
  /** Entries of the history, or of the counted batch. */
  readonly entries: number;
  /** Time spent waiting for a free thread, in milliseconds. */
  readonly queueMs: number;
  /** Run time of the task, in milliseconds. */
  readonly runMs: number;
  /** Remaining wall time, in milliseconds. */
  readonly transferMs: number;
  /** Time for which the calling thread was blocked, in milliseconds. */
  readonly mainThreadMs: number;
  /** Approximate size of the posted text, in UTF-16 units; 0 if nothing was posted. */
  readonly bytesSent: number;
}

/** Work meant for a worker ran on the calling thread because workers failed, or tokens were estimated. */
export interface FallbackMessage {
  readonly sessionId: string;
  readonly task: PassMessage['task'] | 'send';
  /** The code of the last failure. */
  readonly code: FailureCode;
  /** Message of the innermost ctxfold error. Foreign messages are only in the `fallback` event. */
  readonly cause: string;
  /** Attempts made on workers before. */
  readonly attempts: number;
}

/** An edit of a preflight that landed, or a step that ended otherwise. */
export interface CompactionMessage {
  readonly sessionId: string;
  /** Pruning, compressing, or the last resort over the hard limit. */
  readonly step: 'pruned' | 'compressed' | 'fitted';
  /** Absent for `fitted`, which needs no strategy. */
  readonly strategy?: CompressionStrategyName;
  /** `applied`: the edit landed. Otherwise the history is unchanged. */
  readonly outcome: CompressionOutcome | 'failed' | 'aborted';
  /** Why it failed. */
  readonly code?: FailureCode;
  /** The configured strategy and its failure, if another was used instead. */
  readonly fallbackFrom?: {
    readonly strategy: CompressionStrategyName;
    readonly code: FailureCode;
  };
  /** The most recently named model of the session, if any. */
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
  /** The caller. */
  readonly source: string;
  /** Tokens that the request holds besides the history. */
  readonly pendingTokens: number;
  /** Tokens of the history afterwards. */
  readonly totalTokens: number;
  /** Duration, without waiting for an earlier preflight of the session. */
  readonly durationMs: number;
  readonly outcome: 'done' | 'aborted' | 'failed';
  /** Why it failed. */
  readonly code?: FailureCode;
}

/** A request read much less from the provider's cache than it could have. */
export interface CacheMissMessage {
  readonly sessionId: string;
  /** The most recently named model of the session, if any. */
  readonly modelName?: string;
  readonly cause: CacheMissCause;
  /** What could have been read, in the model's own tokens. */
  readonly expectedTokens: number;
  readonly readTokens: number;
}

/** Messages by channel name. */
export interface TelemetryMessages {
  readonly 'ctxfold:pass': PassMessage;
  readonly 'ctxfold:fallback': FallbackMessage;
  readonly 'ctxfold:compaction': CompactionMessage;
  readonly 'ctxfold:preflight': PreflightMessage;
  readonly 'ctxfold:cache-miss': CacheMissMessage;
}

/**
 * Publishes the result of `build`, which is called only if there is a subscriber. A subscriber that throws affects neither the
 * others nor the publisher: Node raises an uncaught exception afterwards.
 */
export function publish<Name extends keyof TelemetryMessages>(
  name: Name,
  build: () => TelemetryMessages[Name],
): void {
  const target = channel(name);
  if (target.hasSubscribers) target.publish(build());
}

/** Returns the innermost ctxfold error in a chain of causes. Its message contains no content; foreign messages might. */
export function innermostFailure(error: Error): Error {
  return [...causesOf(error)].findLast((link) => link instanceof CtxfoldError) ?? error;
}

/** Returns the code that messages use for a failure. Codes of foreign errors are not passed on: they could say anything. */
export function failureCode(thrown: unknown): FailureCode {
  const code = isError(thrown) ? textOf(thrown, 'code') : undefined;
  return ERROR_CODES.find((known) => known === code) ?? 'UNKNOWN';
}

/** The session that messages are about. */
interface ReportedSession {
  readonly sessionId: string;
  readonly history: Pick<HistoryService, 'getTotalTokens' | 'modelName'>;
}

/** What identifies a preflight. */
type PreflightDetails = Pick<PreflightMessage, 'promptId' | 'source' | 'pendingTokens'> & {
  readonly signal?: AbortSignal | undefined;
};

/** Publishes the outcome of a running preflight. Settles like `running`. */
export async function watchPreflight<Result>(
  { sessionId, history }: ReportedSession,
  { promptId, source, pendingTokens, signal }: PreflightDetails,
  running: Promise<Result>,
): Promise<Result> {
  const start = performance.now();
  const publishEnd = (end: Pick<PreflightMessage, 'outcome' | 'code'>): void => {
    publish('ctxfold:preflight', () => ({
      sessionId,
      promptId,
      source,
      pendingTokens,
      totalTokens: history.getTotalTokens(),
      durationMs: performance.now() - start,
      ...end,
    }));
  };
  try {
    const result = await running;
    publishEnd({ outcome: 'done' });
    return result;
  } catch (thrown) {
    publishEnd(endOf(thrown, signal?.aborted === true));
    throw thrown;
  }
}

/**
 * Publishes the outcome of a step, unless it had nothing to do. An edit that landed counts, even if something failed
 * afterwards.
 */
export function publishStep({ sessionId, history }: ReportedSession, report: StepReport): void {
  if (report.step === 'none' || report.event === null) return;
  const { step, event, failure, isAborted, startTimeMs, durationMs } = report;
  const strategy = 'strategy' in report ? report.strategy : undefined;
  const { modelName } = history;
  publish('ctxfold:compaction', () => {
    const tokens = history.getTotalTokens();
    return {
      sessionId,
      step,
      ...(strategy !== undefined && { strategy }),
      ...(modelName !== undefined && { modelName }),
      ...(event === undefined
        ? { tokensBefore: tokens, tokensAfter: tokens, ...endOf(failure?.thrown, isAborted) }
        : endingOf(event)),
      startTimeMs,
      durationMs,
    };
  });
}

/** Publishes a cache miss, without the provider's reason: that is foreign text. */
export function publishCacheMiss(
  { sessionId, history: { modelName } }: ReportedSession,
  { cause, expectedTokens, readTokens }: CacheMissedEvent,
): void {
  publish('ctxfold:cache-miss', () => ({
    sessionId,
    ...(modelName !== undefined && { modelName }),
    cause,
    expectedTokens,
    readTokens,
  }));
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

/** An aborted step may reject with anything, so only the signal tells an abort from a failure. */
function endOf(
  thrown: unknown,
  isAborted: boolean,
): { readonly outcome: 'aborted' } | { readonly outcome: 'failed'; readonly code: FailureCode } {
  return isAborted ? { outcome: 'aborted' } : { outcome: 'failed', code: failureCode(thrown) };
}
