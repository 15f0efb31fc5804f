// A part of a message of Anthropic's Messages API as it comes: told apart by `type`, everything else
// unchecked. Knows which parts belong together; makes no blocks of them.

import { isRecord } from '../../shared/json.js';
import { isCompactionPart } from '../provider-compaction.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../shared/tokens/content-text.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** A content block of a message, of whatever kind. */
export interface MessagePart {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Whether a value is a part. */
export function isMessagePart(value: unknown): value is MessagePart {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** Whether a part is reasoning, readable or not. */
export function isReasoning({ type }: MessagePart): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** The id of a call, of one of the caller's tools or of one that runs on the server. */
export function callIdOf({ type, id }: MessagePart): string | undefined {
  return type.endsWith('tool_use') && typeof id === 'string' ? id : undefined;
}

/** The id of the call that a part answers. */
export function answeredIdOf({ tool_use_id: id }: MessagePart): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

/**
 * Whether a message has to go back as it came, for what parts it has: a compaction on the server that failed, changes of the tools, a call of a tool on the server whose answer comes in
 * another message, and calls that such a tool makes.
 */
export function isUntouchable(parts: readonly MessagePart[]): boolean {
  const answered = new Set(parts.map(answeredIdOf));
  return parts.some((part) => {
    if (UNTOUCHABLE_TYPES.has(part.type)) return !isCompactionPart(part);
    if (part.type === 'tool_use') return isCalledByServer(part);
    const id = callIdOf(part);
    return id !== undefined && !answered.has(id);
  });
}

const UNTOUCHABLE_TYPES: ReadonlySet<string> = new Set([
  'compaction',
  'mcp_tool_listing',
  'tool_addition',
  'tool_removal',
]);

function isCalledByServer({ caller }: MessagePart): boolean {
  return isRecord(caller) && caller['type'] !== 'direct';
}

/**
 * About how many tokens a part takes whose content is not looked into: the characters of its texts
 * over 4, and a constant for each image and file. Linear in its values.
 */
export function estimatePartTokens(part: MessagePart): number {
  const { fileTokens, characters } = weigh(part);
  return fileTokens + tokensOfCharacters(characters);
}

/** About how many tokens the images and files take that stand in the content of a result. */
export function estimateFileTokens(content: unknown): number {
  return Array.isArray(content) ? weigh(content).fileTokens : 0;
}

/** Of plain data, which ends. */
function weigh(content: unknown): { readonly fileTokens: number; readonly characters: number } {
  let fileTokens = 0;
  let characters = 0;
  // A stack instead of recursion: depth costs nothing.
  const pending: unknown[] = [content];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'number' || typeof value === 'boolean') characters += 4;
    else if (Array.isArray(value)) for (const item of value) pending.push(item);
    else if (isRecord(value)) {
      if (isFile(value))
        fileTokens += value['type'] === 'image' ? IMAGE_TOKENS : OTHER_MEDIA_TOKENS;
      else for (const key in value) if (key !== 'signature') pending.push(value[key]);
    }
  }
  return { fileTokens, characters };
}

/** Whether a part is an image, or a document whose text is not in it. */
export function isFile({ type, source }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'image') return true;
  if (type !== 'document' || !isRecord(source)) return false;
  return source['type'] !== 'text' && source['type'] !== 'content';
}
