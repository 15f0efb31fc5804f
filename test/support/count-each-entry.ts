// The tokens of entries, one by one.

import type { IContent } from '../../src/shared/content.js';
import { countEntryTokens } from '../../src/shared/tokens/count-tokens.js';
import type { CountText } from '../../src/shared/tokens/count-tokens.js';

export function countEachEntry(contents: readonly IContent[], countText: CountText): Int32Array {
  return Int32Array.from(contents, (entry) => countEntryTokens(entry, countText));
}
