// The messages between the thread pool and its workers. All are plain data. Replies are flat, because
// a reply nested thousands of levels deep would block the pool that waits for it.

import type { IContent } from './content.js';
import type { DensityConfig } from './density.js';
import type { PlanWithTexts } from './density/plan/optimize.js';
import type { ResidentOptions, WireReply } from './resident-protocol.js';
import type { Measures } from './tokens/count-tokens.js';

/** A job for a worker. */
export type TaskRequest = OptimizeRequest | CountRequest | OpenRequest | ProbeRequest;

/** Runs a density pass on a snapshot of a history. */
export interface OptimizeRequest {
  readonly kind: 'optimize';
  readonly history: readonly IContent[];
  readonly config: DensityConfig;
}

/** Counts the tokens of entries and of their parts. Any thread can do this part of a resident history's work. */
export interface CountRequest {
  readonly kind: 'count';
  readonly contents: readonly IContent[];
  /** Tokens per entry, or -1 if it must be counted. @default all must */
  readonly knownTokens?: Int32Array;
}

/**
 * Opens a session's resident history on the thread that runs this request. From then on the session talks to it over
 * `port`, a transferred MessagePort, bypassing the pool.
 */
export interface OpenRequest {
  readonly kind: 'open';
  readonly port: unknown;
  readonly options: ResidentOptions;
}

/** Asks whether the worker is alive. */
export interface ProbeRequest {
  readonly kind: 'probe';
}

/** The data that a thread starts with, besides its port. */
export interface ThreadData {
  /** The o200k tokens as text, or why they could not be loaded. */
  readonly tokens: { readonly text: string } | { readonly failure: string };
  /** URL of a module whose default export runs the tasks and is passed the package's own function for that. For tests. */
  readonly module?: string | undefined;
}

/** What a thread posts once its code is loaded; after that it posts `{ reply }`, or `{ thrown }` with a `WireError`, per task. */
export const LOADED = 'loaded';

/** The reply's value by kind of request. */
export interface TaskValues {
  readonly optimize: PlanWithTexts;
  readonly count: Measures;
  readonly open: { readonly threadId: number };
  readonly probe: { readonly threadId: number };
}

export type TaskValue<Request extends TaskRequest> = TaskValues[Request['kind']];

export type TaskReply<Request extends TaskRequest> = WireReply<TaskValue<Request>>;
