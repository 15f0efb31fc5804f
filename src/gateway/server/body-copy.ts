// The body of a request as it comes in, in memory that the engine shares: never more of it than is worth keeping.

/** What most bodies have room in, where nobody says how long one is. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** A growing copy. */
export class BodyCopy {
  readonly #maxBytes: number;
  readonly #announced: number;
  #bytes: Buffer = NOTHING;
  #length = 0;
  #isTooLarge: boolean;

  /** @param announced how long it will be, when that was said */
  constructor(maxBytes: number, announced: number = 0) {
    this.#maxBytes = maxBytes;
    this.#announced = announced;
    this.#isTooLarge = announced > maxBytes;
  }

  /** Whether the body is larger than what is kept; nothing of it is then. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  get length(): number {
    return this.#length;
  }

  /** What has come so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Whether so many bytes are kept. */
  hasRoomFor(length: number): boolean {
    return length <= this.#maxBytes;
  }

  /** Adds what has come, unless that is too much; returns whether all is kept. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    this.#isTooLarge ||= !this.hasRoomFor(length);
    if (this.#isTooLarge) return false;
    if (length > this.#bytes.length) this.#grow(length);
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }

  #grow(length: number): void {
    // What was said to come is all that there is room for: nobody frees such memory before it is short.
    const size = Math.max(length, this.#announced || Math.max(this.#bytes.length * 2, FIRST_BYTES));
    const larger = Buffer.from(new SharedArrayBuffer(Math.min(this.#maxBytes, size)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
