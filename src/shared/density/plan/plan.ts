// What a density pass found, as rows of integers: which rule does what to which block. A few numbers per edit
// whatever the payloads weigh, safe to send across threads, and independent of how the history is stored.

import type { ContentBlock } from '../../content.js';
import type { DensityResultMetadata, PassSettings } from '../../density.js';
import { NO_EDITS } from '../../density.js';
import { assertFunction, isInstance, refuse } from '../../misuse.js';
import { DENSITY_RULES } from '../rules/density-rules.js';
import type { RuleName } from '../rules/density-rules.js';
import { ACTION, ACTION_NAMES } from '../rules/marks.js';
import type { EditAction } from '../rules/marks.js';

/**
 * Rows of `ROW_LENGTH` integers: entry and block, as indices into the raw history and `blocks`; one of `ACTION`; the
 * rule's place in the list of rules; start and end, for a cut UTF-16 offsets with the end exclusive, else -1; of a result that
 * is shrunk the start says which of the texts that come with the plan takes its place, and the end, unless -1, which tells of lines
 * that stand elsewhere. They ascend
 * by entry, block and start, and cuts of one block never overlap. Of several rows of a block all but the cuts are
 * `ceded`, and come first.
 */
export type DensityPlan = Int32Array;

/** Integers that a row of a plan has. */
export const ROW_LENGTH = 6;

/** The plan that edits nothing. */
export const EMPTY_PLAN: DensityPlan = new Int32Array();

/** Reads a plan row by row. Past the end all that a row has is -1. */
export class PlanCursor {
  readonly #rows: DensityPlan;
  #at = 0;

  constructor(rows: DensityPlan) {
    this.#rows = rows;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#rows.length;
  }

  /** Where the row begins among the integers of the plan. */
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

  /** The rule's place in the list of rules. */
  get rule(): number {
    return this.#rows[this.#at + 3] ?? -1;
  }

  get start(): number {
    return this.#rows[this.#at + 4] ?? -1;
  }

  get end(): number {
    return this.#rows[this.#at + 5] ?? -1;
  }

  /** Goes to the next row; returns whether there is one. */
  next(): boolean {
    this.#at += ROW_LENGTH;
    return !this.isAtEnd;
  }
}

/** Counts what each rule took. Rules that are not documented from the start are counted only when they are on. */
export function countItems(plan: DensityPlan, settings: PassSettings): DensityResultMetadata {
  const counts = new Int32Array(DENSITY_RULES.length);
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (row.action !== ACTION.companion) counts[row.rule] = (counts[row.rule] ?? 0) + 1;
  }
  const metadata: { -readonly [Counter in keyof DensityResultMetadata]: number } = {
    ...NO_EDITS.metadata,
  };
  DENSITY_RULES.forEach((rule, place) => {
    if (rule.isOn(settings)) metadata[rule.counter] = counts[place] ?? 0;
  });
  return metadata;
}

/** What one rule does to one block. */
export interface RuleEdit {
  readonly entry: number;
  readonly block: number;
  readonly rule: RuleName;
  /**
   * `shrink`: its result was made smaller before it was sent. `drop`: the block leaves. `companion`: it leaves with another one, as a call does with its response. `pointer`,
   * `excerpt`: its result gives way to a placeholder or an excerpt. `cut`: a range leaves its text. `ceded`: another
   * rule takes more of it. All but `companion` count for the rule, one each.
   */
  readonly action: EditAction;
  /** The file of an inclusion, as it is spelled there; `null` for all else. */
  readonly path: string | null;
}

/**
 * Lists the rows of a plan by name, in their order: the `rows` of a `DensityResult`.
 *
 * @param blocksOf the blocks of an entry as it was before
 * @throws TypeError for what is no `Int32Array`.
 */
export function listRuleEdits(
  rows: Int32Array,
  blocksOf: (entry: number) => readonly ContentBlock[] | undefined,
): readonly RuleEdit[] {
  if (!isInstance(rows, Int32Array)) refuse('rows', 'an Int32Array', rows);
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
