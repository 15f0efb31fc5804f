// The adapter for Google GenAI (`@google/genai`): exports only.

export { compactingFetch } from './adapters/google/compacting-fetch.js';
export { contentsCompactor } from './adapters/google/contents-compactor.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
export { reportedBy } from './adapters/request/provider-usage.js';
export type { AdapterOptions, CompactCall, OnError } from './adapters/request/adapter-options.js';
export type { ConversationReport } from './adapters/conversation/conversation.js';
export type { MessageCompactor } from './adapters/conversation/message-compactor.js';
