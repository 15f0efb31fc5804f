// Reads message content in the format of Anthropic's API, which Claude Code and Cline record.

import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { GROUP_OPENING, INCLUSION_END } from '../../shared/density/index/file-inclusions.js';
import type { HistoryAssembler, RecordedMetadata, RecordedResponse } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  textOfParts,
  tryParseJson,
  withoutUndefined,
  type JsonRecord,
} from '../../shared/json.js';
import { mediaBlock } from './media.js';

/** A message, with what its record says about it. */
export interface AnthropicMessage {
  readonly content: unknown;
  readonly role: 'user' | 'assistant';
  readonly metadata: RecordedMetadata;
  /** Metadata for the message's tool results. */
  readonly time: RecordedMetadata;
  /** The same for all parts of one model message that are recorded separately. */
  readonly key?: string | undefined;
}

/** Adds a message to the history. Leaves out unreadable blocks, and content that is neither text nor a list, with a warning. */
export function addAnthropicMessage(
  { content, role, metadata, time, key }: AnthropicMessage,
  history: HistoryAssembler,
): void {
  if (typeof content !== 'string' && !Array.isArray(content)) {
    history.warn('A message whose content is neither text nor a list was left out.');
  }
  const items = typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content);
  const blocks: ContentBlock[] = [];
  const responses: RecordedResponse[] = [];
  for (const item of items) {
    const record = asRecord(item) ?? {};
    const type = asText(record['type']) ?? '';
    const response = type.endsWith('tool_result') ? readToolResult(record) : undefined;
    const read = response === undefined ? readBlocks(record, type, role) : [];
    if (response !== undefined) responses.push(response);
    else if (read === undefined) history.tallyLeftOut('content blocks of the unknown type', type);
    else if (read.length > 0) blocks.push(...read);
    else history.warn(`A ${type} block of the ${role} message is damaged and was left out.`);
  }
  if (role === 'assistant') history.addAi(blocks, metadata, key);
  for (const response of responses) history.addResponse(response, time);
  if (role === 'user') history.addHuman(blocks, metadata);
}

/** Returns the blocks of a content block: none if it is damaged, `undefined` if its type is unknown. */
function readBlocks(
  block: JsonRecord,
  type: string,
  role: 'user' | 'assistant',
): readonly ContentBlock[] | undefined {
  switch (type) {
    case 'text': {
      const text = asText(block['text']);
      return text === undefined ? [] : [{ type: 'text', text }];
    }
    case 'image':
    case 'document':
      return readMedia(block);
    case 'file':
      return readFile(block);
    case 'thinking':
    case 'redacted_thinking':
      return role === 'assistant' ? readThinking(block) : [];
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const name = asFilledText(block['name']);
      if (role !== 'assistant' || name === undefined) return [];
      const id = asText(block['id']) ?? '';
      return [{ type: 'tool_call', id, name, parameters: block['input'] ?? {} }];
    }
    case 'tool_result':
      return [];
    default:
      return undefined;
  }
}

function readThinking(block: JsonRecord): readonly ContentBlock[] {
  const thought = asText(block['thinking']);
  const encryptedContent = asText(block['data']);
  if (thought === undefined && encryptedContent === undefined) return [];
  const signature = asText(block['signature']);
  return [thinkingBlock(thought ?? '', { signature, encryptedContent })];
}

function readMedia(block: JsonRecord): readonly ContentBlock[] {
  const source = asRecord(block['source']) ?? {};
  const data = asText(source['data']);
  if (source['type'] === 'text' && data !== undefined) return [{ type: 'text', text: data }];
  const fallbackType = block['type'] === 'image' ? 'image/*' : 'application/octet-stream';
  const mimeType = asText(source['media_type']) ?? fallbackType;
  const media = mediaBlock(mimeType, data, source['url']);
  const filename = asText(block['title']);
  return media === undefined ? [] : [{ ...media, ...withoutUndefined({ filename }) }];
}

/**
 * Reads Cline's file inclusion as the `referenced-files` inclusion syntax, which pruning recognizes. The file's content is a
 * separate block, so that nothing in it can be mistaken for the inclusion of another file.
 */
function readFile(block: JsonRecord): readonly ContentBlock[] {
  const path = asFilledText(block['path']);
  const content = asText(block['content']);
  if (path === undefined || content === undefined) return [];
  const texts = [GROUP_OPENING, `Content from @${path}:`, content, INCLUSION_END];
  return texts.map((text) => ({ type: 'text', text }));
}

/**
 * Reads a tool response. `result` is the whole output, which pruning can shrink; `error` only repeats
 * its first line. Cline reports a failure by `success: false` in the output.
 */
function readToolResult(block: JsonRecord): RecordedResponse | undefined {
  const callId = asFilledText(block['tool_use_id']);
  if (callId === undefined) return undefined;
  const content = block['content'];
  const result = textOfParts(content) ?? content ?? '';
  const outcomes = outcomesOf(content);
  const haveFailed = outcomes.length > 0 && outcomes.every(({ success }) => success === false);
  if (block['is_error'] !== true && !haveFailed) return { callId, result };
  const errors = outcomes.map(({ error, result: answer }) => asFilledText(error ?? answer));
  return { callId, result, error: errorLine(errors.find((text) => text !== undefined) ?? content) };
}

/** Returns the outcomes that Cline records as `{ query, result, success }`: a single one as JSON text, or a list. */
function outcomesOf(content: unknown): readonly JsonRecord[] {
  if (typeof content === 'string') {
    if (!content.startsWith('{"query"')) return [];
    const outcome = asRecord(tryParseJson(content));
    return outcome === undefined ? [] : [outcome];
  }
  return asArray(content).map((part) => asRecord(part) ?? {});
}
