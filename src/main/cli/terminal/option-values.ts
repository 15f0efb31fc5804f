// Turns the values of options into numbers, or says what was expected instead.

import { InvalidArgumentError } from 'commander';

/** Makes a parser of whole numbers within bounds, which may be grouped as in `200_000`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value: string): number => {
    const number = /^\d+(?:_\d+)*$/.test(value) ? Number(value.replaceAll('_', '')) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}

/** Makes a parser of shares from 0 to 1; `allowsZero` tells whether 0 is one. */
export function share(allowsZero: boolean) {
  return (value: string): number => {
    const number = /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : NaN;
    if (number <= 1 && (number > 0 || (allowsZero && number === 0))) return number;
    throw new InvalidArgumentError(
      `Expected a share ${allowsZero ? 'from 0' : 'above 0'} to 1, such as 0.5.`,
    );
  };
}
