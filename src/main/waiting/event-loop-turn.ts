// Lets the event loop turn in the middle of long work, so that timers, input and output get their share.

import { setImmediate } from './immediate.js';

/** Resolves in the next turn of the event loop. @throws the signal's reason when it has aborted by then. */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}
