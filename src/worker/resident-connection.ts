// Serves a resident history to its session over a message port, by Comlink. Errors become replies; nothing is thrown.

import { expose, transfer } from 'comlink';
import type { Endpoint } from 'comlink';
import { toWireError } from '../shared/errors.js';
import type { ResidentCalls, ResidentOptions, WireReply } from '../shared/resident-protocol.js';
import { loadTextCounter } from '../shared/tokens/o200k.js';
import { ResidentHistory } from './resident-history.js';

/** Opens a resident history that lives until the other end closes `port`. */
export function openResidentConnection(port: unknown, options: ResidentOptions): void {
  // Node's MessagePort has the methods that Comlink needs, but its types only allow those of browsers.
  expose(new ResidentConnection(options), port as Endpoint);
}

class ResidentConnection implements ResidentCalls {
  readonly #options: ResidentOptions;
  #history: Promise<ResidentHistory> | undefined;

  constructor(options: ResidentOptions) {
    this.#options = options;
  }

  receive: ResidentCalls['receive'] = (delta) =>
    this.#reply((history) => {
      const value = history.receive(delta);
      const { tokens, pass } = value;
      return [value, [tokens, pass?.plan, pass?.tokensAfter]];
    });

  plan: ResidentCalls['plan'] = (base, pass) =>
    this.#reply((history) => {
      const planned = history.plan(base, pass);
      return [planned, [planned.plan, planned.tokensAfter]];
    });

  compress: ResidentCalls['compress'] = (base, request) =>
    this.#reply((history) => {
      const planned = history.compress(base, request);
      return [planned, [planned?.drops, planned?.summarized, planned?.tokensAfter]];
    });

  /** Calls that arrive while the encoding is loading wait for the same promise, so they stay in order. */
  async #reply<Value>(run: (history: ResidentHistory) => Answer<Value>): Promise<WireReply<Value>> {
    this.#history ??= this.#open();
    const opening = this.#history;
    const reply = await replyTo(async () => run(await opening));
    if (!reply.ok) return reply;
    const [value, arrays] = reply.value;
    return transfer({ ...reply, value }, buffersOf(arrays));
  }

  async #open(): Promise<ResidentHistory> {
    const { countsTokens } = this.#options;
    if (!countsTokens) return new ResidentHistory(this.#options, undefined);
    const { count, countBytes } = await loadTextCounter();
    return new ResidentHistory(this.#options, count, countBytes);
  }
}

/** A value, and the arrays in it to transfer instead of copying. */
type Answer<Value> = readonly [value: Value, arrays: readonly (Int32Array | undefined)[]];

function buffersOf(arrays: readonly (Int32Array | undefined)[]): ArrayBuffer[] {
  const buffers = new Set(arrays.flatMap((array) => (array === undefined ? [] : [array.buffer])));
  return [...buffers] as ArrayBuffer[];
}

/** Runs a function and resolves to its reply. An error is part of the reply, because a thrown one would lose class and code. */
export async function replyTo<Value>(run: () => Value | Promise<Value>): Promise<WireReply<Value>> {
  const startedAt = performance.now();
  try {
    const value = await run();
    return { ok: true, value, runMs: performance.now() - startedAt };
  } catch (thrown) {
    return { ok: false, error: toWireError(thrown), runMs: performance.now() - startedAt };
  }
}
