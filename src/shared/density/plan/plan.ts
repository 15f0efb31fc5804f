// The outcome of a density pass as rows of integers: which rule does what to which block. A few
// numbers per edit, cheap to send across threads, independent of how the history is stored.

import { types } from 'node:util';
import type { ContentBlock } from '../../content.js';
import type { DensityResultMetadata, PassSettings } from '../../density.js';
import { NO_EDITS, PRUNED_POINTER } from '../../density.js';
import { assertFunction, refuse } from '../../misuse.js';
import { DENSITY_RULES, isOn } from '../rules/density-rules.js';
import type { RuleName } from '../rules/density-rules.js';
import { ACTION, ACTION_NAMES } from '../rules/marks.js';
import type { EditAction } from '../rules/marks.js';

/**
 * Rows of `ROW_LENGTH` integers: entry index in the raw history; block index; one of `ACTION`; rule
 * index in `DENSITY_RULES`; start; end.
 * For `cut`, start and end are UTF-16 offsets, end exclusive. For `shrink`, start is the index of
 * the replacement among the texts of the plan, and end, unless -1, the index of the text that lists
 * lines shown elsewhere. For all other actions both are -1.
 * Rows ascend by entry, block and start. Only cuts, which never overlap, share a block.
 */
export type DensityPlan = Int32Array;

/** Integers per row. */
export const ROW_LENGTH = 6;

export const EMPTY_PLAN: DensityPlan = new Int32Array();

/** Reads a plan row by row. Past the end, every field is -1. */
export class PlanCursor {
  readonly #rows: DensityPlan;
  #at = 0;

  constructor(rows: DensityPlan) {
    this.#rows = rows;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#rows.length;
  }

  /** The index of the row's first integer. */
  get offset(): number {
    return this.#at;
  }

  get entry(): number {
    return this.#rows[this.#at] ?? -1;
  }

  get block(): number {
    return this.#rows[this.#at + 1] ?? -1;
  }

  /** One of `ACTION`. */
  get action(): number {
    return this.#rows[this.#at + 2] ?? -1;
  }

  /** The rule's index in `DENSITY_RULES`. */
  get rule(): number {
    return this.#rows[this.#at + 3] ?? -1;
  }

  get start(): number {
    return this.#rows[this.#at + 4] ?? -1;
  }

  get end(): number {
    return this.#rows[this.#at + 5] ?? -1;
  }

  /** Advances to the next row; returns whether there is one. */
  next(): boolean {
    this.#at += ROW_LENGTH;
    return !this.isAtEnd;
  }
}

/**
 * Counts the items of each rule. Rules beyond the specification's are only present when they are
 * on.
 */
export function countItems(plan: DensityPlan, settings: PassSettings): DensityResultMetadata {
  const counts = new Int32Array(DENSITY_RULES.length);
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (row.action !== ACTION.companion) counts[row.rule] = (counts[row.rule] ?? 0) + 1;
  }
  const metadata: { -readonly [Counter in keyof DensityResultMetadata]: number } = {
    ...NO_EDITS.metadata,
  };
  DENSITY_RULES.forEach((rule, place) => {
    if (isOn(rule, settings)) metadata[rule.counter] = counts[place] ?? 0;
  });
  return metadata;
}

/** The line that replaces the result in a row where placeholders are pointers. */
export function pointerOf({ rule }: Pick<PlanCursor, 'rule'>): string {
  return DENSITY_RULES[rule]?.pointer ?? PRUNED_POINTER;
}

/** One edit of one block by one rule. */
export interface RuleEdit {
  readonly entry: number;
  readonly block: number;
  readonly rule: RuleName;
  /**
   * `shrink`: the result was shortened before it was first sent. `drop`: the block is removed.
   * `companion`: it is removed along with another, as a call with its response. `pointer`,
   * `excerpt`: the result becomes a placeholder or an excerpt. `cut`: a range of the text is
   * removed. `superseded`: another rule removes more of it. All but `companion` count towards the rule's
   * total.
   */
  readonly action: EditAction;
  /** The file of an inclusion, as spelled there; `null` otherwise. */
  readonly path: string | null;
}

/**
 * Decodes the rows of a plan in order: the `rows` of a `DensityResult`.
 *
 * @param blocksOf the blocks of an entry before the edit
 * @throws TypeError when `rows` is not an `Int32Array`.
 */
export function listRuleEdits(
  rows: Int32Array,
  blocksOf: (entry: number) => readonly ContentBlock[] | undefined,
): readonly RuleEdit[] {
  if (!types.isInt32Array(rows)) refuse('rows', 'an Int32Array', rows);
  assertFunction('blocksOf', blocksOf);
  const edits: RuleEdit[] = [];
  for (const row = new PlanCursor(rows); !row.isAtEnd; row.next()) {
    const { entry, block, start } = row;
    const rule = DENSITY_RULES[row.rule];
    const action = ACTION_NAMES[row.action];
    if (rule === undefined || action === undefined) continue;
    const content = action === 'companion' ? undefined : blocksOf(entry)?.[block];
    const path = content === undefined ? null : (rule.pathOf?.(content, start) ?? null);
    edits.push({ entry, block, rule: rule.name, action, path });
  }
  return edits;
}
