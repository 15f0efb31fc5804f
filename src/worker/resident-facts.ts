// What a resident history knows besides its index: the tokens of its entries, calls and results, and
// what a compression will say of them.
// Rows are those of the index; nothing here pairs or plans.

import type { IContent } from '../shared/content.js';
import { IntColumn, NONE } from '../shared/density/index/history-columns.js';
import type { ChosenIndex, HistoryIndex } from '../shared/density/index/history-index.js';
import type { Stretch } from '../shared/density/index/stretches.js';
import type { EntryMeasure } from '../shared/tokens/count-tokens.js';
import { SummaryFacts } from './summary-facts.js';
import { tokensLostWithCalls } from './tokens-lost-with-calls.js';

/** An entry on its way in, and what is known of its tokens. */
export interface MeasuredEntry {
  readonly content: IContent;
  /** `NONE` when they are not counted. */
  readonly tokens: number;
  /** How they spread over its blocks; not known of an entry that was counted elsewhere. */
  readonly measure: EntryMeasure | undefined;
}

/** Tokens by row of an index; `NONE` where they were not counted. */
export class ResidentFacts {
  readonly entryTokens: IntColumn = new IntColumn();
  /** What an entry loses together with the call, reasoning that led to it alone included. */
  readonly callTokens: IntColumn = new IntColumn();
  /** What an entry loses together with the response. */
  readonly responseTokens: IntColumn = new IntColumn();
  /** What of that is the result. */
  readonly resultTokens: IntColumn = new IntColumn();
  /** What entries are, and what summaries say of calls and responses. */
  readonly summaries: SummaryFacts;
  #totalTokens = 0;

  /** @param former facts whose texts are shared */
  constructor(former?: ResidentFacts) {
    this.summaries = new SummaryFacts(former?.summaries);
  }

  /** Tokens of all entries that were counted. */
  get totalTokens(): number {
    return this.#totalTokens;
  }

  /** Adds the facts of an entry that the index has just taken in. */
  append(index: HistoryIndex, entry: MeasuredEntry): void {
    const { tokens, measure } = entry;
    this.entryTokens.push(tokens);
    this.#addToTotal(this.entryTokens.length - 1);
    this.summaries.append(index, entry);
    if (this.callTokens.length < index.calls.length) {
      const lost = measure && tokensLostWithCalls(entry.content.blocks, measure.blocks);
      for (let row = this.callTokens.length; row < index.calls.length; row += 1) {
        this.callTokens.push(lost?.[index.calls.block.at(row)] ?? NONE);
      }
    }
    for (let row = this.responseTokens.length; row < index.responses.length; row += 1) {
      const block = index.responses.block.at(row);
      this.responseTokens.push(measure?.blocks[block] ?? NONE);
      this.resultTokens.push(measure?.results[block] ?? NONE);
    }
  }

  /** Returns the facts of these entries, whose index was made by choosing them. */
  chosen(entries: readonly Stretch[], { callRows, responseRows }: ChosenIndex): ResidentFacts {
    const facts = new ResidentFacts(this);
    facts.entryTokens.pushStretches(this.entryTokens, entries);
    facts.callTokens.pushStretches(this.callTokens, callRows);
    facts.responseTokens.pushStretches(this.responseTokens, responseRows);
    facts.resultTokens.pushStretches(this.resultTokens, responseRows);
    facts.summaries.pushChosen(this.summaries, entries, { callRows, responseRows });
    for (let entry = 0; entry < facts.entryTokens.length; entry += 1) facts.#addToTotal(entry);
    return facts;
  }

  #addToTotal(entry: number): void {
    const tokens = this.entryTokens.at(entry);
    if (tokens !== NONE) this.#totalTokens += tokens;
  }
}
