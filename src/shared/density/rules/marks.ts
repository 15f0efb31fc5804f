// The marks that rules leave during a pass: per row of the index's tables, a small integer that
// holds an action and the rule behind it.

import type { HistoryIndex } from '../index/history-index.js';

/** What happens to a block. All but `none` and `companion` count towards the rule's total. */
export const ACTION = {
  none: 0,
  /** The block is removed. */
  drop: 1,
  /**
   * Removed along with a counted block: a call with its response, parts of an inclusion with its
   * heading.
   */
  companion: 2,
  /** The result becomes a placeholder. */
  pointer: 3,
  /** The result becomes an excerpt of itself. */
  excerpt: 4,
  /** A range of the text is removed. */
  cut: 5,
  /** Nothing, because a later edit removes more of the block. Only where edits were combined, never in a plan. */
  superseded: 6,
  /** Spent texts are removed from the arguments. */
  shorten: 7,
  /** The result is shortened before it is first sent. */
  shrink: 8,
} as const;

/** The name of an action, as events report it. */
export type EditAction =
  'drop' | 'companion' | 'pointer' | 'excerpt' | 'cut' | 'superseded' | 'shorten' | 'shrink';

/** Action names by number. */
export const ACTION_NAMES = Object.keys(ACTION) as readonly EditAction[];

/** Low bits of a mark hold the action, the others the index of the rule. */
const ACTION_BITS = 4;

/** Packs an action and the index of a rule into a mark. 0 means unmarked. */
export function markOf(action: number, rule: number): number {
  return action | (rule << ACTION_BITS);
}

/** One of `ACTION`. */
export function actionOf(mark: number | undefined): number {
  return (mark ?? 0) & ((1 << ACTION_BITS) - 1);
}

/** The index of the rule in `DENSITY_RULES`. */
export function ruleOf(mark: number): number {
  return mark >> ACTION_BITS;
}

/** Whether the marked block is removed as a whole. */
export function isRemoved(mark: number | undefined): boolean {
  const action = actionOf(mark);
  return action === ACTION.drop || action === ACTION.companion;
}

/** Marks by row of the index's tables. */
export interface Marks {
  readonly calls: Uint8Array;
  readonly responses: Uint8Array;
  readonly inclusions: Uint8Array;
  /** By response row, newer rows that refer to it for the lines that they leave out. */
  readonly referredBy: Map<number, number[]>;
}

export function emptyMarks({ calls, responses, inclusions }: HistoryIndex): Marks {
  return {
    calls: new Uint8Array(calls.length),
    responses: new Uint8Array(responses.length),
    inclusions: new Uint8Array(inclusions.length),
    referredBy: new Map(),
  };
}
