// What there is to say about why a density pass keeps or takes away what it does: plain data. Nothing is
// worked out here.

import type { ContentBlock, Speaker } from '../../content.js';

/** A phase of a density pass; `none`: no phase has a say. */
export type DensityRule = 'read-write' | 'file-dedupe' | 'recency' | 'working-set' | 'none';

/** What becomes of a block; `cut`: a file inclusion leaves the text that it stands in. */
export type DensityVerdict = 'kept' | 'dropped' | 'placeholder' | 'excerpt' | 'cut';

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

/** Of a read, and of its response. `written-later`: all its files were written later. `current`: they were not. */
export interface ReadWriteFinding {
  readonly rule: 'read-write';
  readonly reason: 'written-later' | 'current';
  /** The latest of these writes; `null` for `current`. */
  readonly by: CallPlace | null;
}

/** Of the inclusion of a file. */
export interface FileDedupeFinding {
  readonly rule: 'file-dedupe';
  readonly reason: 'included-again' | 'newest';
  /** The newest inclusion of the file; `null` for that one itself. */
  readonly by: BlockPlace | null;
}

/** Of a result, by how many newer ones of its tool there are. */
export interface RecencyFinding {
  readonly rule: 'recency';
  readonly reason: 'old' | 'recent';
  /** Counted from the newest result of the tool, which has 1. */
  readonly rank: number;
  /** Results of a tool that stay. */
  readonly retained: number;
}

/** Why a result stays in the working set, or has left it: see `WorkingSetFinding`. */
export type WorkingSetReason =
  | 'unsent'
  | 'small'
  | 'fresh'
  | 'touched'
  | 'aged'
  | 'expired'
  | 'repeated'
  | 'read-again'
  | 'forgotten';

/**
 * Of a result, or a call that goes with it, by what the agent has done since. In the working set: `unsent`, the model was not sent it yet; `small`; `fresh`, it
 * came lately; `touched`, its file was touched lately. Outside it: `aged`, a long output is no longer new, and an
 * excerpt does; `expired`, its time is over; `repeated`, the same call was made again; `read-again`, the same lines were
 * read again; `forgotten`, a call of long ago goes with what is left of its result. What is outside leaves when that
 * is worth an edit. Ages and leases are in model calls.
 */
export interface WorkingSetFinding {
  readonly rule: 'working-set';
  readonly reason: WorkingSetReason;
  /** Whether it has left the working set, and only waits for an edit to be worth a rewrite of the prompt cache. */
  readonly isWaiting: boolean;
  /** How many times the model was sent the result. */
  readonly age: number;
  /** So old it may get, for this reason or at all. Leases of reads are `relaxation` times as long as the rules say. */
  readonly lease: number;
  /** At least 1. */
  readonly relaxation: number;
  /** About how many tokens the result has; 0 for a placeholder. */
  readonly tokens: number;
  /** The call that touched its file, repeated it or read the same lines; `null` for the other reasons. */
  readonly by: CallPlace | null;
  /** How old that call is, and may get for its touch to count; `null` for all reasons but `touched`. */
  readonly touch: { readonly age: number; readonly lease: number } | null;
  /** What all results outside the working set give back together. Estimated tokens. */
  readonly staleTokens: number;
  /** What they have to, for those to leave that stand far ahead of the end. Estimated tokens. */
  readonly neededTokens: number;
}

/** The rule that decided, and what it decided by. Of several rules that let something stay it is the last one. */
export type DensityFinding =
  NoFinding | ReadWriteFinding | FileDedupeFinding | RecencyFinding | WorkingSetFinding;

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
