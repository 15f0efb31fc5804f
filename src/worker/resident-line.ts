// Puts a resident history on a session's line: Comlink calls in, replies out, nothing thrown.

import { expose, transfer } from 'comlink';
import type { Endpoint } from 'comlink';
import type { ResidentCalls, ResidentOptions, WireReply } from '../shared/resident-protocol.js';
import { loadTextCounter } from '../shared/tokens/o200k.js';
import { replyTo } from './reply-to.js';
import { ResidentHistory } from './resident-history.js';

/** Opens a resident history that lives as long as the other end of `port` is open. */
export function openResidentLine(port: unknown, options: ResidentOptions): void {
  // A port of Node has the methods that Comlink asks for; its types know only those of browsers.
  expose(new ResidentLine(options), port as Endpoint);
}

class ResidentLine implements ResidentCalls {
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

  /** Calls that arrive while the encoding loads keep their order: they wait for the same promise. */
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

/** A value, and the arrays in it whose memory moves instead of being copied. */
type Answer<Value> = readonly [value: Value, arrays: readonly (Int32Array | undefined)[]];

function buffersOf(arrays: readonly (Int32Array | undefined)[]): ArrayBuffer[] {
  const buffers = new Set(arrays.flatMap((array) => (array === undefined ? [] : [array.buffer])));
  return [...buffers] as ArrayBuffer[];
}
