// The adapter for the Vercel AI SDK, 6 and 7: exports only.

export { compactionMiddleware } from './adapters/ai-sdk/compaction-middleware.js';
export type {
  CompactionMiddleware,
  ModelCall,
  PromptParams,
} from './adapters/ai-sdk/compaction-middleware.js';
export { messageCompactor } from './adapters/ai-sdk/message-compactor.js';
export { prepareStep } from './adapters/ai-sdk/prepare-step.js';
export type {
  PreparedStep,
  PrepareStep,
  PrepareStepOptions,
  StepInput,
} from './adapters/ai-sdk/prepare-step.js';
export type { ModelReference } from './adapters/ai-sdk/anthropic-model.js';
export { recallTool } from './adapters/ai-sdk/recall-tool.js';
export type {
  RecallConversation,
  RecallInput,
  RecallInputSchema,
  RecallTool,
} from './adapters/ai-sdk/recall-tool.js';
export type { SdkMessage, SdkPart } from './adapters/ai-sdk/sdk-message.js';
export type { AdapterOptions, CompactCall, OnError } from './adapters/request/adapter-options.js';
export type { ConversationReport } from './adapters/conversation/conversation.js';
export type { MessageCompactor } from './adapters/conversation/message-compactor.js';
export type { CompactMessages } from './adapters/format/provider-compaction.js';
