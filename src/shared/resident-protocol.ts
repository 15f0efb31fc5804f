// The messages between a session and its resident history on a worker: deltas in order, and a reply to each. All of it is
// plain, flat data.

import type { IContent } from './content.js';
import type { DensityBase, PassSettings, PlaceholderForm } from './density.js';
import type { IndexedAgent } from './density/index/index-scope.js';
import type { PlanWithTexts } from './density/plan/optimize.js';
import type { WireError } from './errors.js';
import type { Measures } from './tokens/count-tokens.js';

export interface ResidentOptions {
  readonly agent: IndexedAgent;
  /** Whether the worker counts the entries that it receives. */
  readonly countsTokens: boolean;
}

/**
 * One step of a change. Entries are staged in one or several steps, which keeps messages small. They fill the preceding edit or
 * rewrite until it is complete; otherwise they are appended.
 */
export type DeltaStep =
  | {
      readonly kind: 'stage';
      readonly contents: readonly IContent[];
      /** Tokens per entry, or -1 if it must be counted. */
      readonly knownTokens: Int32Array;
      /** Counts by another thread; without them, the resident history counts the entries whose tokens are unknown. */
      measures?: Measures;
    }
  /** The entries staged next replace those at the indices `replaced`, ascending; then `removals` are removed. */
  | { readonly kind: 'edit'; readonly removals: Int32Array; readonly replaced: Int32Array }
  /** By entry of the new history, its index in the old one, or -1 for the next staged entry. */
  | { readonly kind: 'rewrite'; readonly sources: Int32Array }
  | { readonly kind: 'clear' };

/** The changes since the last delta, none or several, and what to plan on the state after them. */
export interface HistoryDelta {
  /** Counts deltas on this connection, from 1. */
  readonly sequence: number;
  readonly before: DensityBase;
  /** The base after the steps, ignoring a change that still lacks entries. */
  readonly after: DensityBase;
  readonly steps: readonly DeltaStep[];
  /**
   * Whether later deltas bring an answer and so many results that no new result will be compared with those of this delta.
   *
   * @default false
   */
  readonly isOutOfReach?: boolean;
  /** The settings of the pass to plan; without them none is planned. */
  readonly pass?: PassSettings;
  /** The compression to plan. @default none */
  readonly compression?: CompressionRequest;
}

/** A pass planned on a base. */
export interface PlannedPass extends PlanWithTexts {
  readonly base: DensityBase;
  /**
   * Three numbers per edited entry, ascending: its index; its tokens after the edit, or -1 if they must be counted; and 1 if
   * those tokens cover only its unchanged blocks, so that the others must be counted, else 0.
   */
  readonly tokensAfter: Int32Array;
  /** Milliseconds that planning took. */
  readonly runMs: number;
}

/** The reply to a delta. */
export interface DeltaValue {
  readonly base: DensityBase;
  /** Tokens per staged entry, in order; -1 if not counted. */
  readonly tokens: Int32Array;
  readonly pass?: PlannedPass;
  /** `null` if part of the history was counted elsewhere, so that the tokens of its results are unknown here. */
  readonly compression?: PlannedCompression | null;
}

/** The parameters of a compression by `high-density`. */
export interface CompressionRequest {
  /** Share of the entries, from the end, that stay unchanged, in [0, 1]. */
  readonly preserveThreshold: number;
  readonly targetTokens: number;
  /** What replaces results. @default 'pointer' */
  readonly placeholder?: PlaceholderForm;
  /** Whether results stay that are no longer than their line. @default false */
  readonly keepsShort?: boolean | undefined;
}

/**
 * A compression planned without payloads. Indices are those of the curated history, which omits `ai` entries without content.
 */
export interface PlannedCompression {
  /** Entries of the curated history. */
  readonly length: number;
  /** Removed entries, ascending. */
  readonly drops: Int32Array;
  /** Tool results that become one line, as pairs of entry and block, ascending; none in a removed entry. */
  readonly summarized: Int32Array;
  /** Their lines, in the same order. */
  readonly lines: readonly string[];
  /** Two numbers per entry with summarized results: its index and its new tokens. */
  readonly tokensAfter: Int32Array;
}

/** What a worker posts for each delta, in the order of the deltas. */
export interface DeltaAnswer {
  /** That of the delta. */
  readonly sequence: number;
  readonly reply: WireReply<DeltaValue>;
}

/**
 * A worker never throws: errors are part of the reply. `runMs` is the time spent in the worker, in milliseconds.
 */
export type WireReply<Value> =
  | { readonly ok: true; readonly value: Value; readonly runMs: number }
  | { readonly ok: false; readonly error: WireError; readonly runMs: number };
