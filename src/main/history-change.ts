// How a history describes its changes to those who watch it. Types only.

import type { IContent } from '../shared/content.js';
import type { DensityBase } from '../shared/density.js';

export type HistoryChange =
  | { readonly kind: 'append'; readonly contents: readonly IContent[] }
  /** Entries were replaced in place, then others removed; indices refer to the state before. */
  | {
      readonly kind: 'edit';
      readonly removals: readonly number[];
      readonly replacements: ReadonlyMap<number, IContent>;
    }
  /** The list was replaced by another; entries in both are the same objects. */
  | {
      readonly kind: 'rewrite';
      readonly former: readonly IContent[];
      readonly contents: readonly IContent[];
    }
  | { readonly kind: 'clear' };

/** The state of a history after a change. */
export interface HistoryState {
  readonly base: DensityBase;
  /** The live list of entries, valid until the next rewrite. */
  readonly entries: readonly IContent[];
  /** Returns an entry's tokens, or `undefined` if it is not counted yet, or only by parts: a copy needs the tokens of each block. */
  readonly countedTokens: (entry: IContent) => number | undefined;
}

/** Watches a history. Called synchronously after each change; must not throw or change the history. */
export type HistoryWatcher = (change: HistoryChange, state: HistoryState) => void;

/** An entry that an edit changed. */
export interface EntryChange {
  /** Index in the history before the edit. */
  readonly index: number;
  readonly before: IContent;
  /** `null` if the entry was removed. */
  readonly after: IContent | null;
}
