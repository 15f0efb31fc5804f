// The strategies' context in tests: tokens are characters divided by four, and nothing is logged.

import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import type { CompressionContext, RuntimeEphemerals } from '../../src/main/strategies/strategy.js';
import type { IContent } from '../../src/shared/content.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';

export interface TestContextOptions extends Partial<CompressionContext> {
  readonly ephemerals?: Partial<RuntimeEphemerals>;
  /** @default 1_000 */
  readonly contextLimit?: number;
}

/** Makes a context over a history. */
export function compressionContext(
  history: readonly IContent[],
  { ephemerals = {}, contextLimit = 1_000, ...rest }: TestContextOptions = {},
): CompressionContext {
  const countEach = (contents: readonly IContent[]): Promise<readonly number[]> =>
    Promise.resolve(contents.map(estimateEntryTokens));
  return {
    history,
    runtimeContext: { ephemerals: { ...defaultEphemerals(contextLimit), ...ephemerals } },
    estimateTokens: (contents) => Promise.resolve(tokensOf(contents)),
    countEach,
    currentTokenCount: tokensOf(history),
    logger: SILENT_LOGGER,
    promptId: 'test',
    ...rest,
  };
}

/** Tokens of all entries by the context's count. */
export function tokensOf(contents: readonly IContent[]): number {
  return contents.reduce((total, content) => total + estimateEntryTokens(content), 0);
}

function defaultEphemerals(contextLimit: number): RuntimeEphemerals {
  return {
    compressionStrategy: () => 'high-density',
    compressionThreshold: () => 0.85,
    contextLimit: () => contextLimit,
    preserveThreshold: () => 0.2,
    topPreserveThreshold: () => 0.2,
    compressionProfile: () => undefined,
    fallbackToTruncation: () => false,
    densityReadWritePruning: () => true,
    densityFileDedupe: () => true,
    densityRecencyPruning: () => false,
    densityRecencyRetention: () => 3,
  };
}
