// Calls with the same parameters have the same number, and others have different ones.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_SIGNATURE, signatureOf } from '../../../../src/shared/density/index/hash.js';
import { runs, sightings } from '../../../support/scale.js';

const parameters = fc.jsonValue({ maxDepth: 5, depthSize: 'medium', noUnicodeString: false });

describe('signatureOf', () => {
  it('is the same for copies, and never that of no call', () => {
    fc.assert(
      fc.property(fc.string(), parameters, (name, given) => {
        const signature = signatureOf(name, given);
        expect(signatureOf(name, structuredClone(given))).toBe(signature);
        expect(signature).not.toBe(NO_SIGNATURE);
        expect(Number.isInteger(signature)).toBe(true);
        expect(signature | 0).toBe(signature);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('distinguishes other parameters and other tools', () => {
    const texts = new Map<number, string>();
    let alike = 0;
    fc.assert(
      fc.property(fc.constantFrom('run', 'look'), parameters, (name, given) => {
        // A call with -0 has the same text as one with 0.
        const text = JSON.stringify([name, given]);
        const signature = signatureOf(name, JSON.parse(JSON.stringify(given)));
        if ((texts.get(signature) ?? text) !== text) alike += 1;
        texts.set(signature, text);
      }),
      { numRuns: runs(20_000) },
    );
    expect(texts.size).toBeGreaterThan(sightings(5_000));
    expect(alike).toBeLessThanOrEqual(3);
  });

  it.each<[unknown, unknown]>([
    [{ limit: null }, { limit: 1 }],
    [{ limit: null }, {}],
    [{ limit: 0 }, { limit: null }],
    [{ limit: 1 }, { limit: '1' }],
    [{ limit: 1 }, { limit: 2 ** 32 + 1 }],
    [{ all: true }, { all: 'true' }],
    [{ all: true }, { all: false }],
    [{ a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
    [[[1], 2], [[1, 2]]],
    [{ a: {} }, { a: [] }],
    [{ a: {} }, { a: null }],
    [{ a: {} }, { a: 1 }],
    [['a'], { 0: 'a' }],
    [
      { a: 'b', c: 'd' },
      { c: 'd', a: 'b' },
    ],
    [{ ab: 'c' }, { a: 'bc' }],
    ['', null],
    [{ path: 1.5 }, { path: 2.5 }],
  ])('distinguishes %j from %j', (a, b) => {
    expect(signatureOf('run', a)).not.toBe(signatureOf('run', b));
  });

  it('distinguishes small numbers in any place', () => {
    const signatures = new Set<number>();
    for (let first = 0; first < 100; first += 1) {
      for (let second = 0; second < 100; second += 1) {
        signatures.add(signatureOf('read', { offset: first, limit: second }));
      }
    }
    expect(signatures.size).toBeGreaterThanOrEqual(9_999);
  });

  it('terminates for circular and for deep parameters', () => {
    const cyclic: Record<string, unknown> = { a: 1 };
    cyclic.self = cyclic;
    expect(signatureOf('run', cyclic)).toBe(signatureOf('run', cyclic));
    let deep: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth += 1) deep = { deep };
    expect(signatureOf('run', deep)).not.toBe(signatureOf('run', {}));
  });
});
