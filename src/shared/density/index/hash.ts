// Seeded 32-bit hashes of texts and of tool calls. Each thread draws its own seed, so that nobody
// (such as a web page that a model reads) can construct collisions. Never store hashes or compare
// them across threads.

/** Drawn on first use: the random source takes several milliseconds to load. */
let seed: number | undefined;

/**
 * FNV-1a over UTF-16 units from the seed, with part of the MurmurHash3 finalizer for the low bits.
 * Different texts collide with a chance of 1 in 2^32.
 */
export function hashOf(text: string): number {
  let hash = hashOn(hashSeed(), text);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}

/** The start value for `hashOn`. */
export function hashSeed(): number {
  seed ??= crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return seed;
}

/** Continues an FNV-1a hash with the start of a text, to hash many texts without joining them. */
export function hashOn(hash: number, text: string, length: number = text.length): number {
  let joined = hash;
  for (let at = 0; at < length; at += 1) {
    joined = Math.imul(joined ^ text.charCodeAt(at), 0x01000193);
  }
  return joined;
}

/** Parameters nested deeper are ignored. */
const MAX_DEPTH = 8;

/**
 * Returns a number that is equal for calls of one tool with the same parameters in the same order,
 * and never 0. Among 10,000 different calls, two collide with a chance of 1 in 100.
 */
export function signatureOf(name: string, parameters: unknown): number {
  const signature = mixedWith(hashOf(name), parameters, 0);
  return signature === NO_SIGNATURE ? 1 : signature;
}

/** The signature of a call that equals no other. */
export const NO_SIGNATURE = 0;

/** Markers for values that are neither texts nor numbers; a hash equals one only by chance. */
const NOTHING = 0x3c6ef372;
const TOO_DEEP = 0x510e527f;
const LIST = 0x2545f491;
const MEMBERS = 0x1b873593;
const END = 0x5be0cd19;

function mixedWith(signature: number, value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      return mixed(signature, hashOf(value));
    case 'number':
      return mixed(signature, (value | 0) === value ? value : hashOf(`number ${value}`));
    case 'object':
      if (value === null) return mixed(signature, NOTHING);
      if (depth === MAX_DEPTH) return mixed(signature, TOO_DEEP);
      return mixedWithMembers(signature, value, depth);
    default:
      return mixed(signature, hashOf(`${typeof value} ${String(value)}`));
  }
}

/** Plain data has no inherited members, so `for in` is safe. */
function mixedWithMembers(signature: number, members: object, depth: number): number {
  let mix = mixed(signature, Array.isArray(members) ? LIST : MEMBERS);
  for (const key in members) {
    mix = mixed(mix, hashOf(key));
    mix = mixedWith(mix, (members as Readonly<Record<string, unknown>>)[key], depth + 1);
  }
  return mixed(mix, END);
}

function mixed(a: number, b: number): number {
  const product = Math.imul(a ^ b, 0x9e3779b1);
  return product ^ (product >>> 15);
}
