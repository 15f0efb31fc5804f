// The adapter for LangChain (`langchain`, `@langchain/core`): exports only.

export { compactionMiddleware, contextEdit } from './adapters/langchain/compaction-middleware.js';
export { messageCompactor } from './adapters/langchain/message-compactor.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
