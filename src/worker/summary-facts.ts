// The facts that a compression needs about entries without their payloads: flags, and the digests of calls and responses for
// summary lines. A few bytes each; texts are numbers in a table.

import { carriesContent } from '../shared/content.js';
import { IntColumn, NONE } from '../shared/density/index/history-columns.js';
import type { ChosenIndex, HistoryIndex } from '../shared/density/index/history-index.js';
import type { Stretch } from '../shared/density/index/stretches.js';
import { TextTable } from '../shared/density/index/text-table.js';
import { entryFlags } from '../shared/summarize/history-outline.js';
import { digestResponse, keyOfCall } from '../shared/summarize/tool-summary.js';
import type { ResponseDigest } from '../shared/summarize/tool-summary.js';
import type { MeasuredEntry } from './resident-facts.js';

/** In addition to `ENTRY_FLAG`: the entry is omitted from the curated history. */
export const EMPTY_ENTRY_FLAG = 32;

/** Flags of a response's digest; 0 if its result was never here. */
const DIGEST = { known: 1, summary: 2, failed: 4, lines: 8 } as const;

/** Facts by rows of an index. */
export class SummaryFacts {
  /** By entry, its `ENTRY_FLAG`s and `EMPTY_ENTRY_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /** By call, its key parameter. */
  readonly #callKeys: IntColumn = new IntColumn();
  /** By response, its `DIGEST` flags. */
  readonly #digests: IntColumn = new IntColumn();
  /** By response, the tool's name, or the line of a summary. */
  readonly #names: IntColumn = new IntColumn();
  readonly #ownKeys: IntColumn = new IntColumn();
  readonly #sizes: IntColumn = new IntColumn();
  #texts: TextTable;

  /** @param former facts to share texts with */
  constructor(former?: SummaryFacts) {
    this.#texts = former === undefined ? new TextTable() : former.#texts;
  }

  /** Adds an entry that was just added to the index. */
  append(index: HistoryIndex, entry: MeasuredEntry): void {
    this.#pushEntry(entry);
    for (let row = this.#callKeys.length; row < index.calls.length; row += 1) {
      this.#pushCall(entry, index.calls.block.at(row));
    }
    for (let row = this.#digests.length; row < index.responses.length; row += 1) {
      this.#pushResponse(entry, index.responses.block.at(row));
    }
  }

  /** Fills empty facts with those of the chosen entries and rows. */
  pushChosen(
    from: SummaryFacts,
    entries: readonly Stretch[],
    { callRows, responseRows }: Pick<ChosenIndex, 'callRows' | 'responseRows'>,
  ): void {
    this.flags.pushStretches(from.flags, entries);
    this.#callKeys.pushStretches(from.#callKeys, callRows);
    this.#digests.pushStretches(from.#digests, responseRows);
    this.#names.pushStretches(from.#names, responseRows);
    this.#ownKeys.pushStretches(from.#ownKeys, responseRows);
    this.#sizes.pushStretches(from.#sizes, responseRows);
    this.#texts = from.#texts.withoutUnused([this.#callKeys, this.#names, this.#ownKeys]);
  }

  /** The key parameter of a call. */
  keyOfCall(row: number): string | undefined {
    return this.#textOf(this.#callKeys.at(row));
  }

  /** The digest of a response; `undefined` if its result was never here. */
  digestOfResponse(row: number): ResponseDigest | undefined {
    const digest = this.#digests.at(row);
    const name = this.#textOf(this.#names.at(row)) ?? '';
    if ((digest & DIGEST.known) === 0) return undefined;
    if ((digest & DIGEST.summary) !== 0) return { isSummary: true, line: name };
    const amount = this.#sizes.at(row);
    const unit = (digest & DIGEST.lines) === 0 ? 'char' : 'line';
    return {
      isSummary: false,
      tool: name,
      isFailed: (digest & DIGEST.failed) !== 0,
      size: amount === NONE ? undefined : { amount, unit },
      ownKey: this.#textOf(this.#ownKeys.at(row)),
    };
  }

  #pushEntry({ content }: MeasuredEntry): void {
    const isEmpty = content.speaker === 'ai' && !content.blocks.some(carriesContent);
    this.flags.push(entryFlags(content) | (isEmpty ? EMPTY_ENTRY_FLAG : 0));
  }

  #pushCall({ content }: MeasuredEntry, block: number): void {
    const call = content.blocks[block];
    this.#callKeys.push(this.#numberOf(call?.type === 'tool_call' ? keyOfCall(call) : undefined));
  }

  #pushResponse({ content, measure }: MeasuredEntry, block: number): void {
    const response = content.blocks[block];
    const isKnown = measure !== undefined && response?.type === 'tool_response';
    const digest = isKnown ? digestResponse(response) : undefined;
    if (digest === undefined || digest.isSummary) {
      this.#digests.push(digest === undefined ? 0 : DIGEST.known | DIGEST.summary);
      this.#names.push(this.#numberOf(digest?.line));
      this.#ownKeys.push(NONE);
      this.#sizes.push(NONE);
      return;
    }
    const { tool, isFailed, size, ownKey } = digest;
    const failed = isFailed ? DIGEST.failed : 0;
    const lines = size?.unit === 'line' ? DIGEST.lines : 0;
    this.#digests.push(DIGEST.known | failed | lines);
    this.#names.push(this.#numberOf(tool));
    this.#ownKeys.push(this.#numberOf(ownKey));
    this.#sizes.push(size?.amount ?? NONE);
  }

  #numberOf(text: string | undefined): number {
    return text === undefined ? NONE : this.#texts.numberOf(text);
  }

  #textOf(number: number): string | undefined {
    return number === NONE ? undefined : this.#texts.textOf(number);
  }
}
