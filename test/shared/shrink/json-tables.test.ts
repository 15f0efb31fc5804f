import { describe, expect, it } from 'vitest';
import { JSON_TABLES } from '../../../src/shared/shrink/json-tables.js';
import { resultText } from '../../../src/shared/shrink/result-text.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';

describe('JSON_TABLES', () => {
  it.each<[wrapping: string, wrap: (json: string) => object]>([
    ['a field', (output) => ({ output, exit_code: 0 })],
    ['a list of answers', (result) => [{ query: 'jq . a.json', result, success: true }]],
    ['MCP', (text) => ({ content: [{ type: 'text', text }] })],
    ['words of the host', (said) => ({ output: `<untrusted_context>\nOutput: ${said}\nPID: 4` })],
  ])('writes tables in the text that a tool wraps in JSON, as %s', (_, wrap) => {
    const list = Array.from({ length: 30 }, (__, id) => ({ id, name: `name ${id}` }));
    const wrapped = resultText(wrap(JSON.stringify(list, null, 2))) ?? '';
    const subject = { purpose: 'unknown', command: '', level: 'lossless' } as const;
    const shown = JSON_TABLES.shrink(Draft.ofText(wrapped), subject)?.text ?? '';
    const table = shown.slice(shown.indexOf('{"columns"'), shown.indexOf(']]}') + 3);
    expect(JSON.parse(table)).toEqual({
      columns: ['id', 'name'],
      rows: list.map((row) => Object.values(row)),
    });
    expect(shown.replace(table, '')).toBe(wrapped.replace(JSON.stringify(list, null, 2), ''));
  });

  it('writes lists deep within objects as tables, as in answers of GraphQL', () => {
    const nodes = Array.from({ length: 30 }, (_, number) => ({ number, title: `Issue ${number}` }));
    const answer = { data: { repository: { issues: { page: { nodes } } } } };
    const subject = { purpose: 'unknown', command: '', level: 'lossless' } as const;
    const shown = JSON_TABLES.shrink(Draft.ofText(JSON.stringify(answer)), subject)?.text ?? '';
    const table = {
      columns: ['number', 'title'],
      rows: nodes.map(({ number, title }) => [number, title]),
    };
    expect(JSON.parse(shown)).toEqual({
      data: { repository: { issues: { page: { nodes: table } } } },
    });
  });

  it('keeps objects with other keys among the rows, as long as most have the same', () => {
    const subject = { purpose: 'unknown', command: '', level: 'lossless' } as const;
    const said = (list: readonly object[]): unknown =>
      JSON.parse(
        JSON_TABLES.shrink(Draft.ofText(JSON.stringify(list, null, 2)), subject)?.text ?? '',
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
      const subject = { purpose: 'unknown', command: '', level: 'lossless' } as const;
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
      const { text } = JSON_TABLES.shrink(Draft.ofText(JSON.stringify(orders)), subject) ?? {};
      expect(JSON.parse(text ?? '')).toEqual({
        columns: ['id', 'items'],
        rows: orders.map((order) =>
          order.id < others ? { ...order, items: table } : [order.id, table],
        ),
      });
    },
  );
});
