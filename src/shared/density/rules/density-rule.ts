// The interface of a pruning rule and what a rule is given. Everything else works on this interface
// and the list of rules, and names no rule.

import type { ContentBlock } from '../../content.js';
import type { DensityResultMetadata, PassSettings } from '../../density.js';
import type { BlockPlace, CallPlace, ExplainedSubject, Finding } from './finding.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { IndexPart } from '../index/index-scope.js';
import type { Marks } from './marks.js';

/**
 * A setting of a rule: a field of `PassSettings`, set by users as `compression.density.<field>`.
 * The default is that of the field; for an enum, its first value.
 */
export type RuleSetting = {
  readonly field: keyof PassSettings;
  /** One line, shown to users. */
  readonly description: string;
} & (
  | { readonly type: 'boolean' | 'number' }
  | {
      readonly type: 'enum';
      readonly enumValues: readonly [string, ...string[]];
      /** Maps the word to the field's value; `given` is the value the session was created with. */
      valueOf(word: string, given: unknown): unknown;
    }
);

/** The input of a rule's `mark`. */
export interface RulePass {
  readonly index: HistoryIndex;
  readonly settings: PassSettings;
  /** Marks of the rules before this one. The rule adds its own here. */
  readonly marks: Marks;
  /** Builds this rule's mark for one of `ACTION`. */
  readonly mark: (action: number) => number;
}

/** Maps rows of an index to places in the history. */
export interface RowPlaces {
  readonly callAt: (row: number) => CallPlace | null;
  readonly inclusionAt: (row: number) => BlockPlace;
}

/** The rule's findings per row, including rows that it keeps; `undefined` means no opinion. */
export interface Judgement<Found extends Finding = Finding> {
  /** If absent, a call gets the finding of its response. */
  readonly ofCall?: (call: number, places: RowPlaces) => Found | undefined;
  /** @param call the call it answers, or `NONE` */
  readonly ofResponse?: (response: number, call: number, places: RowPlaces) => Found | undefined;
  readonly ofInclusion?: (inclusion: number, places: RowPlaces) => Found | undefined;
}

/** A pruning rule. */
export interface DensityRule<Found extends Finding = Finding> {
  readonly name: Found['rule'];
  /** What reports call one removed item, such as `old result`. */
  readonly item: string;
  /** The metadata field that counts its items. */
  readonly counter: keyof DensityResultMetadata;
  /** The first one turns the rule on: see `isOn`. */
  readonly settings: readonly [RuleSetting, ...RuleSetting[]];
  /** The parts of the index that it reads besides calls and responses. */
  readonly reads: readonly IndexPart[];
  /** The first line of what it leaves of a result. @default `PRUNED_POINTER` */
  readonly pointer?: string;
  /** Marks what it prunes. Linear in rows; payloads are not available. */
  mark(pass: RulePass): Judgement<Found>;
  /** Phrases a finding in one or two sentences. */
  say(finding: Found, about: ExplainedSubject): string;
  /**
   * The file path of an edit to a block that is not a tool's, spelled as in the block from `start`
   * on.
   */
  pathOf?(block: ContentBlock, start: number): string | null;
}
