// The adapters for `openai` and `@openai/agents`: exports only.

export { callModelInputFilter } from './adapters/openai/call-model-input-filter.js';
export type {
  AgentModelProvider,
  ModelInput,
  ModelInputFilter,
  ModelInputFilterOptions,
} from './adapters/openai/call-model-input-filter.js';
export { chatCompactor } from './adapters/openai/chat-compactor.js';
export { compactingFetch } from './adapters/openai/compacting-fetch.js';
export { inputCompactor } from './adapters/openai/input-compactor.js';
export { providerCompaction } from './adapters/openai/provider-compaction.js';
export type { CompactingClient } from './adapters/openai/provider-compaction.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
export { reportedBy } from './adapters/request/provider-usage.js';
export type { AdapterOptions, CompactCall, OnError } from './adapters/request/adapter-options.js';
export type { ConversationReport } from './adapters/conversation/conversation.js';
export type { MessageCompactor } from './adapters/conversation/message-compactor.js';
