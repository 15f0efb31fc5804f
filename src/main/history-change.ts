// What a history tells whoever keeps a second account of it: each change, once it stands.

import type { IContent } from '../shared/content.js';
import type { DensityBase } from '../shared/density.js';

/** One change of a history. */
export type HistoryChange =
  | { readonly kind: 'append'; readonly contents: readonly IContent[] }
  /** Entries were replaced where they stood, then others removed; indices are those before. */
  | {
      readonly kind: 'edit';
      readonly removals: readonly number[];
      readonly replacements: ReadonlyMap<number, IContent>;
    }
  /** Another list took the place of the former one; entries that both have are the same objects. */
  | {
      readonly kind: 'rewrite';
      readonly former: readonly IContent[];
      readonly contents: readonly IContent[];
    }
  | { readonly kind: 'clear' };

/** A history after a change. */
export interface HistoryState {
  readonly base: DensityBase;
  /** The entries themselves: a view that changes with the history, up to its next rewrite. */
  readonly entries: readonly IContent[];
  /** Tokens of an entry of the history, or `undefined` when it is not counted yet. */
  readonly countedTokens: (entry: IContent) => number | undefined;
}

/** Keeps a second account of a history. Told synchronously; must not throw and not change the history. */
export interface HistoryMirror {
  noteChange(change: HistoryChange, state: HistoryState): void;
}
