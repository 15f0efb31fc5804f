// The adapter for LangChain (`langchain`, `@langchain/core`): names, nothing else.

export { compactionMiddleware, contextEdit } from './adapters/langchain/compaction-middleware.js';
export { messageCompactor } from './adapters/langchain/message-compactor.js';
export type { CompactMessages } from './adapters/provider-compaction.js';
