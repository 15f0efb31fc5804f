// The documented names and types: code written against them compiles and works. Most of this is checked by the compiler.

import { describe, expect, expectTypeOf, it } from 'vitest';

import * as density from '../../src/density.js';
import * as root from '../../src/index.js';
import * as settings from '../../src/settings.js';
import * as strategies from '../../src/strategies.js';
import type {
  CompressionStrategyName,
  EphemeralSettings,
  HistoryService,
  IContent,
  Todo,
  Session,
} from '../../src/index.js';
import type { DensityConfig, DensityResult, DensityResultMetadata } from '../../src/density.js';
import type {
  AgentRuntimeContext,
  CompressionContext,
  CompressionResult,
  CompressionResultMetadata,
  CompressionStrategy,
  StrategyTrigger,
} from '../../src/strategies.js';
import { compressionContext } from '../support/compression-context.js';
import { historyOf } from '../support/notation.js';

/** The entries that export what is documented. */
const api = { ...root, ...density, ...settings, ...strategies };

describe('the public API', () => {
  it.each([
    'COMPRESSION_STRATEGIES',
    'CompressionExecutionError',
    'CtxfoldError',
    'HighDensityStrategy',
    'HistoryService',
    'MiddleOutStrategy',
    'OneShotStrategy',
    'PRUNED_POINTER',
    'SETTINGS_REGISTRY',
    'TopDownTruncationStrategy',
    'UnknownStrategyError',
    'getCompressionPrompt',
    'getCompressionStrategy',
    'parseCompressionStrategyName',
  ])('has %s', (name) => {
    expect(api).toHaveProperty(name);
  });

  it('lists the strategies in the documented order', () => {
    expect(api.COMPRESSION_STRATEGIES).toEqual([
      'middle-out',
      'top-down-truncation',
      'one-shot',
      'high-density',
    ]);
  });
});

type DocumentedField =
  'readWritePruning' | 'fileDedupe' | 'recencyPruning' | 'recencyRetention' | 'workspaceRoot';

describe('DensityConfig', () => {
  it('has five readonly fields, and further optional ones', () => {
    const config: DensityConfig = {
      readWritePruning: true,
      fileDedupe: true,
      recencyPruning: false,
      recencyRetention: 3,
      workspaceRoot: '/work',
    };
    expectTypeOf<Pick<DensityConfig, DocumentedField>>().toEqualTypeOf<{
      readonly readWritePruning: boolean;
      readonly fileDedupe: boolean;
      readonly recencyPruning: boolean;
      readonly recencyRetention: number;
      readonly workspaceRoot: string;
    }>();
    expect(api.optimize(historyOf('a:r1 t:r1 a:w2 t:w2'), config).removals).toEqual([0, 1]);
  });
});

describe('DensityResult', () => {
  it('has removals, replacements and three counts', () => {
    expectTypeOf<DensityResult>().toEqualTypeOf<{
      readonly removals: readonly number[];
      readonly replacements: ReadonlyMap<number, IContent>;
      readonly metadata: DensityResultMetadata;
      /** Only in results of our own passes. */
      readonly rows?: Int32Array;
    }>();
    expectTypeOf<DensityResultMetadata>().toEqualTypeOf<{
      readonly readWritePairsPruned: number;
      readonly fileDeduplicationsPruned: number;
      readonly recencyPruned: number;
      /** Only with a working set, which is off unless it is set. */
      readonly workingSetPruned?: number;
      /** Only where results are shrunk. */
      readonly resultsShrunk?: number;
    }>();
    expect(api.optimize([], emptyConfig()).metadata).toEqual({
      ...{ readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
    });
    expect(api.isEmptyDensityResult(api.optimize([], emptyConfig()))).toBe(true);
  });
});

function emptyConfig(): DensityConfig {
  return { ...api.DEFAULT_DENSITY_CONFIG, workspaceRoot: '/work' };
}

describe('CompressionStrategy', () => {
  it('declares a trigger, and optimize only if it prunes', async () => {
    expectTypeOf<StrategyTrigger['mode']>().toEqualTypeOf<'threshold' | 'continuous'>();
    expectTypeOf<StrategyTrigger['defaultThreshold']>().toEqualTypeOf<number>();
    expectTypeOf<NonNullable<CompressionStrategy['optimize']>>().toEqualTypeOf<
      (history: readonly IContent[], config: DensityConfig) => DensityResult
    >();
    expectTypeOf<CompressionResult['metadata']>().toEqualTypeOf<CompressionResultMetadata>();

    const history = historyOf('h:1 a h:2 a');
    const context = compressionContext(history, { ephemerals: { preserveThreshold: () => 0.5 } });
    const { newHistory } = await new KeepsTail().compress(context);
    expect(newHistory).toEqual(history.slice(2));
    expect(new KeepsTail()).not.toHaveProperty('optimize');
  });
});

/** A strategy as a reader of the documentation would write it. */
class KeepsTail implements CompressionStrategy {
  readonly name: CompressionStrategyName = 'top-down-truncation';
  readonly requiresLLM = false;
  readonly trigger: StrategyTrigger = { mode: 'threshold', defaultThreshold: 0.85 };

  async compress(context: CompressionContext): Promise<CompressionResult> {
    const { history, runtimeContext, logger } = context;
    const tailSize = Math.ceil(history.length * runtimeContext.ephemerals.preserveThreshold());
    const newHistory = history.slice(history.length - tailSize);
    logger.debug('keeping the tail', { tokens: await context.estimateTokens(newHistory) });
    return {
      newHistory,
      metadata: {
        originalMessageCount: history.length,
        compressedMessageCount: newHistory.length,
        strategyUsed: this.name,
        llmCallMade: false,
      },
    };
  }
}

describe('CompressionContext', () => {
  it('may have todos and the path of a transcript', () => {
    expectTypeOf<CompressionContext['activeTodos']>().toEqualTypeOf<readonly Todo[] | undefined>();
    expectTypeOf<CompressionContext['transcriptPath']>().toEqualTypeOf<string | undefined>();
    const context: CompressionContext = compressionContext([]);
    expect(context).not.toHaveProperty('activeTodos');
    expect(context).not.toHaveProperty('transcriptPath');
  });
});

describe('AgentRuntimeContext', () => {
  it('reads the density settings through four accessors', () => {
    type Ephemerals = AgentRuntimeContext['ephemerals'];
    expectTypeOf<Ephemerals['densityReadWritePruning']>().toEqualTypeOf<() => boolean>();
    expectTypeOf<Ephemerals['densityFileDedupe']>().toEqualTypeOf<() => boolean>();
    expectTypeOf<Ephemerals['densityRecencyPruning']>().toEqualTypeOf<() => boolean>();
    expectTypeOf<Ephemerals['densityRecencyRetention']>().toEqualTypeOf<() => number>();
    expect(compressionContext([]).runtimeContext.ephemerals.densityRecencyRetention()).toBe(3);
  });
});

describe('EphemeralSettings', () => {
  it('has the four density settings, all of them optional', () => {
    const settings: EphemeralSettings = {
      'compression.density.readWritePruning': true,
      'compression.density.fileDedupe': true,
      'compression.density.recencyPruning': false,
      'compression.density.recencyRetention': 3,
    };
    expect(api.parseEphemeralSettings(settings)).toEqual(settings);
    expect(api.parseEphemeralSettings({} satisfies EphemeralSettings)).toEqual({});
  });
});

describe('HistoryService', () => {
  it('has the documented methods', () => {
    expectTypeOf<HistoryService['getRawHistory']>().toEqualTypeOf<() => readonly IContent[]>();
    expectTypeOf<HistoryService['recalculateTotalTokens']>().toEqualTypeOf<() => Promise<void>>();
    expectTypeOf<HistoryService['applyDensityResult']>().toExtend<
      (result: DensityResult) => Promise<void>
    >();
    const history = new api.HistoryService();
    for (const method of [
      'add',
      'addAll',
      'clear',
      'getAll',
      'getCurated',
      'waitForTokenUpdates',
      'startCompression',
      'endCompression',
      'estimateTokensForContents',
    ]) {
      expect(history).toHaveProperty(method, expect.any(Function));
    }
  });
});

describe('Session', () => {
  it.each<keyof Session & string>([
    'ensureCompressionBeforeSend',
    'ensureDensityOptimized',
    'shouldCompress',
    'performCompression',
    'enforceContextWindow',
    'buildCompressionContext',
  ])('has %s', (method) => {
    expect(api.Session.prototype).toHaveProperty(method, expect.any(Function));
  });
});
