// What is recovered from a damaged transcript, and what is reported about the rest.

import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRemovals } from '../../../src/main/removal-log/removal-reader.js';
import { encodeRemoval } from '../../../src/main/removal-log/removal-record.js';
import { aiContent, toolCall } from '../../../src/shared/content.js';
import { draft, lines, recover, temporaryPath } from './recording.js';
import type { Recovered } from './recording.js';
import { runs, sample } from '../../support/scale.js';

const [A = '', B = '', C = ''] = lines('a', 'b', 'c');
const TORN = B.slice(0, 60);

async function recoverFrom(...parts: readonly (string | Buffer)[]): Promise<Recovered> {
  const path = temporaryPath();
  await writeFile(path, Buffer.concat(parts.map((part) => Buffer.from(part))));
  return recover(path);
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text.trimEnd());
}

describe('readRemovals', () => {
  test('recovers every whole record of 100 wherever the file is torn', async () => {
    const path = temporaryPath();
    const all = Array.from(
      { length: 100 },
      (_, seq) => encodeRemoval(draft('ü', seq), seq, 1).line,
    );
    await writeFile(path, all.join(''));
    const starts = [0];
    for (const line of all) starts.push(starts.at(-1)! + Buffer.byteLength(line));
    for (const at of sample([...all.keys()], 10)) {
      expect((await recover(path, { endOffset: starts[at]! })).texts).toHaveLength(at);
      // The lines in front do not matter for how a torn one is read: two of them are enough, for speed.
      const before = Math.min(at, 2);
      const startOffset = starts[at - before]!;
      const lastByte = starts[at + 1]! - 1;
      const tears = Array.from(
        { length: lastByte - starts[at]! },
        (_, byte) => starts[at]! + 1 + byte,
      );
      const found = await Promise.all(
        tears.map((endOffset) => recover(path, { startOffset, endOffset })),
      );
      // A record torn at its last byte lacks only its line break.
      const expected = tears.map((tear) =>
        tear === lastByte ? { records: before + 1, skipped: 0 } : { records: before, skipped: 1 },
      );
      expect(
        found.map(({ records, skipped }) => ({ records: records.length, skipped: skipped.length })),
      ).toEqual(expected);
    }
    expect((await recover(path)).records).toHaveLength(100);
  });

  test('skips nothing of an undamaged file', async () => {
    expect(await recoverFrom(A, B, C)).toMatchObject({ texts: ['a', 'b', 'c'], skipped: [] });
    expect(await recoverFrom('')).toMatchObject({ texts: [], skipped: [] });
  });

  test('reports line, offset, length and reason of what it skips', async () => {
    const { texts, skipped } = await recoverFrom(A, `${TORN}\n`, C);
    expect(texts).toEqual(['a', 'c']);
    expect(skipped).toEqual([{ line: 2, offset: A.length, bytes: TORN.length, reason: 'torn' }]);
  });

  test('recovers records that were joined', async () => {
    const joined = await recoverFrom(A.trimEnd(), B.trimEnd(), C);
    expect(joined).toMatchObject({ texts: ['a', 'b', 'c'], skipped: [] });
    const { texts, skipped } = await recoverFrom('junk', TORN, A.trimEnd(), C);
    expect(texts).toEqual(['a', 'c']);
    expect(skipped).toMatchObject([
      { line: 1, offset: 0, bytes: 4, reason: 'no-record' },
      { line: 1, offset: 4, bytes: TORN.length, reason: 'torn' },
    ]);
  });

  test('recovers a record behind a torn one whose content looks like records', async () => {
    const fake = Array.from({ length: 20 }, (_, seq) => ({ v: 2, seq, crc: 5 }));
    const entry = aiContent([toolCall('c', 'f', fake)]);
    const { line } = encodeRemoval({ ...draft(''), entry }, 0, 1);
    expect((await recoverFrom(line)).records[0]?.entry).toEqual(entry);
    const { texts, skipped } = await recoverFrom(line.slice(0, -15), A);
    expect(texts).toEqual(['a']);
    expect(skipped).toMatchObject([{ reason: 'torn' }]);
  });

  test('recovers what stands around and inside NUL blocks', async () => {
    const block = Buffer.alloc(300_000);
    const between = await recoverFrom(A, block, B, C, block);
    expect(between.texts).toEqual(['a', 'b', 'c']);
    expect(between.skipped).toMatchObject([
      { line: 2, offset: A.length, bytes: 300_000, reason: 'nul-bytes' },
      { bytes: 300_000, reason: 'nul-bytes' },
    ]);
    const inside = await recoverFrom(A.slice(0, 40), block, A.slice(40), B);
    expect(inside.texts).toEqual(['a', 'b']);
    const inPlace = await recoverFrom(A.slice(0, 40), Buffer.alloc(20), A.slice(60), B);
    expect(inPlace.texts).toEqual(['b']);
    expect(inPlace.skipped.map(({ reason }) => reason)).toEqual(['nul-bytes', 'checksum']);
  });

  test('reads CRLF line breaks, byte order marks and blank lines as no damage', async () => {
    const crlf = [A, B, C].map((line) => line.replace('\n', '\r\n')).join('\r\n');
    expect(await recoverFrom('\uFEFF', crlf)).toMatchObject({
      texts: ['a', 'b', 'c'],
      skipped: [],
    });
    expect(await recoverFrom(A, '\uFEFF', B)).toMatchObject({ texts: ['a', 'b'], skipped: [] });
  });

  test('skips garbage and records that were altered', async () => {
    const altered = B.replace('"text":"b"', '"text":"x"');
    const garbage = Buffer.from([0xff, 0xfe, 0x0a, 0x7b, 0x0a]);
    const { texts, skipped } = await recoverFrom(A, altered, garbage, '\x1e{"v":2}\n', C);
    expect(texts).toEqual(['a', 'c']);
    expect(skipped.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'checksum'],
      [3, 'no-record'],
      [4, 'no-record'],
      [5, 'torn'],
    ]);
  });

  test('skips a copy, but not another record with the same number', async () => {
    const other = encodeRemoval(draft('other'), 1, 2).line;
    const { texts, skipped } = await recoverFrom(A, B, A, other);
    expect(texts).toEqual(['a', 'b', 'other']);
    const offset = A.length + B.length;
    expect(skipped).toEqual([{ line: 3, offset, bytes: sizeOf(A), reason: 'copy' }]);
  });

  test('lists a thousand skipped places and counts all', async () => {
    const path = temporaryPath();
    await writeFile(path, 'junk\n'.repeat(1_500) + A);
    const reading = readRemovals(path);
    // On each read.
    for (let time = 0; time < 2; time += 1) {
      let records = 0;
      for await (const _ of reading) records += 1;
      expect(records).toBe(1);
      expect(reading.skipped).toHaveLength(1_000);
      expect(reading).toMatchObject({ skippedPlaces: 1_500, skippedBytes: 6_000 });
    }
  });

  test('recovers all lines that random damage leaves alone', async () => {
    const path = temporaryPath();
    const texts = Array.from({ length: 12 }, (_, at) => `text ${at} ü`);
    const whole = Buffer.from(lines(...texts).join(''));
    const damage = fc.record({
      at: fc.nat(whole.length - 1),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 90 }),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ at, bytes }) => {
        const damaged = Buffer.from(whole);
        damaged.set(bytes.subarray(0, whole.length - at), at);
        await writeFile(path, damaged);
        const found = (await recover(path)).texts;
        const intact = texts.filter((text) =>
          damaged.includes(lines(...texts)[texts.indexOf(text)]!),
        );
        expect(found).toEqual(expect.arrayContaining(intact));
        expect(texts).toEqual(expect.arrayContaining([...found]));
      }),
      { numRuns: runs(200) },
    );
  });

  test('rejects what is not a file, with the cause', async () => {
    const path = temporaryPath();
    await expect(recover(path)).rejects.toMatchObject({
      code: 'REMOVAL_LOG_READ_FAILED',
      message: expect.stringContaining('ENOENT'),
      cause: { code: 'ENOENT' },
    });
    await expect(recover(dirname(path))).rejects.toMatchObject({ code: 'REMOVAL_LOG_READ_FAILED' });
  });
});
