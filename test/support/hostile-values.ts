// Values that no caller should pass but some do, and each of them at each place of a valid sample. Functions create them
// fresh, so that changes to one do not show in others. Asserts nothing.

import { createContext, runInContext, runInThisContext } from 'node:vm';

/** A value that no caller expects. */
export interface HostileValue {
  /** Unique; describes the value without containing it. */
  readonly name: string;
  readonly make: () => unknown;
}

/** Nesting depth beyond any stack. */
const DEEP = 100_000;

const otherRealm = createContext({});

function realm(source: string): () => unknown {
  return () => runInContext(`(${source})`, otherRealm) as unknown;
}

/** Throws a non-error, which lint forbids in this repository. */
const raise = runInThisContext('(what) => { throw what; }') as (what: unknown) => never;

/** A proxy of `target` that throws in every trap. */
function throwingProxy(target: object): unknown {
  const handler = new Proxy(
    {},
    {
      get: (_, trap) => () => {
        throw new Error(`trap ${String(trap)}`);
      },
    },
  );
  return new Proxy(target, handler);
}

function revokedProxy(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** An object that returns one value first and another later. */
function changing(first: unknown, later: unknown): object {
  let reads = 0;
  return {
    get text(): unknown {
      reads += 1;
      return reads === 1 ? first : later;
    },
    get type(): unknown {
      reads += 1;
      return reads % 2 === 1 ? 'text' : Symbol('another type');
    },
  };
}

function nested(wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'the bottom';
  for (let level = 0; level < DEEP; level += 1) value = wrap(value);
  return value;
}

function withOwn(target: unknown[], properties: Readonly<Record<PropertyKey, unknown>>): unknown[] {
  for (const key of Reflect.ownKeys(properties)) {
    Object.defineProperty(target, key, {
      value: properties[key as string],
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return target;
}

class Instance {
  readonly value = 1;
  get text(): string {
    return 'of an instance';
  }
}

function* endless(): Generator<number> {
  for (let value = 0; ; value += 1) yield value;
}

async function* silent(): AsyncGenerator<number> {
  yield await new Promise<number>(() => undefined);
}

const never = (): Promise<never> => new Promise(() => undefined);

/** Marked as handled, because an unhandled rejection would be the sample's own fault. */
function rejected(): Promise<never> {
  const promise = Promise.reject(new Error('a promise of the corpus'));
  promise.catch(() => undefined);
  return promise;
}

type Makers = Readonly<Record<string, () => unknown>>;

const PRIMITIVES: Makers = {
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  false: () => false,
  'the number 0': () => 0,
  '-0': () => -0,
  'the number 1': () => 1,
  'the number -1': () => -1,
  'the number 0.5': () => 0.5,
  NaN: () => NaN,
  Infinity: () => Infinity,
  '-Infinity': () => -Infinity,
  '2 to the 32nd': () => 2 ** 32,
  '2 to the 53rd': () => 2 ** 53,
  'the largest number': () => Number.MAX_VALUE,
  'the smallest number': () => Number.MIN_VALUE,
  'a bigint': () => 10n,
  'a huge bigint': () => 2n ** 4_096n,
  'a symbol': () => Symbol('hostile'),
  'Symbol.iterator': () => Symbol.iterator,
};

const STRINGS: Makers = {
  'an empty string': () => '',
  'a string of white space': () => ' \t\n\u2028\u00a0',
  'a string': () => 'hostile',
  'a string of digits': () => '12',
  'the string NaN': () => 'NaN',
  'a lone high surrogate': () => 'a\ud800b',
  'a lone low surrogate': () => '\udc00',
  'reversed surrogates': () => '\udc00\ud800',
  'bidi marks': () => 'user\u202etxt.exe\u2066\u2069',
  'an escape sequence': () => '\u001b[2J\u001b]0;title\u0007',
  'a C1 control': () => '\u009b31m',
  NUL: () => 'a\0b',
  'a byte order mark': () => '\ufeff{}',
  'a line break': () => 'one\r\ntwo\u2029three',
  'the string __proto__': () => '__proto__',
  'the string constructor': () => 'constructor',
  'the string hasOwnProperty': () => 'hasOwnProperty',
  'the string toString': () => 'toString',
  'a path that climbs': () => '../../x',
  'an absolute path': () => '/dev/null/x',
  'a Windows path': () => 'C:\\..\\..\\x',
  'a URL as a string': () => 'file:///etc/passwd',
  'a name of a device': () => 'CON',
  'a format string': () => '%s%s%n{{constructor}}${1}',
  'a pattern that backtracks': () => `${'a'.repeat(5_000)}!`,
  'JSON in a string': () => '{"type":"text","text":"inside"}',
  'a million characters': () => 'x'.repeat(1_000_000),
  'a million spaces': () => ' '.repeat(1_000_000),
};

const OBJECTS: Makers = {
  'an empty object': () => ({}),
  'an object without prototype': () => Object.assign(Object.create(null) as object, { text: 'x' }),
  'a frozen object': () => Object.freeze({ text: 'frozen', type: 'text' }),
  'a sealed object': () => Object.seal({ text: 'sealed', type: 'text' }),
  'an object that inherits': () => Object.create({ type: 'text', text: 'inherited' }) as unknown,
  'an own __proto__': () => JSON.parse('{"__proto__":{"polluted":true},"type":"text"}') as unknown,
  'an own constructor': () => ({ constructor: { prototype: { polluted: true } } }),
  'a proxy that throws': () => throwingProxy({}),
  'a proxy of an array that throws': () => throwingProxy([]),
  'a proxy of a function that throws': () => throwingProxy(() => undefined),
  'a proxy that says nothing': () => new Proxy({ type: 'text', text: 'x' }, {}),
  'a revoked proxy': () => revokedProxy({}),
  'a revoked proxy of an array': () => revokedProxy([]),
  'a revoked proxy of a function': () => revokedProxy(() => undefined),
  'a getter that throws': () => ({
    type: 'text',
    get text(): string {
      throw new Error('a getter of the corpus');
    },
  }),
  'a getter that throws nothing': () => ({
    get type(): string {
      return raise(undefined);
    },
  }),
  'getters that change': () => changing('first', 'later'),
  'a getter that turns into a function': () => changing('first', () => undefined),
  'a property that cannot be listed': () =>
    Object.defineProperty({}, 'type', { value: 'text', enumerable: false }),
  'a key that is a symbol': () => ({ [Symbol('key')]: 'value', type: 'text' }),
  'a setter alone': () => ({
    set text(_: string) {
      throw new Error('a setter of the corpus');
    },
  }),
  'a toJSON that throws': () => ({
    toJSON: () => {
      throw new Error('a toJSON of the corpus');
    },
  }),
  'a toJSON that changes': () => {
    let calls = 0;
    return { toJSON: () => (calls += 1) };
  },
  'a toString that throws': () => ({
    toString: () => {
      throw new Error('a toString of the corpus');
    },
  }),
  'a valueOf that is NaN': () => ({ valueOf: () => NaN }),
  'a toPrimitive that throws': () => ({
    [Symbol.toPrimitive]: () => {
      throw new Error('a toPrimitive of the corpus');
    },
  }),
  'a cycle': () => {
    const cycle: Record<string, unknown> = { type: 'text', text: 'cycle' };
    cycle['self'] = cycle;
    return cycle;
  },
  'a cycle of two': () => {
    const one: Record<string, unknown> = {};
    const two = { one };
    one['two'] = two;
    return one;
  },
  'a deep object': () => nested((inner) => ({ inner })),
  'ten thousand keys': () =>
    Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key${at}`, at])),
  'a length without elements': () => ({ length: 2 ** 53 - 1 }),
  'an object of another realm': realm('{ type: "text", text: "elsewhere" }'),
  'an instance of another realm': realm('new (class Elsewhere {})()'),
};

const ARRAYS: Makers = {
  'an empty array': () => [],
  'an array of holes': () => new Array<unknown>(3),
  'an array of a billion holes': () => new Array<unknown>(1_000_000_000),
  'a sparse array': () => {
    const sparse: unknown[] = [];
    sparse[7] = 'x';
    return sparse;
  },
  'an array that holds itself': () => {
    const array: unknown[] = [];
    array.push(array);
    return array;
  },
  'arrays that hold each other': () => {
    const one: unknown[] = [];
    one.push([one], [one]);
    return one;
  },
  'a deep array': () => nested((inner) => [inner]),
  'an array of null': () => [null],
  'an array of everything once': () => [undefined, null, 0, '', false, Symbol('element'), 1n],
  'an array with entries of its own': () =>
    withOwn([() => undefined], { entries: () => [].values() }),
  'an array with a map of its own': () => withOwn([{}], { map: () => 'mapped', forEach: 1 }),
  'an array with an iterator that throws': () =>
    withOwn([{}], {
      [Symbol.iterator]: () => {
        throw new Error('an iterator of the corpus');
      },
    }),
  'an array with an endless iterator': () => withOwn([{}], { [Symbol.iterator]: () => endless() }),
  'an array with a slice of its own': () => withOwn([{}], { slice: () => null }),
  'an array with a property': () => withOwn(['x'], { extra: () => undefined }),
  'an array with an accessor': () =>
    Object.defineProperty([0], 0, {
      enumerable: true,
      get: () => {
        throw new Error('an accessor of the corpus');
      },
    }),
  'an array with another prototype': () => Object.setPrototypeOf([1], null) as unknown,
  'a subclass of Array': () => new (class Rows extends Array<unknown> {})(3),
  'a frozen array': () => Object.freeze([{}]),
  'an array of another realm': realm('[{ type: "text", text: "elsewhere" }]'),
};

const BUILT_INS: Makers = {
  arguments: () => runInThisContext('(function () { return arguments; })("x", 1)') as unknown,
  'a typed array': () => new Float64Array([NaN, 1]),
  'a BigInt64Array': () => new BigInt64Array(1),
  'a Buffer': () => Buffer.from('hostile'),
  'an ArrayBuffer': () => new ArrayBuffer(8),
  'a SharedArrayBuffer': () => new SharedArrayBuffer(8),
  'a DataView': () => new DataView(new ArrayBuffer(8)),
  'a Map': () => new Map<unknown, unknown>([['type', 'text']]),
  'a Map that holds itself': () => {
    const map = new Map<unknown, unknown>();
    return map.set(map, map);
  },
  'a Set': () => new Set<unknown>([{ speaker: 'human', blocks: [] }]),
  'a WeakMap': () => new WeakMap(),
  'a WeakRef': () => new WeakRef({}),
  'a generator': () => [1, 2].values(),
  'an endless generator': () => endless(),
  'an iterable that throws': () => ({
    [Symbol.iterator]: () => {
      throw new Error('an iterator of the corpus');
    },
  }),
  'an async iterable': () => silent(),
  'an async iterable that rejects': () => ({
    [Symbol.asyncIterator]: () => ({ next: () => rejected() }),
  }),
  'a Date': () => new Date(0),
  'an invalid Date': () => new Date(NaN),
  'a RegExp': () => /(a+)+$/u,
  'an Error': () => new Error('an error of the corpus'),
  'an error that is its own cause': () => {
    const error = new Error('circular');
    error.cause = error;
    return error;
  },
  'a URL': () => new URL('https://example.com/?q=1'),
  'a boxed string': () => Object('boxed') as unknown,
  'a boxed number': () => Object(NaN) as unknown,
  'a boxed boolean': () => Object(false) as unknown,
  'a boxed symbol': () => Object(Symbol('boxed')) as unknown,
  'a boxed bigint': () => Object(1n) as unknown,
  'an instance of a class': () => new Instance(),
  'a class': () => Instance,
  'an AbortSignal': () => new AbortController().signal,
  'an aborted signal': () => AbortSignal.abort(new Error('aborted by the corpus')),
  globalThis: () => globalThis,
};

const BEHAVIOURS: Makers = {
  'a function': () => () => undefined,
  'a function that throws': () => () => {
    throw new Error('a function of the corpus');
  },
  'a function that throws nothing': () => () => raise(undefined),
  'a function that throws a proxy': () => () => raise(throwingProxy({})),
  'a function that rejects': () => () => Promise.reject(new Error('a rejection of the corpus')),
  'a function that rejects with nothing': () => () =>
    Promise.resolve().then(() => raise(undefined)),
  'a function that hangs': () => never,
  'a function that returns NaN': () => () => NaN,
  'a function that returns a proxy': () => () => throwingProxy({}),
  'an async function': () => () => Promise.resolve('nonsense'),
  'a promise': () => Promise.resolve('a promise of the corpus'),
  'a promise that rejects': () => rejected(),
  'a promise that hangs': () => never(),
  'a thenable that hangs': () => ({ then: () => undefined }),
  'a thenable that throws': () => ({
    then: () => {
      throw new Error('a thenable of the corpus');
    },
  }),
  'a thenable whose then throws when read': () => ({
    get then(): never {
      throw new Error('a then of the corpus');
    },
  }),
  'a thenable that resolves to itself': () => {
    const thenable = { then: (resolve: (value: unknown) => void) => resolve(thenable) };
    return { then: (resolve: (value: unknown) => void) => resolve(thenable.then) };
  },
};

/** Every hostile value; names are unique. */
export const HOSTILE_VALUES: readonly HostileValue[] = [
  PRIMITIVES,
  STRINGS,
  OBJECTS,
  ARRAYS,
  BUILT_INS,
  BEHAVIOURS,
].flatMap((makers) => Object.entries(makers).map(([name, make]) => ({ name, make })));

/** The hostile value of this name; throws a RangeError for unknown names. */
export function hostileValue(name: string): unknown {
  const found = HOSTILE_VALUES.find((value) => value.name === name);
  if (found === undefined) throw new RangeError(`No hostile value is called ${name}.`);
  return found.make();
}

/** A path to a place in a sample: keys and indices; empty for the sample itself. */
export type PlacePath = readonly (string | number)[];

/** Every place of a sample of plain objects and arrays: the sample itself, and each of its fields and elements. */
export function placesOf(sample: unknown): readonly PlacePath[] {
  const places: PlacePath[] = [[]];
  if (!isContainer(sample)) return places;
  for (const key of Object.keys(sample)) {
    const step = Array.isArray(sample) ? Number(key) : key;
    const inner = placesOf((sample as Readonly<Record<string, unknown>>)[key]);
    places.push(...inner.map((path) => [step, ...path]));
  }
  return places;
}

/** Puts `value` at `path` in `sample`, which it modifies. */
export function withValueAt(sample: unknown, path: PlacePath, value: unknown): unknown {
  const last = path.at(-1);
  if (last === undefined) return value;
  let at = sample;
  for (const key of path.slice(0, -1)) at = (at as Record<string | number, unknown>)[key];
  (at as Record<string | number, unknown>)[last] = value;
  return sample;
}

/**
 * Each of the values at each place of a sample, one at a time.
 *
 * @param makeSample makes a new valid sample; anything in it other than plain objects and arrays is one place
 * @param values the values to place. @default all
 */
export function hostilePlacements(
  makeSample: () => unknown,
  values: readonly HostileValue[] = HOSTILE_VALUES,
): readonly HostileValue[] {
  return placesOf(makeSample()).flatMap((path) =>
    values.map(({ name, make }) => ({
      name: `${name} at ${path.join('.') || 'the root'}`,
      make: () => withValueAt(makeSample(), path, make()),
    })),
  );
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
