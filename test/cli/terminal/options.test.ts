// Options: which values are taken.

import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { share, wholeNumber } from '../../../src/cli/terminal/options.js';

describe('wholeNumber', () => {
  test.each([
    ['1', 1],
    ['200_000', 200_000],
    ['64', 64],
  ])('takes %s', (text, number) => {
    expect(wholeNumber(1)(text)).toBe(number);
  });

  test.each(['', '0', '-1', '1.5', '1e3', '0x10', ' 1', '_1', '1__0', 'NaN', '9'.repeat(20)])(
    'refuses %j',
    (text) => {
      expect(() => wholeNumber(1)(text)).toThrow(InvalidArgumentError);
    },
  );

  test('keeps to its bounds', () => {
    expect(() => wholeNumber(1, 64)('65')).toThrow('from 1 to 64');
    expect(wholeNumber(1, 64)('64')).toBe(64);
  });
});

describe('share', () => {
  test.each([
    ['0.5', 0.5],
    ['1', 1],
    ['.25', 0.25],
  ])('takes %s', (text, number) => {
    expect(share(false)(text)).toBe(number);
  });

  test.each(['', '1.01', '-0.5', '50%', 'half', '.', '1e-1'])('refuses %j', (text) => {
    expect(() => share(true)(text)).toThrow(InvalidArgumentError);
  });

  test('takes 0 only where it means something', () => {
    expect(share(true)('0')).toBe(0);
    expect(() => share(false)('0.0')).toThrow('above 0');
  });
});
