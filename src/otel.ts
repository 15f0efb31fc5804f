// The bridge to OpenTelemetry: converts messages of the diagnostics channels to spans and metrics. The only
// file that imports @opentelemetry/api, which is an optional peer dependency.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { diag, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type {
  Attributes,
  Counter,
  Histogram,
  Meter,
  MetricOptions,
  Tracer,
} from '@opentelemetry/api';
import type {
  CompactionMessage,
  FailureCode,
  FallbackMessage,
  PassMessage,
  TelemetryMessages,
  PreflightMessage,
} from './main/telemetry/channels.js';
import { PassLedger } from './main/telemetry/pass-ledger.js';
import type { PassTimes } from './main/telemetry/pass-ledger.js';
import * as names from './main/telemetry/semantic-names.js';
import { withoutUndefined } from './shared/json.js';

/** The destination of spans and metrics. */
export interface InstrumentCtxfoldOptions {
  /** @default the tracer `ctxfold` of the global provider */
  readonly tracer?: Tracer | undefined;
  /** @default the meter `ctxfold` of the global provider, which must have been set before */
  readonly meter?: Meter | undefined;
}

/**
 * Creates a span `compact_context` for every step of a preflight, as a child of the active span, and records metrics. Covers
 * all sessions of the process. Spans and metrics contain no content, and only spans contain session ids. Errors of a tracer or
 * a meter are logged by `diag` once per channel, and have no other effect.
 *
 * @returns a function that stops it; idempotent
 * @throws TypeError for an invalid tracer or meter
 */
export function instrumentCtxfold(options: InstrumentCtxfoldOptions = {}): () => void {
  const tracer = options.tracer ?? trace.getTracer(names.SCOPE_NAME);
  const meter = options.meter ?? metrics.getMeter(names.SCOPE_NAME);
  assertTracer(tracer);
  const instruments = instrumentsOf(meter);
  const passes = new PassLedger();
  const listen = listenerOf(new LossReporter());
  const stops = [
    listen('ctxfold:pass', (message) => {
      passes.add(message);
      recordPass(instruments, message);
    }),
    listen('ctxfold:fallback', (message) => {
      recordFallback(instruments, message);
    }),
    listen(
      'ctxfold:compaction',
      (message) => {
        const times = passes.take(message.sessionId, message.step);
        if (!wasHeld(message)) recordSpan(tracer, message, times);
      },
      (message) => {
        if (!wasHeld(message)) recordCompaction(instruments, message);
      },
    ),
    listen('ctxfold:preflight', (message) => {
      passes.close(message.sessionId);
      recordPreflight(instruments, message);
    }),
    listen('ctxfold:cache-miss', ({ cause }) => {
      instruments.cacheMisses.add(1, { [names.ATTRIBUTE_CACHE_MISS_CAUSE]: cause });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

type Listen = <Name extends keyof TelemetryMessages>(
  name: Name,
  ...handlers: readonly ((message: TelemetryMessages[Name]) => void)[]
) => () => void;

/** Calls all handlers, even if one throws. */
function listenerOf(losses: LossReporter): Listen {
  return (name, ...handlers) => {
    const listener = (message: unknown): void => {
      for (const handle of handlers) {
        try {
          handle(message as Parameters<typeof handle>[0]);
        } catch (error) {
          // Rethrown, it would be an uncaught exception: monitoring must not end the process.
          losses.report(name, error);
        }
      }
    };
    subscribe(name, listener);
    return () => {
      unsubscribe(name, listener);
    };
  };
}

/** Reports a lost message once per channel, because the same error would recur with every turn. */
class LossReporter {
  readonly #reported = new Set<string>();

  report(name: string, error: unknown): void {
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    try {
      diag.error(
        `${names.SCOPE_NAME}: a message of ${name} was lost; others may be, untold`,
        error,
      );
    } catch {
      // There is no other way to report it.
    }
  }
}

function assertTracer(tracer: Tracer): void {
  let isTracer: boolean;
  try {
    isTracer = typeof tracer.startSpan === 'function';
  } catch (cause) {
    throw new TypeError('Expected a tracer of OpenTelemetry, got what throws.', { cause });
  }
  if (!isTracer) throw new TypeError('Expected a tracer of OpenTelemetry, with startSpan.');
}

interface Instruments {
  readonly compactionDuration: Histogram;
  readonly preflightDuration: Histogram;
  readonly passMainThread: Histogram;
  readonly tokensReclaimed: Counter;
  readonly fallbacks: Counter;
  readonly cacheMisses: Counter;
}

/** Buckets from a quick pass to a summary by a slow model. */
const STEP_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300];

/** Buckets for blocking the event loop, from imperceptible to critical. */
const BUSY_SECONDS = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1];

function instrumentsOf(meter: Meter): Instruments {
  try {
    return createInstruments(meter);
  } catch (cause) {
    const methods = 'createHistogram and createCounter';
    throw new TypeError(`Expected a meter of OpenTelemetry, with ${methods}.`, { cause });
  }
}

function createInstruments(meter: Meter): Instruments {
  return {
    compactionDuration: meter.createHistogram(
      names.METRIC_COMPACTION_DURATION,
      inSeconds('Time that a step of a preflight took.', STEP_SECONDS),
    ),
    preflightDuration: meter.createHistogram(
      names.METRIC_PREFLIGHT_DURATION,
      inSeconds('Time that a preflight took.', STEP_SECONDS),
    ),
    passMainThread: meter.createHistogram(
      names.METRIC_PASS_MAIN_THREAD,
      inSeconds('Time for which a pass kept the calling thread busy.', BUSY_SECONDS),
    ),
    tokensReclaimed: meter.createCounter(names.METRIC_TOKENS_RECLAIMED, {
      description: 'Tokens that edits took out of histories.',
      unit: '{token}',
    }),
    fallbacks: meter.createCounter(names.METRIC_FALLBACKS, {
      description: 'Tasks that ran on the calling thread because workers failed.',
      unit: '{fallback}',
    }),
    cacheMisses: meter.createCounter(names.METRIC_CACHE_MISSES, {
      description: "Requests that read much less from the provider's cache than they could have.",
      unit: '{miss}',
    }),
  };
}

function inSeconds(description: string, explicitBucketBoundaries: number[]): MetricOptions {
  return { description, unit: 's', advice: { explicitBucketBoundaries } };
}

/** Whether a compression was held, so that there is nothing to record. */
function wasHeld({ outcome }: CompactionMessage): boolean {
  return outcome === 'held';
}

function recordSpan(
  tracer: Tracer,
  message: CompactionMessage,
  times: PassTimes | undefined,
): void {
  const { startTimeMs, durationMs, outcome, code } = message;
  // Called synchronously at the end of the step, so the active span is its parent.
  const span = tracer.startSpan(names.SPAN_COMPACT_CONTEXT, {
    kind: SpanKind.INTERNAL,
    startTime: startTimeMs,
    attributes: spanAttributes(message, times),
  });
  if (outcome === 'failed') {
    span.setStatus({ code: SpanStatusCode.ERROR, message: code ?? 'UNKNOWN' });
  }
  span.end(startTimeMs + durationMs);
}

function spanAttributes(message: CompactionMessage, times: PassTimes | undefined): Attributes {
  const { tokensBefore, tokensAfter, fallbackFrom } = message;
  return withoutUndefined({
    [names.ATTRIBUTE_CONVERSATION_ID]: message.sessionId,
    [names.ATTRIBUTE_REQUEST_MODEL]: message.modelName,
    [names.ATTRIBUTE_CONVERSATION_COMPACTED]: message.outcome === 'applied' ? true : undefined,
    ...stepAttributes(message),
    [names.ATTRIBUTE_FALLBACK_STRATEGY]: fallbackFrom?.strategy,
    [names.ATTRIBUTE_FALLBACK_CODE]: fallbackFrom?.code,
    [names.ATTRIBUTE_LLM_CALL_MADE]: message.llmCallMade,
    [names.ATTRIBUTE_TOKENS_BEFORE]: tokensBefore,
    [names.ATTRIBUTE_TOKENS_AFTER]: tokensAfter,
    [names.ATTRIBUTE_RECLAIMED]: tokensBefore - tokensAfter,
    [names.ATTRIBUTE_ENTRIES_BEFORE]: message.entriesBefore,
    [names.ATTRIBUTE_ENTRIES_AFTER]: message.entriesAfter,
    [names.ATTRIBUTE_ENTRIES_CHANGED]: message.changedEntries,
    [names.ATTRIBUTE_WORKER_RUN_MS]: times?.workerRunMs,
    [names.ATTRIBUTE_MAIN_THREAD_MS]: times?.mainThreadMs,
  });
}

function recordCompaction(instruments: Instruments, message: CompactionMessage): void {
  const attributes = stepAttributes(message);
  instruments.compactionDuration.record(message.durationMs / 1_000, attributes);
  const reclaimed = message.tokensBefore - message.tokensAfter;
  // Counters must not decrease: content added while the step ran can exceed what it removed.
  if (message.outcome === 'applied' && reclaimed > 0) {
    const { [names.ATTRIBUTE_OUTCOME]: _, ...labels } = attributes;
    instruments.tokensReclaimed.add(reclaimed, labels);
  }
}

function recordPass(instruments: Instruments, { task, ranOn, mainThreadMs }: PassMessage): void {
  instruments.passMainThread.record(mainThreadMs / 1_000, {
    [names.ATTRIBUTE_TASK]: task,
    [names.ATTRIBUTE_RAN_ON]: ranOn,
  });
}

function recordFallback(instruments: Instruments, { task, code }: FallbackMessage): void {
  instruments.fallbacks.add(1, {
    [names.ATTRIBUTE_TASK]: task,
    [names.ATTRIBUTE_ERROR_TYPE]: errorType(code),
  });
}

function recordPreflight(instruments: Instruments, message: PreflightMessage): void {
  const { durationMs, outcome, code } = message;
  instruments.preflightDuration.record(
    durationMs / 1_000,
    withoutUndefined({
      [names.ATTRIBUTE_OUTCOME]: outcome,
      [names.ATTRIBUTE_ERROR_TYPE]: errorType(code),
    }),
  );
}

function stepAttributes({ step, strategy, outcome, code }: CompactionMessage): Attributes {
  return withoutUndefined({
    [names.ATTRIBUTE_STEP]: step,
    [names.ATTRIBUTE_STRATEGY]: strategy,
    [names.ATTRIBUTE_OUTCOME]: outcome,
    [names.ATTRIBUTE_ERROR_TYPE]: errorType(code),
  });
}

/** The semantic conventions have `_OTHER` for errors without a type. */
function errorType(code: FailureCode | undefined): string | undefined {
  return code === 'UNKNOWN' ? '_OTHER' : code;
}
