import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageCompactor } from '../../../src/anthropic.js';
import { chatCompactor } from '../../../src/openai.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { ownConversations } from '../../support/own-conversations.js';
import type { OwnConversations } from '../../support/own-conversations.js';
import { assistant, PLAIN_MESSAGE_FORMAT, user } from '../../support/plain-message-format.js';
import type { PlainMessage } from '../../support/plain-message-format.js';
import { compacted, start, use, write } from '../../support/plain-talk.js';

let compactor: Compactor;
let sessions: Session[];

beforeEach(() => {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/w' });
  sessions = [];
});

afterEach(() => compactor.close());

function conversationsOfTest(): OwnConversations<PlainMessage> {
  return ownConversations(compactor, PLAIN_MESSAGE_FORMAT, {
    edits: 'every-turn',
    onSession: (session) => sessions.push(session),
  });
}

describe('a transient message at the end', () => {
  it.each([undefined, 'x'])(
    'keeps the session when it differs in each call (conversation %s)',
    async (conversationId) => {
      const conversations = conversationsOfTest();
      const passing = (at: number): PlainMessage => user(`it is ${at} o'clock`);
      const steps = [
        start.slice(0, 2),
        start,
        [...start, assistant('so'), user('on')],
        [...start, assistant('so'), user('on'), ...write],
        [...start, assistant('so'), user('on'), ...write, ...use('3', 'write_file', 'b.ts')],
      ];
      const left = [start[0], start[1], assistant('so'), user('on'), ...write];
      const expected = [...steps.slice(0, 3), left, [...left, ...use('3', 'write_file', 'b.ts')]];
      for (const [at, step] of steps.entries()) {
        const sent = await conversations.compact([...step, passing(at)], { conversationId });
        expect(sent).toEqual([...expected[at]!, passing(at)]);
        if (at < 3) continue;
        // The session is not restarted in each call: no entry is added twice.
        expect(sessions[0]?.history.additions).toBe(at === 3 ? 9 : 11);
      }
      expect(sessions).toHaveLength(1);
      expect(conversations.report()[0]).toMatchObject({ givenMessages: 11, sentMessages: 9 });
    },
  );

  it.each([undefined, 'x'])(
    'keeps the session when it holds instructions (conversation %s)',
    async (conversationId) => {
      const onSession = (session: Session): number => sessions.push(session);
      const compact = chatCompactor<object>(compactor, { onError: 'throw', onSession });
      const history: object[] = [{ role: 'user', content: 'go' }];
      for (let turn = 0; turn < 9; turn += 1) {
        const given = [...history, { role: 'developer', content: `${turn} of 9` }];
        expect(await compact(given, { conversationId })).toEqual(given);
        history.push({ role: 'assistant', content: `done ${turn}` });
        history.push({ role: 'user', content: `and ${turn}?` });
      }
      expect(sessions).toHaveLength(1);
      // Read again once, when the first of them has been left out.
      expect(sessions[0]?.history.additions).toBe(18);
    },
  );

  it('is read once it has stayed', async () => {
    const conversations = conversationsOfTest();
    await conversations.compact([...start, user('now')]);
    await conversations.compact([...start, assistant('so'), user('then')]);
    const stayed = [...start, assistant('so'), user('then'), assistant('yes')];
    await conversations.compact(stayed);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.history.getAll().at(-2)).toMatchObject({ speaker: 'human' });
    await conversations.compact([...stayed, user('again')]);
    expect(sessions[0]?.history.getAll().at(-1)).toMatchObject({ speaker: 'human' });
    expect(await conversations.compact([...stayed, user('again'), ...write])).toEqual([
      ...start.slice(0, 2),
      ...stayed.slice(4),
      user('again'),
      ...write,
    ]);
  });

  it('is none of a conversation that began otherwise', async () => {
    const conversations = conversationsOfTest();
    await conversations.compact([user('one'), user('now')]);
    await conversations.compact([user('other'), assistant('so'), user('then')]);
    expect(sessions).toHaveLength(2);
  });

  it('is recognized, too, if the host continues from the returned messages', async () => {
    const conversations = conversationsOfTest();
    const got = await conversations.compact([...start, ...write, user('now')]);
    expect(got).toEqual([...compacted, user('now')]);
    const next = [...got.slice(0, -1), assistant('so'), user('then')];
    expect(await conversations.compact(next)).toEqual(next);
    expect(sessions).toHaveLength(1);
  });

  it('is not looked for in conversations that began otherwise: a server has many', async () => {
    const conversations = conversationsOfTest();
    await conversations.compact([user('one'), assistant('so'), user('now')]);
    const createReader = vi.spyOn(PLAIN_MESSAGE_FORMAT, 'createReader');
    await conversations.compact([user('other'), assistant('well'), assistant('yes')]);
    // That of the new conversation.
    expect(createReader).toHaveBeenCalledOnce();
    createReader.mockRestore();
    expect(sessions).toHaveLength(2);
  });
});

it('a text that the host adds to its last message, beside results, and leaves out of the next call keeps the session', async () => {
  const compact = messageCompactor(compactor, { onSession: (session) => sessions.push(session) });
  const messages: MessageParam[] = [{ role: 'user', content: 'go' }];
  for (let at = 0; at < 9; at += 1) {
    const id = `c${at}`;
    const call = { type: 'tool_use', id, name: 'bash', input: { command: `make ${at}` } } as const;
    const result = { type: 'tool_result', tool_use_id: id, content: `made ${at}` } as const;
    const now = { type: 'text', text: `It is ${at} o'clock.` } as const;
    messages.push({ role: 'assistant', content: [call] });
    await compact([...messages, { role: 'user', content: [result, now] }]);
    messages.push({ role: 'user', content: [result] });
  }
  // Short conversations may well begin alike.
  expect(sessions.length).toBeLessThanOrEqual(3);
  expect(sessions.at(-1)?.costs().requests).toBeGreaterThanOrEqual(7);
});

it('a conversation that has more than half of its messages in common with another one, and goes on longer, is not taken for it', async () => {
  const conversations = conversationsOfTest();
  const common = [...start, ...use('3', 'read_file', 'c.ts'), ...use('4', 'read_file', 'd.ts')];
  const turnOf = (name: string): PlainMessage[] => [assistant(`so ${name}`), user(`on ${name}`)];
  await conversations.compact([...common, ...turnOf('a')]);
  await conversations.compact([...common, ...turnOf('b'), ...turnOf('b')]);
  expect(sessions).toHaveLength(2);
});
