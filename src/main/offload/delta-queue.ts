// Queues the changes of a history for its resident copy: keeps them in order, and splits them into messages that can be posted
// without a noticeable pause. Posts nothing itself.

import type { IContent } from '../../shared/content.js';
import { inOrder } from '../../shared/density.js';
import type { DensityBase } from '../../shared/density.js';
import type { DeltaStep, HistoryDelta } from '../../shared/resident-protocol.js';
import { outOfReachLength } from '../../shared/density/index/unsent-results.js';
import type { HistoryChange, HistoryState } from '../history-change.js';
import { Batch, postedPart } from './posted-entry.js';

/** A delta that is ready to be posted, without what is to be planned. */
export interface Parcel {
  readonly delta: Omit<HistoryDelta, 'pass' | 'compression' | 'isOutOfReach'>;
  /** The entries of the history that the delta contains. */
  readonly staged: readonly IContent[];
  /** Whether the delta only appends entries. */
  readonly isAppend: boolean;
  /** Whether the delta appends any entry. */
  readonly adds: boolean;
  /** Whether later results will be unable to refer to any of its results, once everything queued after it was appended too. */
  readonly isOutOfReach: boolean;
  /** Approximate UTF-16 units of text. */
  readonly characters: number;
}

interface QueuedChange {
  /** New entries. */
  readonly contents: IContent[];
  /** The step that `contents` belong to, and the state that it leads to; `undefined` for an append, which may be split. */
  readonly edit: { readonly step: DeltaStep; readonly after: DensityBase } | undefined;
}

const CLEAR: DeltaStep = { kind: 'clear' };

/** The queue of one connection's deltas, from the opening of the connection on. */
export class DeltaQueue {
  readonly #changes: QueuedChange[] = [];
  /** Number of entries of the oldest change that are already in parcels. */
  #taken = 0;
  /** Cache for the oldest change: its first `end` entries are out of reach (see `outOfReachLength`), computed when it had `of` entries. */
  #outOfReach = { end: 0, of: 0 };
  #sequence = 0;
  #base: DensityBase;
  #countedTokens: HistoryState['countedTokens'];

  /**
   * @param state the history when the connection opens: the first change
   * @param length number of its entries that belong to the opening; the others follow as changes
   */
  constructor(state: HistoryState, length: number) {
    const { revision } = state.base;
    this.#countedTokens = state.countedTokens;
    this.#base = { revision, length: 0 };
    const contents = state.entries.slice(0, length);
    if (length > 0) this.#changes.push({ contents, edit: undefined });
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** The state after the parcels taken so far; `undefined` in the middle of an edit. */
  get base(): DensityBase | undefined {
    return this.#taken > 0 && this.#changes[0]?.edit !== undefined ? undefined : this.#base;
  }

  /** Number of queued entries. */
  get length(): number {
    return this.#changes.reduce((sum, { contents }) => sum + contents.length, 0) - this.#taken;
  }

  /** Whether an edit is queued, which may remove entries that other queued changes rely on. */
  get hasEdits(): boolean {
    return this.#changes.some(({ edit }) => edit !== undefined);
  }

  /** Queues a change. Returns its new entries. */
  push(change: HistoryChange, { base }: HistoryState): readonly IContent[] {
    const last = this.#changes.at(-1);
    switch (change.kind) {
      case 'append':
        if (last !== undefined && last.edit === undefined) {
          for (const content of change.contents) last.contents.push(content);
        } else {
          this.#changes.push({ contents: [...change.contents], edit: undefined });
        }
        return change.contents;
      case 'edit': {
        const { contents, ...edit } = inOrder(change);
        const step: DeltaStep = { kind: 'edit', ...edit };
        this.#changes.push({ contents, edit: { step, after: base } });
        return contents;
      }
      case 'rewrite': {
        const { sources, added } = sourcesOfRewrite(change.former, change.contents);
        const step: DeltaStep = { kind: 'rewrite', sources };
        this.#changes.push({ contents: added, edit: { step, after: base } });
        return added;
      }
      case 'clear':
        this.#changes.push({ contents: [], edit: { step: CLEAR, after: base } });
        return [];
    }
  }

  /** Returns a delta that changes nothing, to ask for a plan on the present state. */
  nothing(): Parcel['delta'] {
    this.#sequence += 1;
    return { sequence: this.#sequence, before: this.#base, after: this.#base, steps: [] };
  }

  /** Takes as many changes, or as large a part of one, as a message may hold; `undefined` if the queue is empty. */
  take(): Parcel | undefined {
    const [oldest] = this.#changes;
    if (oldest === undefined) return undefined;
    const before = this.#base;
    const steps: DeltaStep[] = [];
    const batch = new Batch();
    let [isAppend, adds] = [true, false];
    this.#findOutOfReach(oldest);
    for (let change = this.#changes[0]; change !== undefined; change = this.#changes[0]) {
      const from = this.#taken;
      for (; this.#taken < change.contents.length; this.#taken += 1) {
        if (!batch.add(change.contents[this.#taken] as IContent)) break;
      }
      const taken = change.contents.slice(from, this.#taken);
      const isDone = this.#taken === change.contents.length;
      const { edit } = change;
      // The edit's step precedes its entries, so that the receiver can put these in place as they arrive.
      if (edit !== undefined && from === 0 && (isDone || taken.length > 0)) steps.push(edit.step);
      if (taken.length > 0) steps.push(this.#stage(taken));
      if (edit !== undefined) {
        isAppend = false;
        if (isDone) this.#base = edit.after;
      } else if (taken.length > 0) {
        adds = true;
        const { revision, length } = this.#base;
        this.#base = { revision, length: length + taken.length };
      }
      if (!isDone) break;
      this.#changes.shift();
      this.#taken = 0;
      this.#outOfReach = { end: 0, of: 0 };
    }
    this.#sequence += 1;
    const delta = { sequence: this.#sequence, before, after: this.#base, steps };
    const isOutOfReach = this.#taken > 0 && this.#taken <= this.#outOfReach.end;
    const { entries: staged, characters } = batch;
    return { delta, staged, isAppend, adds, isOutOfReach, characters };
  }

  /** Updates `#outOfReach` for the oldest change, unless that is an edit. */
  #findOutOfReach({ contents, edit }: QueuedChange): void {
    if (edit !== undefined || this.#outOfReach.of === contents.length) return;
    this.#outOfReach = { end: outOfReachLength(contents), of: contents.length };
  }

  #stage(contents: readonly IContent[]): DeltaStep {
    const knownTokens = new Int32Array(contents.length);
    for (let at = 0; at < contents.length; at += 1) {
      const entry = contents[at];
      knownTokens[at] = (entry && this.#countedTokens(entry)) ?? -1;
    }
    return { kind: 'stage', contents: contents.map(postedPart), knownTokens };
  }
}

/** A list of entries, described as a rewrite of a former list. */
interface RewriteSources {
  /** By index in the new list, the index of the same entry in the former list, or -1. */
  readonly sources: Int32Array;
  /** The entries that are not in the former list, in order. */
  readonly added: IContent[];
}

/** Compares two lists by the identity of their entries. Linear. */
export function sourcesOfRewrite(
  former: readonly IContent[],
  contents: readonly IContent[],
): RewriteSources {
  const indices = new Map(former.map((entry, index) => [entry, index]));
  const added: IContent[] = [];
  const sources = Int32Array.from(contents, (entry) => {
    const source = indices.get(entry);
    if (source === undefined) added.push(entry);
    return source ?? -1;
  });
  return { sources, added };
}
