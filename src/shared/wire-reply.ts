// What a worker answers with, whoever asked and by whatever way. Type only.

import type { WireError } from './errors.js';

/**
 * A worker never throws: what went wrong is part of the reply. `runMs` is the time spent in the
 * worker, in milliseconds.
 */
export type WireReply<Value> =
  | { readonly ok: true; readonly value: Value; readonly runMs: number }
  | { readonly ok: false; readonly error: WireError; readonly runMs: number };
