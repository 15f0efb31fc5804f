// The data of a resident history besides its index: the tokens of entries, calls and results, and what a compression needs
// instead of payloads: flags, and the digests of calls and responses for summary lines. Columns have the rows of the index and take a
// few bytes per row, because texts are numbers into a table.

import { carriesContent, hasSubstance } from '../shared/content.js';
import type { ContentBlock, IContent } from '../shared/content.js';
import { keyOfCall } from '../shared/call-name.js';
import { NONE, IntColumn } from '../shared/density/index/history-columns.js';
import type { ChosenIndex, HistoryIndex } from '../shared/density/index/history-index.js';
import type { Stretch } from '../shared/density/index/history-columns.js';
import { TextTable } from '../shared/density/index/text-table.js';
import { findReasoning, isBoundToCall } from '../shared/density/plan/materialize.js';
import { entryFlags } from '../shared/summarize/history-outline.js';
import { digestResponse } from '../shared/summarize/tool-summary.js';
import type { ResponseDigest } from '../shared/summarize/tool-summary.js';

/** A flag in addition to those of `ENTRY_FLAG`: the entry is omitted from the curated history. */
export const EMPTY_ENTRY_FLAG = 32;

/** Flags of a response's digest. */
const DIGEST = { summary: 1, failed: 2, lines: 4 } as const;

/** A new entry and its tokens. */
export interface MeasuredEntry {
  readonly content: IContent;
  /** `NONE` if not counted. */
  readonly tokens: number;
  /** By block, as in `Measures`. */
  readonly blocks: Int32Array;
  readonly results: Int32Array;
}

/** Facts by row of an index. Tokens are `NONE` if they were not counted. */
export class ResidentFacts {
  readonly entryTokens: IntColumn = new IntColumn();
  /** By entry, its `ENTRY_FLAG`s and `EMPTY_ENTRY_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /** By call, the tokens that its entry loses with the call, including reasoning that led to this call only. */
  readonly callTokens: IntColumn = new IntColumn();
  /** By call, its key parameter, as a number in `#texts`. */
  readonly #callKeys: IntColumn = new IntColumn();
  /** By response, the tokens that its entry loses with the response. */
  readonly responseTokens: IntColumn = new IntColumn();
  /** By response, how many of these tokens are in the result. */
  readonly resultTokens: IntColumn = new IntColumn();
  /** By response, its `DIGEST` flags. */
  readonly #digests: IntColumn = new IntColumn();
  /** By response, the tool's name or the line of a summary, as a number in `#texts`; `NONE` if the result was not counted here. */
  readonly #names: IntColumn = new IntColumn();
  readonly #ownKeys: IntColumn = new IntColumn();
  readonly #sizes: IntColumn = new IntColumn();
  readonly #lengths: IntColumn = new IntColumn();
  #texts: TextTable = new TextTable();

  /** Adds the facts of an entry that was just added to the index. */
  append(index: HistoryIndex, { content, tokens, blocks, results }: MeasuredEntry): void {
    const isEmpty = content.speaker === 'ai' && !content.blocks.some(carriesContent);
    this.flags.push(entryFlags(content) | (isEmpty ? EMPTY_ENTRY_FLAG : 0));
    this.entryTokens.push(tokens);
    if (this.callTokens.length < index.calls.length) {
      const lost = tokensLostWithCalls(content.blocks, blocks);
      for (let row = this.callTokens.length; row < index.calls.length; row += 1) {
        const block = index.calls.block.at(row);
        this.callTokens.push(lost[block] ?? NONE);
        this.#pushCall(content.blocks[block]);
      }
    }
    for (let row = this.responseTokens.length; row < index.responses.length; row += 1) {
      const block = index.responses.block.at(row);
      const responseTokens = blocks[block] ?? NONE;
      this.responseTokens.push(responseTokens);
      this.resultTokens.push(results[block] ?? NONE);
      this.#pushResponse(responseTokens === NONE ? undefined : content.blocks[block]);
    }
  }

  /** Returns the facts of the chosen entries, as `HistoryIndex.chosen` does for the index. */
  chosen(entries: readonly Stretch[], { callRows, responseRows }: ChosenIndex): ResidentFacts {
    const facts = new ResidentFacts();
    facts.entryTokens.pushStretches(this.entryTokens, entries);
    facts.flags.pushStretches(this.flags, entries);
    facts.callTokens.pushStretches(this.callTokens, callRows);
    facts.#callKeys.pushStretches(this.#callKeys, callRows);
    facts.responseTokens.pushStretches(this.responseTokens, responseRows);
    facts.resultTokens.pushStretches(this.resultTokens, responseRows);
    facts.#digests.pushStretches(this.#digests, responseRows);
    facts.#names.pushStretches(this.#names, responseRows);
    facts.#ownKeys.pushStretches(this.#ownKeys, responseRows);
    facts.#sizes.pushStretches(this.#sizes, responseRows);
    facts.#lengths.pushStretches(this.#lengths, responseRows);
    facts.#texts = this.#texts.withoutUnused([facts.#callKeys, facts.#names, facts.#ownKeys]);
    return facts;
  }

  /** The key parameter of a call. */
  keyOfCall(row: number): string | undefined {
    return this.#textOf(this.#callKeys.at(row));
  }

  /** The digest of a response; `undefined` if its result was not counted here. */
  digestOfResponse(row: number): ResponseDigest | undefined {
    const digest = this.#digests.at(row);
    const name = this.#textOf(this.#names.at(row));
    if (name === undefined) return undefined;
    if ((digest & DIGEST.summary) !== 0) return { isSummary: true, line: name };
    const amount = this.#sizes.at(row);
    const length = this.#lengths.at(row);
    const unit = (digest & DIGEST.lines) === 0 ? 'char' : 'line';
    return {
      isSummary: false,
      tool: name,
      isFailed: (digest & DIGEST.failed) !== 0,
      size: amount === NONE ? undefined : { amount, unit },
      ownKey: this.#textOf(this.#ownKeys.at(row)),
      length: length === NONE ? undefined : length,
    };
  }

  #pushCall(call: ContentBlock | undefined): void {
    this.#callKeys.push(this.#numberOf(call?.type === 'tool_call' ? keyOfCall(call) : undefined));
  }

  /** @param response `undefined` if its result was not counted here */
  #pushResponse(response: ContentBlock | undefined): void {
    const digest = response?.type === 'tool_response' ? digestResponse(response) : undefined;
    const full = digest?.isSummary === false ? digest : undefined;
    const failed = full?.isFailed === true ? DIGEST.failed : 0;
    const lines = full?.size?.unit === 'line' ? DIGEST.lines : 0;
    this.#digests.push(full === undefined ? DIGEST.summary : failed | lines);
    this.#names.push(this.#numberOf(digest?.isSummary === true ? digest.line : full?.tool));
    this.#ownKeys.push(this.#numberOf(full?.ownKey));
    this.#sizes.push(full?.size?.amount ?? NONE);
    this.#lengths.push(full?.length ?? NONE);
  }

  #numberOf(text: string | undefined): number {
    return text === undefined ? NONE : this.#texts.numberOf(text);
  }

  #textOf(number: number): string | undefined {
    return number === NONE ? undefined : this.#texts.textOf(number);
  }
}

/**
 * Returns, by block, the tokens that an ai entry loses if that call is dropped and the entry stays: those of the call and of the
 * reasoning that led only to it. `NONE` for calls that share reasoning which led to nothing else, because it is dropped only once all
 * of them are; and `NONE` for all blocks if one of them is bound to a call of the entry.
 *
 * @param tokens tokens by block
 */
export function tokensLostWithCalls(
  blocks: readonly ContentBlock[],
  tokens: ArrayLike<number>,
): ArrayLike<number> {
  if (tokens[0] === NONE || bindsToOwnCall(blocks)) return blocks.map(() => NONE);
  if (!blocks.some(({ type }) => type === 'thinking')) return tokens;
  const lost = Array.from(tokens);
  for (const { reasoning, ledTo } of findReasoning(blocks)) {
    if (!ledTo.every((at) => blocks[at]?.type === 'tool_call')) continue;
    // Dropping these calls would leave nothing of substance, so the whole entry would be removed.
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
