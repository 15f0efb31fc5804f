// What is left of a result that leaves: the placeholder, names, failures, and never more than a little.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PRUNED_POINTER } from '../../../../src/shared/density.js';
import {
  excerptStandIn,
  excerptTokens,
  isExcerpt,
  isExcerptible,
} from '../../../../src/shared/density/index/excerpt.js';
import { estimateResultTokens } from '../../../../src/shared/tokens/estimate.js';
import { naiveExcerpt } from '../../../support/naive-excerpt.js';
import { runs, sightings } from '../../../support/scale.js';
import { excerptOf } from '../../../support/excerpt-of.js';

const word = fc.constantFrom(
  ...[
    'readFile',
    'src/a.ts',
    './src/lib/b.js:12:',
    'x_1',
    'plain',
    'HTTPServer',
    'a.b.c',
    'v1.2',
    '😀',
  ],
  ...[
    'error:',
    'TypeError',
    'FAILED',
    'not ok',
    '\n',
    '\r\n',
    '\\n',
    ' ',
    '{"a":1}',
    '\0',
    '../x/y.rs.',
  ],
  'q'.repeat(130),
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(1, 2, 40, 200)), { maxLength: 30, size: 'max' })
  .map((parts) => parts.map(([part, times]) => `${part} `.repeat(times)).join(''));
/** As tools return them. */
const result = fc.oneof<fc.Arbitrary<unknown>[]>(
  text,
  text.map((output) => ({ output, exit_code: 1 })),
  text.map((part) => [{ type: 'text', text: part }]),
);

function holds(law: (given: unknown) => void): void {
  fc.assert(fc.property(result, law), { numRuns: runs(5_000) });
}

describe('excerptOf', () => {
  it('takes no path that is half a unit longer than half of the room', () => {
    const named = `zz_1x a.cpp${' '.repeat(99)}`;
    expect(named).toHaveLength(110);
    expect(excerptOf(named, '[p]')).toBe('[p]\nIt named: zz_1x');
    expect(excerptOf(named, PRUNED_POINTER)).toBe(naiveExcerpt(named));
  });

  it('agrees with a naive implementation', () => {
    let seen = 0;
    holds((given) => {
      const excerpt = excerptOf(given, PRUNED_POINTER);
      expect(excerpt).toBe(naiveExcerpt(given));
      if (excerpt.includes('It failed with')) seen += 1;
    });
    expect(seen).toBeGreaterThan(sightings(500));
  });

  it('is known by sight, and is no reason for another one', () => {
    holds((given) => {
      const excerpt = excerptOf(given, PRUNED_POINTER);
      expect(isExcerpt(excerpt)).toBe(excerpt !== PRUNED_POINTER);
      expect(isExcerptible(excerpt)).toBe(false);
    });
  });

  it('names nothing that the result does not', () => {
    holds((given) => {
      const [, names = ''] = excerptOf(given, PRUNED_POINTER).split('\nIt named: ');
      const whole = typeof given === 'string' ? given : JSON.stringify(given);
      for (const name of names.split('\n')[0]?.split(' ') ?? []) expect(whole).toContain(name);
    });
  });

  it('is much shorter than the result', () => {
    let seen = 0;
    holds((given) => {
      if (!isExcerptible(given)) return;
      seen += 1;
      const [names = ''] = excerptOf(given, PRUNED_POINTER).split('\nIt failed with: ');
      const tokens = estimateResultTokens({ result: given });
      expect(estimateResultTokens({ result: names })).toBeLessThanOrEqual(
        excerptTokens(tokens) + 3,
      );
    });
    expect(seen).toBeGreaterThan(sightings(1_000));
  });

  it('names the paths of a search, and what it says of a build that fails', () => {
    const search = Array.from({ length: 60 }, (_, at) => `./src/part-${at % 3}.ts:${at}: return`);
    expect(excerptOf(search.join('\n'), '[x]')).toBe(
      '[x]\nIt named: src/part-0.ts src/part-1.ts src/part-2.ts',
    );
    const build = `${'ok 1 a test that passes\n'.repeat(40)}src/a.ts(3,4): error: x is not in scope\n`;
    expect(excerptOf(build, '[x]')).toBe(
      '[x]\nIt named: src/a.ts\nIt failed with: src/a.ts(3,4): error: x is not in scope',
    );
  });

  it('names what is in JSON of one line, as tools return it', () => {
    const orders = Array.from({ length: 40 }, (_, at) => ({ id: `ord_${at}`, eta: 'soon' }));
    const result = { customer: { id: 'cus_9a8', email: 'ada@example.com' }, orders };
    for (const given of [result, JSON.stringify(result)]) {
      const excerpt = excerptOf(given, PRUNED_POINTER);
      for (const name of ['ada@example.com', 'ord_0']) expect(excerpt).toContain(name);
    }
  });

  it('looks at no line that nobody reads, and at no more than the beginning', () => {
    expect(excerptOf(`readFile ${'x'.repeat(1_000)}`, '[x]')).toBe('[x]');
    expect(excerptOf(`${'plain\n'.repeat(20_000)}readFile`, '[x]')).toBe('[x]');
  });

  it('takes time in proportion to what it looks at, whatever the text', () => {
    const shapes = ['a.', '/a', 'a-', '_', '$.', 'A', './', '~/.', 'error', '😀', '\\n', '\n'];
    for (const shape of shapes) {
      const hostile = shape.repeat(1_000_000 / shape.length);
      expect(excerptOf(hostile, '[x]').length).toBeLessThan(800);
    }
  });
});

describe('isExcerpt', () => {
  it.each([
    ['', null, 5, {}, PRUNED_POINTER, 'It named: a', '\nIt named: a', 'x]\nIt named: a'],
    [`[${'x'.repeat(1_200)}]\nIt named: a`, '[x]\n\nIt named: a', ['[x]\nIt named: a']],
  ])('is false of %j and such', (...others) => {
    for (const other of others) expect(isExcerpt(other)).toBe(false);
  });
});

describe('excerptStandIn', () => {
  it('tells a worker what it has to know of a result', () => {
    holds((given) => {
      const standIn = excerptStandIn(given);
      expect(isExcerptible(standIn)).toBe(isExcerptible(given));
      expect(isExcerpt(standIn)).toBe(isExcerpt(given));
      expect(excerptStandIn(standIn)).toBe(standIn);
    });
  });
});
