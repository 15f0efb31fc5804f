// Chats through the real SDK, with a provider that refuses what breaks a rule.

import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { BOUND_REASONING } from '../../../src/main/models/model-limits.js';
import { chatCompactor } from '../../../src/adapters/openai/chat-compactor.js';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { length, sample } from '../../support/scale.js';
import { ReasoningSeals } from '../../support/thinking-provider.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { runChat } from './agent-loops.js';
import { scriptedWork, SUMMARY, TIGHT_COMPACTORS } from './scripted-work.js';
import { openCompactor } from '../../support/open-compactor.js';

const ANSWERS = length(41, 25);

function compactorFor(options: AdapterOptions, compactorOptions: CompactorOptions = {}) {
  return chatCompactor(openCompactor(compactorOptions), options);
}

describe('chatCompactor', () => {
  it.each([
    ['answers', false],
    ['streams', true],
  ])('sends pruned requests that the provider accepts, when that %s', async (_, isStreaming) => {
    const provider = await startStrictProvider(scriptedWork(ANSWERS));
    const compact = compactorFor({ edits: 'every-turn' });
    const messages = await runChat(provider, { compact, isStreaming });
    expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
    const [report] = compact.report();
    expect(report?.givenMessages).toBe(messages.length - 1);
    expect(report!.sentMessages).toBeLessThan(messages.length * 0.75);
    const sent = provider.requests.at(-1)!.body['messages'] as readonly unknown[];
    expect(sent.slice(0, 2)).toEqual(messages.slice(0, 2));
    // A message may lack calls; everything else in it is unchanged.
    const given = new Set(messages.map(withoutCalls));
    expect(sent.filter((message) => !given.has(withoutCalls(message)))).toEqual([]);
  });

  it.each(sample(TIGHT_COMPACTORS, 1))(
    'sends requests that the provider accepts while it compresses by %s',
    async (_, tight) => {
      const provider = await startStrictProvider(scriptedWork(ANSWERS));
      const compact = compactorFor({}, tight);
      const messages = await runChat(provider, { compact, isStreaming: false });
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      expect(compact.report()[0]?.sentMessages).toBeLessThan(messages.length * 0.6);
      const isSummarized = provider.requests.some(({ body }) =>
        JSON.stringify(body).includes(SUMMARY),
      );
      expect(isSummarized).toBe(tight.summarizer !== undefined);
    },
  );

  it('refers to an earlier result where the model restarts the numbering of its calls', async () => {
    const compact = compactorFor({});
    const content = Array.from({ length: 60 }, (_, at) => `const value${at} = ${at ** 2};`).join(
      '\n',
    );
    const called = { name: 'read_file', arguments: '{"path":"a.ts"}' };
    const read: ChatCompletionMessageParam[] = [
      { role: 'assistant', tool_calls: [{ id: 'call_0', type: 'function', function: called }] },
      { role: 'tool', tool_call_id: 'call_0', content },
    ];
    const messages = [{ role: 'user', content: 'Look twice.' } as const, ...read, ...read];
    const sent = await compact(messages);
    expect(sent.slice(0, -1)).toEqual(messages.slice(0, -1));
    expect(sent.at(-1)).toMatchObject({
      tool_call_id: 'call_0',
      content: expect.stringMatching(/unchanged from the result of call_0\b.{0,80}$/) as string,
    });
  });

  it('returns the same messages while nothing is edited', async () => {
    const compact = compactorFor({});
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'go' }];
    const compacted = await compact(messages);
    expect(compacted).not.toBe(messages);
    expect(compacted[0]).toBe(messages[0]);
  });
});

it.each([
  ['anthropic/claude-opus-5.5', true],
  ['anthropic/claude-sonnet-4.5', false],
])(
  'chatCompactor removes reasoning of %s behind an edit, if the model binds it: %s',
  async (modelName, isTaken) => {
    const compact = compactorFor({}, { contextLimit: 3_000 });
    const seals = new ReasoningSeals();
    const messages: object[] = [{ role: 'user', content: 'make it work' }];
    let broken = 0;
    for (let at = 0; at < 40; at += 1) {
      const sent = await compact(messages as ChatCompletionMessageParam[], { modelName });
      const parts = sent.flatMap((message) => {
        const { reasoning_details: details = [], ...rest } = message as {
          readonly reasoning_details?: readonly { readonly signature: string }[];
        };
        const sealed = details.map((detail) => ({ text: '', seal: detail.signature }));
        return [...sealed, { text: JSON.stringify(rest) }];
      });
      broken += seals.broken(parts).length;
      const id = `c${at}`;
      const called = { name: 'read_file', arguments: `{"path":"${at}.ts"}` };
      messages.push(
        {
          ...{ role: 'assistant', content: null },
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: seals.seal(parts) }],
          tool_calls: [{ type: 'function', id, function: called }],
        },
        { role: 'tool', tool_call_id: id, content: `line of file ${at}\n`.repeat(60) },
      );
    }
    expect(compact.report()[0]?.sentMessages).toBeLessThan(messages.length);
    expect(broken === 0).toBe(isTaken);
  },
);

it('chatCompactor keeps the reasoning of a model when another model has refused it in the same conversation', async () => {
  const compact = compactorFor({}, { contextLimit: 3_000 });
  const messages: object[] = [{ role: 'user', content: 'make it work' }];
  const bare = new Set<unknown>();
  for (let at = 0; at < 40; at += 1) {
    const sent = await compact(messages as ChatCompletionMessageParam[], {
      modelName: at < 10 ? 'my-model' : 'deepseek-v9',
      refusal: at === 9 ? BOUND_REASONING : undefined,
    });
    for (const message of sent as readonly { readonly content?: unknown }[]) {
      const isOfSecond = /\b[1-3]\d\.ts/.test(JSON.stringify(message));
      if ('tool_calls' in message && isOfSecond && !('reasoning_content' in message)) bare.add(at);
    }
    const id = `c${at}`;
    const called = { name: 'read_file', arguments: `{"path":"${at}.ts"}` };
    messages.push(
      {
        ...{ role: 'assistant', content: null, reasoning_content: `hm ${at}` },
        tool_calls: [{ type: 'function', id, function: called }],
      },
      { role: 'tool', tool_call_id: id, content: `line of file ${at}\n`.repeat(60) },
    );
  }
  expect(compact.report()).toHaveLength(1);
  expect(compact.report()[0]?.sentMessages).toBeLessThan(messages.length);
  expect([...bare]).toEqual([]);
});

it('chatCompactor continues a session in a call without a model, but not with a model that may need the removed reasoning', async () => {
  const compact = compactorFor({});
  const messages: ChatCompletionMessageParam[] = [];
  const sessionsWith = async (modelName?: string): Promise<number> => {
    messages.push({ role: 'user', content: `go on ${messages.length}` });
    await compact(messages, { modelName });
    messages.push({ role: 'assistant', content: 'done' });
    return compact.report().length;
  };
  expect(await sessionsWith()).toBe(1);
  expect(await sessionsWith('anthropic/claude-opus-5.5')).toBe(1);
  expect(await sessionsWith()).toBe(1);
  expect(await sessionsWith('openai/gpt-5.5')).toBe(2);
});

function withoutCalls(message: unknown): string {
  return JSON.stringify({ ...(message as object), tool_calls: undefined });
}
