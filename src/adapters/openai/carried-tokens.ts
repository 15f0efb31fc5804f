// What a value weighs that is carried without being looked into. An estimate, and no more than that:
// what the model counts for such values is known to the provider alone.

import { ENTRY_OVERHEAD_TOKENS, IMAGE_TOKENS } from '../../shared/tokens/content-text.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** A string at least this long that begins without white space is a payload and no text. */
const MIN_PAYLOAD_CHARACTERS = 1_024;

/** Values beyond this many are not measured; it also ends a cycle. */
const MAX_VALUES = 100_000;

/**
 * About how many tokens a value of plain data stands for: its strings over four, and for each payload
 * (base64, encrypted, bytes) what an image takes at most, for its length says nothing.
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
