// One part of a Gemini content as a block, but for calls and responses, which need their partners. What a
// part of an unknown kind says is not looked into, and no payload of a medium becomes data of a block.

import type { Part } from '@google/genai';
import type { ContentBlock, OpaqueBlock } from '../../shared/content.js';
import { payloadText } from '../../shared/tokens/content-text.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** Fields of a part that say something about it and nothing by themselves. */
const MARKS: ReadonlySet<string> = new Set(['thought', 'thoughtSignature', 'partMetadata']);

const DEFAULT_MIME_TYPE = 'application/octet-stream';

/** Returns the block that stands for a part. */
export function readPart(part: Part): ContentBlock {
  const { text, thought, thoughtSignature: signature } = part;
  if (isEmptyPart(part)) return { type: 'opaque', kind: 'empty', tokens: 0 };
  if (text !== undefined) {
    if (thought !== true) return { type: 'text', text };
    return { type: 'thinking', thought: text, ...(signature !== undefined && { signature }) };
  }
  return readMedia(part) ?? opaquePart(part);
}

/** Whether a part says nothing. It may carry the signature of what was thought before it. */
export function isEmptyPart(part: Part): boolean {
  const said = Object.entries(part).filter(([key, value]) => !MARKS.has(key) && isSaid(value));
  return said.length === 0;
}

/** The block of a part that is carried as it is. */
export function opaquePart(part: Part): OpaqueBlock {
  const said = Object.entries(part).filter(([key, value]) => !MARKS.has(key) && isSaid(value));
  const characters = said.reduce((sum, [, value]) => sum + payloadText(value).length, 0);
  const tokens = tokensOfCharacters(characters);
  return { type: 'opaque', kind: said[0]?.[0] ?? 'empty', tokens };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function readMedia({ inlineData, fileData }: Part): ContentBlock | undefined {
  const media = inlineData ?? fileData;
  if (media === undefined) return undefined;
  return {
    type: 'media',
    mimeType: media.mimeType ?? DEFAULT_MIME_TYPE,
    data: '',
    encoding: inlineData === undefined ? 'url' : 'base64',
    ...(media.displayName !== undefined && { filename: media.displayName }),
  };
}
