import { describe, expect, it } from 'vitest';
import { findList, readList } from '../../../src/gateway/body/list-in-body.js';
import { TrackedConversations } from '../../../src/gateway/engine/tracked-conversations.js';
import type { TrackedConversation } from '../../../src/gateway/engine/tracked-conversations.js';
import { stepsOfMaps } from '../../support/steps-of-maps.js';

const conversations = new TrackedConversations(8, false, () => undefined);

/** Reads a body; returns how many of its messages were recognized, which keep their objects. */
function take(texts: readonly string[], scope: string = 'one', before: string = ''): number {
  const bytes = Buffer.from(`{${before}"messages":[${texts.join(',')}]}`);
  const start = findList(bytes, ['messages'])!;
  const known = conversations.knownStart(scope, bytes, start);
  const list = readList(bytes, start, ['messages'], known.elements)!;
  const fresh = list.elements.slice(known.messages.length);
  const messages = [
    ...known.messages,
    ...fresh.map(({ start: from, end }) => JSON.parse(bytes.toString('utf8', from, end)) as object),
  ];
  expect(messages).toEqual(texts.map((text): unknown => JSON.parse(text)));
  const about = { scope, api: 'anthropic', name: undefined } as const;
  const { conversation } = conversations.record({ about, list, messages, known });
  known.messages.forEach((message, at) => expect(conversation.messages[at]).toBe(message));
  return known.messages.length;
}

const user = (content: string): string => JSON.stringify({ role: 'user', content });

describe('TrackedConversations', () => {
  it('recognizes the known beginning of a body, from any conversation of its scope', () => {
    const [one, other] = [[user('make it work')], [user('make it walk'), user('on')]];
    expect([take(one), take(other)]).toEqual([0, 0]);
    for (let turn = 0; turn < 4; turn += 1) {
      const known = one.length;
      one.push(user(`turn ${turn}`), user('x'.repeat(100_000 * turn)));
      expect(take(one)).toBe(known);
      expect(take(other)).toBe(2);
    }
    expect(take(one, 'another')).toBe(0);
    // The list has another offset in the body.
    expect(take(one, 'one', '"more":1,')).toBe(one.length);
    expect(take([user('make it wow'), ...one.slice(1)])).toBe(0);
    expect(take([...one.slice(0, 3), user('another'), ...one.slice(4)])).toBe(3);
  });

  it('visits no other conversations for one that continues', async () => {
    const evicted: string[] = [];
    const known = new TrackedConversations(1_000, false, ({ id }) => evicted.push(id));
    const come = (texts: readonly string[]): string => {
      const bytes = Buffer.from(`{"messages":[${texts.join(',')}]}`);
      const start = findList(bytes, ['messages'])!;
      const begun = known.knownStart('one', bytes, start);
      const list = readList(bytes, start, ['messages'], begun.elements)!;
      const messages = texts.map((text) => JSON.parse(text) as object);
      const about = { scope: 'one', api: 'anthropic', name: texts[0] } as const;
      const { conversation } = known.record({ about, list, messages, known: begun });
      known.noteSent(conversation, undefined);
      conversation.openCalls = 0;
      return conversation.id;
    };
    const ids = Array.from({ length: 1_000 }, (_, at) => come([user(`${at}`)]));
    expect(await stepsOfMaps(() => come([user('7'), user('on')]))).toBeLessThan(20);
    expect(come([user('7'), user('on'), user('and on')])).toBe(ids[7]);
    expect(evicted).toEqual([]);
    come([user('one more')]);
    expect(evicted).toEqual([ids[0]]);
  });

  it('keeps bytes of bodies up to its limit, whatever replaces them', () => {
    const evicted: string[] = [];
    const known = new TrackedConversations(1_000, false, ({ id }) => evicted.push(id));
    const small = Buffer.from(`{"messages":[${user('x')}]}`);
    const body = Buffer.alloc(60 * 1024 * 1024);
    small.copy(body);
    const come = (name: string): TrackedConversation => {
      const start = findList(small, ['messages'])!;
      const list = { ...readList(small, start, ['messages'], [])!, bytes: body };
      const messages = [{ role: 'user', content: name }];
      const about = { scope: name, api: 'anthropic', name } as const;
      const begun = known.knownStart(name, small, start);
      const { conversation } = known.record({ about, list, messages, known: begun });
      conversation.openCalls = 0;
      return conversation;
    };
    const [first, second] = ['a', 'b', 'c'].map(come);
    // The same conversation each time: nothing is counted twice.
    for (let turn = 0; turn < 3; turn += 1) come('b');
    expect(evicted).toEqual([]);
    known.noteSent(second!, { text: body } as never);
    known.noteSent(second!, { text: body } as never);
    come('c');
    expect(evicted).toEqual([]);
    come('d');
    expect(evicted).toEqual([first!.id]);
  });

  it('continues a conversation whose texts were sent as parts while they had a cache mark', () => {
    const known = new TrackedConversations(8, false, () => undefined);
    const come = (messages: readonly object[]): boolean => {
      const bytes = Buffer.from(JSON.stringify({ messages }));
      const start = findList(bytes, ['messages'])!;
      const about = { scope: 'one', api: 'anthropic', name: 'a' } as const;
      const list = readList(bytes, start, ['messages'], [])!;
      return known.record({ about, list, messages, known: known.knownStart('one', bytes, start) })
        .isNew;
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

  it('recognizes a conversation that its host has rewritten by its calls and its first words', () => {
    const known = new TrackedConversations(8, false, () => undefined);
    const come = (messages: readonly object[]): string => {
      const bytes = Buffer.from(JSON.stringify({ messages }));
      const start = findList(bytes, ['messages'])!;
      const about = { scope: 'one', api: 'chat', name: undefined } as const;
      const list = readList(bytes, start, ['messages'], [])!;
      return known.record({ about, list, messages, known: known.knownStart('one', bytes, start) })
        .conversation.id;
    };
    const call = (number: number, more: object): object => {
      const called = { name: 'read', arguments: `{"path":"${number}"}` };
      const id = `read:${number}`;
      return {
        role: 'assistant',
        ...more,
        tool_calls: [{ id, type: 'function', function: called }],
      };
    };
    const talk = (words: string, calls: number, more: object): readonly object[] => [
      { role: 'user', content: words },
      ...Array.from({ length: calls }, (_, at) => call(at, more)),
    ];
    const [one, other] = [talk('make it work', 4, {}), talk('make it walk', 4, {})];
    const id = come(one);
    expect(come(talk('make it work', 6, { reasoning: 'anew' }))).toBe(id);
    // Models that number their calls make the same ids in every conversation.
    expect(come(other)).not.toBe(id);
    expect(come(talk('make it work', 7, { reasoning: 'again' }))).toBe(id);
  });

  it('recognizes nothing in an empty list', () => {
    const bytes = Buffer.from('{"messages":[ ]}');
    expect(conversations.knownStart('one', bytes, findList(bytes, ['messages'])!).messages).toEqual(
      [],
    );
  });
});
