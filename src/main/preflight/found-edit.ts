// An edit found by a preflight, of which a part may land: either a pass's plan, materialized only on demand, or the result of a
// custom strategy. Limiting an edit keeps calls and responses together (both go or neither does). A plan whose edits are held
// grows with the history, so limiting it costs what is left, not what is held.

import type { IContent, ContentBlock } from '../../shared/content.js';
import { firstEditedIndex, isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import type { DensityConfig, DensityResult, PassSettings } from '../../shared/density.js';
import {
  materializeDensityPlan,
  madeBy,
  madeResult,
} from '../../shared/density/plan/materialize.js';
import { PlanCursor, EMPTY_PLAN, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { pushTo } from '../../shared/lists-by-key.js';
import { HighDensityStrategy } from '../strategies/high-density.js';
import type { CompressionStrategy } from '../strategies/strategy.js';

/** An edit of the present history; invalid once that is rewritten. */
export interface FoundEdit {
  /** The first entry that it edits; `Infinity` if it edits none. */
  readonly firstEntry: number;
  /** Number of its edits: rows of a plan, entries of a strategy's result. */
  readonly size: number;
  readonly result: DensityResult;
  /** The part that changes nothing in front of a place; the same object if that is all of it. */
  limitedTo(place: Place): FoundEdit;
  /** The part that only shrinks results, from this entry on; the same object if that is all of it. */
  shrinkingFrom(entry: number): FoundEdit;
}

/** Whether a strategy uses this library's own pass, which workers and replays know. */
export function isDocumented(strategy: CompressionStrategy): boolean {
  return strategy.optimize === HighDensityStrategy.prototype.optimize;
}

/** Runs a strategy's `optimize` on the calling thread. */
export function findHere(
  strategy: CompressionStrategy,
  history: readonly IContent[],
  config: DensityConfig,
): FoundEdit {
  const result = strategy.optimize?.(history, config) ?? NO_EDITS;
  return new ReturnedEdit(result, history, config);
}

/** An edit given by a plan. */
export class PlannedEdit implements FoundEdit {
  readonly #plan: DensityPlan;
  readonly #history: readonly IContent[];
  readonly #settings: PassSettings;
  readonly #texts: readonly string[];
  readonly #onMade: (result: DensityResult) => void;
  #result: DensityResult | undefined;

  /**
   * @param texts the texts that the plan refers to
   * @param onMade called with the result once it is materialized
   */
  constructor(
    plan: DensityPlan,
    history: readonly IContent[],
    settings: PassSettings,
    texts: readonly string[] | undefined,
    onMade: (result: DensityResult) => void,
  ) {
    this.#plan = plan;
    this.#history = history;
    this.#settings = settings;
    this.#texts = texts ?? [];
    this.#onMade = onMade;
  }

  get firstEntry(): number {
    return this.#plan[0] ?? Infinity;
  }

  get size(): number {
    return this.#plan.length / ROW_LENGTH;
  }

  get result(): DensityResult {
    if (this.#result === undefined) {
      this.#result = materializeDensityPlan(this.#plan, this.#history, this.#settings, this.#texts);
      this.#onMade(this.#result);
    }
    return this.#result;
  }

  limitedTo(place: Place): FoundEdit {
    return this.#part(limitPlan(this.#plan, this.#history, place, this.#settings, this.#texts));
  }

  shrinkingFrom(entry: number): FoundEdit {
    return this.#part(shrinkingPart(this.#plan, entry));
  }

  #part(plan: DensityPlan): FoundEdit {
    if (plan.length === this.#plan.length) return this;
    return new PlannedEdit(plan, this.#history, this.#settings, this.#texts, this.#onMade);
  }
}

/** An edit that a strategy returned as a result. */
class ReturnedEdit implements FoundEdit {
  readonly result: DensityResult;
  readonly #history: readonly IContent[];
  readonly #settings: PassSettings;

  constructor(result: DensityResult, history: readonly IContent[], settings: PassSettings) {
    this.result = result;
    this.#history = history;
    this.#settings = settings;
  }

  get firstEntry(): number {
    return isEmptyDensityResult(this.result) ? Infinity : firstEditedIndex(this.result);
  }

  get size(): number {
    return this.result.removals.length + this.result.replacements.size;
  }

  limitedTo(place: Place): FoundEdit {
    const result = limitResult(this.result, this.#history, place, this.#settings);
    if (result === this.result) return this;
    return new ReturnedEdit(result, this.#history, this.#settings);
  }

  shrinkingFrom(entry: number): FoundEdit {
    const result = shrinkingPartOfResult(this.result, entry, this.#settings);
    const part = new ReturnedEdit(result, this.#history, this.#settings);
    return part.size === this.size ? this : part;
  }
}

/** A place in a history: in front of this block of this entry. */
export interface Place {
  readonly entry: number;
  readonly block: number;
}

interface EntryEdit {
  readonly index: number;
  /** Ids of the calls of which it removes anything: the call, its response, or blocks tied to them. */
  readonly lostCallIds: readonly string[];
}

/**
 * Returns the part of a plan that changes nothing in front of a place; the same object if that is all of it. Entries are edited
 * as a whole or not at all: one that would lose a call whose response must stay is left alone, and vice versa.
 *
 * @param history the history that the plan was made for
 * @param settings the settings it was made with
 * @param texts the texts it refers to
 */
export function limitPlan(
  plan: DensityPlan,
  history: readonly IContent[],
  place: Place,
  settings: PassSettings,
  texts: readonly string[] = [],
): DensityPlan {
  const rest = rowsFrom(plan, place.entry);
  const edits = editsOfPlan(rest, history);
  const heldIds = lostIds(plan.subarray(0, plan.length - rest.length), history, allLostIds(edits));
  const held = heldEntries(edits, heldIds, history, place, () => {
    const rows = rowsOf(rest, (entry) => entry === place.entry);
    return materializeDensityPlan(rows, history, settings, texts).replacements.get(place.entry);
  });
  return held.size === 0 ? rest : rowsOf(rest, (entry) => !held.has(entry));
}

/**
 * Like `limitPlan`, for a strategy's result. Without rows the metadata stay unchanged: only the strategy knows what they count.
 */
export function limitResult(
  result: DensityResult,
  history: readonly IContent[],
  place: Place,
  settings: PassSettings,
): DensityResult {
  const { replacements } = result;
  const edits = editedIndices(result).map((index) => {
    return { index, lostCallIds: lostCallIds(history[index], replacements.get(index)) };
  });
  const rest = edits.filter(({ index }) => index >= place.entry);
  const heldIds = allLostIds(edits.filter(({ index }) => index < place.entry));
  const held = heldEntries(rest, heldIds, history, place, () => replacements.get(place.entry));
  if (held.size === 0 && rest.length === edits.length) return result;
  return partOfResult(result, (entry) => entry >= place.entry && !held.has(entry), settings);
}

/** Returns the part of a plan that only shrinks results, from an entry on. Entries with other edits are left out. */
function shrinkingPart(plan: DensityPlan, fromEntry: number): DensityPlan {
  const rest = rowsFrom(plan, fromEntry);
  const shrunk = shrunkEntries(rest);
  return rowsOf(rest, (entry) => shrunk.has(entry));
}

/** Like `shrinkingPart`, for a strategy's result; empty if that has no rows. */
function shrinkingPartOfResult(
  result: DensityResult,
  fromEntry: number,
  settings: PassSettings,
): DensityResult {
  const shrunk = shrunkEntries(rowsFrom(result.rows ?? EMPTY_PLAN, fromEntry));
  return partOfResult(result, (entry) => shrunk.has(entry), settings);
}

function shrunkEntries(plan: DensityPlan): ReadonlySet<number> {
  const shrunk = new Set<number>();
  const others = new Set<number>();
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    (row.action === ACTION.shrink ? shrunk : others).add(row.entry);
  }
  for (const entry of others) shrunk.delete(entry);
  return shrunk;
}

function partOfResult(
  result: DensityResult,
  isWanted: (entry: number) => boolean,
  settings: PassSettings,
): DensityResult {
  const { metadata, rows } = result;
  const removals = result.removals.filter(isWanted);
  const replacements = new Map([...result.replacements].filter(([index]) => isWanted(index)));
  if (rows === undefined) return { removals, replacements, metadata };
  const { texts } = madeBy(result) ?? { texts: [] };
  return madeResult(rowsOf(rows, isWanted), { settings, texts }, removals, replacements);
}

/** The rows of an entry and of those behind it, in the same memory; the same object if these are all. */
function rowsFrom(plan: DensityPlan, entry: number): DensityPlan {
  let [low, high] = [0, plan.length / ROW_LENGTH];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((plan[middle * ROW_LENGTH] ?? Infinity) < entry) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? plan : plan.subarray(low * ROW_LENGTH);
}

/** The rows of the wanted entries. */
function rowsOf(plan: DensityPlan, isWanted: (entry: number) => boolean): DensityPlan {
  const rows = new Int32Array(plan.length);
  let length = 0;
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    if (!isWanted(row.entry)) continue;
    rows.set(plan.subarray(row.offset, row.offset + ROW_LENGTH), length);
    length += ROW_LENGTH;
  }
  return rows.slice(0, length);
}

/** The indices of all edited entries, ascending. */
function editedIndices({ removals, replacements }: DensityResult): readonly number[] {
  return [...removals, ...replacements.keys()].sort((a, b) => a - b);
}

/**
 * For each entry of an edit that loses calls or responses: the first entry that loses a part of one of these. The edit cannot be
 * limited to a place between the two without leaving the later one as it is.
 */
export function startsOfLosses(
  result: DensityResult,
  history: readonly IContent[],
): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  const starts = new Map<number, number>();
  for (const index of editedIndices(result)) {
    for (const callId of lostCallIds(history[index], result.replacements.get(index))) {
      const start = first.get(callId) ?? index;
      first.set(callId, start);
      starts.set(index, Math.min(start, starts.get(index) ?? index));
    }
  }
  return starts;
}

function editsOfPlan(plan: DensityPlan, history: readonly IContent[]): readonly EntryEdit[] {
  const edits: EntryEdit[] = [];
  const row = new PlanCursor(plan);
  while (!row.isAtEnd) {
    const { entry: index } = row;
    const lost: string[] = [];
    for (; row.entry === index; row.next()) {
      const callId = lostId(row, history);
      if (callId !== undefined) lost.push(callId);
    }
    edits.push({ index, lostCallIds: lost });
  }
  return edits;
}

function allLostIds(edits: readonly EntryEdit[]): ReadonlySet<string> {
  return new Set(edits.flatMap(({ lostCallIds: ids }) => ids));
}

/** Those of the wanted call ids that a plan removes anything of. Few parts of an edit remove calls, so it is rarely read. */
function lostIds(
  plan: DensityPlan,
  history: readonly IContent[],
  wanted: ReadonlySet<string>,
): ReadonlySet<string> {
  const lost = new Set<string>();
  if (wanted.size === 0) return lost;
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    const callId = lostId(row, history);
    if (callId !== undefined && wanted.has(callId)) lost.add(callId);
  }
  return lost;
}

/** The id of the call of which a row removes anything. */
function lostId(row: PlanCursor, history: readonly IContent[]): string | undefined {
  if (row.action !== ACTION.drop && row.action !== ACTION.companion) return undefined;
  const block = history[row.entry]?.blocks[row.block];
  return block && callIdOf(block);
}

/**
 * The entries whose edits would change something in front of the place, and those that share a call with an edit in front.
 *
 * @param edits the edits of the place's entry and of those behind it
 * @param heldIds ids of the calls of which edits in front of that entry remove anything
 * @param afterAtPlace returns the edited entry at the place; `undefined` if it is removed
 */
function heldEntries(
  edits: readonly EntryEdit[],
  heldIds: ReadonlySet<string>,
  history: readonly IContent[],
  place: Place,
  afterAtPlace: () => IContent | undefined,
): ReadonlySet<number> {
  const isBehind = ({ index }: EntryEdit): boolean => {
    if (index > place.entry || place.block === 0) return true;
    const after = afterAtPlace();
    const kept = history[index]?.blocks.slice(0, place.block);
    return after !== undefined && kept?.every((block, at) => block === after.blocks[at]) === true;
  };
  const isHeld = (edit: EntryEdit): boolean =>
    !isBehind(edit) || edit.lostCallIds.some((callId) => heldIds.has(callId));
  const held = edits.filter(isHeld);
  if (held.length === 0) return new Set();
  const byCall = new Map<string, EntryEdit[]>();
  for (const edit of edits) {
    for (const callId of edit.lostCallIds) pushTo(byCall, callId, edit);
  }
  // The list grows while it is walked.
  for (const { lostCallIds: callIds } of held) {
    for (const callId of callIds) {
      held.push(...(byCall.get(callId) ?? []));
      byCall.delete(callId);
    }
  }
  return new Set(held.map(({ index }) => index));
}

/** One id may occur several times in an entry: it is lost if it occurs less often than before. */
function lostCallIds(before: IContent | undefined, after: IContent | undefined): readonly string[] {
  const lost = new Map<string, number>();
  const count = (blocks: readonly ContentBlock[], by: number): void => {
    for (const block of blocks) {
      const callId = callIdOf(block);
      if (callId !== undefined) lost.set(callId, (lost.get(callId) ?? 0) + by);
    }
  };
  count(before?.blocks ?? [], 1);
  count(after?.blocks ?? [], -1);
  return [...lost].flatMap(([callId, times]) => (times > 0 ? [callId] : []));
}

function callIdOf(block: ContentBlock): string | undefined {
  switch (block.type) {
    case 'tool_call':
      return block.id;
    case 'tool_response':
    case 'opaque':
      return block.callId;
    case 'text':
    case 'code':
    case 'thinking':
    case 'media':
      return undefined;
  }
}
