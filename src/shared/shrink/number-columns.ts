// Treats the numbers in otherwise equal lines as columns, to find the lines that are exceptions, and to tell whether identifiers
// distinguish the lines.

/** UTF-16 units of a line that are searched for numbers, and how many numbers of a line are compared. */
const MAX_SCANNED = 200;
/** How many numbers of a line are compared. */
const MAX_COLUMNS = 16;
const NUMBER = /\d+(?:\.\d+)*/g;

/** The numbers of each line, as written: a row per line, a column per position. */
export type NumberColumns = readonly (readonly string[])[];

export function numbersIn(lines: readonly string[], start: number, end: number): NumberColumns {
  return lines
    .slice(start, end)
    .map((line) => line.slice(0, MAX_SCANNED).match(NUMBER)?.slice(0, MAX_COLUMNS) ?? []);
}

/** Minimum share of lines with the same number in a column for that number to be the usual one. */
const USUAL_SHARE = 0.9;
/**
 * Fallback without a usual number: minimum share of lines with the same number of digits. Above 0.9, because a tenth of uniformly
 * distributed numbers has fewer digits.
 */
const USUAL_DIGITS_SHARE = 0.95;
/** Maximum number of exceptions to return for a run of lines. */
const MAX_EXCEPTIONS = 20;

/**
 * Returns the indices of outlier rows: in some column, nearly all rows have the same number, or as many digits, and this row does
 * not. An example is the one server that is down or slow. A reader of the other rows would assume that there are no outliers. Of
 * consecutive rows with the same exception, only the first is returned.
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

/** Returns, for each column of decimals, the first rows with the minimum and the maximum, such as a training's best epoch. */
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

/** Returns the number of digits before the decimal point. */
function digitsOf(number: string): number {
  const point = number.indexOf('.');
  return point === -1 ? number.length : point;
}

/** Returns the value that at least `share` of the values equal, if any. A majority vote (Boyer-Moore) finds the only candidate. */
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

/**
 * Minimum digits of an identifier, because shorter numbers are amounts and codes; and the minimum share of lines that have that
 * many. Below 0.9, because a tenth of uniformly distributed identifiers is shorter.
 */
const MIN_IDENTIFIER = 5;
/** Minimum share of lines with a long number; below 1, because a tenth of uniformly distributed identifiers is shorter. */
const IDENTIFIER_SHARE = 0.8;
/**
 * Thresholds, as shares of the lines. Identifiers are distinct, and either unordered, with rises and falls, or sorted with gaps
 * that cannot be guessed. Timestamps rise in irregular gaps too, and counters in equal ones, so neither counts as an identifier.
 */
const MIN_TURNS = 0.2;
const MIN_DIFFERENT = 0.5;
const USUAL_GAP_SHARE = 0.5;
/** A Unix timestamp in seconds, milliseconds, microseconds or nanoseconds. */
const TIME = /^1\d{9}(?:\d{3}){0,3}$/;

function isLong(number: string): boolean {
  return number.length >= MIN_IDENTIFIER && !number.includes('.');
}

/** Whether identifiers distinguish the lines, so that no removed line could be guessed from the others. */
export function haveIdentifiers(rows: NumberColumns): boolean {
  return (rows[0] ?? []).some((_, column) => isOfIdentifiers(rows, column));
}

function isOfIdentifiers(rows: NumberColumns, column: number): boolean {
  let long = 0;
  for (const { [column]: number = '' } of rows) if (isLong(number)) long += 1;
  // Early exit: true of most columns, and cheaper than comparing their values.
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
