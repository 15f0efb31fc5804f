// Reads what `--price` says: a model whose price is known, or dollars.

import { modelPrice } from '../../../index.js';
import type { ModelPrice } from '../../../index.js';

/** Dollars per million tokens of input, then read from a cache, then written to one. */
const DOLLARS = /^(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?(?:\/(\d+(?:\.\d+)?))?$/;

/** Returns the price; what is left out of dollars costs as much as input does. @throws what `fail` throws. */
export function readPrice(text: string, fail: (message: string) => never): ModelPrice {
  const [, input, cacheRead = input, cacheWrite = input] = DOLLARS.exec(text) ?? [];
  if (input !== undefined) {
    return {
      name: '',
      input: Number(input),
      cacheRead: Number(cacheRead),
      cacheWrite: Number(cacheWrite),
    };
  }
  return (
    modelPrice(text) ??
    fail(
      '--price: expected the id of a model whose price is known, such as claude-sonnet-5-5, or ' +
        'dollars per million tokens: input, or input/read/write, such as 3/0.3/3.75.',
    )
  );
}
