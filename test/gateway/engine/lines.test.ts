import { describe, expect, it } from 'vitest';
import { findList, readList } from '../../../src/gateway/body/list-in-body.js';
import { Lines } from '../../../src/gateway/engine/lines.js';

const lines = new Lines(8, false, () => undefined);

/** Takes a body in; returns how many of its messages were known, as the objects that they were. */
function take(texts: readonly string[], scope: string = 'one', before: string = ''): number {
  const bytes = Buffer.from(`{${before}"messages":[${texts.join(',')}]}`);
  const start = findList(bytes, ['messages'])!;
  const known = lines.knownStart(scope, bytes, start);
  const list = readList(bytes, start, ['messages'], known.elements)!;
  const fresh = list.elements.slice(known.messages.length);
  const messages = [
    ...known.messages,
    ...fresh.map(({ start: from, end }) => JSON.parse(bytes.toString('utf8', from, end)) as object),
  ];
  expect(messages).toEqual(texts.map((text): unknown => JSON.parse(text)));
  const { line } = lines.take({ scope, api: 'anthropic', name: undefined }, list, messages, known);
  known.messages.forEach((message, at) => expect(line.messages[at]).toBe(message));
  return known.messages.length;
}

const user = (content: string): string => JSON.stringify({ role: 'user', content });

describe('Lines', () => {
  it('knows what a body begins with, in whichever of the lines of its scope that came', () => {
    const [one, other] = [[user('make it work')], [user('make it walk'), user('on')]];
    expect([take(one), take(other)]).toEqual([0, 0]);
    for (let turn = 0; turn < 4; turn += 1) {
      const known = one.length;
      one.push(user(`turn ${turn}`), user('x'.repeat(100_000 * turn)));
      expect(take(one)).toBe(known);
      expect(take(other)).toBe(2);
    }
    expect(take(one, 'another')).toBe(0);
    // The list stands elsewhere in the body.
    expect(take(one, 'one', '"more":1,')).toBe(one.length);
    expect(take([user('make it wow'), ...one.slice(1)])).toBe(0);
    expect(take([...one.slice(0, 3), user('another'), ...one.slice(4)])).toBe(3);
  });

  it('goes on with a conversation whose texts were written as parts while they had a mark', () => {
    const known = new Lines(8, false, () => undefined);
    const come = (messages: readonly object[]): boolean => {
      const bytes = Buffer.from(JSON.stringify({ messages }));
      const start = findList(bytes, ['messages'])!;
      const about = { scope: 'one', api: 'anthropic', name: 'a' } as const;
      const list = readList(bytes, start, ['messages'], [])!;
      return known.take(about, list, messages, known.knownStart('one', bytes, start)).isNew;
    };
    const marked = (text: string): object => ({
      role: 'user',
      content: [{ type: 'text', text, cache_control: { type: 'ephemeral' } }],
    });
    const text = (content: string, role = 'user'): object => ({ role, content });
    expect(come([marked('make it work')])).toBe(true);
    expect(come([text('make it work'), text('done', 'assistant'), marked('on')])).toBe(false);
    expect(come([text('make it work'), text('done', 'assistant'), text('on')])).toBe(false);
    expect(come([text('make it walk'), text('done', 'assistant'), marked('on')])).toBe(true);
  });

  it('knows nothing of a list that is empty', () => {
    const bytes = Buffer.from('{"messages":[ ]}');
    expect(lines.knownStart('one', bytes, findList(bytes, ['messages'])!).messages).toEqual([]);
  });
});
