// The changes of a history on their way to its resident copy: kept in their order, cut into messages
// small enough that posting one is no noticeable pause. Posts nothing itself.

import type { IContent } from '../../shared/content.js';
import type { DensityBase } from '../../shared/density.js';
import type { DeltaStep, HistoryDelta } from '../../shared/resident-protocol.js';
import { entryCharacters } from '../../shared/tokens/estimate.js';
import type { HistoryChange, HistoryState } from '../history-change.js';
import { MAX_BATCH_CHARACTERS, MAX_BATCH_ENTRIES } from './count-batches.js';
import { packEntries } from './pack-entries.js';
import { countablePart, indexablePart } from './posted-entry.js';

/** A delta that is ready to be posted, without the settings of a pass. */
export interface Parcel {
  readonly delta: Omit<HistoryDelta, 'pass' | 'isFar'>;
  /** The entries that it stages, as the history holds them. */
  readonly staged: readonly IContent[];
  /** Whether all that it does is to add them. */
  readonly isAppend: boolean;
  /** Whether any of them is added, and not put in place of another. */
  readonly adds: boolean;
  /** Results among them, and whether an answer of the model is. */
  readonly results: number;
  readonly isAnswered: boolean;
  /** UTF-16 units of text in it, about. */
  readonly characters: number;
}

interface QueuedChange {
  /** Entries that come in. */
  readonly contents: IContent[];
  /** What they belong to, and where it leads; `undefined` for an append, which takes them bit by bit. */
  readonly edit: { readonly step: DeltaStep; readonly after: DensityBase } | undefined;
}

const CLEAR: DeltaStep = { kind: 'clear' };

/** The deltas of one line, from the first on. */
export class DeltaQueue {
  readonly #countsTokens: boolean;
  readonly #sendsResults: () => boolean;
  readonly #changes: QueuedChange[] = [];
  /** Entries of the oldest change that are in parcels already. */
  #drawn = 0;
  /** Up to here its entries were looked at for results: so many are in those that wait. */
  #seen = 0;
  #seenResults = 0;
  /** Up to here they were looked at for an answer behind those, and where one is. */
  #searched = 0;
  #answer = -1;
  #sequence = 0;
  #base: DensityBase;
  #countedTokens: HistoryState['countedTokens'];

  /**
   * @param state the history that the line opens with: it is the first change
   * @param length entries of it that belong to the opening; the others are told as changes
   * @param sendsResults whether results are shrunk there, and so come with their texts, counted or not
   */
  constructor(
    state: HistoryState,
    length: number,
    countsTokens: boolean,
    sendsResults: () => boolean = () => false,
  ) {
    const { revision } = state.base;
    this.#countsTokens = countsTokens;
    this.#sendsResults = sendsResults;
    this.#countedTokens = state.countedTokens;
    this.#base = { revision, length: 0 };
    const contents = state.entries.slice(0, length);
    if (length > 0) this.#changes.push({ contents, edit: undefined });
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** The state that the parcels taken so far lead to; `undefined` where they end in the middle of an edit. */
  get base(): DensityBase | undefined {
    return this.#drawn > 0 && this.#changes[0]?.edit !== undefined ? undefined : this.#base;
  }

  /** Entries that wait to be posted. */
  get length(): number {
    return this.#changes.reduce((sum, { contents }) => sum + contents.length, 0) - this.#drawn;
  }

  /** Whether all that waits is added at the end, and so many results of it stand before an answer. */
  holds(results: number): boolean {
    const [first, second] = this.#changes;
    if (first === undefined || first.edit !== undefined || second !== undefined) return false;
    const { contents } = first;
    // Each is looked at once, however often this is asked.
    for (
      this.#seen = Math.max(this.#seen, this.#drawn);
      this.#seenResults < results;
      this.#seen += 1
    ) {
      if (this.#seen >= contents.length) return false;
      this.#seenResults += resultsIn(contents[this.#seen]);
    }
    for (
      this.#searched = Math.max(this.#searched, this.#seen);
      this.#answer < this.#seen && this.#searched < contents.length;
      this.#searched += 1
    ) {
      if (contents[this.#searched]?.speaker === 'ai') this.#answer = this.#searched;
    }
    return this.#answer >= this.#seen;
  }

  /** Returns the entries that come in with the change. */
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
        const replaced = [...change.replacements].sort(([a], [b]) => a - b);
        const step: DeltaStep = {
          kind: 'edit',
          removals: Int32Array.from(change.removals).sort(),
          replaced: Int32Array.from(replaced, ([index]) => index),
        };
        const contents = replaced.map(([, entry]) => entry);
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

  /**
   * Takes as many changes, or as much of one, as a message may hold; `undefined` when there are none.
   *
   * @param packFrom how many entries are sent as bytes; fewer are cloned
   */
  take(packFrom: number = Infinity): Parcel | undefined {
    if (this.isEmpty) return undefined;
    const before = this.#base;
    const steps: DeltaStep[] = [];
    const staged: IContent[] = [];
    let characters = 0;
    let [isAppend, adds, isAnswered, results] = [true, false, false, 0];
    for (let change = this.#changes[0]; change !== undefined; change = this.#changes[0]) {
      const from = this.#drawn;
      for (; this.#drawn < change.contents.length; this.#drawn += 1) {
        const entry = change.contents[this.#drawn];
        if (entry === undefined) continue;
        const length = entryCharacters(entry);
        const isFull =
          staged.length === MAX_BATCH_ENTRIES || characters + length > MAX_BATCH_CHARACTERS;
        if (isFull && staged.length > 0) break;
        staged.push(entry);
        characters += length;
        const has = resultsIn(entry);
        results += has;
        if (this.#drawn < this.#seen) this.#seenResults -= has;
        isAnswered ||= entry.speaker === 'ai';
      }
      const drawn = change.contents.slice(from, this.#drawn);
      const isDone = this.#drawn === change.contents.length;
      const { edit } = change;
      // In front of its entries: who knows where they are to stand need not keep them until then.
      if (edit !== undefined && from === 0 && (isDone || drawn.length > 0)) steps.push(edit.step);
      if (drawn.length > 0) steps.push(this.#stage(drawn, packFrom));
      if (edit !== undefined) {
        isAppend = false;
        if (isDone) this.#base = edit.after;
      } else if (drawn.length > 0) {
        adds = true;
        const { revision, length } = this.#base;
        this.#base = { revision, length: length + drawn.length };
      }
      if (!isDone) break;
      this.#changes.shift();
      this.#drawn = 0;
      [this.#seen, this.#seenResults, this.#searched, this.#answer] = [0, 0, 0, -1];
    }
    this.#sequence += 1;
    const delta = { sequence: this.#sequence, before, after: this.#base, steps };
    return { delta, staged, isAppend, adds, results, isAnswered, characters };
  }

  #stage(contents: readonly IContent[], packFrom: number): DeltaStep {
    const knownTokens = new Int32Array(contents.length);
    for (let at = 0; at < contents.length; at += 1) {
      const entry = contents[at];
      knownTokens[at] = (entry && this.#countedTokens(entry)) ?? -1;
    }
    let sendsResults: boolean | undefined;
    const isRead = (entry: IContent, at: number): boolean => {
      if (this.#countsTokens && knownTokens[at] === -1) return true;
      return entry.speaker === 'tool' && (sendsResults ??= this.#sendsResults());
    };
    if (contents.length >= packFrom) {
      // What is packed of an entry is what is posted of it: of one that is read, no part has to be made for that.
      const parts = contents.map((entry, at) => (isRead(entry, at) ? entry : indexablePart(entry)));
      const packed = packEntries(parts);
      if (packed !== undefined) return { kind: 'stage-packed', packed, knownTokens };
    }
    const part = (entry: IContent, at: number): IContent =>
      isRead(entry, at) ? countablePart(entry) : indexablePart(entry);
    return { kind: 'stage', contents: contents.map(part), knownTokens };
  }
}

function resultsIn(entry: IContent | undefined): number {
  let results = 0;
  for (const block of entry?.speaker === 'tool' ? entry.blocks : []) {
    if (block.type === 'tool_response' && block.isComplete !== false) results += 1;
  }
  return results;
}

/** A list of entries told by another one. */
export interface RewriteSources {
  /** By entry of the new list, an index of the same entry in the former one, or -1. */
  readonly sources: Int32Array;
  /** The entries that the former list does not have, in their order. */
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
