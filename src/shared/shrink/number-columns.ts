// Treats the numbers in otherwise equal lines as columns, to find the lines that are exceptions.

/** UTF-16 units of a line that are searched for numbers. */
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
