// Where token counts come from: the exact encoding, run by the offload; an estimate; or the user's own counter.

import { types } from 'node:util';
import { CtxfoldError } from '../../shared/errors.js';
import { countEntryTokens } from '../../shared/tokens/count-tokens.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import { countInPieces } from '../../shared/tokens/pieces.js';
import type { Offload } from '../offload/offload.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import { isTokenCount } from './token-ledger.js';
import type { CountEntries } from './token-ledger.js';

/** A custom counter. It runs on the thread of the turn loop, so it should be fast. */
export interface TokenCounter {
  /**
   * Returns the tokens of a text of at most 512 UTF-16 units, for the session's model if that is known: a non-negative number.
   * If it throws or returns anything else, counting has failed: totals are estimates, the preflight rejects with
   * `TOKEN_COUNT_FAILED`, and the next one counts again.
   */
  countTokens(text: string, modelName: string | undefined): number;
}

/**
 * How tokens are counted. `o200k`: exactly, in a worker unless the session runs inline. `estimate`: by words, within about 5 %
 * on agent sessions, synchronously.
 */
export type Tokenizer = 'o200k' | 'estimate' | TokenCounter;

/** Estimates the tokens of each entry by its words. */
export const estimateEntries: CountEntries = (contents) =>
  Promise.resolve(contents.map(estimateEntryTokens));

/** Makes the function that counts a history's entries. */
export function createCountEntries(tokenizer: Tokenizer, offload: Offload): CountEntries {
  if (tokenizer === 'o200k') return (contents) => offload.countTokens(contents);
  if (tokenizer === 'estimate') return estimateEntries;
  return async (contents, modelName) => {
    const counts: number[] = [];
    const countText = countInPieces((text) => {
      const count: unknown = tokenizer.countTokens(text, modelName);
      // Validate each piece: in a sum, an invalid count of one piece could be hidden by another.
      if (isTokenCount(count)) return count;
      // A promise may reject, and nothing awaits it.
      if (types.isPromise(count)) count.catch(() => undefined);
      throw new CtxfoldError(
        `The tokenizer's countTokens returned ${typeof count === 'number' ? count : typeof count}; it has to return a number of at least 0, and no promise of one`,
        'TOKEN_COUNT_FAILED',
      );
    });
    for (const content of contents) {
      counts.push(countEntryTokens(content, countText));
      if (counts.length % ENTRIES_PER_TURN === 0) await nextTurn();
    }
    return counts;
  };
}

/** Entries given to a custom counter between turns of the event loop. */
const ENTRIES_PER_TURN = 16;
