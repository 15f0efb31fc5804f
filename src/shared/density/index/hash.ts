// One number for a text, another one in each thread: whoever chooses texts, such as a page that tells a model what to
// call, cannot choose two that are taken for one. Not to be kept, or to be compared with that of another thread.

/** Drawn with the first text: random values take several milliseconds to load. */
let seed: number | undefined;

function drawSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

/**
 * FNV-1a over UTF-16 units from a start that nobody knows, with some of the end of MurmurHash3 for the sake of the low
 * bits. Different texts have the same number by chance only, of 1 in 2^32.
 */
export function hashOf(text: string): number {
  let hash = hashOn(hashSeed(), text);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** What the hash of nothing begins with, for `hashOn`. */
export function hashSeed(): number {
  seed ??= drawSeed();
  return seed;
}

/** The FNV-1a of what was hashed so far and the start of a text: for many texts in a row, without joining them. */
export function hashOn(hash: number, text: string, length: number = text.length): number {
  let joined = hash;
  for (let at = 0; at < length; at += 1) {
    joined = Math.imul(joined ^ text.charCodeAt(at), 0x01000193);
  }
  return joined;
}
