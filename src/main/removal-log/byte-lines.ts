// Splits bytes into lines in bounded memory. Works on bytes, because a file can be truncated within a character.

/** A line without its line break and without NUL bytes, which JSON never contains. */
export interface ByteLine {
  /** Empty if the line is too long. */
  readonly bytes: Buffer;
  /** Offset in the file of the first non-NUL byte. */
  readonly offset: number;
  /** Bytes in the file from `offset` to the end of the line, with NUL bytes, without line break. */
  readonly spanBytes: number;
  /** Number of non-NUL bytes. */
  readonly keptBytes: number;
  readonly nulBytes: number;
  /** Offset in the file of the first NUL byte; meaningless if there is none. */
  readonly nulOffset: number;
  readonly isTooLong: boolean;
}

const LINE_BREAK = 0x0a;

/** Collects the bytes of one line. */
class LineBuffer {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #keptBytes = 0;
  #nulBytes = 0;
  #offset = 0;
  #nulOffset = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#keptBytes === 0 && this.#nulBytes === 0;
  }

  /** @param offset of the bytes in the file */
  add(bytes: Buffer, offset: number): void {
    const nulAt = bytes.indexOf(0);
    if (nulAt === -1) {
      this.#keep(bytes, offset);
      return;
    }
    const { kept, firstKeptAt } = withoutNuls(bytes);
    if (this.#nulBytes === 0) this.#nulOffset = offset + nulAt;
    this.#nulBytes += bytes.length - kept.length;
    this.#keep(kept, offset + firstKeptAt);
  }

  take(endOffset: number): ByteLine {
    const keptBytes = this.#keptBytes;
    const offset = keptBytes === 0 ? endOffset : this.#offset;
    const line = {
      bytes: Buffer.concat(this.#parts),
      offset,
      spanBytes: endOffset - offset,
      keptBytes,
      nulBytes: this.#nulBytes,
      nulOffset: this.#nulOffset,
      isTooLong: keptBytes > this.#maxBytes,
    };
    this.#parts = [];
    this.#keptBytes = 0;
    this.#nulBytes = 0;
    return line;
  }

  #keep(bytes: Buffer, offset: number): void {
    if (this.#keptBytes === 0) this.#offset = offset;
    this.#keptBytes += bytes.length;
    if (this.#keptBytes > this.#maxBytes) this.#parts = [];
    else this.#parts.push(bytes);
  }
}

/** Drops NUL bytes. Copies whole runs instead of single bytes, because an unwritten disk block is one long run of NUL bytes. */
function withoutNuls(bytes: Buffer): { readonly kept: Buffer; readonly firstKeptAt: number } {
  const target = Buffer.allocUnsafe(bytes.length);
  let keptBytes = 0;
  let firstKeptAt = 0;
  let at = 0;
  while (at < bytes.length) {
    while (bytes[at] === 0) at += 1;
    const nulAt = bytes.indexOf(0, at);
    const end = nulAt === -1 ? bytes.length : nulAt;
    if (keptBytes === 0) firstKeptAt = at;
    keptBytes += bytes.copy(target, keptBytes, at, end);
    at = end;
  }
  return { kept: target.subarray(0, keptBytes), firstKeptAt };
}

/**
 * Yields the lines of a file, including a last one without line break.
 *
 * @param chunks the bytes from `startOffset` on; a chunk must not change after it was yielded
 * @param maxLineBytes the content of longer lines is dropped
 */
export async function* splitByteLines(
  chunks: AsyncIterable<Buffer>,
  startOffset: number,
  maxLineBytes: number,
): AsyncGenerator<ByteLine> {
  const line = new LineBuffer(maxLineBytes);
  let offset = startOffset;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end !== -1; end = chunk.indexOf(LINE_BREAK, start)) {
      line.add(chunk.subarray(start, end), offset + start);
      yield line.take(offset + end);
      start = end + 1;
    }
    line.add(chunk.subarray(start), offset + start);
    offset += chunk.length;
  }
  if (!line.isEmpty) yield line.take(offset);
}
