// An edit found by a preflight, of which only a part may land. It consists of the rows of a pass's plan, from which a result is made on
// demand. Limiting an edit keeps calls and responses together (both go or neither does). Held edits accumulate with the history, so
// limiting costs time for the rows that remain, not for those held.

import type { IContent, ContentBlock } from '../../shared/content.js';
import type { DensityResult, PassSettings } from '../../shared/density.js';
import { materializeDensityPlan } from '../../shared/density/plan/materialize.js';
import { PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import type { DensityPlan } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { pushTo } from '../../shared/lists-by-key.js';
import type { Place } from './reasoning-policy.js';
import { heldForTurnStart } from './turn-start.js';

/** What the rows of an edit were planned for, and with. */
export interface EditSource {
  readonly history: readonly IContent[];
  readonly settings: PassSettings;
  /** The texts that the rows refer to. */
  readonly texts?: readonly string[] | undefined;
  /** Called with each result that is materialized. */
  readonly onMade?: (result: DensityResult) => void;
}

/** An edit of the present history; invalid once the history is rewritten. */
export class FoundEdit {
  readonly #rows: DensityPlan;
  readonly #source: EditSource;
  #result: DensityResult | undefined;

  constructor(rows: DensityPlan, source: EditSource) {
    this.#rows = rows;
    this.#source = source;
  }

  /** Index of the first edited entry; `Infinity` if there is none. */
  get firstEntry(): number {
    return this.#rows[0] ?? Infinity;
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.length / ROW_LENGTH;
  }

  get result(): DensityResult {
    return (this.#result ??= this.#make(this.#rows));
  }

  /** The edit as if it removed every entry that it changes: no edit of these rows saves more. Makes no replacements. */
  get withNothingLeft(): Pick<DensityResult, 'removals' | 'replacements' | 'rows'> {
    const removals = new Set<number>();
    for (const row = new PlanCursor(this.#rows); !row.isAtEnd; row.next()) removals.add(row.entry);
    return { removals: [...removals], replacements: new Map(), rows: this.#rows };
  }

  /**
   * The part that changes nothing in front of a place; the same object if that is the whole edit. An entry is edited as a whole or
   * not at all: it is left alone if it would lose a call whose response must stay, or the response of such a call.
   */
  limitedTo(place: Place): FoundEdit {
    const rows = this.#rows;
    const { history } = this.#source;
    const rest = rowsFrom(rows, place.entry);
    const edits = editsOf(rest, history);
    const inFront = rows.subarray(0, rows.length - rest.length);
    const heldIds = lostIds(inFront, history, edits);
    const held = heldEntries(edits, heldIds, history, place, () => {
      const { replacements } = this.#make(rowsOf(rest, (entry) => entry === place.entry));
      return replacements.get(place.entry);
    });
    return this.#part(rowsOf(rest, (entry) => !held.has(entry)));
  }

  /** The part after which the turn in progress still begins with reasoning; the same object if that is the whole edit. */
  get keepingTurnStart(): FoundEdit {
    const { history } = this.#source;
    const edits = editsOf(this.#rows, history);
    const lost = new Map(edits.map(({ index, lostCallIds }) => [index, lostCallIds]));
    const losesCalls = (index: number): boolean => (lost.get(index)?.length ?? 0) > 0;
    if (!edits.some(({ index }) => losesCalls(index))) return this;
    const keptIds = heldForTurnStart(history, losesCalls).flatMap((index) => lost.get(index) ?? []);
    const held = heldEntries(edits, new Set(keptIds), history, { entry: 0, block: 0 });
    return this.#part(rowsOf(this.#rows, (entry) => !held.has(entry)));
  }

  /** The part that only shrinks results, from this entry on; the same object if that is the whole edit. */
  shrinkingFrom(entry: number): FoundEdit {
    const rest = rowsFrom(this.#rows, entry);
    const shrunk = shrunkEntries(rest);
    return this.#part(rowsOf(rest, (at) => shrunk.has(at)));
  }

  #part(rows: DensityPlan): FoundEdit {
    if (rows.length === this.#rows.length) return this;
    return new FoundEdit(rows, this.#source);
  }

  #make(rows: DensityPlan): DensityResult {
    const { history, settings, texts, onMade } = this.#source;
    const result = materializeDensityPlan(rows, history, settings, texts);
    onMade?.(result);
    return result;
  }
}

interface EntryEdit {
  readonly index: number;
  /** Ids of calls of which the edit removes a part: the call, its response, or a block tied to them. */
  readonly lostCallIds: readonly string[];
}

/** The entries in which every edit is a shrunk result. */
function shrunkEntries(plan: DensityPlan): ReadonlySet<number> {
  const shrunk = new Set<number>();
  const others = new Set<number>();
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    (row.action === ACTION.shrink ? shrunk : others).add(row.entry);
  }
  for (const entry of others) shrunk.delete(entry);
  return shrunk;
}

/** The rows from an entry on, found by binary search, as a view of the same memory. */
function rowsFrom(plan: DensityPlan, entry: number): DensityPlan {
  let [low, high] = [0, plan.length / ROW_LENGTH];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((plan[middle * ROW_LENGTH] ?? Infinity) < entry) low = middle + 1;
    else high = middle;
  }
  return plan.subarray(low * ROW_LENGTH);
}

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

/**
 * Maps each edited entry that loses calls or responses to the first entry that loses a part of one of the same calls. An edit
 * limited to a place between the two leaves the later entry as it is.
 */
export function startsOfLosses(
  plan: DensityPlan,
  history: readonly IContent[],
): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  const starts = new Map<number, number>();
  for (const { index, lostCallIds } of editsOf(plan, history)) {
    for (const callId of lostCallIds) {
      const start = first.get(callId) ?? index;
      first.set(callId, start);
      starts.set(index, Math.min(start, starts.get(index) ?? index));
    }
  }
  return starts;
}

function editsOf(plan: DensityPlan, history: readonly IContent[]): readonly EntryEdit[] {
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

/**
 * Of the call ids lost by the given edits, those of which a plan removes a part as well. Usually the edits lose no call, and the
 * plan is not scanned.
 */
function lostIds(
  plan: DensityPlan,
  history: readonly IContent[],
  edits: readonly EntryEdit[],
): ReadonlySet<string> {
  const wanted = new Set(edits.flatMap(({ lostCallIds: ids }) => ids));
  const lost = new Set<string>();
  if (wanted.size === 0) return lost;
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    const callId = lostId(row, history);
    if (callId !== undefined && wanted.has(callId)) lost.add(callId);
  }
  return lost;
}

/** The id of the call of which a row removes a part; `undefined` if it removes none. */
function lostId(row: PlanCursor, history: readonly IContent[]): string | undefined {
  if (row.action !== ACTION.drop && row.action !== ACTION.companion) return undefined;
  const block = history[row.entry]?.blocks[row.block];
  return block && callIdOf(block);
}

/**
 * The entries whose edits must not land: those that change something in front of the place, those that share a call with an edit
 * in front of it, and, transitively, those that share a call with one of these.
 *
 * @param edits the edits from the place's entry on
 * @param heldIds ids of the calls of which edits in front of that entry remove a part
 * @param afterAtPlace returns the edited entry at the place; `undefined` if it is removed @default not asked: the place is in front of an entry
 */
function heldEntries(
  edits: readonly EntryEdit[],
  heldIds: ReadonlySet<string>,
  history: readonly IContent[],
  place: Place,
  afterAtPlace?: () => IContent | undefined,
): ReadonlySet<number> {
  const isBehind = ({ index }: EntryEdit): boolean => {
    if (index > place.entry || place.block === 0) return true;
    const after = afterAtPlace?.();
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
  // `held` is a work list: the loop also visits the entries that it appends.
  for (const { lostCallIds: callIds } of held) {
    for (const callId of callIds) {
      held.push(...(byCall.get(callId) ?? []));
      byCall.delete(callId);
    }
  }
  return new Set(held.map(({ index }) => index));
}

function callIdOf(block: ContentBlock): string | undefined {
  if (block.type === 'tool_call') return block.id;
  return block.type === 'tool_response' || block.type === 'opaque' ? block.callId : undefined;
}
