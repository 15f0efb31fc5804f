// A deadline for what a thread has been asked.

import { clearImmediate, setImmediate } from '../waiting/event-loop-turn.js';

/**
 * Calls back once `timeoutMs` have passed, unless it is cancelled before.
 *
 * When the calling thread itself was blocked for that long, its timers fire before the answers that
 * came in the meantime are read. So there is one turn of the event loop more, and only what is truly
 * stuck is given up. The timer keeps the process alive: somebody waits.
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
