// Encodes integers as bytes of variable length, and bytes as base64. Used for the columns in a session's state.

/** A buffer that grows as needed. */
export class ByteWriter {
  #bytes = new Uint8Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds an integer of at least 0, with seven bits per byte (LEB128). */
  number(value: number): void {
    let left = value;
    while (left >= 0x80) {
      this.byte((left % 0x80) | 0x80);
      left = Math.floor(left / 0x80);
    }
    this.byte(left);
  }

  /** Removes the last `count` numbers. */
  dropNumbers(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      // Only the last byte of a number is below 0x80.
      do this.#length -= 1;
      while ((this.#bytes[this.#length - 1] ?? 0) >= 0x80);
    }
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Adds a 16-bit integer, low byte first. */
  half(value: number): void {
    this.byte(value & 0xff);
    this.byte(value >>> 8);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** The bytes so far, as a view that is valid until more are added. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * (this.#length + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Reads the output of a `ByteWriter`. Reading beyond the end throws a RangeError. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  number(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (!Number.isSafeInteger(value)) throw new RangeError('Expected a smaller number.');
      if (byte < 0x80) return value;
    }
  }

  byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new RangeError('Expected more bytes.');
    this.#at += 1;
    return byte;
  }

  half(): number {
    const low = this.byte();
    return low + this.byte() * 0x100;
  }
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** @throws RangeError if the text is not base64. */
export function fromBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return bytes;
  throw new RangeError('Expected base64.');
}
