// What it would take to fetch again what a policy took from view: its tokens, for some calls, and one more call. That
// is a price, and no prophecy of what the agent does.

import { estimateEntryTokens } from '../../src/index.js';
import type { ContentBlock } from '../../src/index.js';
import { CACHE_READ_PRICE, CACHE_WRITE_PRICE } from './context-meter.js';

/** So many calls what was read again stays, and is there for other needs. */
export const STAY_CALLS = 10;

/** What was read again. */
export interface ReadingFigures {
  /** Calls made for it. */
  readonly readAgain: number;
  /** Input tokens of these calls, and of what they brought while it stayed. */
  readonly readAgainTokens: number;
  /** Price of both, as `inputCost` is. */
  readonly readAgainCost: number;
}

/** Reads again, for one session. */
export class ReadingAgain {
  /** By block, the first call that it is gone for again. */
  readonly #until = new Map<ContentBlock, number>();
  #figures: ReadingFigures = { readAgain: 0, readAgainTokens: 0, readAgainCost: 0 };

  get figures(): ReadingFigures {
    return this.#figures;
  }

  /**
   * Pays for one text that is not in view.
   *
   * @param shownBy what showed it; the newest is read again
   * @param call which model call needs it
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
      // The call finds the context in the cache; its result is new once and cached from then on.
      readAgainCost:
        readAgainCost +
        CACHE_READ_PRICE * (contextTokens + (stay - 1) * tokens) +
        CACHE_WRITE_PRICE * tokens,
    };
  }
}
