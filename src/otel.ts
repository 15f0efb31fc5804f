// The bridge to OpenTelemetry: converts messages of the diagnostics channels to spans and metrics. The only file that imports
// @opentelemetry/api, which is an optional peer dependency. Attribute names are literals: the package of constants marks those for
// generative AI as deprecated, and recommends copying them. Durations are in seconds, as the semantic conventions require.

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
import { withoutUndefined } from './shared/json.js';
import { readOptions } from './shared/misuse.js';

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
 * @returns a function that stops the instrumentation; idempotent
 * @throws TypeError for an invalid tracer or meter; RangeError for an unknown option
 */
export function instrumentCtxfold(options: InstrumentCtxfoldOptions = {}): () => void {
  const { tracer = trace.getTracer('ctxfold'), meter = metrics.getMeter('ctxfold') } = readOptions(
    'options',
    options,
    { tracer: null, meter: null },
  );
  assertTracer(tracer);
  const instruments = instrumentsOf(meter);
  const passes = new PassLedger();
  const listen = listenerOf(lossReporter());
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
      instruments.cacheMisses.add(1, { 'ctxfold.cache.miss_cause': cause });
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

/** Returns a function that subscribes handlers to a channel. For each message, all of them are called, even if one throws. */
function listenerOf(reportLoss: ReturnType<typeof lossReporter>): Listen {
  return (name, ...handlers) => {
    const listener = (message: unknown): void => {
      for (const handle of handlers) {
        try {
          handle(message as Parameters<typeof handle>[0]);
        } catch (error) {
          // Rethrown, it would be an uncaught exception: monitoring must not end the process.
          reportLoss(name, error);
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
function lossReporter(): (name: string, error: unknown) => void {
  const reported = new Set<string>();
  return (name, error) => {
    if (reported.has(name)) return;
    reported.add(name);
    try {
      diag.error(`ctxfold: a message of ${name} was lost; others may be, untold`, error);
    } catch {
      // There is no other way to report it.
    }
  };
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

/** Histogram buckets in seconds, from a quick pass to a summary by a slow model. */
const STEP_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300];

/** Histogram buckets in seconds for blocking the event loop, from imperceptible to critical. */
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
      'ctxfold.compaction.duration',
      inSeconds('Time that a step of a preflight took.', STEP_SECONDS),
    ),
    preflightDuration: meter.createHistogram(
      'ctxfold.preflight.duration',
      inSeconds('Time that a preflight took.', STEP_SECONDS),
    ),
    passMainThread: meter.createHistogram(
      'ctxfold.pass.main_thread',
      inSeconds('Time for which a pass kept the calling thread busy.', BUSY_SECONDS),
    ),
    tokensReclaimed: meter.createCounter('ctxfold.tokens.reclaimed', {
      description: 'Tokens that edits took out of histories.',
      unit: '{token}',
    }),
    fallbacks: meter.createCounter('ctxfold.fallbacks', {
      description: 'Tasks that ran on the calling thread because workers failed.',
      unit: '{fallback}',
    }),
    cacheMisses: meter.createCounter('ctxfold.cache.misses', {
      description: "Requests that read much less from the provider's cache than they could have.",
      unit: '{miss}',
    }),
  };
}

function inSeconds(description: string, explicitBucketBoundaries: number[]): MetricOptions {
  return { description, unit: 's', advice: { explicitBucketBoundaries } };
}

/** Whether a compression was held back, so that there is nothing to record. */
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
  const span = tracer.startSpan('compact_context', {
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
    'gen_ai.conversation.id': message.sessionId,
    'gen_ai.request.model': message.modelName,
    'gen_ai.conversation.compacted': message.outcome === 'applied' ? true : undefined,
    ...stepAttributes(message),
    'ctxfold.fallback.strategy': fallbackFrom?.strategy,
    'ctxfold.fallback.code': fallbackFrom?.code,
    'ctxfold.llm_call_made': message.llmCallMade,
    'ctxfold.tokens.before': tokensBefore,
    'ctxfold.tokens.after': tokensAfter,
    'ctxfold.reclaimed': tokensBefore - tokensAfter,
    'ctxfold.entries.before': message.entriesBefore,
    'ctxfold.entries.after': message.entriesAfter,
    'ctxfold.entries.changed': message.changedEntries,
    'ctxfold.worker.run_ms': times?.workerRunMs,
    'ctxfold.main_thread.ms': times?.mainThreadMs,
  });
}

function recordCompaction(instruments: Instruments, message: CompactionMessage): void {
  const attributes = stepAttributes(message);
  instruments.compactionDuration.record(message.durationMs / 1_000, attributes);
  const reclaimed = message.tokensBefore - message.tokensAfter;
  // Counters must not decrease: content added while the step ran can exceed what it removed.
  if (message.outcome === 'applied' && reclaimed > 0) {
    const { 'ctxfold.outcome': _, ...labels } = attributes;
    instruments.tokensReclaimed.add(reclaimed, labels);
  }
}

function recordPass(instruments: Instruments, { task, ranOn, mainThreadMs }: PassMessage): void {
  instruments.passMainThread.record(mainThreadMs / 1_000, {
    'ctxfold.task': task,
    'ctxfold.ran_on': ranOn,
  });
}

function recordFallback(instruments: Instruments, { task, code }: FallbackMessage): void {
  instruments.fallbacks.add(1, {
    'ctxfold.task': task,
    'error.type': errorType(code),
  });
}

function recordPreflight(instruments: Instruments, message: PreflightMessage): void {
  const { durationMs, outcome, code } = message;
  instruments.preflightDuration.record(
    durationMs / 1_000,
    withoutUndefined({
      'ctxfold.outcome': outcome,
      'error.type': errorType(code),
    }),
  );
}

function stepAttributes({ step, strategy, outcome, code }: CompactionMessage): Attributes {
  return withoutUndefined({
    'ctxfold.step': step,
    'ctxfold.strategy': strategy,
    'ctxfold.outcome': outcome,
    'error.type': errorType(code),
  });
}

/** Returns the attribute `error.type`. The semantic conventions define `_OTHER` for errors without a type. */
function errorType(code: FailureCode | undefined): string | undefined {
  return code === 'UNKNOWN' ? '_OTHER' : code;
}
