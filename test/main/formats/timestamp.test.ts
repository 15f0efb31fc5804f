import { describe, expect, it } from 'vitest';
import { asTimestamp } from '../../../src/main/formats/timestamp.js';

describe('asTimestamp', () => {
  it('accepts dates, milliseconds and seconds', () => {
    const time = Date.UTC(2026, 0, 31);
    const given = ['2026-01-31', time, time / 1000, time / 1000 + 0.5, 'soon', NaN, null];
    expect(given.map(asTimestamp)).toEqual([
      ...[time, time, time, time + 500],
      ...[undefined, undefined, undefined],
    ]);
  });

  it('accepts microseconds and nanoseconds', () => {
    const time = Date.UTC(2026, 0, 31);
    for (const each of [time, -time, Date.UTC(1974, 0, 1)])
      expect([each * 1e3, each * 1e6].map(asTimestamp)).toEqual([each, each]);
  });

  it('leaves out what no date can hold', () => {
    expect([8.64e21, 9e21, -1e300].map(asTimestamp)).toEqual([8.64e15, undefined, undefined]);
  });
});
