// Tokens of the first entries of a history, however long it is: remembers sums of prefixes every few
// hundred entries, and adds up what is between two of them only when asked.

import type { IContent } from '../../shared/content.js';
import { tokensOf } from './reclaimed-tokens.js';
import type { CountedTokens } from './reclaimed-tokens.js';

/** Entries between two sums, so that few are kept and few entries have to be added up. */
const MARK_ENTRIES = 256;

interface Mark {
  readonly entries: number;
  readonly tokens: number;
}

/** Sums of one history. Rewrites are told by `keep`. */
export class PrefixTokens {
  readonly #countedTokens: CountedTokens;
  /** Ascending. */
  readonly #marks: Mark[] = [];

  constructor(countedTokens: CountedTokens) {
    this.#countedTokens = countedTokens;
  }

  /** Forgets all but the sums of these first entries: the others were rewritten. */
  keep(entries: number): void {
    while ((this.#marks.at(-1)?.entries ?? 0) > entries) this.#marks.pop();
  }

  /** Notes what the first entries hold. */
  mark(entries: number, tokens: number): void {
    const last = this.#marks.at(-1)?.entries ?? 0;
    if (entries - last >= MARK_ENTRIES) this.#marks.push({ entries, tokens });
  }

  /**
   * Adds up the first entries of a history, from the last sum before them or from the end.
   *
   * @param entries no less than the last sum that is kept
   * @param totalTokens of the whole history
   */
  sum(history: readonly IContent[], entries: number, totalTokens: number): number {
    const from = this.#marks.at(-1) ?? { entries: 0, tokens: 0 };
    if (history.length - entries < entries - from.entries) {
      const tokens = totalTokens - this.#add(history, entries, history.length);
      this.mark(entries, tokens);
      return tokens;
    }
    let { tokens } = from;
    for (let start = from.entries; start < entries; start += MARK_ENTRIES) {
      const end = Math.min(entries, start + MARK_ENTRIES);
      tokens += this.#add(history, start, end);
      this.mark(end, tokens);
    }
    return tokens;
  }

  #add(history: readonly IContent[], start: number, end: number): number {
    let tokens = 0;
    for (let index = start; index < end; index += 1) {
      const entry = history[index];
      if (entry !== undefined) tokens += tokensOf(entry, this.#countedTokens);
    }
    return tokens;
  }
}
