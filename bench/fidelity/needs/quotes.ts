// Needs of quotes: 40 characters or more of an answer that appear verbatim in a result, and nowhere else before. A quote of
// several lines counts as several quotes.

import type { ContentBlock, IContent } from '../../../src/index.js';
import { shownText } from '../visible-lines.js';
import type { Need } from './need.js';
import { isFromResultsOnly } from './shown-before.js';
import type { ShownBefore } from './shown-before.js';

/** Shorter matches may be coincidence. */
const QUOTE_LENGTH = 40;
/** Required letters in a quote; excludes rulers and tables of numbers. */
const MIN_LETTERS = 15;

const WORD_START = /(?<!\w)\w/g;
const LETTERS = /\p{L}/gu;

/** One need for each quote of an answer, extended as far as it matches the newest result that contains its start. */
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

/** Lines of results, indexed by the 40 characters after each start of a word. */
class QuotableTexts {
  /** The newest result wins. */
  readonly #lineOf = new Map<string, readonly [line: string, start: number]>();

  add(result: ContentBlock): void {
    for (const line of shownText(result).split('\n')) {
      for (const start of quotableStarts(line)) {
        this.#lineOf.set(line.slice(start, start + QUOTE_LENGTH), [line, start]);
      }
    }
  }

  /** The quotes in a text, without overlaps within a line. */
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
