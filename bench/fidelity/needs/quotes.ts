// Needs of quotes: 40 characters or more of an answer that stand in a result, word for word, and nowhere else before.
// Looks within lines: what is quoted over several lines is several quotes.

import type { ContentBlock, IContent } from '../../../src/index.js';
import { shownText } from '../visible-lines.js';
import type { Need } from './need.js';
import { isFromResultsOnly } from './shown-before.js';
import type { ShownBefore } from './shown-before.js';

/** A shorter text may be the same by chance. */
const QUOTE_LENGTH = 40;
/** Of which at least so many are letters: rulers and tables of numbers are no quotes. */
const MIN_LETTERS = 15;

const WORD_START = /(?<!\w)\w/g;
const LETTERS = /\p{L}/gu;

/** One need for each quote of an answer, as long as it can be read on in the newest result that begins so. */
export function quoteNeeds(entries: readonly IContent[], shown: ShownBefore): readonly Need[] {
  const results = new QuotableTexts();
  return entries.flatMap(({ speaker, blocks }, entry) => {
    if (speaker !== 'ai') {
      for (const block of blocks) if (block.type === 'tool_response') results.add(block);
      return [];
    }
    const quotes = new Map<string, Need>();
    for (const block of blocks) {
      const call = block.type === 'tool_call' ? { callId: block.id, tool: block.name } : TEXT;
      for (const quote of results.quotedIn(shownText(block))) {
        const holders = shown.holders(quote, entry);
        if (quotes.has(quote) || !isFromResultsOnly(holders)) continue;
        const subject = { entry, ...call, file: '', weight: 1 };
        quotes.set(quote, { kind: 'quote', ...subject, lines: [quote], shownBy: [holders] });
      }
    }
    return [...quotes.values()];
  });
}

const TEXT = { callId: '', tool: '' } as const;

/** The texts of results, by what can begin a quote: 40 characters from the start of a word on. */
class QuotableTexts {
  /** Newest last, so that a later result takes the place of an earlier one. */
  readonly #lineOf = new Map<string, readonly [line: string, start: number]>();

  add(result: ContentBlock): void {
    for (const line of shownText(result).split('\n')) {
      for (const start of quotableStarts(line)) {
        this.#lineOf.set(line.slice(start, start + QUOTE_LENGTH), [line, start]);
      }
    }
  }

  /** The quotes in a text, none overlapping another one of its line. */
  quotedIn(text: string): readonly string[] {
    const quotes: string[] = [];
    for (const line of text.split('\n')) {
      let end = 0;
      for (const start of quotableStarts(line)) {
        const source = this.#lineOf.get(line.slice(start, start + QUOTE_LENGTH));
        if (start < end || source === undefined) continue;
        end = start + commonLength(line, start, ...source);
        const quote = line.slice(start, end);
        if ((quote.match(LETTERS)?.length ?? 0) >= MIN_LETTERS) quotes.push(quote);
      }
    }
    return quotes;
  }
}

function* quotableStarts(line: string): Generator<number> {
  for (const { index } of line.matchAll(WORD_START)) {
    if (index + QUOTE_LENGTH <= line.length) yield index;
  }
}

function commonLength(line: string, start: number, other: string, otherStart: number): number {
  let length = QUOTE_LENGTH;
  while (
    start + length < line.length &&
    line.charAt(start + length) === other.charAt(otherStart + length)
  ) {
    length += 1;
  }
  return length;
}
