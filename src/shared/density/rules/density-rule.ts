// What a rule of pruning is: the interface that all of them implement, and what they are given. Whoever goes by
// rule goes by this and the list of rules, and knows none of them by name.

import type { ContentBlock } from '../../content.js';
import type { DensityResultMetadata, PassSettings } from '../../density.js';
import type { BlockPlace, CallPlace, ExplainedSubject } from '../explain/explanation.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { IndexPart } from '../index/index-scope.js';
import type { Marks } from './marks.js';

/** What a rule says of something that it looked at. Its own fields are the facts behind it. */
export interface Finding {
  readonly rule: string;
  readonly reason: string;
}

/**
 * A setting of a rule: a field of `PassSettings` that a user sets as `compression.density.<field>`. Its default
 * is that of the field, and for one of some words their first.
 */
export type RuleSetting = {
  readonly field: keyof PassSettings;
  /** One line for a user. */
  readonly description: string;
} & (
  | { readonly type: 'boolean' | 'number' }
  | {
      readonly type: 'enum';
      readonly enumValues: readonly [string, ...string[]];
      /** What a word stands for, given what the session was created with. */
      valueOf(word: string, given: unknown): unknown;
    }
);

/** What a rule marks in. */
export interface RulePass {
  readonly index: HistoryIndex;
  readonly settings: PassSettings;
  /** What the rules before it have marked; it adds its own. */
  readonly marks: Marks;
  /** Its own mark for one of `ACTION`. */
  readonly mark: (action: number) => number;
  /** Whether it will be asked what it went by, and has to keep that. */
  readonly isExplained: boolean;
}

/** Tells where the rows of an index stand. */
export interface RowPlaces {
  readonly callAt: (row: number) => CallPlace | null;
  readonly inclusionAt: (row: number) => BlockPlace | null;
}

/**
 * What a rule has to say of the rows of an index, also of those that it keeps; `undefined` is nothing. To be asked of
 * an explained pass only.
 */
export interface Judgement<Found extends Finding = Finding> {
  /** Without it a call goes for what its response does. */
  readonly ofCall?: (call: number, places: RowPlaces) => Found | undefined;
  /** @param call the one that it answers, or `NONE` */
  readonly ofResponse?: (response: number, call: number, places: RowPlaces) => Found | undefined;
  readonly ofInclusion?: (inclusion: number, places: RowPlaces) => Found | undefined;
}

/** A rule of pruning. */
export interface DensityRule<Found extends Finding = Finding> {
  readonly name: Found['rule'];
  /** What reports call one thing that it takes. */
  readonly item: string;
  /** Where its items are counted. */
  readonly counter: keyof DensityResultMetadata;
  readonly settings: readonly RuleSetting[];
  /** What it looks at. */
  readonly reads: readonly IndexPart[];
  isOn(settings: PassSettings): boolean;
  /** Marks what it takes. Linear in rows; no payload is there to be read. */
  mark(pass: RulePass): Judgement<Found>;
  /** Says a finding in one or two sentences. */
  say(finding: Found, about: ExplainedSubject): string;
  /** The file of an edit, when it is no tool's: as it is spelled in the block, from `start` on. */
  pathOf?(block: ContentBlock, start: number): string | null;
}
