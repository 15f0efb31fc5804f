// What a compression needs to know of entries that a worker does not have: what they are, and what a
// summary line says of their calls and responses. A few bytes each; texts that are equal are kept once.

import { carriesContent } from '../shared/content.js';
import { NONE } from '../shared/density/history-columns.js';
import type { HistoryIndex, RewrittenIndex } from '../shared/density/history-index.js';
import { IntColumn } from '../shared/density/int-column.js';
import { entryFlags } from '../shared/summarize/history-outline.js';
import { digestResponse, keyOfCall } from '../shared/summarize/tool-summary.js';
import type { ResponseDigest } from '../shared/summarize/tool-summary.js';
import type { MeasuredEntry } from './resident-facts.js';

/** A bit beside those of `ENTRY_FLAG`: the entry is left out of the curated history. */
export const EMPTY_ENTRY_FLAG = 32;

const DIGEST = { unknown: 0, summary: 1, success: 2, failure: 3 } as const;
const CHARS = 1;
const LINES = 2;

/** Facts by rows of an index. */
export class SummaryFacts {
  /** By entry, bits of `ENTRY_FLAG` and `EMPTY_ENTRY_FLAG`. */
  readonly flags: IntColumn = new IntColumn();
  /** By call, its key parameter. */
  readonly #callKeys: (string | undefined)[] = [];
  /** By response, one of `DIGEST`. */
  readonly #kinds: IntColumn = new IntColumn();
  /** Its tool's name; of a summary the line. */
  readonly #texts: string[] = [];
  readonly #ownKeys: (string | undefined)[] = [];
  readonly #sizes: IntColumn = new IntColumn();
  readonly #units: IntColumn = new IntColumn();
  readonly #known: Map<string, string>;

  /** @param former facts whose texts are shared */
  constructor(former?: SummaryFacts) {
    this.#known = former === undefined ? new Map<string, string>() : former.#known;
  }

  /** Adds what is known of an entry that the index has just taken in. */
  append(index: HistoryIndex, entry: MeasuredEntry): void {
    this.#pushEntry(entry);
    for (let row = this.#callKeys.length; row < index.calls.length; row += 1) {
      this.#pushCall(entry, index.calls.block.at(row));
    }
    for (let row = this.#kinds.length; row < index.responses.length; row += 1) {
      this.#pushResponse(entry, index.responses.block.at(row));
    }
  }

  /** Fills empty facts with those of a history that an index was rewritten for. */
  rewrite(
    former: SummaryFacts,
    { index, callSources, responseSources }: RewrittenIndex,
    sources: Int32Array,
    added: readonly MeasuredEntry[],
  ): void {
    /** By entry of the new history, the one that came in. */
    const newEntries = new Map<number, MeasuredEntry>();
    for (const [entry, source] of sources.entries()) {
      const comesIn = source === NONE ? added[newEntries.size] : undefined;
      if (comesIn === undefined) {
        this.flags.push(former.flags.at(source));
        continue;
      }
      newEntries.set(entry, comesIn);
      this.#pushEntry(comesIn);
    }
    const { calls, responses } = index;
    for (let row = 0; row < calls.length; row += 1) {
      const comesIn = newEntries.get(calls.entry.at(row));
      if (comesIn === undefined) this.#callKeys.push(former.#callKeys[callSources.at(row)]);
      else this.#pushCall(comesIn, calls.block.at(row));
    }
    for (let row = 0; row < responses.length; row += 1) {
      const comesIn = newEntries.get(responses.entry.at(row));
      if (comesIn === undefined) this.#copyResponse(former, responseSources.at(row));
      else this.#pushResponse(comesIn, responses.block.at(row));
    }
  }

  /** The key parameter of a call. */
  keyOfCall(row: number): string | undefined {
    return this.#callKeys[row];
  }

  /** What a summary says of a response; `undefined` when its result was never here. */
  digestOfResponse(row: number): ResponseDigest | undefined {
    const kind = this.#kinds.at(row);
    const text = this.#texts[row] ?? '';
    if (kind === DIGEST.unknown) return undefined;
    if (kind === DIGEST.summary) return { isSummary: true, line: text };
    const amount = this.#sizes.at(row);
    const unit = this.#units.at(row) === LINES ? 'line' : 'char';
    return {
      isSummary: false,
      tool: text,
      isFailed: kind === DIGEST.failure,
      size: amount === NONE ? undefined : { amount, unit },
      ownKey: this.#ownKeys[row],
    };
  }

  #pushEntry({ content }: MeasuredEntry): void {
    const isEmpty = content.speaker === 'ai' && !content.blocks.some(carriesContent);
    this.flags.push(entryFlags(content) | (isEmpty ? EMPTY_ENTRY_FLAG : 0));
  }

  #pushCall({ content }: MeasuredEntry, block: number): void {
    const call = content.blocks[block];
    const key = call?.type === 'tool_call' ? keyOfCall(call) : undefined;
    this.#callKeys.push(key === undefined ? undefined : this.#shared(key));
  }

  #pushResponse({ content, measure }: MeasuredEntry, block: number): void {
    const response = content.blocks[block];
    const digest =
      measure === undefined || response?.type !== 'tool_response'
        ? undefined
        : digestResponse(response);
    if (digest === undefined || digest.isSummary) {
      this.#kinds.push(digest === undefined ? DIGEST.unknown : DIGEST.summary);
      this.#texts.push(this.#shared(digest?.line ?? ''));
      this.#ownKeys.push(undefined);
      this.#sizes.push(NONE);
      this.#units.push(LINES);
      return;
    }
    const { tool, isFailed, size, ownKey } = digest;
    this.#kinds.push(isFailed ? DIGEST.failure : DIGEST.success);
    this.#texts.push(this.#shared(tool));
    this.#ownKeys.push(ownKey === undefined ? undefined : this.#shared(ownKey));
    this.#sizes.push(size?.amount ?? NONE);
    this.#units.push(size?.unit === 'char' ? CHARS : LINES);
  }

  #copyResponse(former: SummaryFacts, row: number): void {
    this.#kinds.push(former.#kinds.at(row));
    this.#texts.push(former.#texts[row] ?? '');
    this.#ownKeys.push(former.#ownKeys[row]);
    this.#sizes.push(former.#sizes.at(row));
    this.#units.push(former.#units.at(row));
  }

  /** The one copy of a text, cut out of whatever it came with. */
  #shared(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const own = JSON.parse(JSON.stringify(text)) as string;
    this.#known.set(own, own);
    return own;
  }
}
