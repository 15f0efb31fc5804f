import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_TABLES } from '../../../src/shared/shrink/json-tables.js';
import { resultText } from '../../../src/shared/shrink/result-text.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';
import { isRecord } from '../../../src/shared/json.js';
import { runs } from '../../support/scale.js';

const LOSSLESS = { purpose: 'unknown', command: '', level: 'lossless' } as const;

/** The value that a shortened JSON stands for: lists of objects in place of tables. */
function withoutTables(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTables);
  if (!isRecord(value)) return value;
  const { columns, rows } = value;
  if (!Array.isArray(columns) || !Array.isArray(rows)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, withoutTables(field)]),
    );
  }
  return rows.map((row: unknown) =>
    withoutTables(
      Array.isArray(row) ? Object.fromEntries(columns.map((key, at) => [key, row[at]])) : row,
    ),
  );
}

describe('JSON_TABLES', () => {
  it.each<[wrapping: string, wrap: (json: string) => object]>([
    ['a field', (output) => ({ output, exit_code: 0 })],
    ['a list of answers', (result) => [{ query: 'jq . a.json', result, success: true }]],
    ['MCP', (text) => ({ content: [{ type: 'text', text }] })],
    ['words of the host', (said) => ({ output: `<untrusted_context>\nOutput: ${said}\nPID: 4` })],
  ])('writes tables in the text that a tool wraps in JSON, as %s', (_, wrap) => {
    const list = Array.from({ length: 30 }, (__, id) => ({ id, name: `name ${id}` }));
    const wrapped = resultText(wrap(JSON.stringify(list, null, 2))) ?? '';
    const shown = JSON_TABLES.shrink(Draft.ofText(wrapped), LOSSLESS)?.text ?? '';
    const table = shown.slice(shown.indexOf('{"columns"'), shown.indexOf(']]}') + 3);
    expect(JSON.parse(table)).toEqual({
      columns: ['id', 'name'],
      rows: list.map((row) => Object.values(row)),
    });
    expect(shown.replace(table, '')).toBe(wrapped.replace(JSON.stringify(list, null, 2), ''));
  });

  it('writes any JSON with the same values, however it is indented', () => {
    const text = fc.string({ unit: fc.constantFrom(...'a"\\[]{}:, \n\t'), maxLength: 6 });
    const row = fc.record({ id: fc.nat(), name: text, tags: fc.array(text, { maxLength: 2 }) });
    const value = fc.oneof(
      fc.array(row, { maxLength: 6 }),
      fc.array(fc.dictionary(text, fc.oneof(row, text, fc.array(row))), { maxLength: 6 }),
      fc.dictionary(
        text,
        fc.array(fc.oneof({ weight: 9, arbitrary: row }, fc.dictionary(text, text))),
      ),
    );
    fc.assert(
      fc.property(value, fc.constantFrom('  ', '\t', '\r'), (written, indent) => {
        const json = JSON.stringify(written, null, indent.replace('\r', ' ')).replaceAll(
          '\n',
          indent === '\r' ? '\r\n' : '\n',
        );
        const { text: shown } = JSON_TABLES.shrink(Draft.ofText(json), LOSSLESS) ?? {};
        expect(shown === undefined).toBe(JSON.stringify(written) === json);
        expect(withoutTables(JSON.parse(shown ?? json))).toEqual(written);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('writes no list of two objects as a table, and none within four other lists', () => {
    const rows = (count: number): readonly object[] =>
      Array.from({ length: count }, (_, id) => ({ id, name: `name ${id}` }));
    for (const [list, isTable] of [
      [rows(3), true],
      [rows(2), false],
      [[[rows(3)]], true],
      [[[[rows(3)]]], false],
      [[[[{ rows: rows(3) }]]], false],
    ] as const) {
      const { text } =
        JSON_TABLES.shrink(Draft.ofText(JSON.stringify(list, null, 2)), LOSSLESS) ?? {};
      expect(text?.includes('"columns"')).toBe(isTable);
    }
  });

  it('keeps JSON behind more than a header of 12 lines, and JSON that is nested too deeply', () => {
    const json = JSON.stringify([{ id: 1 }], null, 2);
    const shown = (text: string): string | undefined =>
      JSON_TABLES.shrink(Draft.ofText(text), LOSSLESS)?.text;
    expect(shown(`${'said\n'.repeat(11)}${json}`)).toBe(`${'said\n'.repeat(11)}[{"id":1}]`);
    expect(shown(`${'said\n'.repeat(12)}${json}`)).toBeUndefined();
    expect(shown(`${'[ '.repeat(64)}${' ]'.repeat(64)}`)).toBe(
      `${'['.repeat(64)}${']'.repeat(64)}`,
    );
    for (const deep of [65, 30_000]) {
      expect(shown(`${'[ '.repeat(deep)}${' ]'.repeat(deep)}`)).toBeUndefined();
      expect(shown(`${'{ "a": '.repeat(deep)}1${' }'.repeat(deep)}`)).toBeUndefined();
    }
  });

  it('writes lists deep within objects as tables, as in answers of GraphQL', () => {
    const nodes = Array.from({ length: 30 }, (_, number) => ({ number, title: `Issue ${number}` }));
    const answer = { data: { repository: { issues: { page: { nodes } } } } };
    const shown = JSON_TABLES.shrink(Draft.ofText(JSON.stringify(answer)), LOSSLESS)?.text ?? '';
    const table = {
      columns: ['number', 'title'],
      rows: nodes.map(({ number, title }) => [number, title]),
    };
    expect(JSON.parse(shown)).toEqual({
      data: { repository: { issues: { page: { nodes: table } } } },
    });
  });

  it('keeps objects with other keys among the rows, as long as most have the same', () => {
    const said = (list: readonly object[]): unknown =>
      JSON.parse(
        JSON_TABLES.shrink(Draft.ofText(JSON.stringify(list, null, 2)), LOSSLESS)?.text ?? '',
      );
    const list = Array.from({ length: 30 }, (_, id) => ({
      ...(id === 0 && { pinned: true }),
      id,
      ...(id % 7 === 3 && { draft: id }),
    }));
    expect(said(list)).toEqual({
      columns: ['id'],
      rows: list.map((row) => (Object.keys(row).length === 1 ? [row.id] : row)),
    });
    const mixed = list.map(({ id }) => ({ [`is${id % 3}`]: true, id }));
    expect(said(mixed)).toEqual(mixed);
    expect(said([...list, ...[[1]]])).toEqual([...list, ...[[1]]]);
  });

  it.each([0, 1])(
    'writes lists within the rows as tables, too, with %i that have other fields',
    (others) => {
      const items = Array.from({ length: 3 }, (_, at) => ({ sku: at, price: at * 2 }));
      const table = {
        columns: ['sku', 'price'],
        rows: items.map(({ sku, price }) => [sku, price]),
      };
      const orders = Array.from({ length: 4 }, (_, id) => ({
        id,
        ...(id < others && { note: 'gift' }),
        items,
      }));
      const { text } = JSON_TABLES.shrink(Draft.ofText(JSON.stringify(orders)), LOSSLESS) ?? {};
      expect(JSON.parse(text ?? '')).toEqual({
        columns: ['id', 'items'],
        rows: orders.map((order) =>
          order.id < others ? { ...order, items: table } : [order.id, table],
        ),
      });
    },
  );
});
