// A loop of model calls and tools over a session: exports only.

export type {
  ChatChunk,
  ChatModel,
  ChatRequest,
  ToolCallContext,
  ToolHandler,
  ToolHandlers,
} from './main/turn-loop/chat-model.js';
export { TurnLoop } from './main/turn-loop/turn-loop.js';
export type {
  SendOptions,
  TurnEnd,
  TurnEvent,
  TurnLoopOptions,
  TurnResult,
} from './main/turn-loop/turn-loop.js';
