// The adapter for Google GenAI (`@google/genai`): exports only.

export { contentsCompactor } from './adapters/google/contents-compactor.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
export { reportedBy } from './adapters/request/provider-usage.js';
