// The public API for sessions and their setup: exports only.

export { createCompactor } from './main/compactor.js';
export type { Compactor } from './main/compactor.js';
export type { CompactorStatus } from './main/compactor-status.js';
export type { SessionOptions } from './main/session-options.js';
export type { CompactorOptions, SummarizerOfProfile } from './main/compactor-options.js';
export { Session, Session as TurnOrchestrator } from './main/session.js';
export type {
  ContextUsage,
  TokenSource,
  UsageReport,
  UsageReportOutcome,
} from './main/preflight/context-gauge.js';
export type { CostReport } from './main/preflight/cost-meter.js';
export type { RequestTokens } from './main/preflight/token-tally.js';
export type { EditOptions, EditPolicy, LandingReason } from './main/preflight/edit-options.js';
export type {
  HoldReason,
  CompressedEvent,
  CompressionOutcome,
  FittedEvent,
  PrunedEvent,
  RemovedEvent,
  SessionEvents,
  PreflightResult,
} from './main/preflight/session-events.js';
export type { ReasoningPolicy } from './main/preflight/reasoning-policy.js';
export type { EntryChange } from './main/history-change.js';
export type { AbortOptions } from './main/preflight/request-options.js';
export type { DensityOptions } from './main/settings/session-config.js';
export { agentPreset } from './main/formats/presets.js';
export type { AgentPreset } from './main/formats/presets.js';
export { HistoryService } from './main/history-service.js';
export type { HistoryEvents, HistoryServiceOptions } from './main/history-service.js';
export type { IngestionLimits } from './shared/ingestion-limits.js';
export type { Logger } from './main/host/logger.js';
export type { FallbackEvent, OffloadMode, OffloadStats } from './main/offload/offload.js';
export type {
  EphemeralSettings,
  SettingKey,
  SettingName,
  PlaceholderStyle,
} from './main/settings/ephemeral-settings.js';
export type { Settings } from './main/settings/settings.js';
export { COMPRESSION_STRATEGIES } from './main/strategies/strategy.js';
export type { CompressionStrategyName } from './main/strategies/strategy.js';
export { fromLanguageModel } from './main/summarizer/language-model.js';
export type {
  LanguageModel,
  LanguageModelCall,
  LanguageModelOptions,
} from './main/summarizer/language-model.js';
export type {
  Summarizer,
  SummarizerFinishReason,
  SummarizerRequest,
  SummarizerResponse,
  SummarizerUsage,
} from './main/summarizer/summarizer.js';
export type { Todo, TodoSubtask } from './main/summarizer/todo.js';
export type { TokenCounter, Tokenizer } from './main/tokens/token-counter.js';
export type {
  CompactionMessage,
  FailureCode,
  FallbackMessage,
  PassMessage,
  TelemetryMessages,
  PreflightMessage,
} from './main/telemetry/channels.js';
export {
  aiContent,
  hasSubstance,
  humanText,
  isBlank,
  isCodeBlock,
  isMediaBlock,
  isOpaqueBlock,
  isTextBlock,
  isThinkingBlock,
  isToolCallBlock,
  isToolResponseBlock,
  toolCall,
  toolContent,
  toolResponse,
} from './shared/content.js';
export type {
  CodeBlock,
  ContentBlock,
  ContentMetadata,
  IContent,
  MediaBlock,
  OpaqueBlock,
  Speaker,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResponseBlock,
} from './shared/content.js';
export {
  CompressionExecutionError,
  CtxfoldError,
  CtxfoldError as CompressionStrategyError,
  ContextWindowExceededError,
  ERROR_CODES,
  PromptError,
  SummarizerError,
  SummaryRejectedError,
  UnknownStrategyError,
  WorkerPoolError,
} from './shared/errors.js';
export type { ErrorCode, SummaryRejectionReason } from './shared/errors.js';
export { estimateEntryTokens } from './shared/tokens/estimate.js';
export {
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  readsFile,
  runsCommands,
  searches,
  writesFile,
} from './shared/tool-catalog.js';
export type {
  CommandUse,
  FileUse,
  LineKeys,
  ResultUse,
  ToolCatalog,
  ToolUse,
} from './shared/tool-use.js';
export { inputCost, modelPrice } from './main/models/model-prices.js';
export { MODEL_PRICES_DATE } from './main/models/price-table.js';
export type { ModelPrice, TokenPrice } from './main/models/price-table.js';
