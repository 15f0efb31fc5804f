// The bridge to OpenTelemetry: makes spans and metrics of what the diagnostics channels say. The one
// file that imports @opentelemetry/api, which only those who import this need to have.

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

/** Where spans and metrics go. */
export interface InstrumentCtxfoldOptions {
  /** @default the tracer `ctxfold` of the global provider */
  readonly tracer?: Tracer | undefined;
  /** @default the meter `ctxfold` of the global provider; that must have been set before */
  readonly meter?: Meter | undefined;
}

/**
 * Makes a span `compact_context` of every step of a preflight, under the span that is active
 * there, and keeps metrics. Covers all sessions of the process. Nothing of what a history says is in
 * them, and ids of sessions are in spans only. What a tracer or a meter throws is told to `diag` once for each
 * kind of message, and fails nothing.
 *
 * @returns ends it; may be called again
 * @throws TypeError for what is no tracer or no meter
 */
export function instrumentCtxfold(options: InstrumentCtxfoldOptions = {}): () => void {
  const tracer = options.tracer ?? trace.getTracer(names.SCOPE_NAME);
  const meter = options.meter ?? metrics.getMeter(names.SCOPE_NAME);
  assertTracer(tracer);
  const instruments = instrumentsOf(meter);
  const passes = new PassLedger();
  const listen = listenerOf(new Complaints());
  const ends = [
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
    for (const end of ends) end();
  };
}

type Listen = <Name extends keyof TelemetryMessages>(
  name: Name,
  ...takers: readonly ((message: TelemetryMessages[Name]) => void)[]
) => () => void;

/** Each taker gets each message, whatever another one does with it. */
function listenerOf(complaints: Complaints): Listen {
  return (name, ...takers) => {
    const listener = (message: unknown): void => {
      for (const take of takers) {
        try {
          take(message as Parameters<typeof take>[0]);
        } catch (error) {
          // Thrown on, it would be an uncaught exception: monitoring must not end what it watches.
          complaints.tell(name, error);
        }
      }
    };
    subscribe(name, listener);
    return () => {
      unsubscribe(name, listener);
    };
  };
}

/** Tells of each kind of message once that it was lost: what fails once fails with every turn. */
class Complaints {
  readonly #told = new Set<string>();

  tell(name: string, error: unknown): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    try {
      diag.error(
        `${names.SCOPE_NAME}: a message of ${name} was lost; others may be, untold`,
        error,
      );
    } catch {
      // There is nobody else to tell.
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

/** From a quick pass to a summary by a slow model. */
const STEP_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300];

/** What an event loop can be kept busy for: hardly noticed, a frame, a request, an alarm. */
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

/** A compression that was held took no time and did nothing. */
function wasHeld({ outcome }: CompactionMessage): boolean {
  return outcome === 'held';
}

function recordSpan(
  tracer: Tracer,
  message: CompactionMessage,
  times: PassTimes | undefined,
): void {
  const { startTimeMs, durationMs, outcome, code } = message;
  // Called where the step ended, so that the active span is the one that the step ran in.
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
  // A counter only goes up; what was added while the step ran can outweigh what it took.
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

/** The conventions have a name of their own for an error that has none. */
function errorType(code: FailureCode | undefined): string | undefined {
  return code === 'UNKNOWN' ? '_OTHER' : code;
}

function withoutUndefined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
