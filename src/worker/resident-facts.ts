// The data of a resident history besides its index: the tokens of entries, calls and results, and the facts for summaries.
// Rows are those of the index.

import { hasSubstance } from '../shared/content.js';
import type { ContentBlock, IContent } from '../shared/content.js';
import { IntColumn, NONE } from '../shared/density/index/history-columns.js';
import type { ChosenIndex, HistoryIndex } from '../shared/density/index/history-index.js';
import type { Stretch } from '../shared/density/index/stretches.js';
import { findReasoning, isBoundToCall } from '../shared/density/plan/materialize.js';
import type { EntryMeasure } from '../shared/tokens/count-tokens.js';
import { SummaryFacts } from './summary-facts.js';

/** A new entry and its tokens. */
export interface MeasuredEntry {
  readonly content: IContent;
  /** `NONE` if not counted. */
  readonly tokens: number;
  /** The tokens by block; unknown for an entry that was counted elsewhere. */
  readonly measure: EntryMeasure | undefined;
}

/** Tokens by row of an index; `NONE` if not counted. */
export class ResidentFacts {
  readonly entryTokens: IntColumn = new IntColumn();
  /** What the entry loses with the call, including reasoning that led to this call only. */
  readonly callTokens: IntColumn = new IntColumn();
  /** What the entry loses with the response. */
  readonly responseTokens: IntColumn = new IntColumn();
  /** The part of that in the result. */
  readonly resultTokens: IntColumn = new IntColumn();
  readonly summaries: SummaryFacts;
  #totalTokens = 0;

  /** @param former facts to share texts with */
  constructor(former?: ResidentFacts) {
    this.summaries = new SummaryFacts(former?.summaries);
  }

  /** Tokens of all counted entries. */
  get totalTokens(): number {
    return this.#totalTokens;
  }

  /** Adds an entry that was just added to the index. */
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

  /** Returns the facts of some entries, like `HistoryIndex.chosen`. */
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

/**
 * Returns, by block, what an ai entry loses if that call is dropped and the entry stays: the tokens of the call and of the
 * reasoning that led only to it. `NONE` if reasoning led only to several calls, because it is dropped once all of them are;
 * and `NONE` for all blocks if one is bound to a call of the entry.
 *
 * @param tokens tokens by block
 */
export function tokensLostWithCalls(
  blocks: readonly ContentBlock[],
  tokens: readonly number[],
): readonly number[] {
  if (bindsToOwnCall(blocks)) return blocks.map(() => NONE);
  if (!blocks.some(({ type }) => type === 'thinking')) return tokens;
  const lost = [...tokens];
  for (const { reasoning, ledTo } of findReasoning(blocks)) {
    if (!ledTo.every((at) => blocks[at]?.type === 'tool_call')) continue;
    // Dropping these would leave nothing, so the whole entry would be removed.
    if (ledTo.length === blocks.filter(hasSubstance).length) continue;
    const [call, ...others] = ledTo;
    if (call === undefined) continue;
    if (others.length > 0) for (const at of ledTo) lost[at] = NONE;
    else for (const at of reasoning) lost[call] = (lost[call] ?? 0) + (tokens[at] ?? 0);
  }
  return lost;
}

function bindsToOwnCall(blocks: readonly ContentBlock[]): boolean {
  return blocks.some(
    (block) =>
      isBoundToCall(block) &&
      blocks.some((call) => call.type === 'tool_call' && call.id === block.callId),
  );
}
