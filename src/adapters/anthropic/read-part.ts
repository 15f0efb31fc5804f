// Converts a part of a message to a block, without fields that a block does not need: edits are applied to the part itself.

import { isRecord } from '../../shared/json.js';
import type { ContentBlock, MediaBlock, ToolResponseBlock } from '../../shared/content.js';
import { failureLine } from '../placed.js';
import { answeredIdOf, estimateFileTokens, estimatePartTokens, isFile } from './message-part.js';
import type { MessagePart } from './message-part.js';

/** For a call that was not read. */
const UNKNOWN_TOOL = 'unknown_tool';

/**
 * Returns the block for a part; `opaque` if its type is unknown or a field is invalid.
 *
 * @param toolNames names of tools by the ids of calls
 */
export function readPart(part: MessagePart, toolNames: ReadonlyMap<string, string>): ContentBlock {
  return readKnownPart(part, toolNames) ?? opaque(part);
}

function readKnownPart(
  part: MessagePart,
  toolNames: ReadonlyMap<string, string>,
): ContentBlock | undefined {
  switch (part.type) {
    case 'text':
      return typeof part['text'] === 'string' ? { type: 'text', text: part['text'] } : undefined;
    case 'thinking':
      return readThinking(part);
    case 'redacted_thinking': {
      const { data } = part;
      if (typeof data !== 'string') return undefined;
      return { type: 'thinking', thought: '', isHidden: true, encryptedContent: data };
    }
    case 'tool_use':
      return readCall(part);
    case 'tool_result':
      return readResult(part, toolNames);
    default:
      return isFile(part) ? readFile(part) : undefined;
  }
}

function readThinking({ thinking, signature }: MessagePart): ContentBlock | undefined {
  if (typeof thinking !== 'string') return undefined;
  return {
    type: 'thinking',
    thought: thinking,
    ...(typeof signature === 'string' && { signature }),
  };
}

function readCall({ id, name, input }: MessagePart): ContentBlock | undefined {
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  return { type: 'tool_call', id, name, parameters: input ?? {} };
}

function readResult(
  part: MessagePart,
  toolNames: ReadonlyMap<string, string>,
): ToolResponseBlock | undefined {
  const callId = answeredIdOf(part);
  if (callId === undefined) return undefined;
  const result = textOf(part['content']);
  const mediaTokens = estimateFileTokens(part['content']);
  return {
    type: 'tool_response',
    callId,
    toolName: toolNames.get(callId) ?? UNKNOWN_TOOL,
    result,
    isComplete: true,
    ...(part['is_error'] === true && { error: firstLine(result) }),
    ...(mediaTokens > 0 && { mediaTokens }),
  };
}

/** Without the payload, which a worker does not need. */
function readFile({ type, source, title }: MessagePart): MediaBlock {
  const { media_type: mediaType, type: sourceType } = isRecord(source) ? source : {};
  const fallbackType = type === 'image' ? 'image/*' : 'application/octet-stream';
  return {
    type: 'media',
    mimeType: typeof mediaType === 'string' ? mediaType : fallbackType,
    data: '',
    encoding: sourceType === 'url' ? 'url' : 'base64',
    ...(typeof title === 'string' && { filename: title }),
  };
}

function opaque(part: MessagePart): ContentBlock {
  return { type: 'opaque', kind: part.type, tokens: estimatePartTokens(part) };
}

/** The texts of a result, with stand-ins for other items. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((item: unknown) => (isRecord(item) ? textOfItem(item) : '')).join('\n');
}

function textOfItem(item: Readonly<Record<string, unknown>>): string {
  const { type, text, content, source } = item;
  if (typeof text === 'string') return text;
  if (Array.isArray(content)) return textOf(content);
  if (type === 'document' && isRecord(source) && !isFile(item)) {
    return textOf(source['data'] ?? source['content']);
  }
  return `[${typeof type === 'string' ? type : 'unknown'}]`;
}

function firstLine(text: string): string {
  return failureLine(text)?.trimEnd() ?? 'The tool failed.';
}
