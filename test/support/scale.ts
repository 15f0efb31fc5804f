// How many cases the suite plays, and which: one number each for all of it, so that `npm test` is quick and repeatable, and
// the whole check is thorough.

/** Share of the full number of random cases that this run plays: `TEST_SCALE`, 1 for all of them. @default 0.02 */
export const TEST_SCALE: number = readScale(process.env['TEST_SCALE']);

/** Whether this run plays all there is, as `npm run check` does. */
export const PLAYS_ALL: boolean = TEST_SCALE === 1;

/** How many of `full` random cases this run plays: at least `least`, and never more than all. */
export function runs(full: number, least: number = 20): number {
  return Math.min(full, Math.max(least, Math.ceil(full * TEST_SCALE)));
}

/**
 * How much there is in what this run plays, as entries, turns or requests, where a whole check has `full`: a third of it, and at
 * least `least`. Most of what is played takes a time that grows with the square of its length.
 */
export function length(full: number, least: number = 20): number {
  return PLAYS_ALL ? full : Math.min(full, Math.max(least, Math.ceil(full / 3)));
}

/**
 * The cases of a list that this run plays: all of them in the whole check, else `count`, evenly spread; another seed plays
 * others.
 */
export function sample<const Item>(cases: readonly Item[], count: number): readonly Item[] {
  if (PLAYS_ALL || count >= cases.length) return cases;
  const first = firstOf(cases.length);
  const step = cases.length / count;
  return Array.from(
    { length: count },
    (_, at) => cases[(first + Math.floor(at * step)) % cases.length] as Item,
  );
}

/** Where a run that plays some of `count` cases begins to count them, from 0: another seed plays others. */
export function firstOf(count: number): number {
  return Math.abs(TEST_SEED ?? Math.floor(Math.random() * count));
}

/**
 * The pairs of two lists that this run plays: all of them in the whole check, else as few as have each of either list, for
 * what goes wrong with one whatever the other is.
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
 * What a count of sightings has to exceed in this run, when it exceeds `full` in one of all cases. A share of the cases is held
 * to a tenth of its share, and to nothing where that is a handful: a few cases hold most of what is rare, and which of them a
 * run has must not fail it.
 */
export function sightings(full: number): number {
  if (PLAYS_ALL) return full;
  const share = full * TEST_SCALE;
  return share < 20 ? -1 : Math.floor(share / 10);
}

/**
 * Seed of every property: `TEST_SEED`, a number, or `random` for another one in each run. A gate that is to be passed plays
 * the same cases every time; who looks for what was never seen plays others.
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
