// What may enter a history, and how each refusal names the place of the fault.

import { types } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../src/main/history-service.js';
import { assertIngestible } from '../../src/shared/ingestion.js';
import { DEFAULT_INGESTION_LIMITS } from '../../src/shared/ingestion-limits.js';
import type { IngestionLimits } from '../../src/shared/ingestion-limits.js';
import type { IContent } from '../../src/shared/content.js';
import { humanText } from '../../src/shared/content.js';
import {
  isSurelyIngestible,
  isMadeSurelyIngestible,
} from '../../src/shared/ingestion-fast-path.js';
import { generateHistory } from '../../bench/support/generate-history.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { runs, sightings } from '../support/scale.js';
import { hostilePlacements, hostileValue } from '../support/hostile-values.js';
import { busyMs } from '../support/busy-time.js';

/** The message with which an entry is refused, or `undefined` when it is accepted. */
function refusal(content: unknown, limits?: IngestionLimits): string | undefined {
  try {
    assertIngestible(content, 4, limits);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as TypeError).message;
  }
  return undefined;
}

/** An entry whose second block is a tool call with these parameters. */
function withParameters(parameters: unknown): unknown {
  return { speaker: 'ai', blocks: [{ type: 'text', text: 'x' }, call(parameters)] };
}

function call(parameters: unknown): object {
  return { type: 'tool_call', id: 'c1', name: 'tool', parameters };
}

/** An entry with one response and that many `mediaTokens`. */
function seen(mediaTokens: unknown): unknown {
  const block = { type: 'tool_response', callId: 'c1', toolName: 'shot', result: '', mediaTokens };
  return { speaker: 'tool', blocks: [block] };
}

/** An entry with one opaque block. */
function opaque(change: object): unknown {
  return { speaker: 'ai', blocks: [{ type: 'opaque', kind: 'note', tokens: 0, ...change }] };
}

function nested(levels: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

function circular(): unknown {
  const value: Record<string, unknown> = {};
  value['inner'] = { back: value };
  return value;
}

class Point {
  readonly x = 1;
}

function arrayWithGetter(): unknown {
  return Object.defineProperty([0], 0, { enumerable: true, get: () => Symbol('later') });
}

/** A plain object of another realm, which has its own prototypes. */
function foreign(source: string): unknown {
  return runInNewContext(`(${source})`);
}

const THROWING_GETTER = {
  get secret(): never {
    throw new Error('no');
  },
};

const LIMITS: IngestionLimits = { maxDepth: 8, maxCharacters: 100, maxValues: 50 };

describe('assertIngestible', () => {
  it('takes every entry of valid histories', () => {
    fc.assert(
      fc.property(arbitraryHistory(), (history) => {
        for (const content of history) expect(refusal(content)).toBeUndefined();
      }),
      { numRuns: runs(200) },
    );
  });

  it('accepts any JSON as a payload and as unknown metadata', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (made) => {
        const value: unknown = JSON.parse(JSON.stringify(made).replaceAll(':0', ':-0'));
        expect(refusal(withParameters(value))).toBeUndefined();
        expect(refusal(humanText('x', { extra: value }))).toBeUndefined();
      }),
    );
  });

  it.each([
    ['an object without a prototype', Object.create(null)],
    ['an object of another realm', foreign('{ a: [1, { b: null }] }')],
    ['an array of another realm', foreign('[1, [2]]')],
    ['a key named __proto__', JSON.parse('{"__proto__": {"constructor": 1}}')],
    ['one object twice', Array<unknown>(2).fill({ shared: true })],
    ['undefined', { a: undefined }],
    ['any finite number', [0, -1, 1e300, 5e-324]],
    ['256 levels', nested(255)],
  ])('accepts %s', (_, parameters) => {
    expect(refusal(withParameters(parameters))).toBeUndefined();
  });

  it.each([
    ['a function', { run: () => 1 }, '.parameters.run, got a function.'],
    ['a BigInt', [{ n: 1n }], '.parameters[0].n, got a bigint.'],
    ['a symbol', [Symbol('s')], '.parameters[0], got a symbol.'],
    ['a class instance', { at: new Point() }, '.parameters.at, got an instance of Point.'],
    ['a date', [new Date(0)], '.parameters[0], got an instance of Date.'],
    ['a map', new Map(), '.parameters, got an instance of Map.'],
    ['bytes', new Uint8Array(4), '.parameters, got an instance of Uint8Array.'],
    ['a map of another realm', foreign('new Map()'), '.parameters, got an instance of Map.'],
    ['a proxy', { p: new Proxy({}, {}) }, '.parameters.p, got a Proxy.'],
    ['a proxied array', new Proxy([], {}), '.parameters, got a Proxy.'],
    ['a circle', circular(), '.parameters.inner.back, got a circular reference.'],
    ['a getter', THROWING_GETTER, '.parameters.secret, got a getter.'],
    ['a getter in an array', [arrayWithGetter()], '.parameters[0], got a getter as element 0.'],
    ['NaN', { sum: [NaN] }, '.parameters.sum[0], got the number NaN.'],
    ['an infinity', [1, -Infinity], '.parameters[1], got the number -Infinity.'],
    ['undefined in an array', [1, undefined], '.parameters[1], got undefined.'],
    ['a hole', Array(2), '.parameters[0], got undefined.'],
    [
      'an array with methods of its own',
      [Object.assign([1], { entries: () => [] })],
      '.parameters[0], got an array with properties of its own.',
    ],
    [
      'an array with an iterator of its own',
      Object.assign([1], { [Symbol.iterator]: () => [] }),
      '.parameters, got an array with properties of its own.',
    ],
    ['arguments', hostileValue('arguments'), '.parameters, got an arguments object.'],
    ['an array of a class', hostileValue('a subclass of Array'), '.parameters, got an array.'],
    [
      'an object that inherits its fields',
      Object.create(Object.assign(Object.create(null) as object, { type: 'text' })),
      '.parameters, got an object.',
    ],
    ['a revoked proxy', hostileValue('a revoked proxy'), '.parameters, got a Proxy.'],
    ['a function beneath __proto__', JSON.parse('{"__proto__": {}}'), undefined],
  ])('names entry, block and path of %s', (_, parameters, end) => {
    const expected =
      end === undefined ? end : `Expected plain data (JSON) at entry 4, block 1${end}`;
    expect(refusal(withParameters(parameters))).toBe(expected);
  });

  it.each([
    ['no object', 7, 'Expected an entry { speaker, blocks } at entry 4, got the number 7.'],
    ['nothing', null, 'Expected an entry { speaker, blocks } at entry 4, got null.'],
    ['a list', [], 'Expected an entry { speaker, blocks } at entry 4, got an array.'],
    [
      'no speaker',
      { speaker: 'model', blocks: [] },
      `Expected 'human', 'ai' or 'tool' at entry 4.speaker, got the string "model".`,
    ],
    ['no blocks', { speaker: 'ai' }, 'an array of blocks at entry 4.blocks, got undefined.'],
    ['a class', Object.assign(new Point(), humanText('x')), 'entry 4, got an instance of Point.'],
    ['a proxy', new Proxy(humanText('x'), {}), 'at entry 4, got a Proxy.'],
    [
      'proxied blocks',
      { speaker: 'ai', blocks: new Proxy([], {}) },
      'entry 4.blocks, got a Proxy.',
    ],
    ['a missing block', { speaker: 'ai', blocks: Array(2) }, 'entry 4, block 0, got undefined.'],
    ['a block of text', { speaker: 'ai', blocks: ['x'] }, 'a block at entry 4, block 0, got the'],
    [
      'an unknown block',
      { speaker: 'ai', blocks: [{ type: 'audio' }] },
      'Expected one of text, tool_call, tool_response, media, thinking, code, opaque at entry 4, block 0.type',
    ],
    [
      'a block typed like a prototype',
      { speaker: 'ai', blocks: [{ type: 'constructor' }] },
      'at entry 4, block 0.type, got the string "constructor".',
    ],
    [
      'a text that is not a string',
      { speaker: 'ai', blocks: [{ type: 'text', text: 7 }] },
      'Expected a string at entry 4, block 0.text, got the number 7.',
    ],
    [
      'an error that is not a string',
      {
        speaker: 'tool',
        blocks: [{ type: 'tool_response', callId: '1', toolName: 't', result: 1, error: {} }],
      },
      'Expected a string or nothing at entry 4, block 0.error, got an object.',
    ],
    [
      'an unknown encoding',
      { speaker: 'ai', blocks: [{ type: 'media', mimeType: 'a', data: '', encoding: 'hex' }] },
      `Expected 'url' or 'base64' at entry 4, block 0.encoding, got the string "hex".`,
    ],
    [
      'an opaque block without a kind',
      opaque({ kind: undefined }),
      'Expected a string at entry 4, block 0.kind, got undefined.',
    ],
    [
      'an opaque block of unknown size',
      opaque({ tokens: undefined }),
      'Expected a number at entry 4, block 0.tokens, got undefined.',
    ],
    ...[-1, 0.5].map((tokens): [string, unknown, string] => [
      `an opaque block of ${tokens} tokens`,
      opaque({ tokens }),
      `Expected an integer of 0 or more at entry 4, block 0.tokens, got the number ${tokens}.`,
    ]),
    [
      'media with a size that is not a number',
      seen('9'),
      'Expected a number or nothing at entry 4, block 0.mediaTokens, got the string "9".',
    ],
    ...[-1, 0.5].map((tokens): [string, unknown, string] => [
      `media of ${tokens} tokens in a result`,
      seen(tokens),
      `Expected an integer of 0 or more at entry 4, block 0.mediaTokens, got the number ${tokens}.`,
    ]),
    [
      'an opaque block that belongs to something other than a call',
      opaque({ callId: null }),
      'Expected a string or nothing at entry 4, block 0.callId, got null.',
    ],
    [
      'invalid metadata',
      { ...humanText('x'), metadata: 'm' },
      'Expected an object at entry 4.metadata, got the string "m".',
    ],
    [
      'a function in metadata',
      humanText('x', { hooks: [() => 1] }),
      'Expected plain data (JSON) at entry 4.metadata.hooks[0], got a function.',
    ],
    [
      'a function beside the blocks',
      { ...humanText('x'), onSent: () => 1 },
      'Expected plain data (JSON) at entry 4.onSent, got a function.',
    ],
  ])('refuses an entry that is or has %s', (_, content, message) => {
    expect(refusal(content)).toContain(message);
  });

  it.each([
    ['levels', nested(9), 'at most 8 levels of nesting at entry 4, block 1.parameters[0][0]'],
    [
      'characters',
      'x'.repeat(101),
      'at most 100 characters in entry 4, exceeded at entry 4, block 1',
    ],
    ['characters in keys', { ['k'.repeat(101)]: 1 }, 'at most 100 characters in entry 4'],
    ['values', Array(51).fill(1), 'at most 50 values in entry 4, exceeded at entry 4, block 1'],
    ['holes', Array(51), 'at most 50 values in entry 4'],
  ])('refuses too many %s', (_, parameters, message) => {
    expect(refusal(withParameters(parameters), LIMITS)).toContain(message);
  });

  it('counts characters and values over all blocks of an entry', () => {
    const text = { type: 'text', text: 'x'.repeat(40) };
    const limits = { ...LIMITS, maxValues: 1_000 };
    expect(refusal({ speaker: 'ai', blocks: [text] }, limits)).toBeUndefined();
    expect(refusal({ speaker: 'ai', blocks: [text, text, text] }, limits)).toContain(
      'block 1.text',
    );
  });

  it('accepts opaque blocks, and counts their tokens among the characters', () => {
    expect(refusal(opaque({}))).toBeUndefined();
    expect(refusal(opaque({ callId: 'c1', tokens: 8_000_000 }))).toBeUndefined();
    expect(refusal(opaque({ tokens: 2 ** 31 }))).toContain(
      'at most 8388608 characters in entry 4, exceeded at entry 4, block 0.tokens',
    );
  });

  it('accepts results with media, and counts their tokens among the characters', () => {
    for (const tokens of [undefined, 0, 8_000_000]) expect(refusal(seen(tokens))).toBeUndefined();
    expect(refusal(seen(2 ** 31))).toContain(
      'at most 8388608 characters in entry 4, exceeded at entry 4, block 0.mediaTokens',
    );
  });

  it('refuses a sparse array of billions at once', () => {
    const started = process.cpuUsage();
    expect(refusal(withParameters(new Array(4_000_000_000)))).toContain('1000000 values');
    expect(busyMs(started)).toBeLessThan(2_000);
  });

  it('keeps the message short if the path is long', () => {
    const limits = { maxDepth: 5_000, maxCharacters: 10_000, maxValues: 10_000 };
    let value: unknown = Symbol('deep');
    for (let level = 0; level < 1_000; level += 1) value = { level: value };
    const message = refusal(withParameters(value), limits);
    expect(message).toMatch(/entry 4, block 1\.parameters(\.level)+.* … .*got a symbol\.$/);
    expect(message?.length).toBeLessThan(300);
  });

  it('runs no getter and no trap', () => {
    for (const { name, make } of hostilePlacements(() => withParameters({ inner: ['x'] }))) {
      const message = refusal(make());
      if (message !== undefined) expect(message, name).toMatch(/^Expected /);
    }
  });

  it('accepts nothing that JSON changes', () => {
    for (const { name, make } of hostilePlacements(() => withParameters({ inner: ['x'] }))) {
      const entry = make();
      // JSON can parse -0, but writes 0.
      if (refusal(entry) !== undefined || name.startsWith('-0 ')) continue;
      expect(structuredClone(entry), name).toEqual(JSON.parse(JSON.stringify(entry)));
    }
  });
});

describe('HistoryService', () => {
  it.each([
    ['a bad entry', [humanText('a'), withParameters(1n), humanText('b')]],
    ['a hole', [humanText('a'), ...Array<unknown>(1), humanText('b')]],
    // A literal keeps its hole, where a spread fills it.
    ['a real hole', Object.assign(Array<unknown>(3), { 0: humanText('a'), 2: humanText('b') })],
  ])('adds nothing from a list with %s', (_, contents) => {
    const history = new HistoryService();
    history.add(humanText('before'));
    const tokens = history.getTotalTokens();
    expect(() => {
      history.addAll(contents as IContent[]);
    }).toThrow(/entry 1/);
    expect(history.getAll()).toEqual([humanText('before')]);
    expect(history.getTotalTokens()).toBe(tokens);
    expect(history.additions).toBe(1);
  });
});

/** The same entry beside a value nested too deep to be sure of, which does not change the rest. */
function besideSomethingDeep(content: unknown): unknown {
  if (typeof content !== 'object' || content === null || types.isProxy(content)) return content;
  const made: object = Object.create(
    Object.getPrototypeOf(content) as object | null,
    Object.getOwnPropertyDescriptors(content),
  );
  return Object.defineProperty(made, 'deep', { value: nested(20), enumerable: true });
}

describe('isSurelyIngestible', () => {
  const limits = { maxDepth: 256, maxCharacters: 2_000, maxValues: 200 };

  it('is never sure of anything that a full check would refuse', () => {
    const seen = { sure: 0, refused: 0 };
    const anything = fc.oneof(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
      fc.string({ maxLength: 3_000 }),
    );
    const block = fc.oneof(
      anything.map(call),
      fc.record(
        { type: fc.constantFrom('text', 'code', 'opaque'), text: anything, tokens: anything },
        { requiredKeys: ['type'] },
      ),
      anything,
    );
    const entry = fc.record(
      {
        speaker: fc.oneof({ weight: 9, arbitrary: fc.constant('ai') }, anything),
        blocks: fc.oneof({ weight: 9, arbitrary: fc.array(block, { maxLength: 3 }) }, anything),
        metadata: anything,
        other: anything,
      },
      { requiredKeys: ['speaker', 'blocks'] },
    );
    fc.assert(
      fc.property(entry, (content) => {
        const isRefused = refusal(besideSomethingDeep(content), {
          ...{ maxDepth: 256, maxCharacters: 2_004, maxValues: 221 },
        });
        const isSure = isSurelyIngestible(content, limits);
        seen.sure += isSure ? 1 : 0;
        seen.refused += isRefused === undefined ? 0 : 1;
        if (isSure) expect(isRefused).toBeUndefined();
      }),
      { numRuns: runs(20_000) },
    );
    expect(seen.sure).toBeGreaterThan(sightings(500));
    expect(seen.refused).toBeGreaterThan(sightings(500));
    for (const { name, make } of hostilePlacements(() => withParameters({ inner: ['x'] }))) {
      if (!isSurelyIngestible(make(), DEFAULT_INGESTION_LIMITS)) continue;
      expect([name, refusal(besideSomethingDeep(make()))]).toEqual([name, undefined]);
    }
  });

  it('is never sure of an entry of a reader that would be refused, whatever its blocks have', () => {
    const seen = { sure: 0, refused: 0 };
    const anything = fc.anything({ withBigInt: true, withMap: true, withSparseArray: true });
    const fields = { text: anything, tokens: anything, kind: fc.string(), result: anything };
    const block = fc.record(
      { ...fields, type: fc.constantFrom('text', 'code', 'opaque', 'media') },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(anything.map(call), block)), (blocks) => {
        const content = { speaker: 'ai', blocks } as IContent;
        const isSure = isMadeSurelyIngestible(content, limits);
        const isRefused = refusal(content, limits) !== undefined;
        seen.sure += isSure ? 1 : 0;
        seen.refused += isRefused ? 1 : 0;
        expect(isSure && isRefused).toBe(false);
      }),
      { numRuns: runs(5_000) },
    );
    expect(seen.sure).toBeGreaterThan(sightings(100));
    expect(seen.refused).toBeGreaterThan(sightings(100));
    for (const entry of generateHistory({ entries: 200 })) {
      expect(isMadeSurelyIngestible(entry, DEFAULT_INGESTION_LIMITS)).toBe(true);
    }
  });

  it('is sure of usual messages of agents', () => {
    for (const entry of generateHistory({ entries: 200 })) {
      expect(isSurelyIngestible(entry, DEFAULT_INGESTION_LIMITS)).toBe(true);
    }
  });

  it('runs no code of an entry', () => {
    let ran = 0;
    const getter = { enumerable: true, get: () => (ran += 1) };
    const trap = new Proxy(
      {},
      { get: () => (ran += 1), getPrototypeOf: () => null, ownKeys: () => [] },
    );
    for (const spoiled of [
      Object.defineProperty({ blocks: [] }, 'speaker', getter),
      Object.defineProperty({ speaker: 'ai' }, 'blocks', getter),
      Object.defineProperty({ blocks: [] }, 'speaker', { ...getter, enumerable: false }),
      withParameters(Object.defineProperty({}, 'a', getter)),
      withParameters(Object.defineProperty([1], 0, getter)),
      withParameters(trap),
      { speaker: 'ai', blocks: [trap] },
      { speaker: 'ai', blocks: trap },
      trap,
    ]) {
      expect(isSurelyIngestible(spoiled, DEFAULT_INGESTION_LIMITS)).toBe(false);
    }
    const setter = Object.defineProperty({}, 'a', { enumerable: true, set: () => (ran += 1) });
    expect(isSurelyIngestible(withParameters(setter), DEFAULT_INGESTION_LIMITS)).toBe(false);
    expect(ran).toBe(0);
  });
});
