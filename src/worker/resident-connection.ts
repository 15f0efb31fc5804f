// Serves a resident history to its session over a message port: takes deltas and answers each. Errors become replies; nothing is
// thrown.

import type { MessagePort } from 'node:worker_threads';
import { toWireError } from '../shared/errors.js';
import type {
  DeltaAnswer,
  DeltaValue,
  HistoryDelta,
  ResidentOptions,
  WireReply,
} from '../shared/resident-protocol.js';
import { loadTextCounter } from '../shared/tokens/o200k.js';
import { ResidentHistory } from './resident-history.js';

/** Opens a resident history that lives until the other end closes `port`. */
export function openResidentConnection(port: MessagePort, options: ResidentOptions): void {
  let opening: Promise<ResidentHistory> | undefined;
  const answer = async (delta: HistoryDelta): Promise<void> => {
    // Deltas that arrive while the encoding is loading wait for the same promise, so they stay in order.
    const opened = (opening ??= openHistory(options));
    const reply = await replyTo(async () => (await opened).receive(delta));
    const posted: DeltaAnswer = { sequence: delta.sequence, reply };
    port.postMessage(posted, reply.ok ? buffersOf(reply.value) : []);
  };
  port.on('message', (delta: HistoryDelta) => void answer(delta));
}

async function openHistory(options: ResidentOptions): Promise<ResidentHistory> {
  if (!options.countsTokens) return new ResidentHistory(options, undefined);
  return new ResidentHistory(options, (await loadTextCounter()).count);
}

/** The memory of the arrays in a value, which is transferred instead of copied. */
function buffersOf({ tokens, pass, compression }: DeltaValue): ArrayBuffer[] {
  const { drops, summarized, tokensAfter } = compression ?? {};
  const arrays = [tokens, pass?.plan, pass?.tokensAfter, drops, summarized, tokensAfter];
  return [...new Set(arrays.flatMap((array) => array?.buffer ?? []))] as ArrayBuffer[];
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
