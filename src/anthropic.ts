// The adapter for `@anthropic-ai/sdk`: exports only.

export { compactionMiddleware } from './adapters/anthropic/compaction-middleware.js';
export { compactingFetch } from './adapters/anthropic/compacting-fetch.js';
export { messageCompactor } from './adapters/anthropic/message-compactor.js';
export type { AnthropicMessage } from './adapters/anthropic/message-part.js';
export type { AdapterOptions, CompactCall, OnError } from './adapters/request/adapter-options.js';
export type { ConversationReport } from './adapters/conversation/conversation.js';
export type { MessageCompactor } from './adapters/conversation/message-compactor.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
export { contextEdits } from './adapters/anthropic/context-edits.js';
export type { ContextEdits } from './adapters/anthropic/context-edits.js';
