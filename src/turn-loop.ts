// A loop of a model and tools over a session: names, nothing else.

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
