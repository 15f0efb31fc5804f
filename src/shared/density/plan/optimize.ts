// The density pass: feeds a history to an index, has the rules mark its rows, and writes what they
// marked into one plan. `optimize` is the documented form of the same pass.

import type { IContent } from '../../content.js';
import type { DensityConfig, DensityResult, PassSettings } from '../../density.js';
import { assertDensityConfig } from '../../density-problems.js';
import { overEntries } from '../../ingestion.js';
import { syntaxesOf } from '../index/file-inclusions.js';
import { NONE } from '../index/history-columns.js';
import type { InclusionColumns, IntColumn } from '../index/history-columns.js';
import { HistoryIndex } from '../index/history-index.js';
import type { IndexPart, IndexScope } from '../index/index-scope.js';
import type { Judgement } from '../rules/density-rule.js';
import { DENSITY_RULES } from '../rules/density-rules.js';
import type { RuleFinding } from '../rules/density-rules.js';
import { ACTION, actionOf, isLeaving, markOf, noMarks, ruleOf } from '../rules/marks.js';
import type { Marks } from '../rules/marks.js';
import { assertWorkingSetRules } from '../rules/working-set-rules.js';
import { materializeDensityPlan } from './materialize.js';
import { PlanCursor, ROW_LENGTH } from './plan.js';
import type { DensityPlan } from './plan.js';

/**
 * Finds what is stale in a history and returns the edits that remove it. Never changes its input;
 * deterministic; of no effect on its own output; linear in entries. No payload is read that is not
 * replaced.
 *
 * @throws TypeError for a configuration or a history that is none; RangeError for rules of a working set that are none.
 */
export function optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
  assertDensityConfig(config);
  return overEntries('the history', history, () => {
    const { plan, texts } = planWithTexts(history, config);
    return materializeDensityPlan(plan, history, config, texts);
  });
}

/** A plan, and what it puts in place of the results that it shrinks: their rows say which of the texts. */
export interface PlanWithTexts {
  readonly plan: DensityPlan;
  /**
   * Absent when it shrinks nothing. The texts of the rows in their order, then, as JSON, which lines of a result earlier ones show:
   * `ShownElsewhere[]`, named by the end of its row.
   */
  readonly texts?: readonly string[];
}

/** Plans a density pass on a whole history. */
export function planDensity(history: readonly IContent[], config: DensityConfig): DensityPlan {
  return planWithTexts(history, config).plan;
}

/**
 * As `planDensity`, with the texts that the plan needs.
 *
 * @param index of the first entries of the history; the others are added to it
 */
export function planWithTexts(
  history: readonly IContent[],
  config: DensityConfig,
  index: HistoryIndex = new HistoryIndex(scopeOfPass(config)),
): PlanWithTexts {
  if (config.workingSet !== undefined) assertWorkingSetRules(config.workingSet);
  for (const entry of index.length === 0 ? history : history.slice(index.length)) {
    index.append(entry);
  }
  const plan = planIndexed(index, config);
  return withTexts(plan, index);
}

/** Plans a density pass on what an index holds, whose scope covers what the settings ask for. */
export function planIndexed(index: HistoryIndex, settings: PassSettings): DensityPlan {
  return planMarked(index, markHistory(index, settings).marks);
}

/** A plan of an index with the texts of the results that it shrinks, in the order of its rows. */
export function withTexts(plan: DensityPlan, index: HistoryIndex): PlanWithTexts {
  const texts: string[] = [];
  const shown: { readonly offset: number; readonly runs: string }[] = [];
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (row.action !== ACTION.shrink) continue;
    const { text, runs } = index.shrunkAt(row.entry, row.block);
    texts.push(text);
    if (runs.length > 0) shown.push({ offset: row.offset, runs: JSON.stringify(runs) });
  }
  if (texts.length === 0) return { plan };
  for (const { offset, runs } of shown) plan[offset + ROW_LENGTH - 1] = texts.push(runs) - 1;
  return { plan, texts };
}

/** Writes what the rules marked in an index into a plan. */
export function planMarked(index: HistoryIndex, marks: Marks): DensityPlan {
  const { calls, responses, inclusions } = index;
  const rows = new RowWriter();
  let shrunk = 0;
  let call = nextMarked(marks.calls, 0);
  let response = nextMarked(marks.responses, 0);
  let inclusion = nextMarked(marks.inclusions, 0);
  // Each table has entries of its own: those of one speaker.
  for (;;) {
    const ofCall = entryAt(calls, call);
    const ofResponse = entryAt(responses, response);
    const ofInclusion = entryAt(inclusions, inclusion);
    if (ofCall < ofResponse && ofCall < ofInclusion) {
      rows.add(ofCall, calls.block.at(call), marks.calls[call] ?? 0);
      call = nextMarked(marks.calls, call + 1);
    } else if (ofResponse < ofInclusion) {
      const block = responses.block.at(response);
      const ceded = marks.ceded.get(response);
      if (ceded !== undefined) rows.add(ofResponse, block, ceded);
      const mark = marks.responses[response] ?? 0;
      const text = actionOf(mark) === ACTION.shrink ? shrunk++ : NONE;
      rows.add(ofResponse, block, mark, text);
      response = nextMarked(marks.responses, response + 1);
    } else if (ofInclusion !== Infinity) {
      const next = addInclusion(rows, inclusions, marks.inclusions, inclusion);
      inclusion = nextMarked(marks.inclusions, next);
    } else return rows.toPlan();
  }
}

/** The first row from this one on that has a mark, or the number of rows. */
function nextMarked(marks: Uint8Array, from: number): number {
  let row = from;
  while (row < marks.length && marks[row] === 0) row += 1;
  return row;
}

function entryAt({ entry }: { readonly entry: IntColumn }, row: number): number {
  return row < entry.length ? entry.at(row) : Infinity;
}

/**
 * Adds the rows of a marked inclusion. One of whole blocks comes with all others of its group, which loses its frame
 * when it loses all of them. Returns the first row of the table behind what was added.
 */
function addInclusion(
  rows: RowWriter,
  inclusions: InclusionColumns,
  marks: Uint8Array,
  row: number,
): number {
  const { entry: entries, block: blocks, start, end, groupOpen, groupClose } = inclusions;
  const entry = entries.at(row);
  const open = groupOpen.at(row);
  const mark = marks[row] ?? 0;
  if (open === NONE) {
    rows.add(entry, blocks.at(row), mark, start.at(row), end.at(row));
    return row + 1;
  }
  const isOfGroup = (other: number): boolean =>
    other < inclusions.length && entries.at(other) === entry && groupOpen.at(other) === open;
  let first = row;
  while (isOfGroup(first - 1)) first -= 1;
  let last = row;
  while (isOfGroup(last + 1)) last += 1;
  const companion = markOf(ACTION.companion, ruleOf(mark));
  const losesAll = marks.subarray(first, last + 1).every((other) => other !== 0);
  if (losesAll) rows.add(entry, open, companion);
  for (let other = row; other <= last; other += 1) {
    if (marks[other] === 0) continue;
    rows.add(entry, blocks.at(other), marks[other] ?? 0);
    rows.add(entry, blocks.at(other) + 1, companion);
  }
  if (losesAll) rows.add(entry, groupClose.at(last), companion);
  return last + 1;
}

const FIRST_CAPACITY = 32 * ROW_LENGTH;

/** Writes the rows of a plan one behind the other. */
class RowWriter {
  #rows = new Int32Array(FIRST_CAPACITY);
  #length = 0;

  add(entry: number, block: number, mark: number, start = NONE, end = NONE): void {
    const at = this.#length;
    if (at === this.#rows.length) {
      const grown = new Int32Array(2 * at);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    const rows = this.#rows;
    rows[at] = entry;
    rows[at + 1] = block;
    rows[at + 2] = actionOf(mark);
    rows[at + 3] = ruleOf(mark);
    rows[at + 4] = start;
    rows[at + 5] = end;
    this.#length = at + ROW_LENGTH;
  }

  /** A copy, for what it is sent in must not be larger. */
  toPlan(): DensityPlan {
    return this.#rows.slice(0, this.#length);
  }
}

/** What the rules have marked. */
export interface MarkedHistory {
  readonly marks: Marks;
  /** What each rule has to say, in their order; `undefined` for those that are off. */
  readonly judgements: readonly (Judgement<RuleFinding> | undefined)[];
}

/**
 * Marks what the rules take that are on. The index notes what they look at.
 *
 * @param isExplained whether the rules will be asked what they went by
 */
export function markHistory(
  index: HistoryIndex,
  settings: PassSettings,
  isExplained: boolean = false,
): MarkedHistory {
  const marks = noMarks(index);
  const judgements = DENSITY_RULES.map((rule, place) => {
    if (!rule.isOn(settings)) return undefined;
    const mark = (action: number): number => markOf(action, place);
    return rule.mark({ index, settings, marks, mark, isExplained });
  });
  if (index.groupCount > 0) keepFirstOfGroups(index, marks);
  return { marks, judgements };
}

/** Unmarks the first call of each parallel group of which another call stays, with its response. */
function keepFirstOfGroups({ calls, groupCount }: HistoryIndex, marks: Marks): void {
  const first = new Int32Array(groupCount).fill(NONE);
  const isNeeded = new Uint8Array(groupCount);
  for (let row = 0; row < calls.length; row += 1) {
    const group = calls.group.at(row);
    if (group === NONE) continue;
    if (first[group] === NONE) first[group] = row;
    else if (!isLeaving(marks.calls[row])) isNeeded[group] = 1;
  }
  first.forEach((row, group) => {
    if (isNeeded[group] === 0 || !isLeaving(marks.calls[row])) return;
    marks.calls[row] = 0;
    const response = calls.response.at(row);
    marks.responses[response] = 0;
    marks.ceded.delete(response);
  });
}

/** What an index has to note for one pass that no other follows. */
export function scopeOfPass(config: DensityConfig): IndexScope {
  const parts = new Set<IndexPart>(
    DENSITY_RULES.flatMap((rule) => (rule.isOn(config) ? rule.reads : [])),
  );
  return {
    workspaceRoot: config.workspaceRoot,
    toolCatalog: config.toolCatalog,
    inclusionSyntaxes: parts.has('inclusions') ? syntaxesOf(config) : [],
    calls: parts.has('calls'),
    recency: parts.has('recency'),
    workingSet: parts.has('workingSet'),
    unsent: parts.has('unsent'),
    isRewritable: false,
  };
}
