// Every message of the pool. Requests and replies are plain data; replies are flat, because
// a reply nested thousands of levels deep would wedge the pool that waits for it.

import type { IContent } from './content.js';
import type { DensityBase, DensityConfig } from './density.js';
import type { DensityPlan } from './density/plan/plan.js';
import type { PackedCounts, PackedEntries } from './packed-entries.js';
import type { ResidentOptions, WireReply } from './resident-protocol.js';

/** A job for a worker. */
export type TaskRequest =
  OptimizeRequest | CountRequest | CountPackedRequest | OpenRequest | ProbeRequest;

/** Runs a density pass on a snapshot of a history. */
export interface OptimizeRequest {
  readonly kind: 'optimize';
  readonly base: DensityBase;
  readonly history: readonly IContent[];
  readonly config: DensityConfig;
}

/** Counts the tokens of each entry. */
export interface CountRequest {
  readonly kind: 'count';
  readonly contents: readonly IContent[];
}

/** The same of entries as bytes, some of which may be counted already: the part of a resident history that any thread can do. */
export interface CountPackedRequest {
  readonly kind: 'count-packed';
  readonly packed: PackedEntries;
  /** Tokens of each, or -1 for one to be counted. */
  readonly knownTokens: Int32Array;
}

/**
 * Opens a session's resident history on the thread that runs this. From then on the session speaks
 * to it over `port`, a MessagePort that is transferred, and no longer through the pool.
 */
export interface OpenRequest {
  readonly kind: 'open';
  readonly port: unknown;
  readonly options: ResidentOptions;
}

/** Asks whether the worker is there. */
export interface ProbeRequest {
  readonly kind: 'probe';
}

/** What a thread is told when it starts, beside the port that it is to be spoken to by. */
export interface ThreadData {
  /** The text of the o200k tokens; where they could not be loaded, why. */
  readonly tokens: { readonly text: string } | { readonly failure: string };
  /** URL of a module whose default export answers in place of the package's own code, which it is handed. For tests. */
  readonly module?: string | undefined;
}

/** What a thread posts when its code is loaded; from then on it posts `{ reply }` or, as a `WireError`, `{ thrown }` for each task. */
export const LOADED = 'loaded';

/** What the request of each kind is answered with. */
export interface TaskValues {
  /** The base is the request's own, echoed. */
  readonly optimize: {
    readonly base: DensityBase;
    readonly plan: DensityPlan;
    /** What takes the place of results that the plan shrinks, in the order of its rows; absent when there are none. */
    readonly texts?: readonly string[];
  };
  /** Tokens, one number per entry of the request. */
  readonly count: { readonly tokens: Int32Array };
  readonly 'count-packed': PackedCounts;
  readonly open: { readonly threadId: number };
  readonly probe: { readonly threadId: number };
}

export type TaskValue<Request extends TaskRequest> = TaskValues[Request['kind']];

export type TaskReply<Request extends TaskRequest> = WireReply<TaskValue<Request>>;
