// The public API: names, nothing else.

export { createCompactor } from './main/compactor.js';
export type { CompactorPreset } from './main/session-defaults.js';
export type { CompactorStatus } from './main/compactor.js';
export type { Compactor, SessionOptions } from './main/compactor.js';
export type { CompactorOptions, SummarizerOfProfile } from './main/compactor-options.js';
export { Session, Session as TurnOrchestrator } from './main/session.js';
export type {
  ContextUsage,
  TokenSource,
  UsageReport,
  UsageReportOutcome,
} from './main/pre-send/context-gauge.js';
export type { CostReport, RequestTokens } from './main/pre-send/cost-meter.js';
export type { EditOptions } from './main/pre-send/edit-options.js';
export type { EditPolicy, LandingReason } from './main/pre-send/edit-policy.js';
export type { PreSendResult } from './main/pre-send/pre-send-result.js';
export type { HoldReason } from './main/pre-send/progress-guard.js';
export type { ReasoningPolicy } from './main/pre-send/reasoning-policy.js';
export type { EntryChange } from './main/entry-change.js';
export type {
  CompressedEvent,
  CompressionOutcome,
  FittedEvent,
  PrunedEvent,
  RemovedEvent,
  SessionEvents,
} from './main/pre-send/session-events.js';
export type { AbortOptions, DensityOptions } from './main/pre-send/session-parts.js';
export { agentPreset } from './main/formats/presets.js';
export type { AgentPreset } from './main/formats/presets.js';
export { readTranscript, streamTranscript } from './main/formats/read-transcript.js';
export type { ReadTranscriptOptions, Transcript } from './main/formats/read-transcript.js';
export type { TranscriptChunks } from './main/formats/transcript-text.js';
export { TRANSCRIPT_FORMATS } from './main/formats/transcript.js';
export type {
  TranscriptEvent,
  TranscriptFormat,
  TranscriptPlace,
  TranscriptWarning,
} from './main/formats/transcript.js';
export { HistoryService } from './main/history-service.js';
export type { HistoryEvents, HistoryServiceOptions } from './main/history-service.js';
export type { IngestionLimits } from './shared/ingestion.js';
export type { Logger } from './main/logger.js';
export type { FallbackEvent, OffloadMode, OffloadStats } from './main/offload/offload.js';
export type {
  EphemeralSettings,
  SettingAlias,
  SettingKey,
  SettingName,
} from './main/settings/ephemeral-settings.js';
export { getCompressionPrompt } from './main/prompts/compression-prompt.js';
export { PromptResolver } from './main/prompts/prompt-resolver.js';
export type { PromptResolverOptions } from './main/prompts/prompt-resolver.js';
export { parseEphemeralSettings } from './main/settings/parse-ephemeral-settings.js';
export { loadProfile, saveProfile } from './main/settings/profile.js';
export type { Settings } from './main/settings/settings.js';
export type { PlaceholderStyle } from './main/settings/placeholder-style.js';
export { SETTINGS_REGISTRY } from './main/settings/settings-registry.js';
export type {
  BooleanSettingSpec,
  EnumSettingSpec,
  NumberSettingSpec,
  SettingSpec,
  StringSettingSpec,
} from './main/settings/settings-registry.js';
export { HighDensityStrategy } from './main/strategies/high-density.js';
export { MiddleOutStrategy } from './main/strategies/middle-out.js';
export { OneShotStrategy } from './main/strategies/one-shot.js';
export {
  getCompressionStrategy,
  parseCompressionStrategyName,
} from './main/strategies/registry.js';
export { COMPRESSION_STRATEGIES } from './main/strategies/strategy.js';
export type {
  AgentRuntimeContext,
  CompressionContext,
  CompressionResult,
  CompressionResultMetadata,
  CompressionStrategy,
  CompressionStrategyName,
  RuntimeEphemerals,
  StrategyTrigger,
} from './main/strategies/strategy.js';
export { TopDownTruncationStrategy } from './main/strategies/top-down-truncation.js';
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
export type { TokenCounter, Tokenizer } from './main/token-counter.js';
export type {
  ChatChunk,
  ChatModel,
  ChatRequest,
  ToolCallContext,
  ToolHandler,
  ToolHandlers,
} from './main/turn-loop/chat-model.js';
export type {
  CompactionMessage,
  FailureCode,
  FallbackMessage,
  PassMessage,
  TelemetryMessages,
  WindowMessage,
} from './main/telemetry/channels.js';
export { readRemovals } from './main/removal-log/removal-reader.js';
export type {
  LocatedRemoval,
  ReadRemovalsOptions,
  RemovalReading,
  SkippedBytes,
} from './main/removal-log/removal-reader.js';
export type { RemovalKind, RemovalRecord, SkipReason } from './main/removal-log/removal-record.js';
export { listRemoved } from './main/removal-log/list-removed.js';
export type { RemovedResult } from './main/removal-log/list-removed.js';
export { removalLogPathIn } from './main/removal-log/removal-log-path.js';
export { restore } from './main/removal-log/restore.js';
export type { RestoredResponse } from './main/removal-log/restore.js';
export type { RestoreOptions } from './main/removal-log/restore-latest.js';
export type { SessionScope } from './main/removal-log/session-scope.js';
export { TurnLoop } from './main/turn-loop/turn-loop.js';
export type {
  SendOptions,
  TurnEnd,
  TurnEvent,
  TurnLoopOptions,
  TurnResult,
} from './main/turn-loop/turn-loop.js';
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
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  isEmptyDensityResult,
  mapIndex,
  PRUNED_POINTER,
  validateDensityResult,
} from './shared/density.js';
export type {
  DensityBase,
  DensityConfig,
  DensityResult,
  DensityResultMetadata,
  InclusionSyntax,
  PlaceholderForm,
} from './shared/density.js';
export {
  AGGRESSIVE_WORKING_SET,
  DEFAULT_WORKING_SET,
} from './shared/density/rules/working-set-rules.js';
export type { WorkingSetRules } from './shared/density/rules/working-set-rules.js';
export { explainDensity } from './shared/density/explain/explain-density.js';
export type { DensityExplanation } from './shared/density/explain/explain-density.js';
export type {
  BlockExplanation,
  BlockPlace,
  CallPlace,
  CallPurpose,
  DensityFinding,
  DensityVerdict,
  EntryExplanation,
  ExplainedBlock,
  NoFinding,
} from './shared/density/explain/explanation.js';
export type {
  BlockInclusion,
  FoundInclusion,
  TextInclusion,
} from './shared/density/index/file-inclusions.js';
export { listRuleEdits } from './shared/density/plan/plan.js';
export type { RuleEdit } from './shared/density/plan/plan.js';
export { PRUNING_RULES } from './shared/density/rules/density-rules.js';
export type { PruningRule, RuleFinding, RuleName } from './shared/density/rules/density-rules.js';
export type { FileDedupeFinding } from './shared/density/rules/file-dedupe.js';
export type { EditAction } from './shared/density/rules/marks.js';
export type { ReadWriteFinding } from './shared/density/rules/read-write.js';
export type { RecencyFinding } from './shared/density/rules/recency.js';
export type { WorkingSetFinding, WorkingSetReason } from './shared/density/rules/working-set.js';
export { optimize } from './shared/density/plan/optimize.js';
export type { ResultSize } from './shared/summarize/tool-summary.js';
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
export type { ProviderRequestOptions } from './shared/providers/provider-request.js';
export { PROVIDER_PROFILES } from './shared/providers/provider-violation.js';
export type {
  ProviderProfile,
  ProviderRule,
  ProviderViolation,
} from './shared/providers/provider-violation.js';
export { validate } from './shared/providers/validate.js';
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
  SearchUse,
  ToolCatalog,
  ToolUse,
} from './shared/tool-catalog.js';
export { findViolations } from './shared/validity.js';
export type { Violation, ViolationRule } from './shared/violation.js';
