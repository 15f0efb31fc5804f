// The compression strategies, to call one or to write one: exports only.

export { getCompressionPrompt, PromptResolver } from './main/prompts/prompt-resolver.js';
export type { PromptResolverOptions } from './main/prompts/prompt-resolver.js';
export { HighDensityStrategy } from './main/strategies/high-density.js';
export { MiddleOutStrategy } from './main/strategies/middle-out.js';
export { OneShotStrategy } from './main/strategies/one-shot.js';
export type {
  CompactByProvider,
  ProviderCompacted,
  ProviderCompactionRequest,
  ProviderItem,
} from './main/strategies/provider-compaction.js';
export {
  getCompressionStrategy,
  parseCompressionStrategyName,
} from './main/strategies/registry.js';
export type {
  AgentRuntimeContext,
  CompressionContext,
  CompressionResult,
  CompressionResultMetadata,
  CompressionStrategy,
  OwnStrategyName,
  RuntimeEphemerals,
  StrategyTrigger,
} from './main/strategies/strategy.js';
export { TopDownTruncationStrategy } from './main/strategies/top-down-truncation.js';
