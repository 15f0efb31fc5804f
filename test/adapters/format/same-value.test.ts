import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameValue } from '../../../src/adapters/format/same-value.js';
import { runs } from '../../support/scale.js';

describe('isSameValue', () => {
  it('recognizes a copy of any plain data, and any difference', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(isSameValue(a, structuredClone(a))).toBe(true);
        expect(isSameValue(a, b)).toBe(JSON.stringify(a) === JSON.stringify(b) || equals(a, b));
      }),
    );
  });

  it('treats a key with the value undefined like no key', () => {
    expect(isSameValue({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(isSameValue({ a: 1 }, { a: 1, b: undefined, c: 2 })).toBe(false);
    expect(isSameValue({ a: undefined, b: 1 }, { a: 1, b: undefined })).toBe(false);
  });

  it('compares bytes, dates and URLs by value', () => {
    expect(isSameValue(new Uint8Array([1, 2]), new Uint8Array([1, 2]))).toBe(true);
    expect(isSameValue(new Uint8Array([1, 2]), new Uint8Array([1, 3]))).toBe(false);
    expect(isSameValue(new URL('http://a.example/x'), new URL('http://a.example/x'))).toBe(true);
    expect(isSameValue(new URL('http://a.example/x'), new URL('http://a.example/y'))).toBe(false);
    expect(isSameValue(new Date(1), new Date(1))).toBe(true);
    expect(isSameValue(new Date(1), new Date(2))).toBe(false);
  });

  it('treats NaN as equal to itself only', () => {
    expect(isSameValue([NaN], [NaN])).toBe(true);
    expect(isSameValue([NaN], [1])).toBe(false);
    expect(isSameValue([1], [NaN])).toBe(false);
  });

  it('distinguishes a list from an object and from a shorter list', () => {
    expect(isSameValue([1], { 0: 1 })).toBe(false);
    expect(isSameValue({ 0: 1 }, [1])).toBe(false);
    expect(isSameValue([1], [1, undefined])).toBe(false);
    expect(isSameValue({}, null)).toBe(false);
  });

  it('terminates for circular values and values nested too deep', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const other: { self?: unknown } = {};
    other.self = other;
    expect(isSameValue(circle, other)).toBe(false);
    const nest = (levels: number): unknown => {
      let value: unknown = 0;
      for (let level = 0; level < levels; level += 1) value = [value];
      return value;
    };
    expect(isSameValue(nest(256), nest(256))).toBe(true);
    expect(isSameValue(nest(258), nest(258))).toBe(false);
    expect(isSameValue(nest(100_000), nest(100_000))).toBe(false);
    expect(isSameValue(new Array(2 ** 32 - 1), new Array(2 ** 32 - 1))).toBe(false);
  });

  it('ignores the given keys', () => {
    const isMark = (key: string): boolean => key === 'mark';
    expect(isSameValue([{ a: 1, mark: 2 }], [{ a: 1 }], isMark)).toBe(true);
    expect(isSameValue([{ a: 1, mark: 2 }], [{ a: 1, mark: 3 }], isMark)).toBe(true);
    expect(isSameValue([{ a: 1, mark: 2 }], [{ a: 2, mark: 2 }], isMark)).toBe(false);
  });

  it('compares as if ignored members were in neither value', () => {
    // Whether a member is ignored may depend on its value.
    const isMark = (key: string, value: unknown): boolean => key === 'mark' && value !== 'kept';
    const without = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (key, member: unknown) => (isMark(key, member) ? undefined : member)),
      );
    const values = fc.object({
      maxDepth: 2,
      maxKeys: 3,
      key: fc.constantFrom('a', 'mark', 'constructor'),
      values: [fc.constantFrom('x', 'kept', 0, null)],
    });
    fc.assert(
      fc.property(values, values, (a, b) => {
        expect(isSameValue(a, b, isMark)).toBe(equals(without(a), without(b)));
        const [one, other] = [
          { a, mark: b },
          { a: structuredClone(a), mark: a },
        ];
        expect(isSameValue(one, other, isMark)).toBe(equals(without(one), without(other)));
      }),
      { numRuns: runs(20_000) },
    );
  });

  it('does not treat inherited properties as members', () => {
    expect(isSameValue({ constructor: Object }, { b: 5 })).toBe(false);
    expect(isSameValue({ toString: Object.prototype.toString }, {})).toBe(true);
  });

  it('is false for circular values and values that throw', () => {
    const circles = [{}, {}].map((circle) => Object.assign(circle, { a: circle, b: circle }));
    expect(isSameValue(circles[0], circles[1])).toBe(false);
    const throwing = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    expect(isSameValue(throwing, { a: 1 })).toBe(false);
  });
});

/** Ignores the order of keys, and compares -0 and NaN with `===`. */
function equals(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equals(Reflect.get(a, key), Reflect.get(b, key)))
  );
}
