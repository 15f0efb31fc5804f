// Estimates the tokens of opaque values. Only the provider knows how it counts them.

import { ENTRY_OVERHEAD_TOKENS, IMAGE_TOKENS } from '../../shared/tokens/content-text.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** A string with at least this many characters, and no white space among the first ones, is a payload. */
const MIN_PAYLOAD_CHARACTERS = 1_024;

/** Further values are ignored; also ends cycles. */
const MAX_VALUES = 100_000;

/**
 * Estimates the tokens of plain data: characters of strings over four, and for each payload (base64, encrypted, bytes) the
 * maximum for an image, because its length says nothing about tokens.
 */
export function carriedTokens(value: unknown): number {
  let characters = 0;
  let payloads = 0;
  const pending: unknown[] = [value];
  for (let values = 0; pending.length > 0 && values < MAX_VALUES; values += 1) {
    const next = pending.pop();
    if (typeof next === 'string') {
      if (isPayload(next)) payloads += 1;
      else characters += next.length;
    } else if (ArrayBuffer.isView(next)) {
      payloads += 1;
    } else if (typeof next === 'object' && next !== null) {
      for (const part of Object.values(next) as unknown[]) pending.push(part);
    }
  }
  const texts = tokensOfCharacters(characters);
  return ENTRY_OVERHEAD_TOKENS + texts + payloads * IMAGE_TOKENS;
}

function isPayload(text: string): boolean {
  return (
    text.startsWith('data:') ||
    (text.length >= MIN_PAYLOAD_CHARACTERS && !/\s/.test(text.slice(0, MIN_PAYLOAD_CHARACTERS)))
  );
}
