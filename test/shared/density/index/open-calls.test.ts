// Open calls, few and many, compared with a list that is searched from its end.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NONE } from '../../../../src/shared/density/index/history-columns.js';
import { OpenCalls } from '../../../../src/shared/density/index/open-calls.js';
import { runs } from '../../../support/scale.js';

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'take'),
    id: fc.integer({ min: 0, max: 60 }).map((id) => `call-${String(id)}`),
  }),
  { maxLength: 600, size: 'max' },
);

describe('OpenCalls', () => {
  it('returns the newest open call of an id, however many are open', () => {
    let mostOpen = 0;
    fc.assert(
      fc.property(steps, (script) => {
        const calls = new OpenCalls();
        const expected: { id: string; row: number }[] = [];
        script.forEach(({ kind, id }, row) => {
          if (kind === 'add') {
            calls.add(id, row);
            expected.push({ id, row });
          } else {
            const at = expected.findLastIndex((open) => open.id === id);
            const [taken] = at === -1 ? [] : expected.splice(at, 1);
            expect(calls.take(id)).toBe(taken?.row ?? NONE);
          }
          mostOpen = Math.max(mostOpen, expected.length);
        });
        for (const { id, row } of expected.toReversed()) expect(calls.take(id)).toBe(row);
      }),
      { numRuns: runs(500) },
    );
    expect(mostOpen).toBeGreaterThan(100);
  });
});
