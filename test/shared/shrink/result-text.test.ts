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
    const several = [TEXT, `${TEXT}b`].map((result, at) => ({
      query: `/w/${at}`,
      result,
      success: true,
    }));
    expect(seen(JSON.stringify(several))).toBe(
      `[{"query":"/w/0","result":"\n${TEXT}\n","success":true},` +
        `{"query":"/w/1","result":"\n${TEXT}b\n","success":true}]`,
    );
    // In the format of Python.
    expect(seen(JSON.stringify({ output: TEXT, exit_code: 0 }, null, 1))).toBe(
      `{\n "output": "\n${TEXT}\n",\n "exit_code": 0\n}`,
    );
    expect(seen(JSON.stringify(TEXT))).toBe(`"\n${TEXT}\n"`);
    const nested = { results: [], logs: { stdout: [TEXT], stderr: [] } };
    expect(seen(nested)).toBe(`{"results":[],"logs":{"stdout":["\n${TEXT}\n"],"stderr":[]}}`);
    const answered = { content: [{ type: 'text', text: TEXT }] };
    for (const result of [answered, JSON.stringify(answered)]) {
      expect(seen(result)).toBe(`{"content":[{"type":"text","text":"\n${TEXT}\n"}]}`);
    }
  });

  it('has the texts in JSON on their own lines between lines of the host, and no others', () => {
    const json = JSON.stringify({ output: TEXT, exit_code: 0 });
    const written = `{"output":"\n${TEXT}\n","exit_code":0}`;
    for (const [before, after] of [
      ['Wall time: 0.1 seconds\nOutput:\n', ''],
      ['<result>\n', '\n</result>'],
      ['```json\n', '\n```\n'],
      ['', '\n[exit code: 0]'],
    ] as const) {
      expect(seen(before + json + after)).toBe(before + written + after);
    }
    for (const others of ['first\n'.repeat(8), 'output: ', `${TEXT}${TEXT}`]) {
      expect(seen(others + json)).toBe(others + json);
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

  const answered = (...texts: readonly string[]): object => ({
    content: texts.map((text) => ({ type: 'text', text })),
  });
  const resource = { type: 'resource', resource: { uri: 'r://a', text: TEXT } };
  const written = `{"type":"resource","resource":{"uri":"r://a","text":"\n${TEXT}\n"}}`;

  it('has the texts of an MCP answer on their own lines, whatever stands before them', () => {
    const meta = { _meta: { a: 1 }, ...answered(TEXT) };
    expect(seen(meta)).toBe(`{"_meta":{"a":1},"content":[{"type":"text","text":"\n${TEXT}\n"}]}`);
    expect(seen(JSON.stringify(answered(TEXT), null, 1))).toContain(`"text": "\n${TEXT}\n"`);
    const inData = { ...answered(JSON.stringify({ stdout: TEXT })), isError: false };
    expect(seen(inData)).toBe(
      `{"content":[{"type":"text","text":"\n{"stdout":"\n${TEXT}\n"}\n"}],"isError":false}`,
    );
  });

  it('has the texts of resources on their own lines, in answers and as clients of MCP pass them on', () => {
    expect(seen({ content: [resource] })).toBe(`{"content":[${written}]}`);
    expect(seen(JSON.stringify([resource]))).toBe(`[${written}]`);
    const lines = [resource, resource].map((part) => JSON.stringify(part)).join('\n');
    expect(seen(lines)).toBe(`${written}\n${written}`);
    expect(seen(`done\n${lines}\nend`)).toBe(`done\n${written}\n${written}\nend`);
    const picture = { type: 'resource', resource: { uri: 'r://a', blob: 'aGk=' } };
    expect(seen({ content: [picture] })).toBeUndefined();
  });

  it('has what an MCP answer says twice once', () => {
    const data = { rows: [{ id: 1 }, { id: 2 }] };
    const note = '"structuredContent":"[… the same as the content left out …]"';
    for (const [text, structuredContent] of [
      [TEXT, { result: TEXT }],
      [JSON.stringify(data), data],
      [JSON.stringify(data.rows, null, 1), { result: data.rows }],
      ['a', { result: 'a' }],
    ] as const) {
      const given = { ...answered(text), structuredContent };
      for (const result of [given, JSON.stringify(given)]) {
        const left = seen(result) ?? '';
        expect(left.replaceAll(`"\n${text}\n"`, JSON.stringify(text))).toBe(
          `${JSON.stringify(answered(text)).slice(0, -1)},${note}}`,
        );
      }
    }
  });

  it('has what an MCP answer says twice once, also of a failure that only its JSON states', () => {
    const structuredContent = { exitCode: 1, stdout: TEXT };
    const once = {
      ...answered(JSON.stringify(structuredContent)),
      structuredContent: expect.any(String),
    };
    const left = seen({ ...once, structuredContent });
    expect(JSON.parse(left ?? '')).toEqual(once);
  });

  it('has a text that comes twice in a row once', () => {
    const given = { exitCode: 0, result: TEXT, artifacts: { stdout: TEXT, charts: [] } };
    const once = '"[… the same text as before left out …]"';
    expect(seen(given)).toBe(
      `{"exitCode":0,"result":"\n${TEXT}\n","artifacts":{"stdout":${once},"charts":[]}}`,
    );
    const files = [TEXT, `${TEXT}b`, TEXT, 'a\n\nb', 'a\n\nb'].map((text) => ({ text }));
    expect(seen(files)).not.toContain(once);
  });

  it('has the lines of a list that is most of the JSON on their own lines', () => {
    const paths = Array.from({ length: 9 }, (_, at) => `src/"${at}".ts`);
    const lines = `[\n${paths.join('\n')}\n]`;
    expect(seen({ files: paths, more: true })).toBe(`{"files":${lines},"more":true}`);
    expect(seen(JSON.stringify(paths, null, 1))).toBe(lines);
    expect(seen({ text: paths.map((path) => `${path}\n`) })).toBe(`{"text":${lines}}`);
    expect(seen({ lines: [...paths, ''] })).toBe(`{"lines":[\n${paths.join('\n')}\n\n]}`);
    const data = { content: [{ type: 'text', text: JSON.stringify(paths) }] };
    expect(seen(data)).toBe(`{"content":[{"type":"text","text":"\n${lines}\n"}]}`);
    for (const other of [
      paths.slice(2),
      { rows: [paths, paths, paths] },
      [...paths, 1],
      [...paths, 'a\nb'],
      [...paths, '\0'],
    ]) {
      expect(seen(JSON.stringify(other))).toBe(JSON.stringify(other));
    }
  });

  it('keeps structured content that says anything else, or in JSON of other digits than ours', () => {
    const other = { ...answered('{"a":1}'), structuredContent: { a: 1, b: 2 } };
    expect(seen(other)).toContain('"b":2');
    const digits = '{"content":[{"type":"text","text":"a"}],"x":1.0,"structuredContent":{"a":"a"}}';
    expect(seen(digits)).toBe(digits);
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
    ['with deeply nested texts', { data: { messages: [{ parts: [TEXT] }] } }],
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
        fc.pre(new Set(texts).size === texts.length);
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
