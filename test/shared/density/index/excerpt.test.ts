// What is left of a long output: its ends, in whole lines and whole characters, and never more than a little.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  excerptOf,
  EXCERPT_TOKENS,
  isExcerpt,
  isExcerptible,
} from '../../../../src/shared/density/index/excerpt.js';
import { estimateResultTokens } from '../../../../src/shared/tokens/estimate.js';
import { naiveExcerpt } from '../../../support/naive-working-set.js';
import { runs, sightings } from '../../../support/scale.js';

/** Texts around and far above the length that stays as it is, of lines of every length. */
const text = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', '😀', 'é', '\0', '\uD83D', '\n', '\r\n', '\u2028', ' '),
      fc.constantFrom(0, 1, 2, 40, 159, 160, 161, 319, 320, 321, 900),
    ),
    { maxLength: 12, size: 'max' },
  )
  .map((parts) => parts.map(([part, times]) => part.repeat(times)).join(''));

function holds(law: (given: string) => void): void {
  fc.assert(fc.property(text, law), { numRuns: runs(5_000) });
}

/** Whether no half of a surrogate pair stands alone in a text. */
function isWellFormed(given: string): boolean {
  return !/\p{Surrogate}/u.test(given);
}

/** The head and the tail of an excerpt. */
function endsOf(excerpt: string): readonly [head: string, tail: string] {
  const ends =
    /^([^]*)\n\[… \d+ (?:lines|characters) left out of this old output …\]\n([^]*)$/.exec(excerpt);
  return [ends?.[1] ?? '', ends?.[2] ?? ''];
}

describe('excerptOf', () => {
  it('leaves short texts as they are', () => {
    holds((given) => {
      expect(excerptOf(given) === given).toBe(!isExcerptible(given));
    });
    expect(excerptOf('')).toBe('');
  });

  it('keeps the ends of a text, which is shorter then', () => {
    let seen = 0;
    holds((given) => {
      if (!isExcerptible(given)) return;
      seen += 1;
      const excerpt = excerptOf(given);
      const [head, tail] = endsOf(excerpt);
      expect(given.startsWith(head)).toBe(true);
      expect(given.endsWith(tail)).toBe(true);
      expect(tail.length).toBeGreaterThan(0);
      expect(excerpt.length).toBeLessThan(given.length);
      expect(estimateResultTokens({ result: excerpt })).toBeLessThanOrEqual(EXCERPT_TOKENS);
    });
    expect(seen).toBeGreaterThan(sightings(1_000));
  });

  it('is the same a second time, and known by sight', () => {
    holds((given) => {
      if (!isExcerptible(given)) return;
      const excerpt = excerptOf(given);
      expect(excerptOf(excerpt)).toBe(excerpt);
      expect(isExcerpt(excerpt)).toBe(true);
      expect(isExcerptible(excerpt)).toBe(false);
    });
  });

  it('cuts no character in two', () => {
    holds((given) => {
      if (isWellFormed(given)) expect(isWellFormed(excerptOf(given))).toBe(true);
    });
    for (let shift = 0; shift < 4; shift += 1) {
      const line = `${'a'.repeat(shift)}${'😀'.repeat(2_000)}`;
      expect(isWellFormed(excerptOf(line))).toBe(true);
    }
  });

  it('agrees with the naive implementation', () => {
    holds((given) => {
      expect(excerptOf(given)).toBe(naiveExcerpt(given));
    });
  });

  it('cuts between lines, and says how many are gone', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `line ${at}`);
    const [head, tail] = endsOf(excerptOf(lines.join('\n')));
    expect(lines.slice(0, head.split('\n').length).join('\n')).toBe(head);
    expect(lines.slice(-tail.split('\n').length).join('\n')).toBe(tail);
    const gone = lines.length - `${head}\n${tail}`.split('\n').length;
    // The break behind the head is one of them.
    expect(excerptOf(lines.join('\n'))).toContain(`\n[… ${gone + 1} lines left out`);
  });

  it('cuts within a line that is too long', () => {
    const [head, tail] = endsOf(excerptOf('x'.repeat(100_000)));
    expect(head.length).toBeGreaterThan(100);
    expect(excerptOf('x'.repeat(100_000))).toContain(
      `[… ${100_000 - head.length - tail.length} characters left out`,
    );
  });

  it.each(['\n'.repeat(5_000), '\r\n'.repeat(5_000), `${'\n'.repeat(700)}end`])(
    'keeps what there is of a text that is nearly empty lines',
    (given) => {
      const excerpt = excerptOf(given);
      expect(isExcerpt(excerpt)).toBe(true);
      expect(given.endsWith(endsOf(excerpt)[1])).toBe(true);
    },
  );
});

describe('isExcerpt', () => {
  it('knows no other result', () => {
    for (const result of [
      null,
      7,
      {},
      ['…'],
      '',
      'text',
      `${'x'.repeat(700)}${excerptOf('y'.repeat(700))}`,
    ]) {
      expect(isExcerpt(result)).toBe(false);
    }
  });
});

describe('isExcerptible', () => {
  it('is none but a long text', () => {
    for (const result of [null, 7, {}, ['x'.repeat(5_000)], '', 'x'.repeat(600)]) {
      expect(isExcerptible(result)).toBe(false);
    }
    expect(isExcerptible('x'.repeat(601))).toBe(true);
  });
});
