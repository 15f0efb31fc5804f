// Where token counts come from: the exact encoding wherever the offload runs it, an estimate, or a
// counter that the user brings.

import { types } from 'node:util';
import { CtxfoldError } from '../../shared/errors.js';
import { countEntryTokens } from '../../shared/tokens/count-tokens.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';
import { countInPieces } from '../../shared/tokens/pieces.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import type { Offload } from '../offload/offload.js';
import { isTokenCount } from './token-ledger.js';
import type { CountEntries } from './token-ledger.js';

/** A counter of the user's own. It runs on the thread of the turn loop, so it had better be quick. */
export interface TokenCounter {
  /**
   * Tokens of a text of at most 512 UTF-16 units, for the model that the session talks to, if it is known: a number of
   * at least 0. When it throws or returns anything else, the count has failed, and estimates stand in.
   */
  countTokens(text: string, modelName: string | undefined): number;
}

/**
 * How tokens are counted. `o200k`: exactly, in a worker unless the session runs inline.
 * `estimate`: by the words of a text, within some 5 % on sessions of agents, at once.
 */
export type Tokenizer = 'o200k' | 'estimate' | TokenCounter;

/** Makes the function by which a history has its entries counted. */
export function createCountEntries(tokenizer: Tokenizer, offload: Offload): CountEntries {
  if (tokenizer === 'o200k') return (contents) => offload.countTokens(contents);
  if (tokenizer === 'estimate') {
    return (contents) => Promise.resolve(contents.map(estimateEntryTokens));
  }
  return async (contents, modelName) => {
    const counts: number[] = [];
    const countText = countInPieces((text) => {
      const count: unknown = tokenizer.countTokens(text, modelName);
      // Not only the sum: what is too much in one piece must not hide what is missing in another.
      if (isTokenCount(count)) return count;
      // A counter that is asynchronous may reject, and nobody waits for it.
      if (types.isPromise(count)) count.catch(() => undefined);
      throw new CtxfoldError(
        `The tokenizer's countTokens returned ${typeof count === 'number' ? count : typeof count}; it has to return a number of at least 0, and no promise of one.`,
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

/** Entries that a user's counter gets before the event loop has its turn. */
const ENTRIES_PER_TURN = 16;
