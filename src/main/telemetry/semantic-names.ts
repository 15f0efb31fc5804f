// OpenTelemetry names for what ctxfold does. Literals, because the constants packages mark those for generative AI as
// deprecated, and recommend copying them.

/** The scope of all spans and metrics. */
export const SCOPE_NAME = 'ctxfold';

/** The span of one step of a preflight. */
export const SPAN_COMPACT_CONTEXT = 'compact_context';

/** Attributes from the conventions for generative AI and for errors. */
export const ATTRIBUTE_CONVERSATION_ID = 'gen_ai.conversation.id';
export const ATTRIBUTE_REQUEST_MODEL = 'gen_ai.request.model';
export const ATTRIBUTE_CONVERSATION_COMPACTED = 'gen_ai.conversation.compacted';
export const ATTRIBUTE_ERROR_TYPE = 'error.type';

/** Our own attributes. */
export const ATTRIBUTE_STEP = 'ctxfold.step';
export const ATTRIBUTE_STRATEGY = 'ctxfold.strategy';
export const ATTRIBUTE_OUTCOME = 'ctxfold.outcome';
export const ATTRIBUTE_FALLBACK_STRATEGY = 'ctxfold.fallback.strategy';
export const ATTRIBUTE_FALLBACK_CODE = 'ctxfold.fallback.code';
export const ATTRIBUTE_LLM_CALL_MADE = 'ctxfold.llm_call_made';
export const ATTRIBUTE_TOKENS_BEFORE = 'ctxfold.tokens.before';
export const ATTRIBUTE_TOKENS_AFTER = 'ctxfold.tokens.after';
export const ATTRIBUTE_RECLAIMED = 'ctxfold.reclaimed';
export const ATTRIBUTE_ENTRIES_BEFORE = 'ctxfold.entries.before';
export const ATTRIBUTE_ENTRIES_AFTER = 'ctxfold.entries.after';
export const ATTRIBUTE_ENTRIES_CHANGED = 'ctxfold.entries.changed';
export const ATTRIBUTE_WORKER_RUN_MS = 'ctxfold.worker.run_ms';
export const ATTRIBUTE_MAIN_THREAD_MS = 'ctxfold.main_thread.ms';
export const ATTRIBUTE_TASK = 'ctxfold.task';
export const ATTRIBUTE_RAN_ON = 'ctxfold.ran_on';
export const ATTRIBUTE_CACHE_MISS_CAUSE = 'ctxfold.cache.miss_cause';

/** Metrics. Durations are in seconds, as the conventions require. */
export const METRIC_COMPACTION_DURATION = 'ctxfold.compaction.duration';
export const METRIC_PREFLIGHT_DURATION = 'ctxfold.preflight.duration';
export const METRIC_PASS_MAIN_THREAD = 'ctxfold.pass.main_thread';
export const METRIC_TOKENS_RECLAIMED = 'ctxfold.tokens.reclaimed';
export const METRIC_FALLBACKS = 'ctxfold.fallbacks';
export const METRIC_CACHE_MISSES = 'ctxfold.cache.misses';
