// Treats the numbers in lines that are otherwise equal as columns: finds outliers and extremes, and tells whether a column holds
// identifiers.

/** How much of a line's start is searched for numbers, in UTF-16 units. */
const MAX_SCANNED = 200;
/** How many numbers of a line are compared. */
const MAX_COLUMNS = 16;
const NUMBER = /\d+(?:\.\d+)*/g;

/** The numbers of each line. */
export type NumberColumns = readonly (readonly string[])[];

export function numbersIn(lines: readonly string[], start: number, end: number): NumberColumns {
  return lines
    .slice(start, end)
    .map((line) => line.slice(0, MAX_SCANNED).match(NUMBER)?.slice(0, MAX_COLUMNS) ?? []);
}

/** The usual number of a column is the one in at least this share of the lines. */
const USUAL_SHARE = 0.9;
/** Without a usual number, the share of lines that must have the same count of digits: of uniform numbers, a tenth has fewer. */
const USUAL_DIGITS_SHARE = 0.95;
/** At most this many exceptions are kept of a run of lines. */
const MAX_EXCEPTIONS = 20;

/**
 * Returns the indexes of outliers: lines that differ in a column in which nearly all lines have the same number, or the same count of
 * digits, such as the one server that is down or slow. A reader of the remaining lines would assume that there are no outliers. Of
 * consecutive lines with the same exception, only the first is returned.
 */
export function exceptionsIn(rows: NumberColumns): readonly number[] {
  const usual = (rows[0] ?? []).map((_, column) => {
    const numbers = rows.map((row) => row[column] ?? '');
    const number = usualOf(numbers, USUAL_SHARE);
    if (number !== undefined) return { number };
    return { digits: usualOf(numbers.map(digitsOf), USUAL_DIGITS_SHARE) };
  });
  const found: number[] = [];
  let before = '';
  for (const [at, numbers] of rows.entries()) {
    let exception = '';
    for (const [column, { number, digits }] of usual.entries()) {
      const value = numbers[column] ?? '';
      if (number !== undefined && value !== number) exception += ` ${column}:${value}`;
      if (digits !== undefined && digitsOf(value) !== digits) exception += ` ${column}`;
    }
    if (exception !== '' && exception !== before && found.push(at) === MAX_EXCEPTIONS) break;
    before = exception;
  }
  return found;
}

/** The first lines with the minimum and the maximum of each column of decimals, such as the best epoch of a training. */
export function extremesIn(rows: NumberColumns): readonly number[] {
  const extremes = new Set<number>();
  for (const column of (rows[0] ?? []).keys()) {
    if (rows[0]?.[column]?.includes('.') !== true) continue;
    const numbers = rows.map((row) => Number(row[column] ?? NaN));
    let [lowest, highest] = [0, 0];
    for (const [at, number] of numbers.entries()) {
      if (number < (numbers[lowest] ?? NaN)) lowest = at;
      if (number > (numbers[highest] ?? NaN)) highest = at;
    }
    extremes.add(lowest).add(highest);
  }
  return [...extremes];
}

/** The number of digits before the first point. */
function digitsOf(number: string): number {
  const point = number.indexOf('.');
  return point === -1 ? number.length : point;
}

/** The value that at least `share` of the values equal, if any. A majority vote (Boyer and Moore) finds the only candidate. */
export function usualOf<Value>(values: readonly Value[], share: number): Value | undefined {
  let candidate: Value | undefined;
  let votes = 0;
  for (const value of values) {
    if (votes === 0) candidate = value;
    votes += value === candidate ? 1 : -1;
  }
  let count = 0;
  for (const value of values) if (value === candidate) count += 1;
  return count >= share * values.length ? candidate : undefined;
}

/** Minimum digits: shorter numbers are amounts and codes. */
const MIN_IDENTIFIER = 5;
/** Minimum share of lines with a long number; below 1, because a tenth of uniformly distributed identifiers is shorter. */
const IDENTIFIER_SHARE = 0.8;
/**
 * Identifiers are unordered, or sorted with unpredictable gaps. Timestamps also rise with such gaps (see `TIME`), and counters rise by
 * equal steps. All are shares of the lines.
 */
const MIN_TURNS = 0.2;
const MIN_DIFFERENT = 0.5;
const USUAL_GAP_SHARE = 0.5;
/** Unix time in seconds, milliseconds, microseconds or nanoseconds. */
const TIME = /^1\d{9}(?:\d{3}){0,3}$/;

function isLong(number: string): boolean {
  return number.length >= MIN_IDENTIFIER && !number.includes('.');
}

/** Whether any column holds identifiers, none of which can be guessed from the others. */
export function haveIdentifiers(rows: NumberColumns): boolean {
  return (rows[0] ?? []).some((_, column) => isOfIdentifiers(rows, column));
}

function isOfIdentifiers(rows: NumberColumns, column: number): boolean {
  let long = 0;
  for (const { [column]: number = '' } of rows) if (isLong(number)) long += 1;
  // Rules out most columns before the comparisons below.
  if (long < IDENTIFIER_SHARE * rows.length) return false;
  const different = new Set<string>();
  let rises = 0;
  let falls = 0;
  const gaps: number[] = [];
  let before = '';
  for (const { [column]: number = '' } of rows) {
    const isLonger = number.length > before.length;
    if (isLonger || (number.length === before.length && number > before)) rises += 1;
    else if (number !== before) falls += 1;
    different.add(number);
    gaps.push(Number(number) - Number(before));
    before = number;
  }
  const most = rows.length;
  if (different.size <= MIN_DIFFERENT * most) return false;
  if (rises > MIN_TURNS * most && falls > MIN_TURNS * most) return true;
  const isSorted = Math.max(rises, falls) >= USUAL_DIGITS_SHARE * most;
  return isSorted && !TIME.test(before) && usualOf(gaps, USUAL_GAP_SHARE) === undefined;
}
