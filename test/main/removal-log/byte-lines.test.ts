// Where lines are cut, in chunks of any size.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitByteLines } from '../../../src/main/removal-log/byte-lines.js';
import type { ByteLine } from '../../../src/main/removal-log/byte-lines.js';
import { runs } from '../../support/scale.js';

async function split(text: string, chunkBytes = 3, maxLineBytes = 100): Promise<ByteLine[]> {
  async function* chunks(): AsyncGenerator<Buffer> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const lines: ByteLine[] = [];
  for await (const line of splitByteLines(chunks(), 10, maxLineBytes)) lines.push(line);
  return lines;
}

describe('splitByteLines', () => {
  test('returns the offset and span of each line', async () => {
    const lines = await split('ab\n\ncdefgh');
    expect(lines.map(({ bytes }) => bytes.toString())).toEqual(['ab', '', 'cdefgh']);
    expect(lines.map(({ offset, spanBytes }) => [offset, spanBytes])).toEqual([
      [10, 2],
      [13, 0],
      [14, 6],
    ]);
  });

  test('omits NUL bytes and reports how many there were, and where', async () => {
    for (const chunkBytes of [1, 2, 3, 100]) {
      const [line] = await split('\0\0\0ab\0c\n', chunkBytes);
      expect(line?.bytes.toString()).toBe('abc');
      expect(line).toMatchObject({ offset: 13, spanBytes: 4, nulBytes: 4, nulOffset: 10 });
    }
  });

  test('drops a line that is too long and reads on behind it', async () => {
    const [long, next] = await split(`${'x'.repeat(50)}\nok\n`, 7, 20);
    expect(long).toMatchObject({ isTooLong: true, keptBytes: 50, bytes: Buffer.alloc(0) });
    expect(next?.bytes.toString()).toBe('ok');
  });

  test('returns the same lines for any chunks', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ä', '\n', '\0', '\r'), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 50 }), async (given, chunkBytes) => {
        expect(await split(given, chunkBytes)).toEqual(await split(given, 1_000));
        const kept = (await split(given, chunkBytes)).map(({ bytes }) => bytes.toString());
        const expected = given.split('\n').map((line) => line.replaceAll('\0', ''));
        // A file that ends in a line break has no line behind it.
        expect(kept).toEqual(/(?:^|\n)$/.test(given) ? expected.slice(0, -1) : expected);
      }),
      { numRuns: runs(300) },
    );
  });
});
