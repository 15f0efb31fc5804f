// Reads message content in the format of Anthropic's API, which Claude Code and Cline record.

import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import { GROUP_OPENING, INCLUSION_END } from '../../shared/density/index/file-inclusions.js';
import type { HistoryAssembler, RecordedResponse } from './history-assembler.js';
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
import { mediaBlock } from './content-parts.js';

/** A message, with what its record says about it. */
export interface AnthropicMessage {
  readonly content: unknown;
  readonly role: 'user' | 'assistant';
  readonly metadata: ContentMetadata;
  /** Metadata for the message's tool results. */
  readonly time: ContentMetadata;
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
    const block = response === undefined ? readBlock(record, type, role) : undefined;
    const file = type === 'file' ? readFile(record) : undefined;
    if (response !== undefined) responses.push(response);
    else if (block !== undefined) blocks.push(block);
    else if (file !== undefined) blocks.push(...file);
    else if (KNOWN_TYPES.has(type)) {
      history.warn(`A ${type} block of the ${role} message is damaged and was left out.`);
    } else history.tallyLeftOut('content blocks of the unknown type', type);
  }
  if (role === 'assistant') history.addAi(blocks, metadata, key);
  for (const response of responses) history.addResponse(response, time);
  if (role === 'user') history.addHuman(blocks, metadata);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'image',
  'document',
  'file',
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'tool_result',
]);

function readBlock(
  block: JsonRecord,
  type: string,
  role: 'user' | 'assistant',
): ContentBlock | undefined {
  switch (type) {
    case 'text': {
      const text = asText(block['text']);
      return text === undefined ? undefined : { type: 'text', text };
    }
    case 'image':
    case 'document':
      return readMedia(block);
    case 'thinking':
    case 'redacted_thinking':
      return role === 'assistant' ? readThinking(block) : undefined;
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const name = asFilledText(block['name']);
      if (role !== 'assistant' || name === undefined) return undefined;
      const id = asText(block['id']) ?? '';
      return { type: 'tool_call', id, name, parameters: block['input'] ?? {} };
    }
    default:
      return undefined;
  }
}

function readThinking(block: JsonRecord): ContentBlock | undefined {
  const thought = asText(block['thinking']);
  const encryptedContent = asText(block['data']);
  if (thought === undefined && encryptedContent === undefined) return undefined;
  return {
    type: 'thinking',
    thought: thought ?? '',
    ...withoutUndefined({ signature: asText(block['signature']), encryptedContent }),
  };
}

function readMedia(block: JsonRecord): ContentBlock | undefined {
  const source = asRecord(block['source']) ?? {};
  const data = asText(source['data']);
  if (source['type'] === 'text' && data !== undefined) return { type: 'text', text: data };
  const fallbackType = block['type'] === 'image' ? 'image/*' : 'application/octet-stream';
  const mimeType = asText(source['media_type']) ?? fallbackType;
  const media = mediaBlock(mimeType, data, source['url']);
  return media && { ...media, ...withoutUndefined({ filename: asText(block['title']) }) };
}

/**
 * Reads Cline's file inclusion as the `referenced-files` inclusion syntax, which pruning recognizes. The file's content is a
 * separate block, so that nothing in it can be mistaken for the inclusion of another file.
 */
function readFile(block: JsonRecord): readonly ContentBlock[] | undefined {
  const path = asFilledText(block['path']);
  const content = asText(block['content']);
  if (path === undefined || content === undefined) return undefined;
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
  const hasFailed = block['is_error'] === true || reportsFailure(content);
  return { callId, result, ...(hasFailed && { error: errorLine(failureText(content)) }) };
}

function reportsFailure(content: unknown): boolean {
  const parts = outcomesOf(content);
  return parts.length > 0 && parts.every((part) => part['success'] === false);
}

function failureText(content: unknown): unknown {
  const error = outcomesOf(content).map((part) => asFilledText(part['error'] ?? part['result']));
  return error.find((text) => text !== undefined) ?? content;
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
