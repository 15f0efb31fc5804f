// Content of a LangChain message as blocks: what providers write and what LangChain 1.0 makes of it. What a
// block of an unknown kind says is not looked into, and no payload of a medium becomes data of a block.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { COMPACTION_KIND } from '../../shared/content.js';
import type { ContentBlock, MediaBlock, OpaqueBlock, ThinkingBlock } from '../../shared/content.js';
import { fixedBlockTokens, payloadTokens } from '../../shared/tokens/content-text.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { isCompactionPart } from '../provider-compaction.js';
import { contentList } from './ai-message-parts.js';
import { textField } from './message-fields.js';

/** What media of a type are, where they do not say it themselves. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  image: 'image/*',
  image_url: 'image/*',
  input_image: 'image/*',
  audio: 'audio/*',
  input_audio: 'audio/*',
  video: 'video/*',
  file: 'application/octet-stream',
  input_file: 'application/octet-stream',
  document: 'application/pdf',
  media: 'application/octet-stream',
};

/** Returns the block that stands for a block of content that is no call. */
export function readContent(item: unknown): ContentBlock {
  if (typeof item === 'string') return { type: 'text', text: item };
  if (!isRecord(item)) return opaqueContent({ type: typeof item });
  const text = textField(item, 'text');
  if (item['type'] === 'text' && text !== undefined && text !== '') return { type: 'text', text };
  return readReasoning(item) ?? readMedia(item) ?? opaqueContent(item);
}

/** The block of content that is carried as it is. */
export function opaqueContent(item: JsonRecord): OpaqueBlock {
  const { type, tool_use_id: callId } = item;
  const tokens = estimatePayloadTokens(withoutMedia(item));
  return {
    type: 'opaque',
    kind: typeof type === 'string' ? kindOf(type, item) : 'unknown',
    tokens: item['text'] === '' ? 0 : tokens,
    ...(typeof callId === 'string' && { callId }),
  };
}

/** A compaction that failed stands in for nothing. */
function kindOf(type: string, item: JsonRecord): string {
  return type === COMPACTION_KIND && !isCompactionPart(item) ? `failed-${type}` : type;
}

/**
 * What a tool returned: its text, or its blocks when they hold more than text. Media stand in them by
 * their kind alone.
 */
export function readResult(content: unknown): unknown {
  if (typeof content === 'string') return content;
  const items = contentList(content);
  const texts = items.map((item) => (isRecord(item) ? textField(item, 'text') : item));
  if (texts.every((text) => typeof text === 'string')) return texts.join('\n');
  return items.map(withoutMedia);
}

/** About how many tokens the media in what a tool returned take. */
export function resultMediaTokens(content: unknown): number {
  return contentList(content).reduce<number>((sum, item) => {
    const media = isRecord(item) ? readMedia(item) : undefined;
    return media === undefined ? sum : sum + payloadTokens(media.mimeType);
  }, 0);
}

/** About how many tokens content takes that stands in no entry. */
export function contentTokens(content: unknown): number {
  return contentList(content).reduce<number>((sum, item) => {
    const media = isRecord(item) ? readMedia(item) : undefined;
    if (media !== undefined) return sum + fixedBlockTokens(media);
    return sum + estimatePayloadTokens(item);
  }, 0);
}

function withoutMedia(item: unknown): unknown {
  const media = isRecord(item) ? readMedia(item) : undefined;
  return media ?? item;
}

function readMedia(item: JsonRecord): MediaBlock | undefined {
  const { type, source } = item;
  const known = typeof type === 'string' ? MEDIA_TYPES[type] : undefined;
  const origin = isRecord(source) ? source : item;
  // A file that is a text weighs what the text weighs.
  const isText = origin['type'] === 'text' || item['source_type'] === 'text';
  if (known === undefined || isText) return undefined;
  const mimeType =
    textField(item, 'mimeType') ?? textField(item, 'mime_type') ?? textField(origin, 'media_type');
  const filename = textField(item, 'filename');
  return {
    type: 'media',
    mimeType: mimeType ?? known,
    data: '',
    encoding: 'base64',
    ...(filename !== undefined && { filename }),
  };
}

function readReasoning(item: JsonRecord): ThinkingBlock | undefined {
  switch (item['type']) {
    case 'thinking':
      return thinking(textField(item, 'thinking'), item['signature']);
    case 'redacted_thinking':
      return thinking('', undefined, item['data']);
    case 'reasoning':
      return thinking(
        textField(item, 'reasoning') ?? summaryText(item['summary']),
        item['signature'],
        item['encrypted_content'],
      );
    case 'reasoning_content': {
      const said = item['reasoningText'];
      const sealed = item['redactedContent'];
      return isRecord(said)
        ? thinking(textField(said, 'text'), said['signature'], sealed)
        : thinking('', undefined, sealed);
    }
    default:
      return undefined;
  }
}

function summaryText(summary: unknown): string {
  return contentList(summary)
    .map((item) => (isRecord(item) ? (textField(item, 'text') ?? '') : ''))
    .join('\n');
}

function thinking(thought = '', signature?: unknown, encryptedContent?: unknown): ThinkingBlock {
  return {
    type: 'thinking',
    thought,
    ...(typeof signature === 'string' && { signature }),
    ...(typeof encryptedContent === 'string' && { encryptedContent }),
  };
}
