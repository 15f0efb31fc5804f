// The provider-neutral history model: entries, their blocks, guards and constructors.
// Plain data only, so that every value can be passed to a thread.

import { withoutUndefined } from './json.js';

/** The author of an entry. Tool calls are in `ai` entries, tool responses in `tool` entries. */
export type Speaker = 'human' | 'ai' | 'tool';

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

export interface ToolCallBlock {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  /** JSON-serializable. */
  readonly parameters: unknown;
  readonly description?: string;
  /**
   * Equal in parallel calls of which the first vouches for the others, for example by its signature. No density pass
   * removes the first and keeps another.
   */
  readonly parallelGroup?: string;
  /**
   * Whether its parameters must stay as they are, for example because a signature covers them: no density pass shortens them.
   *
   * @default false
   */
  readonly hasFixedParameters?: boolean;
}

export interface ToolResponseBlock {
  readonly type: 'tool_response';
  /** The `id` of the answered call. */
  readonly callId: string;
  readonly toolName: string;
  /** JSON-serializable. */
  readonly result: unknown;
  /** Set when the tool failed. */
  readonly error?: string;
  /** `false` while the tool is running: such a response does not answer its call yet. */
  readonly isComplete?: boolean;
  /**
   * Estimated tokens of images and files in the result, besides its text: an integer, 0 or more. Removed together with
   * the result.
   */
  readonly mediaTokens?: number;
}

export interface MediaBlock {
  readonly type: 'media';
  readonly mimeType: string;
  /** A URL or base64 text, depending on `encoding`. */
  readonly data: string;
  readonly encoding: 'url' | 'base64';
  readonly caption?: string;
  readonly filename?: string;
}

export interface ThinkingBlock {
  readonly type: 'thinking';
  readonly thought: string;
  readonly isHidden?: boolean;
  readonly sourceField?: string;
  /** Opaque to ctxfold: kept byte for byte. */
  readonly signature?: string;
  /** Opaque to ctxfold: kept byte for byte. */
  readonly encryptedContent?: string;
}

export interface CodeBlock {
  readonly type: 'code';
  readonly code: string;
  readonly language?: string;
}

/** The `kind` of an opaque block that holds a compaction made by the provider. */
export const COMPACTION_KIND = 'compaction';

/** A part of a message that ctxfold does not read: kept and counted, never edited. */
export interface OpaqueBlock {
  readonly type: 'opaque';
  /** Its name in the message format. */
  readonly kind: string;
  /** Estimated tokens: an integer, 0 or more. */
  readonly tokens: number;
  /** The `id` of the call that it is kept and removed with, for example that of an approval. */
  readonly callId?: string;
  /** The provider whose models alone can read it, as `providerOf` names it. @default any */
  readonly provider?: string;
}

/** One block of an entry, discriminated by `type`. */
export type ContentBlock =
  | TextBlock
  | ToolCallBlock
  | ToolResponseBlock
  | MediaBlock
  | ThinkingBlock
  | CodeBlock
  | OpaqueBlock;

/** Data about an entry besides its content. Unknown keys are kept unchanged. */
export interface ContentMetadata {
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
  readonly model?: string;
  readonly usage?: unknown;
  readonly id?: string;
  readonly provider?: string;
  readonly isSummary?: boolean;
  /** Recorded again: an earlier context had it, and the agent's compaction kept it. */
  readonly isKept?: boolean;
  readonly providerMetadata?: unknown;
  readonly synthetic?: boolean;
  readonly reason?: string;
  readonly turnId?: string;
  readonly [key: string]: unknown;
}

/** One entry of a history. */
export interface IContent {
  readonly speaker: Speaker;
  readonly blocks: readonly ContentBlock[];
  readonly metadata?: ContentMetadata;
}

export function isTextBlock(block: ContentBlock): block is TextBlock {
  return block.type === 'text';
}

export function isToolCallBlock(block: ContentBlock): block is ToolCallBlock {
  return block.type === 'tool_call';
}

export function isToolResponseBlock(block: ContentBlock): block is ToolResponseBlock {
  return block.type === 'tool_response';
}

/** Whether a block is the whole response to a call, as opposed to what there is of one so far. */
export function isCompleteResponse(block: ContentBlock): block is ToolResponseBlock {
  return block.type === 'tool_response' && block.isComplete !== false;
}

export function isMediaBlock(block: ContentBlock): block is MediaBlock {
  return block.type === 'media';
}

export function isThinkingBlock(block: ContentBlock): block is ThinkingBlock {
  return block.type === 'thinking';
}

export function isCodeBlock(block: ContentBlock): block is CodeBlock {
  return block.type === 'code';
}

export function isOpaqueBlock(block: ContentBlock): block is OpaqueBlock {
  return block.type === 'opaque';
}

/** Whether a text is empty or white space only. Stops at the first other character. */
export function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // Fast path: nearly every text begins with a visible ASCII character.
  return !(first > SPACE && first < DELETE) && !/\S/.test(text);
}

const SPACE = 0x20;
const DELETE = 0x7f;

/**
 * Whether a block can stand alone in a message. Blank text, blank code and reasoning cannot: providers reject a message
 * without anything else.
 */
export function hasSubstance(block: ContentBlock): boolean {
  if (block.type === 'text') return !isBlank(block.text);
  if (block.type === 'code') return !isBlank(block.code);
  return block.type !== 'thinking';
}

/** Whether a block has any content, including reasoning. */
export function carriesContent(block: ContentBlock): boolean {
  return block.type === 'thinking'
    ? block.thought !== '' || block.encryptedContent !== undefined
    : hasSubstance(block);
}

/** Whether a block is a compaction made by the provider. */
export function isCompaction(block: ContentBlock | undefined): boolean {
  return block?.type === 'opaque' && block.kind === COMPACTION_KIND;
}

/** Makes a `human` entry with one text block. */
export function humanText(text: string, metadata?: ContentMetadata): IContent {
  return entry('human', [{ type: 'text', text }], metadata);
}

/** Makes an `ai` entry of the given blocks; a string becomes one text block. */
export function aiContent(
  blocks: string | readonly ContentBlock[],
  metadata?: ContentMetadata,
): IContent {
  return entry(
    'ai',
    typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks,
    metadata,
  );
}

/** Makes a `tool` entry of the given responses. */
export function toolContent(
  responses: readonly ToolResponseBlock[],
  metadata?: ContentMetadata,
): IContent {
  return entry('tool', responses, metadata);
}

/** Makes a tool call block. */
export function toolCall(id: string, name: string, parameters: unknown): ToolCallBlock {
  return { type: 'tool_call', id, name, parameters };
}

/** Makes a block of reasoning, with its text and the other fields that are given. */
export function thinkingBlock(
  thought: string,
  fields: {
    readonly [Key in 'signature' | 'encryptedContent' | 'sourceField']?: string | undefined;
  } = {},
): ThinkingBlock {
  return { type: 'thinking', thought, ...withoutUndefined(fields) };
}

/** Makes a complete tool response block; `error` marks a failed call. */
export function toolResponse(
  callId: string,
  toolName: string,
  result: unknown,
  error?: string,
): ToolResponseBlock {
  const block = { type: 'tool_response', callId, toolName, result, isComplete: true } as const;
  return error === undefined ? block : { ...block, error };
}

/** Returns the response with another result, which must be text or data without media. */
export function withResult(block: ToolResponseBlock, result: unknown): ToolResponseBlock {
  if (block.mediaTokens === undefined) return { ...block, result };
  const { mediaTokens: _, ...others } = block;
  return { ...others, result };
}

function entry(
  speaker: Speaker,
  blocks: readonly ContentBlock[],
  metadata: ContentMetadata | undefined,
): IContent {
  return metadata === undefined ? { speaker, blocks } : { speaker, blocks, metadata };
}
