// The form of a record, and that decoding returns what was encoded.

import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeRemoval,
  encodeRemoval,
  RECORD_MARK,
} from '../../../src/main/removal-log/removal-record.js';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { draft } from './recording.js';
import { runs } from '../../support/scale.js';

function bytesOf(line: string): Buffer {
  return Buffer.from(line.slice(0, -1));
}

describe('encodeRemoval', () => {
  test('writes one line that ends with the checksum of the rest', () => {
    const { line, bytes } = encodeRemoval(draft('ä\n'), 7, 1_700_000_000_000);
    expect(line.charCodeAt(0)).toBe(RECORD_MARK);
    expect(line.slice(1)).toMatch(
      /^\{"v":2,"seq":7,"at":1700000000000,"sessionId":"s","kind":"removed",/,
    );
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(bytes).toBe(Buffer.byteLength(line));
    const end = line.lastIndexOf(',"crc":');
    expect(JSON.parse(line.slice(1))).toMatchObject({ crc: crc32(line.slice(0, end)) });
  });

  test('adds the checksum of a replacement that holds tool responses', () => {
    const replacement = toolContent([toolResponse('r1', 'read_file', 'short')]);
    const { line } = encodeRemoval({ ...draft('x'), replacement }, 0, 0);
    const replacementCrc = crc32(JSON.stringify(replacement.blocks));
    expect(JSON.parse(line.slice(1))).toMatchObject({ replacementCrc });
    const plain = encodeRemoval({ ...draft('x'), replacement: humanText('y') }, 0, 0);
    expect(plain.line).not.toContain('replacementCrc');
  });

  test('refuses what JSON cannot represent', () => {
    const entry = toolContent([toolResponse('r1', 'read_file', 1n)]);
    expect(() => encodeRemoval({ ...draft('x'), entry }, 0, 0)).toThrow(TypeError);
  });
});

describe('decodeRemoval', () => {
  test('returns any entry as JSON represents it', () => {
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 20 }), fc.nat(), (history, seq) => {
        for (const [index, entry] of history.entries()) {
          const given = { sessionId: 'a"b', kind: 'compressed', index, entry } as const;
          const { line } = encodeRemoval(given, seq, 5);
          const expected = JSON.parse(JSON.stringify({ ...given, seq, at: 5 })) as unknown;
          expect(decodeRemoval(bytesOf(line)).record).toEqual(expected);
        }
      }),
      { numRuns: runs(50) },
    );
  });

  test('returns any text, with lone surrogates and control characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2_000, size: 'max' }),
        fc.nat(0xffff),
        (text, unit) => {
          const odd = `${text}${String.fromCharCode(unit)}\0\u2028`;
          const decoded = decodeRemoval(bytesOf(encodeRemoval(draft(odd), 0, 0).line));
          expect(decoded.record?.entry).toEqual(humanText(odd));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  test('notices every altered byte', () => {
    const whole = bytesOf(encodeRemoval(draft('ä "quoted"'), 3, 4).line);
    for (let at = 0; at < whole.length; at += 1) {
      const altered = Buffer.from(whole);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(decodeRemoval(altered).record, `byte ${at}`).toBeUndefined();
    }
  });

  test.each([
    ['{"v":3,"seq":0', 'unknown-version'],
    ['{"v":2,"seq":-1', 'no-record'],
    ['{"v":2,"seq":0,"at":0,"sessionId":"s","kind":"lost","index":0,"entry":{}', 'no-record'],
    ['[1', 'no-record'],
  ])('says why %s is no record although its checksum is right', (json, reason) => {
    const summed = `\x1e${json}`;
    const bytes = Buffer.from(`${summed},"crc":${crc32(summed)}}`);
    expect(decodeRemoval(bytes)).toEqual({ reason });
  });

  test('accepts no record without its mark, and recognizes one of the first version', () => {
    const whole = bytesOf(encodeRemoval(draft('x'), 0, 0).line);
    expect(decodeRemoval(whole.subarray(1))).toEqual({ reason: 'no-record' });
    const first = '{"v":1,"seq":0,"at":0';
    const bytes = Buffer.from(`${first},"crc":${crc32(first)}}`);
    expect(decodeRemoval(bytes)).toEqual({ reason: 'unknown-version' });
  });

  test.each([9e15, -9e15, NaN, Infinity])('reads a record with the impossible time %j', (at) => {
    const { line } = encodeRemoval(draft('x'), 0, at);
    expect(decodeRemoval(bytesOf(line)).record).toMatchObject({ at: 0, entry: humanText('x') });
  });
});
