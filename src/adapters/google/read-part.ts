// One part of a Gemini content as a block, but for calls and responses, which need their partners. What a
// part of an unknown kind says is not looked into, and no payload of a medium becomes data of a block.

import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { ContentBlock, OpaqueBlock } from '../../shared/content.js';
import { payloadText } from '../../shared/tokens/content-text.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** Fields of a part that say something about it and nothing by themselves. */
const MARKS: ReadonlySet<string> = new Set(['thought', 'thoughtSignature', 'partMetadata']);

const DEFAULT_MIME_TYPE = 'application/octet-stream';

/** A `Part`, of whose fields anything may be missing, null or of another type. */
export type PartFields = JsonRecord;

/** Returns the block that stands for a part. */
export function readPart(part: PartFields): ContentBlock {
  const text = asText(part['text']);
  const signature = asText(part['thoughtSignature']);
  if (isEmptyPart(part)) return { type: 'opaque', kind: 'empty', tokens: 0 };
  if (text !== undefined) {
    if (part['thought'] !== true) return { type: 'text', text };
    return { type: 'thinking', thought: text, ...(signature !== undefined && { signature }) };
  }
  return readMedia(part) ?? opaquePart(part);
}

/** Whether a part says nothing. It may carry the signature of what was thought before it. */
export function isEmptyPart(part: PartFields): boolean {
  const said = Object.entries(part).filter(([key, value]) => !MARKS.has(key) && isSaid(value));
  return said.length === 0;
}

/** The block of a part that is carried as it is. */
export function opaquePart(part: PartFields): OpaqueBlock {
  const said = Object.entries(part).filter(([key, value]) => !MARKS.has(key) && isSaid(value));
  const characters = said.reduce((sum, [, value]) => sum + payloadText(value).length, 0);
  const tokens = tokensOfCharacters(characters);
  return { type: 'opaque', kind: said[0]?.[0] ?? 'empty', tokens };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function readMedia(part: PartFields): ContentBlock | undefined {
  const inlineData = asRecord(part['inlineData']);
  const media = inlineData ?? asRecord(part['fileData']);
  if (media === undefined) return undefined;
  const filename = asText(media['displayName']);
  return {
    type: 'media',
    mimeType: asText(media['mimeType']) ?? DEFAULT_MIME_TYPE,
    data: '',
    encoding: inlineData === undefined ? 'url' : 'base64',
    ...(filename !== undefined && { filename }),
  };
}
