import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainData, spreadable } from '../../../src/adapters/format/plain-data.js';
import { assertIngestible } from '../../../src/shared/ingestion.js';
import { runs } from '../../support/scale.js';

/** A round trip through JSON. */
function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

function nest(levels: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('plainData', () => {
  it('equals a round trip through JSON, and is accepted by a history', () => {
    const value = fc.anything({
      withDate: true,
      withNullPrototype: true,
      withUnboxedValues: true,
      maxDepth: 6,
    } as object);
    fc.assert(
      fc.property(value, (given) => {
        const payload = [given];
        const plain = plainData(payload, 'it');
        expect(viaJson(plain)).toEqual(viaJson(payload));
        const blocks = [{ type: 'tool_call', id: 'a', name: 'b', parameters: plain }];
        assertIngestible({ speaker: 'ai', blocks }, 0);
      }),
      { numRuns: runs(2_000, 200) },
    );
  });

  it('only shares strings and bytes with the value', () => {
    const bytes = new Uint8Array([1]);
    const value = { list: [{ text: 'x' }], bytes, buffer: bytes.buffer };
    const plain = plainData(value, 'it') as typeof value;
    expect(plain).toEqual(value);
    expect(plain).not.toBe(value);
    expect(plain.list[0]).not.toBe(value.list[0]);
    expect(plain.bytes).toBe(bytes);
    expect(plain.buffer).toBe(bytes.buffer);
  });

  it("includes the getters of an instance's class, at the top level only", () => {
    class Message {
      readonly #role = 'user';
      get role(): string {
        return this.#role;
      }
      readonly inner: unknown = undefined;
      constructor(inner?: unknown) {
        this.inner = inner;
      }
    }
    expect(plainData(new Message(new Message(1)), 'it')).toEqual({
      role: 'user',
      inner: { inner: 1 },
    });
  });

  it('omits what JSON has not, and takes what `toJSON` returns', () => {
    const plain = plainData({ a: undefined, b: { toJSON: () => null } }, 'it');
    expect(JSON.stringify(Object.entries(plain as object))).toBe('[["b",null]]');
    expect(plainData(Object.create(null, { a: { value: 1, enumerable: true } }), 'it')).toEqual({
      a: 1,
    });
  });

  it('keeps an own key __proto__', () => {
    const plain = plainData(JSON.parse('{"__proto__":{"polluted":1}}'), 'it') as object;
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect(JSON.stringify(plain)).toBe('{"__proto__":{"polluted":1}}');
  });

  it('accepts at most 256 levels and 1,000,000 values', () => {
    expect(plainData(nest(256), 'it')).toEqual(nest(256));
    expect(() => plainData(nest(257), 'message 3')).toThrow('more than 256 levels of nesting');
    expect(() => plainData(nest(100_000), 'message 3')).toThrow(/^.{0,300}$/);
    expect(() => plainData(new Array(1_000_000_000), 'it')).toThrow('more than 1000000 values');
    // More than a million values in few objects, which are referenced repeatedly.
    let shared: unknown = 'x';
    for (let level = 0; level < 30; level += 1) shared = [shared, shared];
    expect(() => plainData(shared, 'it')).toThrow('more than 1000000 values');
  });

  it.each([
    [
      'a circular reference',
      'got a circular reference',
      (): unknown => {
        const value: Record<string, unknown> = {};
        value['deep'] = [{ value }];
        return { content: value };
      },
      'message 3.content.deep[0].value',
    ],
    ['a bigint', 'got a bigint', (): unknown => ({ z: 0, a: [0, 1n] }), 'message 3.a[1]'],
    [
      'a getter that throws',
      'got what throws when it is read',
      (): unknown => ({
        a: {
          get b(): never {
            throw new Error('no');
          },
        },
      }),
      'message 3.a.b',
    ],
  ])('names the place of %s', (_, got, make, place) => {
    expect(() => plainData(make(), 'message 3')).toThrow(TypeError);
    expect(() => plainData(make(), 'message 3')).toThrow(`at ${place}, ${got}`);
  });
});

describe('spreadable', () => {
  it('returns the message itself if it is a plain object, or else its plain data', () => {
    const plain = Object.freeze({ role: 'user', content: [new Date(0)] });
    expect(spreadable(plain)).toBe(plain);
    const stored = { $id: 1, toJSON: () => ({ role: 'user', content: 'x' }) };
    expect({ ...spreadable(stored) }).toEqual({ role: 'user', content: 'x' });
    class Message {
      get role(): string {
        return 'user';
      }
    }
    expect({ ...spreadable(new Message()) }).toEqual({ role: 'user' });
  });
});
