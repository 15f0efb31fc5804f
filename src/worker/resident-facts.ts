// What a resident history knows besides its index: the tokens of its entries, calls and results, and
// what a compression will say of them.
// Rows are those of the index; nothing here pairs or plans.

import type { IContent } from '../shared/content.js';
import { NONE } from '../shared/density/history-columns.js';
import type { HistoryIndex, RewrittenIndex } from '../shared/density/history-index.js';
import { IntColumn } from '../shared/density/int-column.js';
import type { EntryMeasure } from '../shared/tokens/measure-entry.js';
import { SummaryFacts } from './summary-facts.js';

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
  /** What an entry loses together with the call. */
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
    this.#pushEntry(tokens);
    this.summaries.append(index, entry);
    for (let row = this.callTokens.length; row < index.calls.length; row += 1) {
      this.callTokens.push(measure?.blocks[index.calls.block.at(row)] ?? NONE);
    }
    for (let row = this.responseTokens.length; row < index.responses.length; row += 1) {
      const block = index.responses.block.at(row);
      this.responseTokens.push(measure?.blocks[block] ?? NONE);
      this.resultTokens.push(measure?.results[block] ?? NONE);
    }
  }

  /** Returns the facts of the history that an index was rewritten for. */
  rewritten(
    rewritten: RewrittenIndex,
    sources: Int32Array,
    added: readonly MeasuredEntry[],
  ): ResidentFacts {
    const facts = new ResidentFacts(this);
    facts.summaries.rewrite(this.summaries, rewritten, sources, added);
    const { index, callSources, responseSources } = rewritten;
    /** By entry of the new history, its measure when it came in. */
    const measures = new Map<number, EntryMeasure>();
    let nextAdded = 0;
    for (const [entry, source] of sources.entries()) {
      if (source !== NONE) {
        facts.#pushEntry(this.entryTokens.at(source));
        continue;
      }
      const { tokens = NONE, measure } = added[nextAdded] ?? {};
      nextAdded += 1;
      if (measure !== undefined) measures.set(entry, measure);
      facts.#pushEntry(tokens);
    }
    const { calls, responses } = index;
    for (let row = 0; row < calls.length; row += 1) {
      const source = callSources.at(row);
      const measure = measures.get(calls.entry.at(row));
      facts.callTokens.push(
        source === NONE
          ? (measure?.blocks[calls.block.at(row)] ?? NONE)
          : this.callTokens.at(source),
      );
    }
    for (let row = 0; row < responses.length; row += 1) {
      const source = responseSources.at(row);
      const block = responses.block.at(row);
      const measure = measures.get(responses.entry.at(row));
      const isNew = source === NONE;
      facts.responseTokens.push(
        isNew ? (measure?.blocks[block] ?? NONE) : this.responseTokens.at(source),
      );
      facts.resultTokens.push(
        isNew ? (measure?.results[block] ?? NONE) : this.resultTokens.at(source),
      );
    }
    return facts;
  }

  #pushEntry(tokens: number): void {
    this.entryTokens.push(tokens);
    if (tokens !== NONE) this.#totalTokens += tokens;
  }
}
