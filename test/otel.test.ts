// Spans and metrics of OpenTelemetry, for hand-made messages and for the preflights of a session.

import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import {
  context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Context, ContextManager, DiagLogger, Meter, Tracer } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { Histogram, MetricData } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Mock } from 'vitest';

import { publish } from '../src/main/telemetry/channels.js';
import type {
  CompactionMessage,
  PassMessage,
  PreflightMessage,
} from '../src/main/telemetry/channels.js';
import { instrumentCtxfold } from '../src/otel.js';
import { CompressionExecutionError } from '../src/shared/errors.js';
import { HOSTILE_VALUES } from './support/hostile-values.js';
import {
  entries,
  keepLast,
  openNoted,
  openSession,
  outcomeOf,
  strategyOf,
} from './support/session-bench.js';

const COMPACTION: CompactionMessage = {
  sessionId: 's1',
  step: 'compressed',
  strategy: 'one-shot',
  outcome: 'applied',
  modelName: 'some-model',
  llmCallMade: true,
  tokensBefore: 1_000,
  tokensAfter: 400,
  entriesBefore: 50,
  entriesAfter: 9,
  startTimeMs: Date.UTC(2025, 0, 1),
  durationMs: 1_500,
};

const PASS: PassMessage = {
  sessionId: 's1',
  task: 'compress',
  ranOn: 'resident',
  entries: 50,
  queueMs: 1,
  runMs: 20,
  transferMs: 2,
  mainThreadMs: 4,
  bytesSent: 300,
};

const WINDOW: PreflightMessage = {
  sessionId: 's1',
  promptId: 'p1',
  source: 'send',
  pendingTokens: 3,
  totalTokens: 400,
  durationMs: 2_000,
  outcome: 'done',
};

interface Watch {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly spans: () => readonly ReadableSpan[];
  /** Every data point of a metric, with its attributes and value. */
  readonly points: (name: string) => Promise<readonly Point[]>;
  readonly metric: (name: string) => Promise<MetricData | undefined>;
  readonly stop: () => void;
}

type Point = readonly [attributes: object, value: unknown];

/** Instruments with their own exporters. */
function watch(): Watch {
  const spanExporter = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  }).getTracer('test');
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const provider = new MeterProvider({ readers: [reader] });
  const meter = provider.getMeter('test');
  const stop = instrumentCtxfold({ tracer, meter });
  onTestFinished(async () => {
    stop();
    await provider.shutdown();
  });
  const metric = async (name: string): Promise<MetricData | undefined> => {
    metricExporter.reset();
    await provider.forceFlush();
    const [collected] = metricExporter.getMetrics();
    return collected?.scopeMetrics[0]?.metrics.find(({ descriptor }) => descriptor.name === name);
  };
  const points = async (name: string): Promise<readonly Point[]> =>
    ((await metric(name))?.dataPoints ?? []).map(({ attributes, value }) => [
      attributes,
      typeof value === 'number' ? value : (value as Histogram).sum,
    ]);
  return { tracer, meter, spans: () => spanExporter.getFinishedSpans(), points, metric, stop };
}

describe('instrumentCtxfold', () => {
  it('makes a span for a compaction, with its times and numbers', () => {
    const { spans } = watch();
    publish('ctxfold:compaction', () => COMPACTION);
    const [span] = spans();
    expect(span).toMatchObject({
      name: 'compact_context',
      kind: 0,
      startTime: [Date.UTC(2025, 0, 1) / 1_000, 0],
      endTime: [Date.UTC(2025, 0, 1) / 1_000 + 1, 500_000_000],
      status: { code: SpanStatusCode.UNSET },
    });
    expect(span?.attributes).toEqual({
      'gen_ai.conversation.id': 's1',
      'gen_ai.request.model': 'some-model',
      'gen_ai.conversation.compacted': true,
      'ctxfold.step': 'compressed',
      'ctxfold.strategy': 'one-shot',
      'ctxfold.outcome': 'applied',
      'ctxfold.llm_call_made': true,
      'ctxfold.tokens.before': 1_000,
      'ctxfold.tokens.after': 400,
      'ctxfold.reclaimed': 600,
      'ctxfold.entries.before': 50,
      'ctxfold.entries.after': 9,
    });
  });

  it('omits unknown attributes', () => {
    const { spans } = watch();
    publish('ctxfold:compaction', () => ({
      sessionId: 's1',
      step: 'fitted',
      outcome: 'applied',
      tokensBefore: 10,
      tokensAfter: 4,
      changedEntries: 2,
      startTimeMs: 0,
      durationMs: 1,
    }));
    expect(spans()[0]?.attributes).toEqual({
      'gen_ai.conversation.id': 's1',
      'gen_ai.conversation.compacted': true,
      'ctxfold.step': 'fitted',
      'ctxfold.outcome': 'applied',
      'ctxfold.tokens.before': 10,
      'ctxfold.tokens.after': 4,
      'ctxfold.reclaimed': 6,
      'ctxfold.entries.changed': 2,
    });
  });

  it('marks the span of a failure as an error, with its code', () => {
    const { spans } = watch();
    publish('ctxfold:compaction', () => ({
      ...COMPACTION,
      outcome: 'failed',
      code: 'SUMMARIZER_TIMEOUT',
    }));
    publish('ctxfold:compaction', () => ({ ...COMPACTION, outcome: 'failed', code: 'UNKNOWN' }));
    expect(spans().map(({ status }) => status)).toEqual([
      { code: SpanStatusCode.ERROR, message: 'SUMMARIZER_TIMEOUT' },
      { code: SpanStatusCode.ERROR, message: 'UNKNOWN' },
    ]);
    expect(spans().map(({ attributes }) => attributes['error.type'])).toEqual([
      'SUMMARIZER_TIMEOUT',
      '_OTHER',
    ]);
  });

  it.each(['rejected', 'stale', 'aborted', 'failed'] as const)(
    'does not mark the conversation as compacted for a step that was %s',
    async (outcome) => {
      const { spans, points } = watch();
      publish('ctxfold:compaction', () => ({ ...COMPACTION, outcome }));
      expect(spans()[0]?.attributes).not.toHaveProperty(['gen_ai.conversation.compacted']);
      expect(spans()[0]?.attributes).toMatchObject({ 'ctxfold.outcome': outcome });
      expect(await points('ctxfold.tokens.reclaimed')).toEqual([]);
    },
  );

  it('makes no span for a held compression', async () => {
    const { spans, points } = watch();
    publish('ctxfold:compaction', () => ({ ...COMPACTION, outcome: 'held' }));
    expect(spans()).toEqual([]);
    expect(await points('ctxfold.compaction.duration')).toEqual([]);
  });

  it('names the strategy that truncation replaced', () => {
    const { spans } = watch();
    const fallbackFrom = { strategy: 'middle-out', code: 'SUMMARY_REJECTED' } as const;
    publish('ctxfold:compaction', () => ({
      ...COMPACTION,
      strategy: 'top-down-truncation',
      fallbackFrom,
    }));
    expect(spans()[0]?.attributes).toMatchObject({
      'ctxfold.strategy': 'top-down-truncation',
      'ctxfold.fallback.strategy': 'middle-out',
      'ctxfold.fallback.code': 'SUMMARY_REJECTED',
    });
  });

  it('gives a span the times of its own passes, not of those of another preflight', () => {
    const { spans } = watch();
    publish('ctxfold:pass', () => PASS);
    publish('ctxfold:pass', () => PASS);
    publish('ctxfold:pass', () => ({ ...PASS, sessionId: 's2', runMs: 7 }));
    publish('ctxfold:pass', () => ({ ...PASS, task: 'count', runMs: 7 }));
    publish('ctxfold:compaction', () => COMPACTION);
    publish('ctxfold:pass', () => PASS);
    publish('ctxfold:preflight', () => WINDOW);
    publish('ctxfold:compaction', () => COMPACTION);
    const [first, second] = spans();
    expect(first?.attributes).toMatchObject({
      'ctxfold.worker.run_ms': 40,
      'ctxfold.main_thread.ms': 8,
    });
    expect(second?.attributes).not.toHaveProperty(['ctxfold.worker.run_ms']);
    expect(second?.attributes).not.toHaveProperty(['ctxfold.main_thread.ms']);
  });

  it('records the duration of compactions, preflights and passes in seconds', async () => {
    const { points, metric } = watch();
    publish('ctxfold:compaction', () => COMPACTION);
    publish('ctxfold:compaction', () => COMPACTION);
    publish('ctxfold:preflight', () => WINDOW);
    publish('ctxfold:preflight', () => ({
      ...WINDOW,
      outcome: 'failed',
      code: 'CONTEXT_WINDOW_EXCEEDED',
    }));
    publish('ctxfold:pass', () => PASS);
    const step = { 'ctxfold.step': 'compressed', 'ctxfold.strategy': 'one-shot' };
    expect(await points('ctxfold.compaction.duration')).toEqual([
      [{ ...step, 'ctxfold.outcome': 'applied' }, 3],
    ]);
    expect(await points('ctxfold.preflight.duration')).toEqual([
      [{ 'ctxfold.outcome': 'done' }, 2],
      [{ 'ctxfold.outcome': 'failed', 'error.type': 'CONTEXT_WINDOW_EXCEEDED' }, 2],
    ]);
    expect(await points('ctxfold.pass.main_thread')).toEqual([
      [{ 'ctxfold.task': 'compress', 'ctxfold.ran_on': 'resident' }, 0.004],
    ]);
    for (const name of ['compaction.duration', 'preflight.duration', 'pass.main_thread']) {
      expect((await metric(`ctxfold.${name}`))?.descriptor.unit).toBe('s');
    }
  });

  it('has buckets for durations from a millisecond to minutes', async () => {
    const { metric } = watch();
    for (const durationMs of [1.5, 80, 60_500]) {
      publish('ctxfold:compaction', () => ({ ...COMPACTION, durationMs }));
    }
    const data = await metric('ctxfold.compaction.duration');
    const { counts } = (data?.dataPoints[0]?.value as Histogram).buckets;
    expect(counts.filter((count) => count > 0)).toEqual([1, 1, 1]);
  });

  it('adds up reclaimed tokens, and ignores negative numbers', async () => {
    const { warn } = listenToDiag();
    const { points } = watch();
    publish('ctxfold:compaction', () => COMPACTION);
    publish('ctxfold:compaction', () => ({ ...COMPACTION, tokensAfter: 1_200 }));
    publish('ctxfold:compaction', () => ({ ...COMPACTION, tokensAfter: 900 }));
    expect(await points('ctxfold.tokens.reclaimed')).toEqual([
      [{ 'ctxfold.step': 'compressed', 'ctxfold.strategy': 'one-shot' }, 700],
    ]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('counts fallbacks by task and code', async () => {
    const { points } = watch();
    const fallback = { sessionId: 's1', task: 'count', attempts: 2, cause: '' } as const;
    publish('ctxfold:fallback', () => ({ ...fallback, code: 'WORKER_DIED' }));
    publish('ctxfold:fallback', () => ({ ...fallback, code: 'WORKER_DIED' }));
    publish('ctxfold:fallback', () => ({ ...fallback, code: 'UNKNOWN' }));
    expect(await points('ctxfold.fallbacks')).toEqual([
      [{ 'ctxfold.task': 'count', 'error.type': 'WORKER_DIED' }, 2],
      [{ 'ctxfold.task': 'count', 'error.type': '_OTHER' }, 1],
    ]);
  });

  it('counts cache misses by cause', async () => {
    const { points } = watch();
    const miss = { sessionId: 's1', expectedTokens: 9_000, readTokens: 0 } as const;
    publish('ctxfold:cache-miss', () => ({ ...miss, cause: 'edit' }));
    publish('ctxfold:cache-miss', () => ({ ...miss, cause: 'edit' }));
    publish('ctxfold:cache-miss', () => ({ ...miss, cause: 'expired' }));
    expect(await points('ctxfold.cache.misses')).toEqual([
      [{ 'ctxfold.cache.miss_cause': 'edit' }, 2],
      [{ 'ctxfold.cache.miss_cause': 'expired' }, 1],
    ]);
  });

  it('can run twice, and each is stopped alone, once', () => {
    const [first, second] = [watch(), watch()];
    publish('ctxfold:compaction', () => COMPACTION);
    first.stop();
    first.stop();
    publish('ctxfold:compaction', () => COMPACTION);
    expect(first.spans()).toHaveLength(1);
    expect(second.spans()).toHaveLength(2);
  });

  it('removes its listeners when it is stopped', () => {
    const names = ['pass', 'fallback', 'compaction', 'preflight', 'cache-miss'].map(
      (name) => `ctxfold:${name}`,
    );
    const { stop } = watch();
    expect(names.map((name) => channel(name).hasSubscribers)).toEqual(names.map(() => true));
    stop();
    expect(names.map((name) => channel(name).hasSubscribers)).toEqual(names.map(() => false));
  });

  it('uses the global providers by default', () => {
    const getTracer = vi.spyOn(trace, 'getTracer');
    onTestFinished(() => getTracer.mockRestore());
    const stop = instrumentCtxfold();
    onTestFinished(stop);
    expect(getTracer).toHaveBeenCalledWith('ctxfold');
    expect(() => publish('ctxfold:compaction', () => COMPACTION)).not.toThrow();
  });

  it('reports a throwing tracer to diag, and throws nothing', () => {
    const { error } = listenToDiag();
    const { meter } = watch();
    const bug = new Error('a bug of a tracer');
    const tracer = {
      startSpan: (): never => {
        throw bug;
      },
    } as unknown as Tracer;
    onTestFinished(instrumentCtxfold({ tracer, meter }));
    publish('ctxfold:compaction', () => COMPACTION);
    expect(error).toHaveBeenCalledWith(expect.stringContaining('ctxfold:compaction'), bug);
  });

  it('reports it once, and still records metrics', async () => {
    const { error } = listenToDiag();
    const { tracer } = watch();
    const failing = { startSpan: vi.fn(tracer.startSpan.bind(tracer)) };
    failing.startSpan.mockImplementation(() => {
      throw new Error('no span today');
    });
    const { meter, points } = watch();
    onTestFinished(instrumentCtxfold({ tracer: failing as unknown as Tracer, meter }));
    for (let turn = 0; turn < 5; turn += 1) publish('ctxfold:compaction', () => COMPACTION);
    expect(failing.startSpan).toHaveBeenCalledTimes(5);
    expect(error).toHaveBeenCalledTimes(1);
    // Recorded by the instruments of `watch` and by these.
    const [[, seconds] = []] = await points('ctxfold.compaction.duration');
    expect(seconds).toBe(2 * 5 * 1.5);
  });

  it('ignores a diag that throws as well', () => {
    const { error } = listenToDiag();
    error.mockImplementation(() => {
      throw new Error('no diag today');
    });
    const { meter } = watch();
    const tracer = { startSpan: () => ({}) } as unknown as Tracer;
    onTestFinished(instrumentCtxfold({ tracer, meter }));
    const accidents = vi.fn();
    process.once('uncaughtException', accidents);
    publish('ctxfold:compaction', () => COMPACTION);
    expect(accidents).not.toHaveBeenCalled();
    process.off('uncaughtException', accidents);
    expect(error).toHaveBeenCalledTimes(1);
  });

  it('lets no turn fail for any hostile tracer, span, meter or instrument', () => {
    listenToDiag();
    const { tracer, meter } = watch();
    for (const { name, make } of HOSTILE_VALUES) {
      for (const options of [
        { tracer: make(), meter },
        { tracer, meter: make() },
        { tracer: { startSpan: make }, meter },
        { tracer, meter: { createHistogram: make, createCounter: make } },
      ]) {
        let stop = (): void => undefined;
        try {
          stop = instrumentCtxfold(options as never);
        } catch (error) {
          expect(error, name).toBeInstanceOf(TypeError);
          expect((error as Error).message, name).toMatch(/^Expected a (?:tracer|meter)/);
        }
        publish('ctxfold:pass', () => PASS);
        publish('ctxfold:compaction', () => COMPACTION);
        publish('ctxfold:fallback', () => ({ task: 'compress', code: 'UNKNOWN' }) as never);
        publish('ctxfold:preflight', () => WINDOW);
        stop();
      }
    }
  });

  it("makes the caller's active span the parent of a preflight's spans", async () => {
    context.setGlobalContextManager(new AsyncContextManager());
    onTestFinished(() => context.disable());
    const { tracer, spans } = watch();
    const stale = 'h a:r1 t:r1 a:w2 t:w2 h';
    const sessions = ['a', 'b'].map(() =>
      openNoted(stale, { strategy: keepLast(1), contextLimit: 40 }),
    );
    const turns = sessions.map((session, at) =>
      tracer.startActiveSpan(`turn ${at}`, async (turn) => {
        await session.ensureCompressionBeforeSend('p1');
        turn.end();
      }),
    );
    await Promise.all(turns);
    const parentOf = (span: ReadableSpan): string | undefined =>
      spans().find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId)?.name;
    const steps = spans().filter(({ name }) => name === 'compact_context');
    expect(
      steps
        .map((span) => `${parentOf(span) ?? ''}: ${String(span.attributes['ctxfold.step'])}`)
        .sort(),
    ).toEqual(['turn 0: compressed', 'turn 0: pruned', 'turn 1: compressed', 'turn 1: pruned']);
  });

  it('records a session whose compression fails', async () => {
    const { spans, points } = watch();
    const strategy = strategyOf(() =>
      Promise.reject(new CompressionExecutionError('high-density', 'said no')),
    );
    const session = openSession({ strategy, entries: entries(9), contextLimit: 50 });
    expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe('resolved');
    expect(
      spans().map(({ attributes, status }) => [attributes['ctxfold.step'], status.message]),
    ).toEqual([
      ['compressed', 'COMPRESSION_FAILED'],
      ['fitted', undefined],
    ]);
    expect(await points('ctxfold.tokens.reclaimed')).toEqual([[{ 'ctxfold.step': 'fitted' }, 50]]);
  });
});

/** The messages of OpenTelemetry's own logger during a test. */
function listenToDiag(): DiagLogger & { readonly error: Mock; readonly warn: Mock } {
  const silent = (): void => {};
  const logger = { error: vi.fn(), warn: vi.fn(), info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, DiagLogLevel.WARN);
  onTestFinished(() => diag.disable());
  return logger;
}

/** Keeps the active span across `await`; a package for this would only serve this test. */
class AsyncContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<Args extends unknown[], Fn extends (...args: Args) => ReturnType<Fn>>(
    active: Context,
    run: Fn,
    receiver?: ThisParameterType<Fn>,
    ...args: Args
  ): ReturnType<Fn> {
    return this.#storage.run(active, () => Reflect.apply(run, receiver, args));
  }

  bind<Target>(_active: Context, target: Target): Target {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}
