// The ports of a turn loop: the model that answers, and the tools that it may call.

import type { IContent, ToolCallBlock } from '../../shared/content.js';

/** One request to the model. */
export interface ChatRequest {
  /** The curated history; the last entry is what the model is to answer. */
  readonly contents: readonly IContent[];
  readonly promptId: string;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
}

/**
 * A part of the model's response, in the order in which it is said. `usage` is kept with the response
 * as it is. When it has a number `inputTokens`, that is reported to the session: all tokens of the
 * input, also those that came from or went into a cache.
 */
export type ChatChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thought: string; readonly signature?: string }
  | { readonly type: 'tool_call'; readonly call: ToolCallBlock }
  | { readonly type: 'finish'; readonly usage?: unknown };

/** A model that streams its response. */
export interface ChatModel {
  /** Names the model, for token counters and metadata. */
  readonly name?: string;
  stream(request: ChatRequest): AsyncIterable<ChatChunk>;
}

/** What a tool knows of the call that it carries out. */
export interface ToolCallContext {
  readonly callId: string;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
}

/** Carries out one call. What it returns must be JSON-serializable; what it throws becomes the response's error. */
export type ToolHandler = (parameters: unknown, context: ToolCallContext) => unknown;

/** Tools by name. */
export type ToolHandlers = Readonly<Record<string, ToolHandler>>;
