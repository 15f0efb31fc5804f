// The body of a request as it comes in, in memory that the engine shares: never more of it than is worth keeping.

/** What most bodies have room in, where nobody says how long one is. */
const FIRST_BYTES = 64 * 1024;

/** A growing copy. */
export class BodyCopy {
  readonly #maxBytes: number;
  #bytes: Buffer | undefined;
  #length = 0;

  /** @param announced how long it will be, when that was said */
  constructor(maxBytes: number, announced: number | undefined) {
    this.#maxBytes = maxBytes;
    const size = announced ?? Math.min(FIRST_BYTES, maxBytes);
    if (size <= maxBytes) this.#bytes = sharedBuffer(Math.max(1, size));
  }

  /** Whether the body is larger than what is kept; nothing of it is then. */
  get isTooLarge(): boolean {
    return this.#bytes === undefined;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds what has come; returns whether all is kept so far. */
  add(chunk: Buffer): boolean {
    if (this.#bytes === undefined) return false;
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) {
      this.#bytes = undefined;
      return false;
    }
    if (length > this.#bytes.length) {
      const larger = sharedBuffer(
        Math.min(this.#maxBytes, Math.max(length, this.#bytes.length * 2)),
      );
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }

  /** What has come. @throws RangeError when that is not kept */
  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new RangeError('The body is larger than what is kept.');
    return this.#bytes.subarray(0, this.#length);
  }
}

function sharedBuffer(length: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(length));
}
