// What of an entry a provider turns into tokens: its texts, and constants for everything around them.
// Opaque fields (signatures, encrypted reasoning, ids, metadata), opaque blocks and media payloads are no texts.

import type { ContentBlock, IContent } from '../content.js';

/**
 * Tokens that frame one entry whatever it holds: role and delimiters. Source: OpenAI cookbook, "How
 * to count tokens with tiktoken" (3 per message).
 */
export const ENTRY_OVERHEAD_TOKENS = 3;

/**
 * Tokens that frame one block of a kind: fences, tags, field names and ids as providers render them.
 * Orders of magnitude; calibration against the usage that a provider reports absorbs what is off.
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
 * Tokens that an image stands for. Anthropic documents width × height / 750 and scales images down
 * to about 1.15 megapixels, which is at most some 1,600 tokens; other providers charge less.
 */
export const IMAGE_TOKENS = 1_600;

/** Tokens that any other medium (document, audio, video) stands for: its length is not known. */
export const OTHER_MEDIA_TOKENS = 3_000;

/** Tokens of an entry that depend on no text: its own overhead, and what is fixed of its blocks. */
export function fixedEntryTokens(entry: IContent): number {
  let tokens = ENTRY_OVERHEAD_TOKENS;
  for (const block of entry.blocks) tokens += fixedBlockTokens(block);
  return tokens;
}

/** Tokens of a block that depend on no text: its overhead, those of media in it, or those an opaque one names. */
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

/** The token estimate for the payload of a medium; its caption and file name are texts of their own. */
export function payloadTokens(mimeType: string): number {
  return /^image\//i.test(mimeType) ? IMAGE_TOKENS : OTHER_MEDIA_TOKENS;
}

/** The texts of a block that a provider tokenizes, in their order; absent and empty ones are left out. */
export function blockTexts(block: ContentBlock): readonly string[] {
  return blockParts(block)
    .map(payloadText)
    .filter((text) => text !== '');
}

/** The texts and payloads of a block that a provider tokenizes; what is absent is `undefined`. */
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

/** What stands in for a payload that JSON cannot express. */
export const UNSERIALIZABLE_PAYLOAD = '[unserializable]';

/**
 * A payload as text: a string as it is, anything else as JSON. What JSON leaves out is empty.
 * Ingestion refuses cycles and big integers; should one come through all the same, a count that is
 * off is better than a session that cannot count, hence no error.
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
