// How many cases the suite plays, and which. One setting for the whole suite, so that `npm test` is quick and repeatable and
// the full check is thorough.

/** Share of the random cases that this run plays, from `TEST_SCALE`; 1 for all. @default 0.02 */
export const TEST_SCALE: number = readScale(process.env['TEST_SCALE']);

/** Whether this run plays everything that a list names, and in its full size, like `npm run check`. */
export const PLAYS_ALL: boolean = TEST_SCALE >= 0.25;

/** How many of `full` random cases this run plays; at least `least`, at most all. */
export function runs(full: number, least: number = 20): number {
  return Math.min(full, Math.max(least, Math.ceil(full * TEST_SCALE)));
}

/**
 * The size of a case in this run (entries, turns, requests), if the full check uses `full`: a third of it, at least `least`,
 * because time mostly grows with the square of the size.
 */
export function length(full: number, least: number = 20): number {
  return PLAYS_ALL ? full : Math.min(full, Math.max(least, Math.ceil(full / 3)));
}

/** The cases of a list that this run plays: all in the full check, else `count`, evenly spread; the seed selects which. */
export function sample<const Item>(cases: readonly Item[], count: number): readonly Item[] {
  if (PLAYS_ALL || count >= cases.length) return cases;
  const first = firstOf(cases.length);
  const step = cases.length / count;
  return Array.from(
    { length: count },
    (_, at) => cases[(first + Math.floor(at * step)) % cases.length] as Item,
  );
}

/** Index of the first case for a run that plays some of `count` cases; depends on the seed. */
export function firstOf(count: number): number {
  return Math.abs(TEST_SEED ?? Math.floor(Math.random() * count));
}

/**
 * The pairs of two lists that this run plays: all in the full check, else just enough to include every element of both
 * lists, for failures that depend on one element only.
 */
export function pairs<const One, const Other>(
  ones: readonly One[],
  others: readonly Other[],
): readonly (readonly [One, Other])[] {
  if (PLAYS_ALL) return ones.flatMap((one) => others.map((other) => [one, other] as const));
  return Array.from({ length: Math.max(ones.length, others.length) }, (_, at) => {
    return [ones[at % ones.length] as One, others[at % others.length] as Other] as const;
  });
}

/**
 * A lower bound for how often something must occur in this run, if it must exceed `full` when all random cases are played. The
 * check must reach half of its share, and a smaller run a tenth; or nothing if that is none, or a handful: rare events concentrate in a
 * few cases, and a run must not fail for lack of them.
 */
export function sightings(full: number): number {
  const share = full * TEST_SCALE;
  if (TEST_SCALE === 1) return full;
  if (PLAYS_ALL) return share < 3 ? -1 : Math.floor(share / 2);
  return share < 20 ? -1 : Math.floor(share / 10);
}

/**
 * Seed of every property, from `TEST_SEED`: a number, or `random` for a new one in each run. Gates use a fixed seed;
 * searches for new failures use random ones.
 * @default 1
 */
export const TEST_SEED: number | undefined = readSeed(process.env['TEST_SEED']);

function readSeed(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 1;
  if (text === 'random') return undefined;
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) {
    throw new RangeError(`Expected TEST_SEED to be an integer or 'random', got ${text}.`);
  }
  return seed;
}

function readScale(text: string | undefined): number {
  if (text === undefined || text === '') return 0.02;
  const scale = Number(text);
  if (!(scale > 0 && scale <= 1)) {
    throw new RangeError(`Expected TEST_SCALE to be above 0 and at most 1, got ${text}.`);
  }
  return scale;
}
