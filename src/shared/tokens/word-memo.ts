// The counts of words that were merged lately, by their bytes: names, phrases and rulers come again and again. It never
// grows: what hashes to the same place is forgotten, and everything when the bytes are used up.

/** Words that are remembered at a time, a power of two. */
const WORDS = 8192;
/** Bytes of them all. */
const BYTES = 2 ** 19;
/** The longest word that is remembered, in bytes. */
const MAX_BYTES = BYTES / 8;

export class WordMemo {
  readonly #bytes: Uint8Array = new Uint8Array(BYTES);
  #used = 0;
  /** Of each word where its bytes start, how many they are, and how many tokens. */
  readonly #starts: Int32Array = new Int32Array(WORDS);
  readonly #lengths: Int32Array = new Int32Array(WORDS);
  readonly #counts: Int32Array = new Int32Array(WORDS);

  /** How many tokens these bytes have, or 0 when that is not remembered. */
  countOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const place = placeOf(hash);
    const length = end - start;
    if (this.#lengths[place] !== length) return 0;
    const own = this.#bytes;
    const from = this.#starts[place] ?? 0;
    for (let at = 0; at < length; at += 1) {
      if (own[from + at] !== bytes[start + at]) return 0;
    }
    return this.#counts[place] ?? 0;
  }

  remember(hash: number, bytes: Uint8Array, start: number, end: number, count: number): void {
    const length = end - start;
    if (length > MAX_BYTES) return;
    if (this.#used + length > BYTES) {
      this.#lengths.fill(0);
      this.#used = 0;
    }
    const place = placeOf(hash);
    this.#starts[place] = this.#used;
    this.#lengths[place] = length;
    this.#counts[place] = count;
    for (let at = start; at < end; at += 1) this.#bytes[this.#used++] = bytes[at] ?? 0;
  }
}

/** From other bits of the hash than tokens are found by, for those of all words there are free in the table. */
function placeOf(hash: number): number {
  return (hash >>> 8) & (WORDS - 1);
}
