// The plain data of an explanation: why a density pass keeps or removes a block.

import type { ContentBlock, Speaker } from '../../content.js';
import type { RuleFinding } from '../rules/density-rules.js';
import type { BlockPlace, ExplainedSubject } from '../rules/finding.js';

/**
 * No rule decided. `no-rule`: no enabled rule looks at it. `open`: the call waits for its result,
 * or the tool still runs. `no-call`: it answers no known call. `gone`: it is a placeholder already.
 * `companion`: it is dropped with what it belongs to, as reasoning is with the calls it led to.
 */
export interface NoFinding {
  readonly rule: 'none';
  readonly reason: 'no-rule' | 'open' | 'no-call' | 'gone' | 'companion';
}

/** The rule that decided, with its facts. If several rules keep it, the last of them. */
export type DensityFinding = NoFinding | RuleFinding;

/** What is known of a block besides the finding. */
export interface ExplainedBlock extends ExplainedSubject {
  /**
   * Index in the entry's blocks. A text that includes several files has one explanation per file.
   */
  readonly block: number;
  readonly type: ContentBlock['type'];
  /** For a call, or the response to one. */
  readonly callId: string | null;
  /** The files that the call names, or the included file, spelled as there. */
  readonly paths: readonly string[];
  /** For a call its response, for a response its call. */
  readonly partner: BlockPlace | null;
  /** The explanation as text. From the history it quotes only tool names and call ids. */
  readonly text: string;
}

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
