// What the rules of a pass have marked: a small integer per row of the index's tables, which says what becomes of
// the row and which rule says so. Decides nothing.

import type { HistoryIndex } from '../index/history-index.js';

/** What becomes of a block. All but `none` and `companion` count for their rule, one each. */
export const ACTION = {
  none: 0,
  /** It leaves. */
  drop: 1,
  /** It leaves with another that counts: a call with its response, what an inclusion is made of with its heading. */
  companion: 2,
  /** Its result becomes a placeholder. */
  pointer: 3,
  /** Its result becomes an excerpt of itself. */
  excerpt: 4,
  /** A range leaves its text. */
  cut: 5,
  /** Nothing, for another rule takes more of it. */
  ceded: 6,
  /** Its arguments lose texts that are spent. */
  shorten: 7,
  /** Its result becomes a shorter one, before it is sent. */
  shrink: 8,
} as const;

/** The name of an action, as events tell it. */
export type EditAction =
  'drop' | 'companion' | 'pointer' | 'excerpt' | 'cut' | 'ceded' | 'shorten' | 'shrink';

/** Names by action. */
export const ACTION_NAMES = Object.keys(ACTION) as readonly EditAction[];

/** Bits of a mark that say the action; the others are the rule's place in the list. */
const ACTION_BITS = 4;

/** Puts an action and the place of a rule into one mark. A mark of 0 is none. */
export function markOf(action: number, rule: number): number {
  return action | (rule << ACTION_BITS);
}

/** One of `ACTION`. */
export function actionOf(mark: number | undefined): number {
  return (mark ?? 0) & ((1 << ACTION_BITS) - 1);
}

/** The place of the rule that marked, in the list of rules. */
export function ruleOf(mark: number): number {
  return mark >> ACTION_BITS;
}

/** Whether the block of a marked row leaves as a whole. */
export function isLeaving(mark: number | undefined): boolean {
  const action = actionOf(mark);
  return action === ACTION.drop || action === ACTION.companion;
}

/** Marks by row of an index's tables. */
export interface Marks {
  readonly calls: Uint8Array;
  readonly responses: Uint8Array;
  readonly inclusions: Uint8Array;
  /** By row of responses, the first mark of those that another rule has marked since. */
  readonly ceded: Map<number, number>;
  /** Rows of responses that newer ones refer to: they show what those leave out. */
  readonly referred: Set<number>;
}

/** Returns marks of an index that nothing has marked. */
export function noMarks({ calls, responses, inclusions }: HistoryIndex): Marks {
  return {
    calls: new Uint8Array(calls.length),
    responses: new Uint8Array(responses.length),
    inclusions: new Uint8Array(inclusions.length),
    ceded: new Map(),
    referred: new Set(),
  };
}
