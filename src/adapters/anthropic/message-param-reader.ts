// Reads the messages of one conversation with Anthropic's Messages API as entries. A user message with both answers to calls and
// other content becomes two entries. Blocks have only the fields that decisions need: edits are applied to the message's own parts.

import {
  isCompaction,
  isToolResponseBlock,
  thinkingBlock,
  toolCall,
} from '../../shared/content.js';
import { asArray, asRecord, asText, errorLine, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { ContentBlock, MediaBlock, ToolResponseBlock } from '../../shared/content.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { answerBlock, mediaBlock, opaqueBlockOf } from '../format/blocks.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';
import { PinnedCalls, WholeExchanges } from '../format/pinned-calls.js';
import { placed } from '../format/placed.js';
import { compactionBlock } from '../format/provider-compaction.js';
import { plainData } from '../format/plain-data.js';
import { callsIn, fileType, isFile, isMessagePart } from './message-part.js';
import type { MessagePart } from './message-part.js';

/** Reads messages, and remembers their calls. */
export class MessageParamReader implements MessageReader<unknown> {
  /** Id of a call → name of its tool. */
  readonly #toolNames = new Map<string, string>();
  readonly #pinned = new PinnedCalls();
  readonly #whole = new WholeExchanges();

  read(message: unknown, index: number, reading: Reading): void {
    const { role, parts, isBrief } = partsOf(message, index);
    const calls = callsIn(parts);
    const isForeign = role !== 'user' && role !== 'assistant';
    if (role === 'assistant' && this.#pinned.resumes(calls)) {
      const blocks = this.#readMessage(role, parts, index).flatMap((entry) => entry.blocks);
      this.#whole.take({ ...calls, calls: [], blocks, isResumed: true }, reading);
    } else if (this.#pinned.pins(calls) || isForeign) {
      const isSaid = ({ origin: [, at] }: PlacedBlock): boolean =>
        role === 'user' && parts[at]?.type !== 'tool_result';
      const blocks = isBrief ? [] : wholeBlocks(parts, index);
      const userBlocks = blocks.filter(isSaid);
      this.#whole.take(
        { ...calls, blocks: blocks.filter((block) => !isSaid(block)), userBlocks },
        reading,
      );
    } else {
      this.#whole.pass(this.#readMessage(role, parts, index), reading);
    }
  }

  end(reading: Reading): void {
    this.#whole.end(reading);
  }

  #readMessage(role: string, parts: readonly MessagePart[], index: number): PlacedEntry[] {
    const blocks = parts.map((part, at) => {
      const block = readPart(part, this.#toolNames);
      if (block.type === 'tool_call') this.#toolNames.set(block.id, block.name);
      return placed(block, index, at);
    });
    if (role !== 'user') return [{ speaker: 'ai', blocks }];
    return [
      { speaker: 'tool', blocks: blocks.filter(isToolResponseBlock) },
      { speaker: 'human', blocks: blocks.filter((block) => !isToolResponseBlock(block)) },
    ];
  }
}

/** Returns the blocks of a message that must stay whole: its reasoning, its texts, for summaries, and opaque blocks for the rest. */
function wholeBlocks(parts: readonly MessagePart[], message: number): readonly PlacedBlock[] {
  return parts.map((part, at) => placed(readSaid(part) ?? opaque(part), message, at));
}

interface RoleAndParts {
  readonly role: string;
  readonly parts: readonly MessagePart[];
  /**
   * Whether the model no longer sees the message once there is another one of the user, results of tools included. Such a message
   * has no tokens.
   */
  readonly isBrief?: boolean;
}

function partsOf(given: unknown, index: number): RoleAndParts {
  const message = plainData(given, `message ${index}`);
  const { role, content, clear_at: clearAt } = isRecord(message) ? message : {};
  if (typeof role !== 'string') {
    throw new TypeError(`Expected a message { role, content } at message ${index}.`);
  }
  const isBrief = clearAt === 'next_user_message';
  if (typeof content === 'string')
    return { role, parts: [{ type: 'text', text: content }], isBrief };
  // A system message may only change settings, and have no content.
  if (role === 'system' && (content === undefined || content === null)) return { role, parts: [] };
  if (!Array.isArray(content)) {
    throw new TypeError(`Expected a text or a list of parts as the content of message ${index}.`);
  }
  const parts = content.map((part: unknown, at) => {
    if (isMessagePart(part)) return part;
    throw new TypeError(`Expected a part with a type at message ${index}, part ${at}.`);
  });
  return { role, parts, isBrief };
}

/** Name of the tool in a result whose call was not read. */
const UNKNOWN_TOOL = 'unknown_tool';

/**
 * Returns the block for a part; an `opaque` one if its type is unknown or a field is invalid.
 *
 * @param toolNames id of a call → name of its tool
 */
function readPart(part: MessagePart, toolNames: ReadonlyMap<string, string>): ContentBlock {
  switch (part.type) {
    case 'tool_use':
      return readCall(part) ?? opaque(part);
    case 'tool_result':
      return readResult(part, toolNames) ?? opaque(part);
    default:
      return readSaid(part) ?? readFile(part) ?? opaque(part);
  }
}

/** Returns the block for a valid text or for valid reasoning, else `undefined`. */
function readSaid(part: MessagePart): ContentBlock | undefined {
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
    default:
      return undefined;
  }
}

function readThinking({ thinking, signature }: MessagePart): ContentBlock | undefined {
  if (typeof thinking !== 'string') return undefined;
  return thinkingBlock(thinking, { signature: asText(signature) });
}

function readCall({ id, name, input }: MessagePart): ContentBlock | undefined {
  if (typeof id !== 'string' || typeof name !== 'string') return undefined;
  return toolCall(id, name, input ?? {});
}

function readResult(
  part: MessagePart,
  toolNames: ReadonlyMap<string, string>,
): ToolResponseBlock | undefined {
  const callId = asText(part['tool_use_id']);
  if (callId === undefined) return undefined;
  const { content } = part;
  return answerBlock(
    { callId, toolName: toolNames.get(callId) ?? UNKNOWN_TOOL },
    {
      result: resultOf(content),
      error: part['is_error'] === true ? errorLine(textOf(content)) : undefined,
      mediaTokens: mediaTokensIn(asArray(content).flatMap(contentOf), fileType),
    },
  );
}

function readFile(part: MessagePart): MediaBlock | undefined {
  const type = fileType(part);
  if (type === undefined) return undefined;
  const { source, title } = part;
  const { media_type: mediaType, type: sourceType } = asRecord(source) ?? {};
  const encoding = sourceType === 'url' ? 'url' : 'base64';
  return mediaBlock(asText(mediaType) ?? type, asText(title), encoding);
}

function opaque(part: MessagePart): ContentBlock {
  const block = opaqueBlockOf(part.type, part, fileType);
  return isCompaction(block) ? compactionBlock(block, 'anthropic') : block;
}

/** Returns the items of a document that consists of content blocks, or else the item itself. */
function contentOf(item: unknown): readonly unknown[] {
  const { content } = asRecord(asRecord(item)?.['source']) ?? {};
  return Array.isArray(content) ? content : [item];
}

/** Returns a result as a text; as a list if it has items that a text cannot replace, such as search results, which the model cites. */
function resultOf(content: unknown): string | readonly string[] {
  const isPlain = asArray(content).every((item) => {
    const fields = asRecord(item);
    return (
      fields === undefined || fields['type'] === 'text' || isFile(fields) || isOnlyText(fields)
    );
  });
  return isPlain ? textOf(content) : textsOf(content);
}

/** Whether an item is a document that is a text and nothing else, as a resource of an MCP server is passed on. */
function isOnlyText({ type, source, title, context, citations }: JsonRecord): boolean {
  const isText = type === 'document' && asRecord(source)?.['type'] === 'text';
  return (
    isText && [title, context, citations].every((field) => field === undefined || field === null)
  );
}

/** Joins the texts of a result. Other items are represented by their type, such as `[image]`. */
function textOf(content: unknown): string {
  return typeof content === 'string' ? content : textsOf(content).join('\n');
}

function textsOf(content: unknown): readonly string[] {
  return asArray(content).map((item) => (isRecord(item) ? textOfItem(item) : ''));
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
