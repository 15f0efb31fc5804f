// One number for a text, another one in each thread: whoever chooses texts, such as a page that tells a model what to
// call, cannot choose two that are taken for one. Not to be kept, or to be compared with that of another thread.

const [SEED = 0] = crypto.getRandomValues(new Uint32Array(1));

/**
 * FNV-1a over UTF-16 units from a start that nobody knows, with some of the end of MurmurHash3 for the sake of the low
 * bits. Different texts have the same number by chance only, of 1 in 2^32.
 */
export function hashOf(text: string): number {
  let hash = SEED;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
