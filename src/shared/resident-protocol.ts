// What goes over a session's line to its resident history: deltas in their order, and what is known
// after each. All of it is plain and flat.

import type { IContent } from './content.js';
import type { DensityBase, PassSettings, PlaceholderForm } from './density.js';
import type { IndexedAgent } from './density/index/index-scope.js';
import type { DensityPlan } from './density/plan/plan.js';
import type { PackedCounts, PackedEntries } from './packed-entries.js';
import type { WireError } from './errors.js';

/** What a resident history is opened with. */
export interface ResidentOptions {
  readonly agent: IndexedAgent;
  /** Whether entries are counted where they arrive. */
  readonly countsTokens: boolean;
}

/**
 * One step of a change. Entries come in by one step or by several of them, so that no message is large however much comes in
 * at once. They belong to the edit or rewrite in front of them until that has all of its own, and else follow at the end.
 */
export type DeltaStep =
  | {
      readonly kind: 'stage';
      readonly contents: readonly IContent[];
      /** Tokens of each, or -1 for one to be counted. One that is known comes without its texts. */
      readonly knownTokens: Int32Array;
    }
  /** The same of many entries at once, as bytes. */
  | {
      readonly kind: 'stage-packed';
      readonly packed: PackedEntries;
      readonly knownTokens: Int32Array;
      /** What another thread has counted of them; without it, those without tokens are counted where they arrive. */
      counts?: PackedCounts;
    }
  /** The entries that come in next replace those at the indices `replaced`, ascending; then `removals` go. */
  | { readonly kind: 'edit'; readonly removals: Int32Array; readonly replaced: Int32Array }
  /** By entry of the new history, its index in the former one, or -1 for the next one that comes in. */
  | { readonly kind: 'rewrite'; readonly sources: Int32Array }
  | { readonly kind: 'clear' };

/** What changed since the last delta. */
export interface HistoryDelta {
  /** 1 for the first one on a line, then one more each time. */
  readonly sequence: number;
  readonly before: DensityBase;
  /** Where the steps lead; a change does not count until it has all of its entries. */
  readonly after: DensityBase;
  readonly steps: readonly DeltaStep[];
  /**
   * Whether so many results and an answer follow in the next deltas that nothing of these is looked for in later ones.
   *
   * @default false
   */
  readonly isFar?: boolean;
  /** The settings of the pass to plan once the steps are made; without them none is planned. */
  readonly pass?: PassSettings;
}

/** A pass that was planned on the state of a base. */
export interface PlannedPass {
  readonly base: DensityBase;
  readonly plan: DensityPlan;
  /** What takes the place of results that the plan shrinks, in the order of its rows; absent when there are none. */
  readonly texts?: readonly string[];
  /**
   * For every entry that the plan edits, ascending: its index; the tokens that it holds then, or -1 when only a count can tell;
   * and 1 when only those are meant of the blocks that it does not change, as a count has to tell of the others, else 0.
   */
  readonly tokensAfter: Int32Array;
  /** Milliseconds that planning took. */
  readonly runMs: number;
}

/** What is known after a delta. */
export interface DeltaValue {
  readonly base: DensityBase;
  /** Tokens of each entry that was staged, in their order; -1 where nothing is counted. */
  readonly tokens: Int32Array;
  /** Tokens of the whole history, when they are counted. */
  readonly totalTokens: number;
  readonly pass?: PlannedPass;
}

/** What a compression by high-density is to reach. */
export interface CompressionRequest {
  /** Share of the entries, from the end, that are left alone, in [0, 1]. */
  readonly preserveThreshold: number;
  /** Tokens that it aims at. */
  readonly targetTokens: number;
  /** What stands in place of results. @default 'pointer' */
  readonly placeholder?: PlaceholderForm;
}

/**
 * A compression of the curated history, planned where its payloads are not. Indices are those of the
 * curated history: without the `ai` entries that carry no content.
 */
export interface PlannedCompression {
  /** Entries of the curated history. */
  readonly length: number;
  /** Entries that go, ascending. */
  readonly drops: Int32Array;
  /** Tool results that become one line: entry, block; ascending; none of them in an entry that goes. */
  readonly summarized: Int32Array;
  /** Their lines, in the same order. */
  readonly lines: readonly string[];
  /** For every entry with such results: its index, and its tokens then. */
  readonly tokensAfter: Int32Array;
}

/** What a session can ask of its resident history. */
export interface ResidentCalls {
  receive(delta: HistoryDelta): Promise<WireReply<DeltaValue>>;
  /** Plans a pass with other settings on the state of the last delta. */
  plan(base: DensityBase, pass: PassSettings): Promise<WireReply<PlannedPass>>;
  /**
   * Plans a compression on the state of the last delta; `null` when something of it was counted
   * elsewhere, so that it is not known here what its results hold.
   */
  compress(
    base: DensityBase,
    request: CompressionRequest,
  ): Promise<WireReply<PlannedCompression | null>>;
}

/**
 * A worker never throws: what went wrong is part of the reply. `runMs` is the time spent in the
 * worker, in milliseconds.
 */
export type WireReply<Value> =
  | { readonly ok: true; readonly value: Value; readonly runMs: number }
  | { readonly ok: false; readonly error: WireError; readonly runMs: number };
