// Does what a worker was asked, whatever it is: nothing thrown, because an error loses its class and code
// in crossing.

import { toWireError } from '../shared/errors.js';
import type { WireReply } from '../shared/resident-protocol.js';

/** Runs a piece of work and resolves to its reply; whatever goes wrong is part of that. */
export async function replyTo<Value>(run: () => Value | Promise<Value>): Promise<WireReply<Value>> {
  const startedAt = performance.now();
  try {
    const value = await run();
    return { ok: true, value, runMs: performance.now() - startedAt };
  } catch (thrown) {
    return { ok: false, error: toWireError(thrown), runMs: performance.now() - startedAt };
  }
}
