// Token counts through the real SDK, of conversations of which this process has sent no request.

import Anthropic from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { expect, it } from 'vitest';
import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import { ask, exchange, staleRead } from './conversations.js';
import { openCompactor } from '../../support/open-compactor.js';

/** Has messages counted by an endpoint that first refuses some requests; returns the bodies that it receives. */
async function counted(
  messages: readonly MessageParam[],
  refusals: number,
): Promise<readonly { readonly messages: readonly MessageParam[] }[]> {
  const compactor = openCompactor({ workspaceRoot: '/work' });
  const seen: { messages: MessageParam[] }[] = [];
  const error = { message: 'The block is bound to a different conversation.' };
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    middleware: [compactionMiddleware(compactor, { edits: 'every-turn' })],
    fetch: (_, init) => {
      const body = JSON.parse(init?.body as string) as (typeof seen)[number];
      const isRefused = seen.push(body) <= refusals;
      return Promise.resolve(
        isRefused
          ? Response.json({ type: 'error', error }, { status: 400 })
          : Response.json({ input_tokens: 1 }),
      );
    },
  });
  const model = 'claude-sonnet-5-5';
  await client.messages.countTokens({ model, messages: [...messages] }).catch(() => undefined);
  return seen;
}

it('sends such a request unchanged', async () => {
  const messages = staleRead();
  expect(await counted(messages, 0)).toEqual([{ model: 'claude-sonnet-5-5', messages }]);
});

it('repeats it once without the reasoning that the endpoint refuses, which may be bound to an edited prefix', async () => {
  const messages = staleRead({ thinking: 'I look.' });
  const bare = messages.map(({ role, content }) => ({
    role,
    content: Array.isArray(content) ? content.filter(({ type }) => type !== 'thinking') : content,
  }));
  for (const refusals of [1, 2])
    expect((await counted(messages, refusals)).map((body) => body.messages)).toEqual([
      messages,
      bare,
    ]);
  expect(JSON.stringify(messages)).toContain('I look.');
});

it('counts a turn as it is sent, with the call put back that began it', async () => {
  const bodies: { messages: MessageParam[] }[] = [];
  const client = new Anthropic({
    apiKey: 'none',
    middleware: [compactionMiddleware(openCompactor(), { edits: 'every-turn' })],
    fetch: (_, init) => {
      bodies.push(JSON.parse(init?.body as string) as (typeof bodies)[number]);
      return Promise.resolve(Response.json({ content: [], input_tokens: 1 }));
    },
  });
  const messages = [
    ask('Fix a.ts.'),
    ...exchange('toolu_1', 'read_file', 'a.ts', { thinking: 'I look.' }),
    ...exchange('toolu_2', 'write_file', 'a.ts'),
    ...exchange('toolu_3', 'search', 'b.ts'),
  ];
  for (const model of ['claude-opus-5-5', 'claude-sonnet-4-5'])
    await client.messages.create({ model, max_tokens: 9, messages });
  await client.messages.countTokens({ model: 'claude-sonnet-4-5', messages });
  const [removed, sent, counted] = bodies.map((body) => body.messages);
  expect(removed).toHaveLength(messages.length - 2);
  expect(sent).toEqual(messages);
  expect(counted).toEqual(sent);
});
