// Converts content of LangChain messages to blocks, without payloads of media: content blocks of providers and of LangChain 1.0.
// Content blocks of unknown types become opaque.

import { asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { COMPACTION_KIND, isCompaction, thinkingBlock } from '../../shared/content.js';
import type { ContentBlock, MediaBlock, OpaqueBlock, ThinkingBlock } from '../../shared/content.js';
import { mediaBlock, opaqueBlock } from '../format/blocks.js';
import { estimateOpaqueTokens } from '../format/opaque-tokens.js';
import { compactionBlock, isCompactionPart } from '../format/provider-compaction.js';
import { contentList } from './message-fields.js';

/** Type of a content block → its media type, unless the block names one. */
const MEDIA_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['image', 'image/*'],
  ['image_url', 'image/*'],
  ['input_image', 'image/*'],
  ['computer_screenshot', 'image/*'],
  ['audio', 'audio/*'],
  ['input_audio', 'audio/*'],
  ['video', 'video/*'],
  ['file', 'application/octet-stream'],
  ['input_file', 'application/octet-stream'],
  ['document', 'application/pdf'],
  ['media', 'application/octet-stream'],
]);

/** Returns the block for a content block that is not a call. */
export function readContent(item: unknown): ContentBlock {
  if (typeof item === 'string') return { type: 'text', text: item };
  if (!isRecord(item)) return opaqueContent({ type: typeof item });
  const text = asText(item['text']);
  if (item['type'] === 'text' && text !== undefined && text !== '') return { type: 'text', text };
  return readReasoning(item) ?? readMedia(item) ?? opaqueContent(item);
}

export function opaqueContent(item: JsonRecord): OpaqueBlock {
  const { type, text, tool_use_id: callId } = item;
  const kind = typeof type === 'string' ? kindOf(type, item) : 'unknown';
  const tokens = text === '' ? 0 : estimateOpaqueTokens(item, mediaTypeOf);
  const block = opaqueBlock(kind, tokens, asText(callId));
  // Anthropic's shows what it says.
  const provider = 'content' in item ? 'anthropic' : 'openai';
  return isCompaction(block) ? compactionBlock(block, provider) : block;
}

/** A failed compaction replaces no messages, so it must not count as one. */
function kindOf(type: string, item: JsonRecord): string {
  return type === COMPACTION_KIND && !isCompactionPart(item) ? `failed-${type}` : type;
}

/**
 * Returns the result of a tool: its text, or its content blocks without payloads of media, if not all of them are texts.
 */
export function readResult(content: unknown): unknown {
  if (typeof content === 'string') return content;
  const items = contentList(content);
  const texts = items.map((item) => (isRecord(item) ? asText(item['text']) : item));
  if (texts.every((text) => typeof text === 'string')) return texts.join('\n');
  return items.map(withoutMedia);
}

function withoutMedia(item: unknown): unknown {
  const media = isRecord(item) ? readMedia(item) : undefined;
  return media ?? item;
}

/** Returns the media type of a content block; `undefined` if it is not media. */
export function mediaTypeOf(item: JsonRecord): string | undefined {
  return readMedia(item)?.mimeType;
}

function readMedia(item: JsonRecord): MediaBlock | undefined {
  const { type, source } = item;
  const known = MEDIA_TYPES.get(type);
  const origin = isRecord(source) ? source : item;
  // A file with inline text counts as text, not as media.
  const isText = origin['type'] === 'text' || item['source_type'] === 'text';
  if (known === undefined || isText) return undefined;
  const mimeType =
    asText(item['mimeType']) ?? asText(item['mime_type']) ?? asText(origin['media_type']);
  return mediaBlock(mimeType ?? known, asText(item['filename']));
}

function readReasoning(item: JsonRecord): ThinkingBlock | undefined {
  switch (item['type']) {
    case 'thinking':
      return thinking(asText(item['thinking']), item['signature']);
    case 'redacted_thinking':
      return thinking('', undefined, item['data']);
    case 'reasoning':
      return thinking(
        asText(item['reasoning']) ?? summaryText(item['summary']),
        item['signature'],
        item['encrypted_content'],
      );
    case 'reasoning_content': {
      const { reasoningText, redactedContent } = item;
      return isRecord(reasoningText)
        ? thinking(asText(reasoningText['text']), reasoningText['signature'], redactedContent)
        : thinking('', undefined, redactedContent);
    }
    default:
      return undefined;
  }
}

function summaryText(summary: unknown): string {
  return contentList(summary)
    .map((item) => (isRecord(item) ? (asText(item['text']) ?? '') : ''))
    .join('\n');
}

function thinking(thought = '', signature?: unknown, encryptedContent?: unknown): ThinkingBlock {
  return thinkingBlock(thought, {
    signature: asText(signature),
    encryptedContent: asText(encryptedContent),
  });
}
