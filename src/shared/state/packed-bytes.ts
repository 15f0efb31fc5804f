// Whole numbers as few bytes, and bytes as text: the form in which a state keeps its columns. Knows nothing of what they mean.

/** Bytes to which numbers are added. */
export class ByteWriter {
  #bytes = new Uint8Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a whole number of at least 0, as one byte for every seven bits of it. */
  number(value: number): void {
    let left = value;
    while (left >= 0x80) {
      this.byte((left % 0x80) | 0x80);
      left = Math.floor(left / 0x80);
    }
    this.byte(left);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  /** Adds 16 bits. */
  half(value: number): void {
    this.byte(value & 0xff);
    this.byte(value >>> 8);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** What was added so far: a view, valid until more is. */
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

/** Reads what a `ByteWriter` has written. Every read throws a RangeError where there is nothing to read. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** How many bytes were read. */
  get offset(): number {
    return this.#at;
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

/** Bytes as base64. */
export function textOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** @throws RangeError for what is no base64. */
export function bytesOfText(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') === text) return bytes;
  throw new RangeError('Expected base64.');
}
