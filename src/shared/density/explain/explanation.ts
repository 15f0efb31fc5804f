// What there is to say about why a density pass keeps or takes away what it does: plain data. Nothing is
// worked out here.

import type { ContentBlock, Speaker } from '../../content.js';
import type { RuleFinding } from '../rules/density-rules.js';

/** What becomes of a block; `cut`: a file inclusion leaves the text that it stands in; `shrunk`: its result is made smaller before it is sent. */
export type DensityVerdict =
  'kept' | 'dropped' | 'placeholder' | 'excerpt' | 'cut' | 'shortened' | 'shrunk';

/** What a call is for, as far as the catalog of tools and its parameters say so. */
export type CallPurpose = 'read' | 'write' | 'search' | 'command' | 'unknown';

/** A block of the history that is explained. */
export interface BlockPlace {
  readonly entry: number;
  readonly block: number;
}

/** A call of the history that is explained. */
export interface CallPlace extends BlockPlace {
  readonly callId: string;
  readonly toolName: string;
}

/**
 * Nothing speaks for taking it away. `no-rule`: no rule is on that looks at it. `open`: the call waits for its result, or the
 * tool still runs. `no-call`: it answers no call that is known. `gone`: a placeholder stands there already.
 * `companion`: it is dropped with what it belongs to, as reasoning is with the calls that it led to.
 */
export interface NoFinding {
  readonly rule: 'none';
  readonly reason: 'no-rule' | 'open' | 'no-call' | 'gone' | 'companion';
}

/** The rule that decided, and what it decided by. Of several rules that let something stay it is the last one. */
export type DensityFinding = NoFinding | RuleFinding;

/** What is said of a block besides the finding. */
export interface ExplainedBlock {
  /** Index in the entry's blocks. A text that includes several files has an explanation for each of them. */
  readonly block: number;
  readonly type: ContentBlock['type'];
  readonly verdict: DensityVerdict;
  /** Of a call, and of the response to one. */
  readonly callId: string | null;
  readonly toolName: string | null;
  /** What the call is for; `null` for what is no call, or answers none that is known. */
  readonly purpose: CallPurpose | null;
  /** The files that the call names, or the included file, as they are spelled there. */
  readonly paths: readonly string[];
  /** Of a call its response, of a response its call. */
  readonly partner: BlockPlace | null;
  /** All that in words. Of what the history holds they have names of tools and ids of calls, and nothing else. */
  readonly text: string;
}

/** What a sentence about a block needs to know besides the finding. */
export type ExplainedSubject = Pick<ExplainedBlock, 'verdict' | 'toolName' | 'purpose'>;

/** Why one block stays, or what becomes of it. */
export type BlockExplanation = ExplainedBlock & DensityFinding;

/** Why one entry stays as it is, or what becomes of it. */
export interface EntryExplanation {
  readonly index: number;
  readonly speaker: Speaker;
  readonly verdict: 'kept' | 'changed' | 'removed';
  /** Every block has at least one, in their order. */
  readonly blocks: readonly BlockExplanation[];
}
