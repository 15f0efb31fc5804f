// Estimates the tokens of values that no block represents: parts of unknown kinds, and messages that stay whole.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { IMAGE_TOKENS, payloadTokens } from '../../shared/tokens/content-text.js';
import { CHARACTERS_PER_TOKEN, tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** A long string with no white space among so many first characters counts as a payload. */
const FIRST_CHARACTERS = 1_024;
const MAX_PAYLOAD_CHARACTERS = IMAGE_TOKENS * CHARACTERS_PER_TOKEN;

/** Values beyond this number are ignored, which also ends the walk through cycles. */
const MAX_VALUES = 100_000;

/** Returns the media type of an object; `undefined` if it is not media. */
export type MimeTypeOf = (item: JsonRecord) => string | undefined;

/**
 * Estimates the tokens of plain data from its characters. A payload (base64, encrypted, bytes) counts as an image at most, because
 * the length of a payload says little about its tokens.
 *
 * @param mimeTypeOf media objects count by their type @default no object is media
 */
export function estimateOpaqueTokens(
  value: unknown,
  mimeTypeOf: MimeTypeOf = () => undefined,
): number {
  let characters = 0;
  let tokens = 0;
  // A stack instead of recursion, so that depth is no problem.
  const pending: unknown[] = [value];
  for (let values = 0; pending.length > 0 && values < MAX_VALUES; values += 1) {
    const next = pending.pop();
    if (typeof next === 'string') {
      if (next.startsWith('data:')) tokens += IMAGE_TOKENS;
      else characters += isPayload(next) ? MAX_PAYLOAD_CHARACTERS : next.length;
    } else if (typeof next === 'number' || typeof next === 'boolean') characters += 4;
    else if (ArrayBuffer.isView(next)) tokens += IMAGE_TOKENS;
    else if (Array.isArray(next)) for (const item of next) pending.push(item);
    else if (isRecord(next)) {
      const mimeType = mimeTypeOf(next);
      if (mimeType !== undefined) tokens += payloadTokens(mimeType);
      else
        for (const key in next) {
          characters += key.length;
          pending.push(next[key]);
        }
    }
  }
  return tokens + tokensOfCharacters(characters);
}

/** Estimates the tokens of the media among items. */
export function mediaTokensIn(items: readonly unknown[], mimeTypeOf: MimeTypeOf): number {
  const types = items.map((item) => (isRecord(item) ? mimeTypeOf(item) : undefined));
  return types.reduce<number>(
    (sum, type) => (type === undefined ? sum : sum + payloadTokens(type)),
    0,
  );
}

function isPayload(text: string): boolean {
  return text.length > MAX_PAYLOAD_CHARACTERS && !/\s/.test(text.slice(0, FIRST_CHARACTERS));
}
