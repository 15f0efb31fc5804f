// How shrinkers see JSON results: long texts as lines, and everything else unchanged.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { resultText as seen } from '../../../src/shared/shrink/result-text.js';
import { runs } from '../../support/scale.js';

const TEXT = 'import a from "a";\n\n\treturn a;\n'.repeat(20);

describe('resultText', () => {
  it('is the result itself if that is a string', () => {
    expect(seen(TEXT)).toBe(TEXT);
    expect(seen('[INFO] "a\\nb"')).toBe('[INFO] "a\\nb"');
    expect(seen('')).toBe('');
  });

  it('has the texts in JSON on their own lines', () => {
    const several = [TEXT, TEXT].map((result, at) => ({
      query: `/w/${at}`,
      result,
      success: true,
    }));
    expect(seen(JSON.stringify(several))).toBe(
      `[{"query":"/w/0","result":"\n${TEXT}\n","success":true},` +
        `{"query":"/w/1","result":"\n${TEXT}\n","success":true}]`,
    );
    // In the format of Python.
    expect(seen(JSON.stringify({ output: TEXT, exit_code: 0 }, null, 1))).toBe(
      `{\n "output": "\n${TEXT}\n",\n "exit_code": 0\n}`,
    );
    expect(seen(JSON.stringify(TEXT))).toBe(`"\n${TEXT}\n"`);
    const answered = { content: [{ type: 'text', text: TEXT }] };
    for (const result of [answered, JSON.stringify(answered)]) {
      expect(seen(result)).toBe(`{"content":[{"type":"text","text":"\n${TEXT}\n"}]}`);
    }
  });

  it('has the JSON that MCP returns on its own lines, and no other JSON in texts', () => {
    const data = Array.from({ length: 3 }, (_, id) => ({ id, title: 'a "b"', tags: ['x'] }));
    for (const text of [JSON.stringify(data), JSON.stringify({ data })]) {
      const answered = { content: [{ type: 'text', text }] };
      const written = `{"content":[{"type":"text","text":"\n${text}\n"}]}`;
      for (const result of [answered, JSON.stringify(answered)]) expect(seen(result)).toBe(written);
      for (const other of [{ config: text }, { content: [{ type: 'text', text: `${text}x` }] }]) {
        expect(seen(other)).toBe(JSON.stringify(other));
      }
      expect(seen({ config: text, log: TEXT })).toBe(
        `{"config":${JSON.stringify(text)},"log":"\n${TEXT}\n"}`,
      );
    }
  });

  it('is the texts of a list of text parts, and no other list of parts', () => {
    const part = (text: string): object => ({ type: 'text', text });
    expect(seen([part(TEXT), part('end')])).toBe(`${TEXT}\nend`);
    expect(seen([part(JSON.stringify({ output: TEXT }))])).toBe(`{"output":"\n${TEXT}\n"}`);
    expect(seen([{ ...part(TEXT), cache_control: {} }])).toBeUndefined();
    expect(seen([part(TEXT), { type: 'image', data: 'aGk=' }])).toBeUndefined();
    expect(seen([{ type: 'json', text: TEXT }])).toBeUndefined();
    expect(seen([part(TEXT), null])).toBeUndefined();
    expect(seen([part(TEXT), { kind: 'text', text: TEXT }])).toBeUndefined();
  });

  it('has the texts of a failure on their own lines, if these state it, too', () => {
    const result = { stdout: TEXT, exitCode: 1 };
    expect(seen(JSON.stringify(result))).toBe(`{"stdout":"\n${TEXT}\n","exitCode":1}`);
  });

  it.each<[string, unknown]>([
    ['that are mostly data', { rows: Array.from({ length: 400 }, (_, at) => at), note: TEXT }],
    ['with deeply nested texts', { messages: [{ content: TEXT }] }],
    ['with texts of one line', { stdout: 'a'.repeat(2_000) }],
    ['with a lone surrogate', { stdout: `${TEXT}\ud83d` }],
    ['with NUL', { stdout: `${TEXT}\0` }],
    ['with long names', { [TEXT]: 1 }],
    ['of a list', [{ id: 1 }, { id: 2 }]],
    ['of a list of pairs', [{ id: 1, text: 'a' }]],
    ['of an empty list', []],
    [
      'that answer with plain values',
      { content: [{ type: 'text', text: `[${'1,'.repeat(200)}2]` }] },
    ],
    ['with JSON of texts', { config: JSON.stringify([{ say: 'a\nb\nc\nd' }]) }],
    ['without types', { content: ['a', { id: 2 }] }],
  ])('is the JSON of results %s', (_, result) => {
    expect(seen(JSON.stringify(result))).toBe(JSON.stringify(result));
    expect(seen(result)).toBe(JSON.stringify(result));
  });

  it.each<[string, unknown]>([
    ['that failed', { error: { code: 1 }, stdout: TEXT }],
    [
      'that failed, with several texts',
      [
        { result: TEXT, success: true },
        { result: '', success: false },
      ],
    ],
    ['that are very long', { stdout: TEXT.repeat(3_000) }],
    ['without text', [1, 2, 3]],
    ['with pictures', { content: [{ type: 'image', data: 'iVBORw0KGgo' }] }],
  ])('keeps results %s unchanged', (_, result) => {
    expect(seen(JSON.stringify(result))).toBe(JSON.stringify(result));
    expect(seen(result)).toBeUndefined();
  });

  it('is undefined for what is no text and no JSON, and the result if that is cut off JSON', () => {
    for (const other of [undefined, null, 5, true]) expect(seen(other)).toBeUndefined();
    const cut = `${JSON.stringify({ output: TEXT })} [cut]`;
    expect(seen(cut)).toBe(cut);
  });

  it('keeps content of several types, of which the model sees more than a text', () => {
    expect(seen([{ type: 'text', text: TEXT }, { type: 'image' }])).toBeUndefined();
  });

  it('has all content of the JSON', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 }).map((part) => `${part}\n`.repeat(9));
    const field = fc.oneof(text, fc.jsonValue({ maxDepth: 1 }));
    const value = fc.dictionary(fc.string(), field, { maxKeys: 4 });
    fc.assert(
      fc.property(fc.oneof(value, fc.array(value, { maxLength: 3 })), (result) => {
        const json = JSON.stringify(result);
        const written = seen(json) ?? '';
        // Puts each text back into the JSON where it was written out.
        const texts = (Array.isArray(result) ? result : [result]).flatMap(Object.values);
        const restored = texts
          .filter((each): each is string => typeof each === 'string' && each.includes('\n'))
          .toSorted((a, b) => b.length - a.length)
          .reduce(
            (left, each) => left.replaceAll(`"\n${each}\n"`, () => JSON.stringify(each)),
            written,
          );
        expect(restored).toBe(json);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
