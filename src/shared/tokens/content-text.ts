// The parts of an entry that providers tokenize: its texts, and constants for everything around them. Opaque fields
// (signatures, encrypted reasoning, ids, metadata), opaque blocks and media payloads are not texts.

import type { ContentBlock, IContent } from '../content.js';

/**
 * Overhead of an entry: role and delimiters. Source: OpenAI cookbook, "How to count tokens with tiktoken" (3 per message).
 */
export const ENTRY_OVERHEAD_TOKENS = 3;

/**
 * Overhead of a block by type: fences, tags, field names and ids as providers render them. Rough values; calibration
 * against the usage reported by the provider corrects them.
 */
export const BLOCK_OVERHEAD_TOKENS: Readonly<Record<ContentBlock['type'], number>> = {
  text: 0,
  code: 4,
  thinking: 2,
  tool_call: 8,
  tool_response: 8,
  media: 2,
  opaque: 2,
};

/**
 * Assumed tokens of an image. Anthropic documents width × height / 750 and scales images down to about 1.15 megapixels, so at
 * most about 1,600 tokens; other providers charge less.
 */
export const IMAGE_TOKENS = 1_600;

/** Assumed tokens of other media (document, audio, video), whose length is unknown. */
export const OTHER_MEDIA_TOKENS = 3_000;

/** Tokens of an entry besides its texts: its overhead and `fixedBlockTokens`. */
export function fixedEntryTokens(entry: IContent): number {
  let tokens = ENTRY_OVERHEAD_TOKENS;
  for (const block of entry.blocks) tokens += fixedBlockTokens(block);
  return tokens;
}

/** Tokens of a block besides its texts: its overhead, its media, and the tokens that an opaque block declares. */
export function fixedBlockTokens(block: ContentBlock): number {
  const overhead = BLOCK_OVERHEAD_TOKENS[block.type];
  switch (block.type) {
    case 'media':
      return overhead + payloadTokens(block.mimeType);
    case 'tool_response':
      return overhead + (block.mediaTokens ?? 0);
    case 'opaque':
      return overhead + block.tokens;
    default:
      return overhead;
  }
}

/** Assumed tokens of a media payload; caption and file name are counted as texts. */
export function payloadTokens(mimeType: string): number {
  return /^image\//i.test(mimeType) ? IMAGE_TOKENS : OTHER_MEDIA_TOKENS;
}

/** The non-empty texts of a block that a provider tokenizes, in order. */
export function blockTexts(block: ContentBlock): readonly string[] {
  return blockParts(block)
    .map(payloadText)
    .filter((text) => text !== '');
}

/** The texts and payloads of a block that a provider tokenizes; absent ones are `undefined`. */
export function blockParts(block: ContentBlock): readonly unknown[] {
  switch (block.type) {
    case 'text':
      return [block.text];
    case 'code':
      return [block.language, block.code];
    case 'thinking':
      return [block.thought];
    case 'tool_call':
      return [block.name, block.parameters];
    case 'tool_response':
      return [block.toolName, block.result, block.error];
    case 'media':
      return [block.caption, block.filename];
    case 'opaque':
      return [];
  }
}

/** Replaces a payload that JSON cannot express. */
export const UNSERIALIZABLE_PAYLOAD = '[unserializable]';

/**
 * A payload as text: a string unchanged, anything else as JSON, empty if JSON omits it. Never throws: ingestion refuses
 * cycles and bigints, and should one get through, a wrong count is better than a session that cannot count.
 */
export function payloadText(payload: unknown): string {
  if (typeof payload === 'string') return payload;
  try {
    // The declared type ignores that undefined, functions and symbols have no JSON.
    const json = JSON.stringify(payload) as string | undefined;
    return json ?? '';
  } catch {
    return UNSERIALIZABLE_PAYLOAD;
  }
}
