import { describe, expect, it } from 'vitest';
import {
  LineSplitter,
  readJsonLines,
  type JsonLine,
} from '../../../src/main/formats/json-lines.js';

async function linesOf(pieces: readonly string[], maxLength?: number): Promise<JsonLine[]> {
  async function* source(): AsyncGenerator<string> {
    await Promise.resolve();
    yield* pieces;
  }
  const lines: JsonLine[] = [];
  for await (const line of readJsonLines(source(), maxLength)) lines.push(line);
  return lines;
}

const damagedAt = (lines: readonly JsonLine[]) =>
  lines.flatMap((line) => ('damage' in line ? [line.line] : []));
const valuesOf = (lines: readonly JsonLine[]) =>
  lines.flatMap((line) => ('value' in line ? [line.value] : []));

describe('readJsonLines', () => {
  it('numbers lines across pieces, line ends of both kinds and blank lines', async () => {
    expect(await linesOf(['{"a"', ':1}\r\n\n  \n[2', ']\nnull'])).toEqual([
      { line: 1, value: { a: 1 } },
      { line: 4, value: [2] },
      { line: 5, value: null },
    ]);
  });

  it('reports a damaged line and goes on', async () => {
    const lines = await linesOf(['{"a":1}\n{"a":\n{"a":2}\n{"to']);
    expect(valuesOf(lines)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(damagedAt(lines)).toEqual([2, 4]);
  });

  it('separates records that were joined', async () => {
    expect(await linesOf(['{"a":"}{"}{"b":{}} {"c":1}\n'])).toEqual([
      { line: 1, value: { a: '}{' } },
      { line: 1, value: { b: {} } },
      { line: 1, value: { c: 1 } },
    ]);
  });

  it('recovers a record that was appended to a torn one', async () => {
    const lines = await linesOf(['{"type":"user","mess{"type":"user","x":{"y":1}}\n']);
    expect(valuesOf(lines)).toEqual([{ type: 'user', x: { y: 1 } }]);
    expect(damagedAt(lines)).toEqual([1]);
  });

  it('recovers the record in front of a torn one', async () => {
    const lines = await linesOf(['{"a":1}{"b":']);
    expect(valuesOf(lines)).toEqual([{ a: 1 }]);
    expect(damagedAt(lines)).toEqual([1]);
  });

  it('reads behind NUL bytes and reports them', async () => {
    expect(await linesOf(['\0\0{"a":1}\n\0\n'])).toEqual([
      { line: 1, damage: '2 NUL bytes were left out.' },
      { line: 1, value: { a: 1 } },
      { line: 2, damage: '1 NUL bytes were left out.' },
    ]);
  });

  it('replaces lone surrogates and reports their lines', async () => {
    expect(await linesOf(['{"a":"\uDC00"}\n{"a":"\uFFFD😀"}\n'])).toEqual([
      { line: 1, damage: 'Text that is no valid Unicode was replaced by U+FFFD.' },
      { line: 1, value: { a: '\uFFFD' } },
      { line: 2, value: { a: '\uFFFD😀' } },
    ]);
  });

  it('omits a line that is too long, without keeping it', async () => {
    expect(await linesOf(['"123', '456', '789"\n1\n'], 8)).toEqual([
      { line: 1, damage: 'The line is too long to be read and was left out.' },
      { line: 2, value: 1 },
    ]);
  });

  it('reads a line of 8 MB that comes in small pieces', async () => {
    const pieces = ['{"a":"', ...Array.from({ length: 1024 }, () => 'x'.repeat(8192)), '"}'];
    const [line] = await linesOf(pieces);
    expect(line).toEqual({ line: 1, value: { a: 'x'.repeat(8 * 1024 * 1024) } });
  });
});

describe('LineSplitter', () => {
  it('returns a last line without a line break', () => {
    const splitter = new LineSplitter();
    expect([splitter.push('a\nb'), splitter.push('c'), splitter.end()]).toEqual([['a'], [], 'bc']);
  });
});
