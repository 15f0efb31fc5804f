// The fields of an answer that identify what was made, and that lead to the next page of a list.

import { describe, expect, it } from 'vitest';
import {
  identityFields,
  itemIdsIn,
  nextPageIn,
} from '../../../../src/shared/density/index/identity-fields.js';

describe('identityFields', () => {
  it.each(['confirmation', 'reservation_code', 'tracking', 'trackingNumber'])(
    'finds the %s of an answer to an action',
    (name) => {
      const answer = JSON.stringify({ eta: '2026-12-01', [name]: 'TRK-c800' });
      expect(identityFields(answer, 100, true)).toBe(`{"${name}":"TRK-c800"}`);
    },
  );
});

describe('identityFields', () => {
  const fieldsIn = (answer: object, isAnswer: boolean, room = 100): string =>
    identityFields(JSON.stringify(answer), room, isAnswer);

  it('finds other ids, numbers and states only in an answer to an action', () => {
    for (const answer of [{ order_id: 'o1' }, { order_number: 7 }, { status: 'refunded' }]) {
      expect(fieldsIn({ note: 'x', ...answer }, true)).toBe(JSON.stringify(answer));
      expect(fieldsIn(answer, false)).toBe('');
    }
    for (const answer of [{ status: 'success' }, { state: 'deleted' }, { note: 'x' }]) {
      expect(fieldsIn(answer, true)).toBe('');
    }
  });

  it('has the own id first, and what fits of the others', () => {
    const answer = { order_id: 'o1', status: 'still open', id: 'i1' };
    expect(fieldsIn(answer, false)).toBe('{"id":"i1","status":"still open","order_id":"o1"}');
    expect(fieldsIn(answer, false, 28)).toBe('{"id":"i1","order_id":"o1"}');
    expect(fieldsIn(answer, false, 10)).toBe('');
  });
});

describe('itemIdsIn', () => {
  const three = (item: (at: number) => unknown): unknown[] => [1, 2, 3].map(item);

  it.each<[what: string, json: unknown, ids: string]>([
    ['the own id', three((at) => ({ name: 'x', id: `a${at}` })), 'id: a1 a2 a3'],
    [
      'the number that users see',
      { items: three((at) => ({ id: 90 + at, number: at })) },
      'number: 1 2 3',
    ],
    [
      'the key that users see',
      { issues: three((at) => ({ id: `u${at}`, key: `APP-${at}` })) },
      'key: APP-1 APP-2 APP-3',
    ],
    ['another id', three((at) => ({ order_id: `o${at}`, customer_id: 7 })), 'order_id: o1 o2 o3'],
    [
      'the address',
      { query: 'q', results: three((at) => ({ title: 't', url: `https://a.b/${at}` })) },
      'url: https://a.b/1 https://a.b/2 https://a.b/3',
    ],
    [
      'the nodes of edges',
      { data: { all: { edges: three((at) => ({ cursor: 'c', node: { id: at } })) } } },
      'id: 1 2 3',
    ],
    [
      'a table',
      { rows_of: { columns: ['n', 'id'], rows: three((at) => [0, `a${at}`]) } },
      'id: a1 a2 a3',
    ],
    [
      'a table with objects among its rows',
      { columns: ['id'], rows: [['a1'], { id: 'a2', x: 1 }, ['a3']] },
      'id: a1 a2 a3',
    ],
    ['ids that tell items apart', three((at) => ({ key: 'same', id: `a${at}` })), 'id: a1 a2 a3'],
    [
      'the id that tells most items apart',
      [1, 2, 3, 1].map((user_id, at) => ({ user_id, orderId: at })),
      'orderId: 0 1 2 3',
    ],
    [
      'the longest list',
      { facets: three((at) => ({ key: `f${at}` })), items: [1, 2, 3, 4].map((id) => ({ id })) },
      'id: 1 2 3 4',
    ],
    [
      'the list beside columns of another kind',
      { columns: [{ name: 'n' }], rows: three((at) => ({ id: `a${at}` })) },
      'id: a1 a2 a3',
    ],
    [
      'the times of messages',
      three((at) => ({ ts: `170${at}.0001` })),
      'ts: 1701.0001 1702.0001 1703.0001',
    ],
    ['an item without id among others', [...three((id) => ({ id })), { error: 'x' }], 'id: 1 2 3'],
  ])('finds %s', (_, json, ids) => {
    expect(itemIdsIn(JSON.stringify(json), 1_000)).toBe(ids);
    expect(itemIdsIn(`Found 3:\n${JSON.stringify(json, null, 2)}\n`, 1_000)).toBe(ids);
  });

  it('names all ids or none', () => {
    const json = JSON.stringify(three((at) => ({ id: 'a'.repeat(at * 4) })));
    expect(itemIdsIn(json, 30)).toBe('id: aaaa aaaaaaaa aaaaaaaaaaaa');
    expect(itemIdsIn(json, 29)).toBe('');
  });

  it('takes no longer for a table that is both wide and long', { timeout: 3_000 }, () => {
    const columns = Array.from({ length: 15_000 }, () => 'a');
    const rows = Array.from({ length: 20_000 }, () => []);
    expect(itemIdsIn(JSON.stringify({ columns: [...columns, 'id'], rows }), 1_000)).toBe('');
    const few = rows.slice(0, 400);
    const fields = Object.fromEntries(columns.slice(0, 9_000).map((_, at) => [`${at}_id`, 0]));
    expect(itemIdsIn(JSON.stringify([fields, ...few.map(() => ({}))]), 1_000)).toBe('');
  });

  it.each<[what: string, text: string]>([
    ['few items', '[{"id":"a"},{"id":"b"}]'],
    ['items that share their ids', JSON.stringify(three((at) => [{ id: 1 }, { id: at }]).flat())],
    ['the times of log lines', JSON.stringify(three((ts) => ({ ts, level: 'info' })))],
    ['the dates of log lines', JSON.stringify(three((at) => ({ ts: `2026-08-0${at}T00:00Z` })))],
    ['items without ids', '[{"a":1},{"a":2},{"a":3}]'],
    ['sentences', '[{"id":"a b"},{"id":"c d"},{"id":"e f"}]'],
    ['texts', '["a1","a2","a3"]'],
    ['controls and half characters', String.raw`[{"id":"\u0007"},{"id":"\ud800"},{"id":"c"}]`],
    ['JSON that is cut off', '[{"id":"a"},{"id":"b"},{"id":"c"},{"id'],
    ['other text', 'id: a\nid: b\nid: c'],
    ['very long JSON', JSON.stringify(three((at) => ({ id: at, text: 'x'.repeat(100_000) })))],
  ])('finds none in %s', (_, text) => {
    expect(itemIdsIn(text, 1_000)).toBe('');
  });
});

describe('nextPageIn', () => {
  it.each([
    ['GraphQL', '{"pageInfo":{"hasNextPage":true,"endCursor":"Y3Vy=="}}', 'endCursor: Y3Vy=='],
    ['a cursor of each', '{"edges":[{"cursor":"a1"}],"endCursor":"z9"}', 'endCursor: z9'],
    ['the last of these', '{"edges":[{"cursor":"a1"},{"cursor":"a2"}]}', 'cursor: a2'],
    ['a cursor before each', '{"endCursor":"z9","edges":[{"cursor":"a1"}]}', 'endCursor: z9'],
    ['a nested one', '{"ok":true,"meta":{"next_cursor":"dXNlcjpV"}}', 'next_cursor: dXNlcjpV'],
    ['a token', '{"messages":[],"nextPageToken": "0872"}', 'nextPageToken: 0872'],
    ['a longer name', '{"NextContinuationToken":"1ueG"}', 'NextContinuationToken: 1ueG'],
    ['a scroll', '{"_scroll_id":"DXF1ZXJ5"}', '_scroll_id: DXF1ZXJ5'],
    ['an address', '{"next":"https://a.b/x?page=2"}', 'next: https://a.b/x?page=2'],
    ['a number', '{"next_page": 3, "total": 90}', 'next_page: 3'],
    ['a link', '{"@odata.nextLink":"https://g/x?$skip=10"}', 'nextLink: https://g/x?$skip=10'],
    ['JSON in a text', String.raw`{"text":"{\"nextToken\":\"e1\"}"}`, 'nextToken: e1'],
    ['YAML', 'items: []\nNextToken: eyJ0\n', 'NextToken: eyJ0'],
    ['a header', 'link: <https://a.b/x?page=2>; rel="next"', 'next: https://a.b/x?page=2'],
  ])('finds %s', (_, text, next) => {
    expect(nextPageIn(text, 240)).toBe(next);
  });

  it('finds it at the end of a long list', () => {
    const list = `{"rows":[${'{"name":"a"},'.repeat(9_000)}{}],"next_cursor":"c77"}`;
    expect(nextPageIn(list, 240)).toBe('next_cursor: c77');
    const middle = `{"rows":[${'{"name":"a"},'.repeat(3_000)}{}],"next_cursor":"c77","end":[`;
    expect(nextPageIn(middle + ' '.repeat(20_000), 240)).toBe('next_cursor: c77');
    expect(nextPageIn(middle + ' '.repeat(60_000), 240)).toBe('');
  });

  it.each([
    ['the last page', '{"hasNextPage":false,"endCursor":"Y3Vy=="}'],
    ['no page', '{"next":null,"next_cursor":"","has_more":true}'],
    ['a dependency', '{"dependencies":{"next":"^14.0.0"}}'],
    ['a secret', '{"access_token":"a1b2","refresh_token":"c3d4"}'],
    ['a style', 'a {\n  cursor: pointer;\n}\nconst style = { "cursor": "pointer" };'],
    ['a type', 'interface Page {\n  nextToken: string\n}'],
    ['what is too long', `{"nextToken":"${'a1'.repeat(200)}"}`],
  ])('finds none in %s', (_, text) => {
    expect(nextPageIn(text, 240)).toBe('');
  });
});
