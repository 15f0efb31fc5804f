// A deadline for requests to a thread.

import { clearImmediate, setImmediate } from '../waiting/event-loop-turn.js';

/**
 * Calls back after `timeoutMs`, unless cancelled.
 *
 * If the calling thread itself was blocked for that long, its timers fire before the answers that arrived meanwhile are read.
 * Waiting for one more turn of the event loop ensures that only real timeouts count. The timer keeps the process alive: someone
 * is waiting.
 */
export class Deadline {
  readonly #timer: NodeJS.Timeout;
  #lastCall: NodeJS.Immediate | undefined;

  constructor(timeoutMs: number, onExpire: () => void) {
    this.#timer = setTimeout(() => {
      this.#lastCall = setImmediate(onExpire);
    }, timeoutMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastCall);
  }
}
