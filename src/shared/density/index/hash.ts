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
  seed ??= drawSeed();
  let hash = seed;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
