// The numbers in lines that are otherwise equal, as columns: which lines are exceptions, and whether the lines are told apart
// by identifiers.

/** Of a line, how much is searched for numbers, in UTF-16 units, and how many are compared. */
const MAX_SCANNED = 200;
const MAX_COLUMNS = 16;
const NUMBER = /\d+(?:\.\d+)*/g;

/** The numbers of each line. */
export type NumberColumns = readonly (readonly string[])[];

export function numbersIn(lines: readonly string[], start: number, end: number): NumberColumns {
  return lines
    .slice(start, end)
    .map((line) => line.slice(0, MAX_SCANNED).match(NUMBER)?.slice(0, MAX_COLUMNS) ?? []);
}

/** At least this share of the lines has the number that is the usual one of its column. */
const USUAL_SHARE = 0.9;
/** Where there is none, of the lines with as many digits: of evenly spread numbers, a tenth has fewer. */
const USUAL_DIGITS_SHARE = 0.95;
/** Exceptions that are told, in a run of lines. */
const MAX_EXCEPTIONS = 20;

/**
 * The lines with another number where nearly all have the same one, or as many digits, as the one of a server that does not run
 * or is slow: whoever reads the others would think that there are none. Of consecutive ones with the same exception, the first.
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

/** The first lines with the lowest and the highest number of each column of decimals, as the best epoch of a training. */
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

/** The number of digits before the point. */
function digitsOf(number: string): number {
  const point = number.indexOf('.');
  return point === -1 ? number.length : point;
}

/** What so many of the values are: a majority vote finds the only candidate. */
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

/** Shorter numbers are amounts and codes; of evenly spread identifiers, a tenth is shorter. */
const MIN_IDENTIFIER = 5;
const IDENTIFIER_SHARE = 0.8;
/**
 * Identifiers come in no order, or are sorted with gaps that cannot be guessed; times rise so as well, and counters by the same steps.
 * As shares of the lines.
 */
const MIN_TURNS = 0.2;
const MIN_DIFFERENT = 0.5;
const USUAL_GAP_SHARE = 0.5;
/** Seconds since 1970, or fractions of them. */
const TIME = /^1\d{9}(?:\d{3}){0,3}$/;

function isLong(number: string): boolean {
  return number.length >= MIN_IDENTIFIER && !number.includes('.');
}

/** Whether the lines differ in identifiers, of which none can be guessed from the others. */
export function haveIdentifiers(rows: NumberColumns): boolean {
  return (rows[0] ?? []).some((_, column) => isOfIdentifiers(rows, column));
}

function isOfIdentifiers(rows: NumberColumns, column: number): boolean {
  let long = 0;
  for (const { [column]: number = '' } of rows) if (isLong(number)) long += 1;
  // As in most columns, which need not be compared.
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
