// A growing copy of a request's body up to a limit, in memory shared with the engine.

import { SpareMemory } from '../body/spare-memory.js';

/** Initial size in bytes if the length is not announced: enough for most bodies. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export class BodyCopy {
  readonly #maxBytes: number;
  readonly #announced: number;
  readonly #memory: SpareMemory;
  #bytes: Buffer = NOTHING;
  #length = 0;
  #isTooLarge: boolean;

  /** @param announced the announced length in bytes; 0 if unknown */
  constructor(maxBytes: number, announced: number = 0, memory: SpareMemory = new SpareMemory()) {
    this.#memory = memory;
    this.#maxBytes = maxBytes;
    this.#announced = announced;
    this.#isTooLarge = announced > maxBytes;
  }

  /** Whether the body exceeds the limit or the available memory. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** The bytes so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Adds a chunk, unless the body exceeds the limit. Returns whether the copy is complete so far. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    this.#isTooLarge ||= length > this.#maxBytes || !this.#hasRoomFor(length);
    if (this.#isTooLarge) {
      this.#bytes = NOTHING;
      this.#length = 0;
      return false;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** Grows the copy if necessary. Returns whether there is enough memory. */
  #hasRoomFor(length: number): boolean {
    if (length <= this.#bytes.length) return true;
    // Allocates the announced length at once, because outgrown shared memory is not freed until memory is short.
    const size = Math.max(length, this.#announced || Math.max(this.#bytes.length * 2, FIRST_BYTES));
    let larger: Buffer;
    try {
      larger = this.#memory.take(Math.min(this.#maxBytes, size));
    } catch {
      return false;
    }
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
    return true;
  }
}
