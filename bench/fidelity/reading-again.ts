// The price of fetching again what a policy removed: its tokens for a number of calls, plus one more call. A price, not a
// prediction of the agent's behaviour.

import { estimateEntryTokens } from '../../src/index.js';
import type { ContentBlock } from '../../src/index.js';
import { CACHE_READ_PRICE, CACHE_WRITE_PRICE } from './context-meter.js';

/** For how many calls the result of a repeated read stays and serves other needs. */
export const STAY_CALLS = 10;

/** What was read again. */
export interface ReadingFigures {
  /** Additional calls. */
  readonly readAgain: number;
  /** Input tokens of these calls, and of their results while they stay. */
  readonly readAgainTokens: number;
  /** The price of both, in the unit of `inputCost`. */
  readonly readAgainCost: number;
}

/** Reads again, for one session. */
export class ReadingAgain {
  /** By block, the first call after which its repeated read is gone. */
  readonly #until = new Map<ContentBlock, number>();
  #figures: ReadingFigures = { readAgain: 0, readAgainTokens: 0, readAgainCost: 0 };

  get figures(): ReadingFigures {
    return this.#figures;
  }

  /**
   * Pays for one text that is not in view.
   *
   * @param shownBy the blocks that showed it; the newest is read again
   * @param call index of the model call that needs it
   * @param remaining model calls from this one to the last
   * @param contextTokens what the call was sent, and is sent once more
   */
  pay(
    shownBy: readonly ContentBlock[],
    call: number,
    remaining: number,
    contextTokens: number,
  ): void {
    const source = shownBy.at(-1);
    if (source === undefined || shownBy.some((block) => (this.#until.get(block) ?? 0) > call))
      return;
    this.#until.set(source, call + STAY_CALLS);
    const tokens = estimateEntryTokens({ speaker: 'tool', blocks: [source] });
    const stay = Math.min(STAY_CALLS, remaining);
    const { readAgain, readAgainTokens, readAgainCost } = this.#figures;
    this.#figures = {
      readAgain: readAgain + 1,
      readAgainTokens: readAgainTokens + contextTokens + stay * tokens,
      // The additional call finds the context in the cache. Its result is uncached once, then cached.
      readAgainCost:
        readAgainCost +
        CACHE_READ_PRICE * (contextTokens + (stay - 1) * tokens) +
        CACHE_WRITE_PRICE * tokens,
    };
  }
}
