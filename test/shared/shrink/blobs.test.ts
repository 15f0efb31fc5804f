// What `blobs` keeps of long lines that are code only in part, and of base64 within JSON.

import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from '../../../bench/support/hostile-texts.js';
import { shortenedText } from '../../../src/shared/shrink/shrink-text.js';

const UNKNOWN = { purpose: 'unknown', command: '' } as const;
const MINIFIED = HOSTILE_TEXTS['minified JavaScript']?.(12_000) ?? '';

function left(text: string): string {
  return shortenedText(text, UNKNOWN, { level: 'default' }, ']').draft.text;
}

describe('blobs', () => {
  it('keeps the text of a page between its scripts, however the page is written', () => {
    const rows = Array.from(
      { length: 60 },
      (_, at) => `<tr><td>Item ${at}</td><td>${at} €</td></tr>`,
    );
    const said = `<table>${rows.join('')}</table>`;
    const page = `<html><script>${MINIFIED}</script>${said}<script>${MINIFIED}</script></html>`;
    const kept = left(page);
    expect(kept.length).toBeLessThan(page.length / 2);
    expect(kept).toContain(rows.slice(20, -20).join(''));
    expect(kept.match(/\[… \d+ characters left out …\]/g)).toHaveLength(2);
  });

  it('cuts each run of 2,048 characters of base64 or more, and no shorter one', () => {
    const run = (length: number): string => 'aGVsbG8gd29ybGQ/'.repeat(200).slice(0, length);
    const long = `${run(48)}[… 1984 characters left out …]${run(2_048).slice(-16)}`;
    const lengths = [2_047, 2_048, 1, 2_047, 2_047, 2_048, 40, 2_048, 2_047];
    for (const other of [' ', 'é', '\n']) {
      const kept = lengths.map((length) => (length === 2_048 ? long : run(length)));
      expect(left(lengths.map(run).join(other))).toBe(kept.join(other));
    }
    expect(left(run(2_048))).toBe(long);
  });

  it.each([
    ['JSON with code in its values', JSON.stringify({ at: 1, by: 'a', of: 'b', id: 2 }).repeat(60)],
    [
      'JSON of pieces of code',
      JSON.stringify(
        Array.from({ length: 40 }, (_, at) => ({ code: MINIFIED.slice(at, at + 160) })),
      ),
    ],
    ['a list of numbers', '[1,2,3],[4,5,6],'.repeat(400)],
    ['a text with marks', 'It says so; and it is right. '.repeat(200)],
  ])('keeps %s', (_, other) => {
    const page = `${other}${MINIFIED.slice(0, 1_500)}`;
    expect(left(page)).toBe(page);
  });

  it('keeps the first and the last characters of code, and JSON within it', () => {
    const kept = left(MINIFIED);
    expect(kept.slice(0, 603)).toBe(`${MINIFIED.slice(0, 600)}[… `);
    expect(kept.slice(600, -200)).toBe(`[… ${MINIFIED.length - 800} characters left out …]`);
    expect(kept.slice(-200)).toBe(MINIFIED.slice(-200));
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, at: id * 7 }));
    const bundle = `${MINIFIED.repeat(8)}${JSON.stringify(rows)}${MINIFIED.repeat(8)}`;
    expect(left(bundle)).toContain(JSON.stringify(rows.slice(100, 200)).slice(1, -1));
  });

  it('does not take text in a script without spaces for code', () => {
    const text = '（上下文）压缩;方法(一)，'.repeat(500);
    expect(left(text)).toBe(text);
  });

  it('removes base64 from JSON on several lines, and keeps it valid JSON', () => {
    const image = HOSTILE_TEXTS['base64']?.(9_000) ?? '';
    const rows = [1, 2, 3].map((id) => ({ id, name: `name ${id}` }));
    const kept = left(JSON.stringify({ type: 'image', data: image, rows }, null, 2));
    expect(kept.length).toBeLessThan(400);
    expect(JSON.parse(kept)).toMatchObject({
      type: 'image',
      data: expect.stringContaining('[… 8936 characters left out …]') as string,
      rows: { columns: ['id', 'name'] },
    });
  });
});
