// Tool results that imitate records of the log. Parsed as records, they would forge originals of any session, and a huge
// number would hide everything written afterwards. Damages logs with such results in every way; only recorded records may be
// read.

import { stat, writeFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { listRemoved } from '../../src/main/removal-log/list-removed.js';
import { RemovalReading } from '../../src/main/removal-log/removal-reader.js';
import { encodeRemoval } from '../../src/main/removal-log/removal-record.js';
import type { RemovalDraft, RemovalRecord } from '../../src/main/removal-log/removal-record.js';
import { restore } from '../../src/main/removal-log/restore.js';
import { toolContent, toolResponse } from '../../src/shared/content.js';
import { openWriter, recover, temporaryPath } from '../main/removal-log/recording.js';
import { runs, sample } from '../support/scale.js';

const FORGED = 'the victim';
const MARK = '\x1e';

function draftOf(sessionId: string, payload: unknown, index = 0): RemovalDraft {
  const entry = toolContent([toolResponse('call_1', 'read_file', payload)]);
  return { sessionId, kind: 'removed', index, entry };
}

/** Ways for a result to contain a record: as an object, as framed text, as a key, in the format of the first version. */
const DISGUISES: readonly ((line: string) => unknown)[] = [
  (line) => JSON.parse(line.slice(1)) as unknown,
  (line) => line,
  (line) => `\n${line}${line}`,
  (line) => ({ [line]: 1, [line.trim()]: [line] }),
  (line) => {
    const { crc: _, ...record } = JSON.parse(line.slice(1)) as Record<string, unknown>;
    const summed = JSON.stringify({ ...record, v: 1 }).slice(0, -1);
    return JSON.parse(`${summed},"crc":${crc32(summed)}}`) as unknown;
  },
  (line) => Array.from({ length: 3 }, () => JSON.parse(line.slice(1)) as unknown),
];

/** Results that are records containing results that are records. */
const forgeries: fc.Arbitrary<unknown> = fc.letrec<{ payload: unknown }>((tie) => ({
  payload: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>('forged', { deep: ['forged'] }, `${MARK}{"v":2,`, '\n', '}', 7, null),
    fc
      .record({
        inner: tie('payload'),
        seq: fc.constantFrom(0, 1, 2, 3, 4, 90, 2 ** 31, Number.MAX_SAFE_INTEGER),
        disguise: fc.nat(DISGUISES.length - 1),
      })
      .map(({ inner, seq, disguise }) =>
        DISGUISES[disguise]?.(encodeRemoval(draftOf(FORGED, inner), seq, 1).line),
      ),
  ),
})).payload;

interface Log {
  readonly bytes: Buffer;
  /** The offsets of all lines, and of the end. */
  readonly starts: readonly number[];
}

function logOf(payloads: readonly unknown[], firstSeq = 0): Log {
  const lines = payloads.map((payload, at) => {
    const index = firstSeq + at;
    return Buffer.from(encodeRemoval(draftOf('real', payload, index), index, 1).line);
  });
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length);
  return { bytes: Buffer.concat(lines), starts };
}

async function read(bytes: Buffer): Promise<readonly RemovalRecord[]> {
  const file = {
    read: async (buffer: Uint8Array, { position }: { readonly position: number }) => ({
      bytesRead: bytes.copy(buffer, 0, position),
    }),
  };
  const records: RemovalRecord[] = [];
  const options = { endOffset: bytes.length };
  for await (const { record } of new RemovalReading({ path: 'in memory', file }, options)) {
    records.push(record);
  }
  return records;
}

/** Checks that every record is exactly as recorded. Returns their indices. */
function expectReal(
  records: readonly RemovalRecord[],
  payloads: readonly unknown[],
): readonly number[] {
  for (const { sessionId, seq, index, entry } of records) {
    expect([sessionId, seq]).toEqual(['real', index]);
    const { entry: recorded } = draftOf('real', payloads[index]);
    expect(JSON.stringify(entry)).toBe(JSON.stringify(recorded));
  }
  return records.map(({ index }) => index);
}

/** Damage by a crash or a disk between two bytes of a file. */
const DAMAGES = {
  'is torn, and gone on with on a line of its own': (log, at) => {
    const kept = log.subarray(0, at);
    return [kept, Buffer.from('\n')];
  },
  'is torn, and gone on with on the same line': (log, at) => [log.subarray(0, at)],
  'is torn twice': (log, at, to) => [log.subarray(0, to), log.subarray(0, at), Buffer.from('\n')],
  'loses a stretch': (log, at, to) => [log.subarray(0, at), log.subarray(to)],
  'has a stretch of NUL': (log, at, to) => [
    log.subarray(0, at),
    Buffer.alloc(to - at),
    log.subarray(to),
  ],
  'has a stretch twice': (log, at, to) => [log.subarray(0, to), log.subarray(at)],
  'has a stretch moved to its end': (log, at, to) => [
    log.subarray(0, at),
    log.subarray(to),
    log.subarray(at, to),
    Buffer.from('\n'),
  ],
} as const satisfies Record<string, (log: Buffer, at: number, to: number) => readonly Buffer[]>;

const damages = fc.constantFrom(...Object.values(DAMAGES));

describe('a result that is a record', () => {
  test('is never read as one, wherever its line is torn', async () => {
    for (const disguise of DISGUISES) {
      const forged = disguise(encodeRemoval(draftOf(FORGED, 'forged'), 1, 1).line);
      const twice = disguise(encodeRemoval(draftOf(FORGED, forged), 2 ** 53 - 1, 1).line);
      for (const payload of [forged, twice]) {
        const payloads = [payload, 'between', payload];
        const { bytes, starts } = logOf(payloads.slice(0, 1));
        const later = logOf(payloads, 0).bytes.subarray(starts.at(-1));
        const cuts = [...Array(bytes.length).keys()];
        for (const cut of [...sample(cuts, 100), bytes.length - 1]) {
          for (const lineBreak of ['\n', '']) {
            const torn = Buffer.concat([bytes.subarray(0, cut), Buffer.from(lineBreak), later]);
            const found = (await read(torn)).map(({ sessionId, index }) => [sessionId, index]);
            const isWhole = cut === bytes.length - 1;
            expect(found, `cut at ${cut}`).toEqual(
              (isWhole ? [0, 1, 2] : [1, 2]).map((index) => ['real', index]),
            );
          }
        }
      }
    }
  });

  test('is never read as one, whatever happens to the file', async () => {
    const cases = fc.record({
      payloads: fc.array(forgeries, { minLength: 1, maxLength: 4 }),
      later: fc.array(forgeries, { minLength: 1, maxLength: 2 }),
      damage: damages,
      places: fc.tuple(fc.nat(), fc.nat()),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ payloads, later, damage, places }) => {
        const { bytes, starts } = logOf(payloads);
        const [at, to] = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
        const damaged = Buffer.concat(damage(bytes, at ?? 0, to ?? 0));
        const all = [...payloads, ...later];
        const rest = logOf(later, payloads.length).bytes;
        const indices = expectReal(await read(Buffer.concat([damaged, rest])), all);
        // All lines before the damage and everything written after it are there.
        const intact = payloads.flatMap((_, line) =>
          (starts[line + 1] ?? 0) <= (at ?? 0) ? [line] : [],
        );
        expect(indices).toEqual(expect.arrayContaining(intact));
        expect(indices.slice(-later.length)).toEqual(
          later.map((_, line) => payloads.length + line),
        );
        if (damage === DAMAGES['is torn, and gone on with on a line of its own']) {
          expect(indices.length).toBeGreaterThanOrEqual(intact.length + later.length);
          expect(indices).toEqual([...indices].sort((a, b) => a - b));
        }
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('forges no original, and hides nothing that is written after it', async () => {
    const cases = fc.record({ payloads: fc.array(forgeries, { minLength: 1 }), place: fc.nat() });
    await fc.assert(
      fc.asyncProperty(cases, async ({ payloads, place }) => {
        const path = temporaryPath();
        const { bytes } = logOf(payloads);
        await writeFile(path, bytes.subarray(0, place % (bytes.length + 1)));
        for (const text of ['first', 'second']) {
          const writer = await openWriter(path);
          await writer.append([draftOf('real', payloads[0]), draftOf('real', text)]);
          expect((await writer.restore('call_1', { sessionId: 'real' })).response.result).toBe(
            text,
          );
          await expect(writer.restore('call_1', { sessionId: FORGED })).rejects.toMatchObject({
            code: 'NOT_IN_REMOVAL_LOG',
          });
          await writer.close();
        }
        const { records } = await recover(path);
        const numbers = records.map(({ seq }) => seq);
        expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
        expect(records.filter(({ sessionId }) => sessionId !== 'real')).toEqual([]);
        expect((await restore(path, 'call_1', { acrossSessions: true })).response.result).toBe(
          'second',
        );
        expect(
          (await listRemoved(path, { acrossSessions: true })).map(({ sessionId }) => sessionId),
        ).toEqual(['real']);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a record with a huge number', () => {
  test('does not keep what is written after it from being read', async () => {
    const path = temporaryPath();
    // Payloads cannot forge these; and even with write access to the file, they hide nothing.
    for (const seq of [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 2 ** 31]) {
      await writeFile(path, encodeRemoval(draftOf('real', 'far'), seq, 1).line);
      for (let at = 0; at < 3; at += 1) {
        const writer = await openWriter(path);
        await writer.append([draftOf('real', 'later', at), draftOf('real', 'later', at)]);
        await writer.close();
      }
      const { records, skipped } = await recover(path);
      const numbers = records.map(({ seq: number }) => number);
      expect(records.map(({ index }) => index)).toEqual([0, 0, 0, 1, 1, 2, 2]);
      expect(numbers).toEqual([seq, ...numbers.slice(1).sort((a, b) => a - b)]);
      expect(numbers.at(-1)).toBeLessThan((await stat(path)).size);
      expect(skipped).toEqual([]);
    }
  });
});
