import { describe, expect, it } from 'vitest';
import { asTimestamp } from '../../../src/main/formats/timestamp.js';

describe('asTimestamp', () => {
  it('accepts dates and milliseconds only', () => {
    expect(['1970-01-01T00:00:01Z', 5, 'soon', NaN, null].map(asTimestamp)).toEqual([
      1000,
      5,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('leaves out what no date can hold', () => {
    expect([8.64e15, 1.7e18, -1e300].map(asTimestamp)).toEqual([8.64e15, undefined, undefined]);
  });
});
