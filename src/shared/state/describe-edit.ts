// Describes an edit of a history as a journal record, from which the edit can be replayed on the same entries. Reads only the
// changed entries, and results that they refer to; changes nothing.

import { hasSubstance } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import type { DensityResult } from '../density.js';
import { planInputsOf } from '../density/plan/materialize.js';
import { EMPTY_PLAN, PlanCursor } from '../density/plan/plan.js';
import { ACTION } from '../density/rules/marks.js';
import type { ShownElsewhere, Source } from '../shrink/shown-before.js';
import { describeChanges } from './describe-splice.js';
import { checksumOfResult, replacesResult, rowSettings, NO_RULE } from './journal-record.js';
import type { JournalRecord, RowSettings, ShownEarlier } from './journal-record.js';

/** How far back, in entries, to search for a result that another one refers to. No reference leads farther back. */
const MAX_ENTRIES_BACK = 20_000;

/** The settings with which the rows of an edit were made; `undefined` if the edit has no rows. */
export function rowSettingsOf(result: DensityResult): RowSettings | undefined {
  const by = planInputsOf(result);
  return by && rowSettings(by.settings);
}

/**
 * Describes an edit.
 *
 * @param at number of entries added to the history so far
 * @param former the history before the edit
 */
export function describeEdit(
  at: number,
  former: readonly IContent[],
  result: DensityResult,
): JournalRecord {
  return describeRows(at, former, result) ?? describeChanges(at, former, result);
}

/** Describes an edit as rows; `undefined` if rows cannot describe all of it. */
function describeRows(
  at: number,
  former: readonly IContent[],
  result: DensityResult,
): JournalRecord | undefined {
  const { removals, replacements } = result;
  const description = new RowDescription(former, result);
  for (const entry of Int32Array.from([...removals, ...replacements.keys()]).sort()) {
    if (!description.addEntry(entry, replacements.get(entry))) return undefined;
  }
  return description.record(at);
}

/** The rows of an edit, entry by entry. A method returns `false` for what rows cannot describe. */
class RowDescription {
  readonly #former: readonly IContent[];
  readonly #planned: PlanCursor;
  readonly #texts: readonly string[];
  readonly #rows: number[] = [];
  readonly #shown: (readonly ShownEarlier[])[] = [];
  readonly #checksums: number[] = [];
  /** Number of rows that replace a result, each of which has a checksum. */
  #newResults = 0;

  constructor(former: readonly IContent[], result: DensityResult) {
    this.#former = former;
    this.#planned = new PlanCursor(result.rows ?? EMPTY_PLAN);
    this.#texts = planInputsOf(result)?.texts ?? [];
  }

  /** @param after what the edit has left of the entry; `undefined` if it is removed */
  addEntry(entry: number, after: IContent | undefined): boolean {
    const given = this.#former[entry] as IContent;
    const before = given.blocks;
    const left = after?.blocks ?? [];
    const isPlanned = this.#planned.entry === entry;
    const [firstRow, firstResult] = [this.#rows.length, this.#newResults];
    for (const [block, content] of before.entries()) {
      if (!this.#addPlanned(entry, block)) return false;
      // Reasoning goes because of an edit before it.
      if (content.type === 'thinking' && !left.includes(content))
        this.#rows.push(entry, block, ACTION.drop, NO_RULE, -1, -1);
    }
    if (this.#rows.length === firstRow) return false;
    if (!isPlanned && !isImplied(given, after)) return false;
    return this.#newResults === firstResult || this.#addChecksums(before, left);
  }

  /** Adds the rows that the plan has for a block. */
  #addPlanned(entry: number, block: number): boolean {
    const row = this.#planned;
    for (; row.entry === entry && row.block === block; row.next()) {
      const { action, rule, start, end } = row;
      if (replacesResult(action)) this.#newResults += 1;
      if (action !== ACTION.shrink) {
        this.#rows.push(entry, block, action, rule, start, end);
        continue;
      }
      const runs = this.#texts[end];
      const above = runs === undefined ? [] : findShown(this.#former, entry, runs);
      if (above === undefined) return false;
      this.#rows.push(entry, block, action, rule, this.#shown.push(above) - 1, -1);
    }
    return true;
  }

  /** Adds the checksums of the results that an entry had not before. */
  #addChecksums(before: readonly ContentBlock[], left: readonly ContentBlock[]): boolean {
    const known = new Set(before);
    for (const content of left) {
      if (content.type !== 'tool_response' || known.has(content)) continue;
      if (typeof content.result !== 'string') return false;
      this.#checksums.push(checksumOfResult(content.result));
    }
    return true;
  }

  /** Returns the record; `undefined` if the entries are not all that the plan has. */
  record(at: number): JournalRecord | undefined {
    if (!this.#planned.isAtEnd || this.#checksums.length !== this.#newResults) return undefined;
    const rows = new Int32Array(this.#rows);
    return { kind: 'rows', at, rows, shown: this.#shown, checksums: this.#checksums };
  }
}

/** Whether an edit does no more to an entry than rows for its reasoning do. */
function isImplied({ speaker, blocks }: IContent, after: IContent | undefined): boolean {
  // Rows remove what they leave without substance, unless it is the user's.
  if (after === undefined) return speaker !== 'human' && !blocks.some(hasSubstance);
  return isWithoutReasoning(after.blocks, blocks);
}

/** Whether an entry lost nothing but reasoning. */
function isWithoutReasoning(
  left: readonly ContentBlock[],
  before: readonly ContentBlock[],
): boolean {
  const others = before.filter((block) => block.type !== 'thinking' || left.includes(block));
  return others.length === left.length && others.every((block, at) => block === left[at]);
}

/** Locates the results that a shrunk result refers to; `undefined` if one is missing. */
function findShown(
  former: readonly IContent[],
  entry: number,
  json: string,
): readonly ShownEarlier[] | undefined {
  const runs = JSON.parse(json) as readonly (ShownElsewhere & { readonly source: Source })[];
  const found: ShownEarlier[] = [];
  for (const { source, ...lines } of runs) {
    const place = findResponse(former, entry, source.callId);
    if (place === undefined) return undefined;
    found.push({ ...lines, ...place });
  }
  return found;
}

function findResponse(
  history: readonly IContent[],
  entry: number,
  callId: string,
): Pick<ShownEarlier, 'entriesBack' | 'block'> | undefined {
  for (let back = 0; back <= Math.min(entry, MAX_ENTRIES_BACK); back += 1) {
    const blocks = history[entry - back]?.blocks ?? [];
    const block = blocks.findLastIndex(
      (other) => other.type === 'tool_response' && other.callId === callId,
    );
    if (block >= 0) return { entriesBack: back, block };
  }
  return undefined;
}
