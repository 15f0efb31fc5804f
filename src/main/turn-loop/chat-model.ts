// The ports of a turn loop: the model that answers, and the tools it may call.

import type { IContent, ToolCallBlock } from '../../shared/content.js';

/** One request to the model. */
export interface ChatRequest {
  /** The curated history; the model answers its last entry. */
  readonly contents: readonly IContent[];
  readonly promptId: string;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
}

/**
 * A part of the model's response, in order. `usage` is stored with the response unchanged. If it has a number `inputTokens`,
 * that is reported to the session: all input tokens, including those read from or written to a cache.
 */
export type ChatChunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thought: string; readonly signature?: string }
  | { readonly type: 'tool_call'; readonly call: ToolCallBlock }
  | { readonly type: 'finish'; readonly usage?: unknown };

/** A model that streams its response. */
export interface ChatModel {
  /** The model's name, for token counters and metadata. */
  readonly name?: string;
  stream(request: ChatRequest): AsyncIterable<ChatChunk>;
}

/** What a tool knows about its call. */
export interface ToolCallContext {
  readonly callId: string;
  /** Aborts when the caller gave up or the deadline has passed. */
  readonly signal: AbortSignal;
}

/** Executes one call. It must return a JSON-serializable value; what it throws becomes the response's error. */
export type ToolHandler = (parameters: unknown, context: ToolCallContext) => unknown;

/** Tools by name. */
export type ToolHandlers = Readonly<Record<string, ToolHandler>>;
