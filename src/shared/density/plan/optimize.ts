// The density pass: indexes a history, has the rules mark rows, and writes the marks into one plan.
// `optimize` is its public form.

import { isDeepStrictEqual } from 'node:util';
import type { IContent } from '../../content.js';
import { placeholderOf, syntaxesOf } from '../../density.js';
import type { DensityConfig, DensityResult, PassSettings } from '../../density.js';
import { assertDensityConfig } from '../../density-options.js';
import { overUncheckedEntries } from '../../ingestion.js';
import { IntColumn, NONE } from '../index/history-columns.js';
import type { InclusionColumns } from '../index/history-columns.js';
import { HistoryIndex } from '../index/history-index.js';
import type { IndexPart, IndexScope } from '../index/index-scope.js';
import type { Judgement } from '../rules/density-rule.js';
import { DENSITY_RULES, isOn } from '../rules/density-rules.js';
import type { RuleFinding } from '../rules/density-rules.js';
import { ACTION, actionOf, isRemoved, markOf, emptyMarks, ruleOf } from '../rules/marks.js';
import type { Marks } from '../rules/marks.js';
import { doPartialWritesSupersede } from '../rules/read-write.js';
import { rowsToShrink, SHRINK } from '../rules/shrink.js';
import { assertWorkingSetRules } from '../rules/working-set-rules.js';
import { materializeDensityPlan } from './materialize.js';
import { PlanCursor, ROW_LENGTH } from './plan.js';
import type { DensityPlan } from './plan.js';

/**
 * Finds what is stale in a history and returns the edits that remove it. Never changes its input;
 * deterministic; idempotent; linear in entries. Reads only the payloads that it replaces.
 *
 * @throws TypeError for an invalid configuration or history; RangeError for invalid working-set
 *   rules.
 */
export function optimize(history: readonly IContent[], config: DensityConfig): DensityResult {
  assertPass(config);
  const index = new HistoryIndex(scopeOfPass(config));
  const run = (): DensityResult => {
    const { plan, texts } = planWithTexts(history, config, index);
    return materializeDensityPlan(plan, history, config, texts);
  };
  return overUncheckedEntries('the history', history, run, (end) => {
    index.extend(history, end);
  });
}

/** Checks a user's configuration. @throws TypeError or RangeError as `optimize` does. */
export function assertPass(config: DensityConfig): void {
  assertDensityConfig(config);
  if (config.workingSet !== undefined) assertWorkingSetRules(config.workingSet);
}

/** A plan with the replacement texts that its rows refer to. */
export interface PlanWithTexts {
  readonly plan: DensityPlan;
  /**
   * Absent when nothing is shrunk. First the replacements in row order, then JSON of
   * `ShownElsewhere[]` for rows whose end refers to it.
   */
  readonly texts?: readonly string[];
}

/**
 * Plans a pass, and collects the replacement texts of its rows.
 *
 * @param index an index of the first entries; the rest is appended to it
 */
export function planWithTexts(
  history: readonly IContent[],
  config: DensityConfig,
  index: HistoryIndex = new HistoryIndex(scopeOfPass(config)),
): PlanWithTexts {
  index.extend(history);
  const plan = planIndexed(index, config);
  return withTexts(plan, index);
}

/** Plans a pass over an index, whose scope must cover the settings. */
export function planIndexed(index: HistoryIndex, settings: PassSettings): DensityPlan {
  return isShrinkingOnly(settings)
    ? planShrinks(index, settings)
    : planMarked(index, markHistory(index, settings).marks);
}

/** Whether only `shrink` is on, as between batches, when a pass must spend no time on what was sent before. */
function isShrinkingOnly(settings: PassSettings): boolean {
  return DENSITY_RULES.every((rule) => isOn(rule, settings) === (rule === SHRINK));
}

/** Plans a pass of the rule `shrink` alone, from the results that were not sent yet. */
function planShrinks(index: HistoryIndex, settings: PassSettings): DensityPlan {
  const plan = new IntColumn();
  const { entry, block } = index.responses;
  const mark = markOf(ACTION.shrink, DENSITY_RULES.indexOf(SHRINK));
  const shrunk = new Set<number>();
  for (const row of rowsToShrink(index, settings, (other) => shrunk.has(other), new Map())) {
    addRow(plan, entry.at(row), block.at(row), mark, shrunk.size);
    shrunk.add(row);
  }
  return plan.toArray();
}

/** Adds the replacement texts of shrunk results, in row order. */
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

/** Writes the marks of an index as a plan. */
export function planMarked(index: HistoryIndex, marks: Marks): DensityPlan {
  const { calls, responses, inclusions } = index;
  const plan = new IntColumn();
  let shrunk = 0;
  let call = nextMarked(marks.calls, 0);
  let response = nextMarked(marks.responses, 0);
  let inclusion = nextMarked(marks.inclusions, 0);
  // The tables never share an entry: each belongs to one speaker.
  for (;;) {
    const ofCall = entryAt(calls, call);
    const ofResponse = entryAt(responses, response);
    const ofInclusion = entryAt(inclusions, inclusion);
    if (ofCall < ofResponse && ofCall < ofInclusion) {
      addRow(plan, ofCall, calls.block.at(call), marks.calls[call] ?? 0);
      call = nextMarked(marks.calls, call + 1);
    } else if (ofResponse < ofInclusion) {
      const block = responses.block.at(response);
      const mark = marks.responses[response] ?? 0;
      const text = actionOf(mark) === ACTION.shrink ? shrunk++ : NONE;
      addRow(plan, ofResponse, block, mark, text);
      response = nextMarked(marks.responses, response + 1);
    } else if (ofInclusion !== Infinity) {
      const next = addInclusion(plan, inclusions, marks.inclusions, inclusion);
      inclusion = nextMarked(marks.inclusions, next);
    } else return plan.toArray();
  }
}

/** The first marked row at or after `from`, or the number of rows. */
function nextMarked(marks: Uint8Array, from: number): number {
  let row = from;
  while (row < marks.length && marks[row] === 0) row += 1;
  return row;
}

function entryAt({ entry }: { readonly entry: IntColumn }, row: number): number {
  return row < entry.length ? entry.at(row) : Infinity;
}

/**
 * Adds the rows of a marked inclusion. An inclusion of whole blocks brings in the rest of its
 * group, and the frame if all of the group is dropped. Returns the next unprocessed row.
 */
function addInclusion(
  plan: IntColumn,
  inclusions: InclusionColumns,
  marks: Uint8Array,
  row: number,
): number {
  const { entry: entries, block: blocks, start, end, groupOpen, groupClose } = inclusions;
  const entry = entries.at(row);
  const open = groupOpen.at(row);
  const mark = marks[row] ?? 0;
  if (open === NONE) {
    addRow(plan, entry, blocks.at(row), mark, start.at(row), end.at(row));
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
  if (losesAll) addRow(plan, entry, open, companion);
  for (let other = row; other <= last; other += 1) {
    if (marks[other] === 0) continue;
    addRow(plan, entry, blocks.at(other), marks[other] ?? 0);
    addRow(plan, entry, blocks.at(other) + 1, companion);
  }
  if (losesAll) addRow(plan, entry, groupClose.at(last), companion);
  return last + 1;
}

/** Adds a row; see `DensityPlan`. */
function addRow(
  plan: IntColumn,
  entry: number,
  block: number,
  mark: number,
  start = NONE,
  end = NONE,
): void {
  for (const value of [entry, block, actionOf(mark), ruleOf(mark), start, end]) plan.push(value);
}

export interface MarkedHistory {
  readonly marks: Marks;
  /** What each rule found, in order of `DENSITY_RULES`; `undefined` for rules that are off. */
  readonly judgements: readonly (Judgement<RuleFinding> | undefined)[];
}

/** Runs all enabled rules. The index must have the columns that they read. */
export function markHistory(index: HistoryIndex, settings: PassSettings): MarkedHistory {
  const marks = emptyMarks(index);
  const judgements = DENSITY_RULES.map((rule, place) => {
    if (!isOn(rule, settings)) return undefined;
    const mark = (action: number): number => markOf(action, place);
    return rule.mark({ index, settings, marks, mark });
  });
  keepFirstOfGroups(index, marks);
  return { marks, judgements };
}

/**
 * Keeps the first call of each parallel group, with its response, while another call of the group
 * stays.
 */
function keepFirstOfGroups({ calls, groupCount }: HistoryIndex, marks: Marks): void {
  const first = new Int32Array(groupCount).fill(NONE);
  const isNeeded = new Uint8Array(groupCount);
  for (let row = 0; row < calls.length; row += 1) {
    const group = calls.group.at(row);
    if (group === NONE) continue;
    if (first[group] === NONE) first[group] = row;
    else if (!isRemoved(marks.calls[row])) isNeeded[group] = 1;
  }
  first.forEach((row, group) => {
    if (isNeeded[group] === 0 || !isRemoved(marks.calls[row])) return;
    marks.calls[row] = 0;
    marks.responses[calls.response.at(row)] = 0;
  });
}

/** The scope of an index that serves a single pass. */
export function scopeOfPass(config: DensityConfig): IndexScope {
  const parts = new Set<IndexPart>(
    DENSITY_RULES.flatMap((rule) => (isOn(rule, config) ? rule.reads : [])),
  );
  return {
    workspaceRoot: config.workspaceRoot,
    toolCatalog: config.toolCatalog,
    inclusionSyntaxes: parts.has('inclusions') ? syntaxesOf(config) : [],
    recency: parts.has('recency'),
    workingSet: parts.has('workingSet'),
    unsent: parts.has('unsent'),
    isRewritable: false,
  };
}

/**
 * Picks the pass settings out of a configuration. Tool catalogs, about 100 times their size, are
 * left out: a resident history knows them from the start.
 */
export function passSettingsOf(config: PassSettings): PassSettings {
  const { placeholder, partialWritesSupersede } = config;
  const picked: Partial<Record<keyof PassSettings, unknown>> = {
    placeholder,
    partialWritesSupersede,
  };
  for (const { settings } of DENSITY_RULES) {
    for (const { field } of settings) picked[field] = config[field];
  }
  return picked as unknown as PassSettings;
}

/**
 * Whether two passes have the same settings for every rule, so that a plan made ahead for one
 * serves the other.
 */
export function isSamePass(a: PassSettings, b: PassSettings): boolean {
  return a === b || isDeepStrictEqual(completePass(a), completePass(b));
}

function completePass(settings: PassSettings): PassSettings {
  const partialWritesSupersede = doPartialWritesSupersede(settings);
  return {
    ...passSettingsOf(settings),
    placeholder: placeholderOf(settings),
    partialWritesSupersede,
  };
}
