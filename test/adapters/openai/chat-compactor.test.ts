// Chats through the real SDK, with a provider that refuses what breaks a rule.

import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { BOUND_REASONING } from '../../../src/main/models/model-limits.js';
import { chatCompactor } from '../../../src/adapters/openai/chat-compactor.js';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { sample } from '../../support/scale.js';
import { ReasoningSeals } from '../../support/thinking-provider.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { deepFreeze } from './arbitrary-talks.js';
import {
  runTool,
  scriptedWork,
  SUMMARY,
  TIGHT_COMPACTORS,
  workspaceTools,
} from './scripted-work.js';

const ANSWERS = 41;

function compactorFor(options: AdapterOptions, compactorOptions: CompactorOptions = {}) {
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    ...compactorOptions,
  });
  onTestFinished(() => compactor.close());
  return chatCompactor(compactor, options);
}

/** Runs the model until it makes no more calls; returns the caller's messages. */
async function work(
  { url }: ScriptedProvider,
  compact: MessageCompactor<ChatCompletionMessageParam>,
  isStreaming: boolean,
): Promise<readonly ChatCompletionMessageParam[]> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const files = await workspaceTools();
  const tools = files.map(
    ({ name, description, inputSchema }) =>
      ({
        type: 'function',
        function: { name, description, parameters: { ...inputSchema } },
      }) as const,
  );
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: [{ type: 'text', text: 'Tidy up the shop.' }] },
  ];
  for (;;) {
    deepFreeze(messages.slice());
    const request = { model: 'scripted', messages: await compact(messages), tools };
    const answer = isStreaming
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const message = answer.choices[0]!.message;
    messages.push(message);
    if (message.tool_calls === undefined) return messages;
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const content = await runTool(files, call.function.name, call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

describe('chatCompactor', () => {
  it.each([
    ['answers', false],
    ['streams', true],
  ])('sends pruned requests that the provider accepts, when that %s', async (_, isStreaming) => {
    const provider = await startStrictProvider(scriptedWork(ANSWERS));
    const compact = compactorFor({ edits: 'every-turn' });
    const messages = await work(provider, compact, isStreaming);
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
      const messages = await work(provider, compact, false);
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      expect(compact.report()[0]?.sentMessages).toBeLessThan(messages.length * 0.6);
      const isSummarized = provider.requests.some(({ body }) =>
        JSON.stringify(body).includes(SUMMARY),
      );
      expect(isSummarized).toBe(tight.summarizer !== undefined);
    },
  );

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
