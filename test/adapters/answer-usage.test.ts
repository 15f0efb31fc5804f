// Adapters that see the usage of each answer keep requests within the window of a model that counts differently, with
// tools that are larger than estimated.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { compactionMiddleware, prepareStep } from '../../src/ai-sdk.js';
import { compactingFetch } from '../../src/anthropic.js';
import { createCompactor } from '../../src/index.js';
import { memoryStore } from '../../src/state.js';
import type { StateStore } from '../../src/state.js';
import { contextEdit } from '../../src/langchain.js';
import * as google from '../../src/google.js';
import * as openai from '../../src/openai.js';
import type { AdapterOptions } from '../../src/ai-sdk.js';
import { nextTurn } from '../../src/main/waiting/event-loop-turn.js';
import type { Compactor, Session } from '../../src/index.js';
import { openCompactor } from '../support/open-compactor.js';
import { sample } from '../support/scale.js';

const [LIMIT, RATIO, TOOLS] = [80_000, 1.5, 27_000];

/** Sends a request of texts; `inputTokens` returns how many tokens the provider counts in it. */
type Ask = (texts: readonly string[], inputTokens: () => number) => Promise<void>;
type Open = (compactor: Compactor, options: AdapterOptions) => Ask;

const roleOf = (at: number): 'user' | 'assistant' => (at % 2 === 0 ? 'user' : 'assistant');

async function partsOf(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** A model of the AI SDK behind the middleware, as `wrapLanguageModel` calls both. */
const sdkModel =
  (isStreamed: boolean, usageOf: (tokens: number) => unknown): Open =>
  (compactor, options) => {
    const middleware = compactionMiddleware(compactor, options);
    return async (texts, inputTokens) => {
      const model = { provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' };
      const prompt = texts.map((text, at) => ({
        role: roleOf(at),
        content: [{ type: 'text' as const, text }],
      }));
      const params = await middleware.transformParams({ model, params: { prompt } });
      if (!isStreamed) {
        const doGenerate = () => Promise.resolve({ content: [], usage: usageOf(inputTokens()) });
        const answer = await middleware.wrapGenerate({ doGenerate, params, model });
        expect(Object.keys(answer)).toEqual(['content', 'usage']);
        return;
      }
      const parts = [{ type: 'text-delta', delta: 'Yes' }, { type: 'finish', usage: usageOf(inputTokens()) }]; // prettier-ignore
      const doStream = () => Promise.resolve({ stream: ReadableStream.from(parts), request: 1 });
      const { stream, request } = await middleware.wrapStream({ doStream, params, model });
      expect(request).toBe(1);
      expect(await partsOf(stream)).toEqual(parts);
    };
  };

/** One run of one step per question: no run sees the usage of another in its steps. */
const sdkRuns =
  (isStreamed: boolean): Open =>
  (compactor, options) => {
    const prepare = prepareStep(compactor, options);
    return async (texts, inputTokens) => {
      const usage = () => ({ inputTokens: { total: inputTokens(), cacheRead: 0 } });
      const model = {
        ...{ provider: 'anthropic.messages', modelId: 'claude-sonnet-4-5' },
        doGenerate: () => Promise.resolve({ content: [], usage: usage() }),
        doStream: () => {
          const parts = [
            { type: 'text-delta', delta: 'Yes' },
            { type: 'finish', usage: usage() },
          ];
          return Promise.resolve({ stream: ReadableStream.from<object>(parts), request: 1 });
        },
      };
      const messages = texts.map((content, at) => ({ role: roleOf(at), content }));
      const step = await prepare({ model, messages, steps: [] });
      if (isStreamed) {
        const { stream, request } = (await step.model?.doStream())!;
        expect([request, await partsOf(stream)]).toMatchObject([1, [{}, { type: 'finish' }]]);
      } else expect(await step.model?.doGenerate()).toEqual({ content: [], usage: usage() });
    };
  };

const anthropicFetch =
  (isStreamed: boolean): Open =>
  (compactor, options) => {
    let tokens = (): number => 0;
    const send = compactingFetch(compactor, options, () => {
      const message = { type: 'message', role: 'assistant', content: [], usage: { input_tokens: tokens() } }; // prettier-ignore
      if (!isStreamed) return Promise.resolve(Response.json(message));
      const start = JSON.stringify({ type: 'message_start', message });
      const bytes = new TextEncoder().encode(`event: message_start\ndata: ${start}\n\nevent: ping\ndata: {}\n\n`); // prettier-ignore
      const chunks = [bytes.subarray(0, 40), bytes.subarray(40, 90), bytes.subarray(90)];
      const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
      return Promise.resolve(new Response(ReadableStream.from(chunks), { headers }));
    });
    return async (texts, inputTokens) => {
      tokens = inputTokens;
      const messages = texts.map((content, at) => ({ role: roleOf(at), content }));
      const body = JSON.stringify({ model: 'claude-sonnet-4-5', messages });
      const answer = await send('https://api.anthropic.com/v1/messages', { method: 'POST', body });
      expect(await answer.text()).toContain(isStreamed ? 'event: ping' : '"usage"');
    };
  };

/** A stream in chunks of 40 bytes, which split lines anywhere. */
function streamOf(events: readonly object[]): Response {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const bytes = new TextEncoder().encode(`${text}data: [DONE]`);
  const starts = Array.from({ length: Math.ceil(bytes.length / 40) }, (_, at) => 40 * at);
  const chunks = starts.map((start) => bytes.subarray(start, start + 40));
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  return new Response(ReadableStream.from(chunks), { headers });
}

const chatFetch =
  (isStreamed: boolean): Open =>
  (compactor, options) => {
    let tokens = (): number => 0;
    const send = openai.compactingFetch(compactor, options, () => {
      const usage = { prompt_tokens: tokens(), completion_tokens: 1 };
      return Promise.resolve(
        isStreamed
          ? streamOf([{ choices: [{ delta: { content: 'Ja – "usage"' } }], usage: null }, { choices: [], usage }]) // prettier-ignore
          : Response.json({ choices: [], usage }),
      );
    });
    return async (texts, inputTokens) => {
      tokens = inputTokens;
      const messages = texts.map((content, at) => ({ role: roleOf(at), content }));
      const body = JSON.stringify({ model: 'gpt-4.1', messages });
      const answer = await send('https://h/v1/chat/completions?x=1', { method: 'POST', body });
      expect(await answer.text()).toContain(isStreamed ? 'data: [DONE]' : '"usage"');
    };
  };

const responsesFetch =
  (isStreamed: boolean): Open =>
  (compactor, options) => {
    let tokens = (): number => 0;
    const send = openai.compactingFetch(compactor, options, () => {
      const usage = { input_tokens: tokens(), input_tokens_details: { cached_tokens: 0 } };
      const response = { output: [], usage };
      return Promise.resolve(
        isStreamed
          ? streamOf([{ type: 'response.created', response: { output: [], usage: null } }, { type: 'response.completed', response }]) // prettier-ignore
          : Response.json(response),
      );
    });
    return async (texts, inputTokens) => {
      tokens = inputTokens;
      const input = texts.map((content, at) => ({ role: roleOf(at), content }));
      const body = JSON.stringify({ model: 'gpt-4.1', input });
      const answer = await send(new URL('https://h/v1/responses'), { method: 'POST', body });
      expect(await answer.text()).toContain(isStreamed ? 'data: [DONE]' : '"usage"');
    };
  };

const geminiFetch =
  (isStreamed: boolean): Open =>
  (compactor, options) => {
    let tokens = (): number => 0;
    const send = google.compactingFetch(compactor, options, () => {
      const usageMetadata = { trafficType: 'ON_DEMAND', promptTokenCount: tokens() };
      return Promise.resolve(
        isStreamed
          ? streamOf([{ usageMetadata: { trafficType: 'ON_DEMAND' } }, { usageMetadata }])
          : Response.json({ candidates: [], usageMetadata }),
      );
    });
    return async (texts, inputTokens) => {
      tokens = inputTokens;
      const contents = texts.map((text, at) => {
        return { role: roleOf(at) === 'user' ? 'user' : 'model', parts: [{ text }] };
      });
      const url = 'https://h/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse';
      const answer = await send(url, { method: 'POST', body: JSON.stringify({ contents }) });
      expect(await answer.text()).toContain('"usageMetadata"');
    };
  };

/** Agents of LangChain keep the usage in their messages. */
const langchainEdit: Open = (compactor, options) => {
  const edit = contextEdit(compactor, options);
  const messages: BaseMessage[] = [];
  let read = 0;
  let total = 0;
  return async (texts, inputTokens) => {
    for (; read < texts.length; read += 1) {
      const text = texts[read] ?? '';
      const usage_metadata = { input_tokens: total, output_tokens: 1, total_tokens: total + 1 };
      messages.push(
        roleOf(read) === 'user'
          ? new HumanMessage(text)
          : new AIMessage({ content: text, usage_metadata } as never),
      );
    }
    await edit.apply({ messages, model: { model: 'claude-sonnet-4-5' } } as never);
    total = inputTokens();
  };
};

const WAYS: Record<string, Open> = {
  'an edit of LangChain': langchainEdit,
  'the AI SDK': sdkModel(false, (total) => ({ inputTokens: { total, cacheRead: 0 } })),
  'the AI SDK, streamed': sdkModel(true, (total) => ({ inputTokens: { total, cacheRead: 0 } })),
  'the AI SDK, plain numbers': sdkModel(false, (inputTokens) => ({ inputTokens })),
  'runs of the AI SDK': sdkRuns(false),
  'runs of the AI SDK, streamed': sdkRuns(true),
  "Anthropic's fetch": anthropicFetch(false),
  "Anthropic's fetch, streamed": anthropicFetch(true),
  'a fetch for Chat Completions': chatFetch(false),
  'a fetch for Chat Completions, streamed': chatFetch(true),
  'a fetch for Responses': responsesFetch(false),
  'a fetch for Responses, streamed': responsesFetch(true),
  'a fetch for Gemini': geminiFetch(false),
  'a fetch for Gemini, streamed': geminiFetch(true),
};

/** Makes calls, all in one process or each in its own; returns what the provider counts in each request. */
async function play(
  open: Open,
  calls: number,
  isFresh: boolean,
  onSession = (_: Session): void => undefined,
): Promise<readonly number[]> {
  const store = memoryStore();
  const sent: number[] = [];
  const texts = ['Begin.'];
  let session: Session | undefined;
  const start = (): readonly [Compactor, Ask] => {
    const compactor = createCompactor({ offload: 'inline', contextLimit: LIMIT, store });
    const options: AdapterOptions = {
      onError: 'throw',
      onSession: (made) => {
        session = made;
        onSession(made);
      },
    };
    return [compactor, open(compactor, options)];
  };
  let [compactor, ask] = start();
  for (let call = 0; call < calls; call += 1) {
    const tokens = (): number => Math.round(TOOLS + RATIO * session!.history.getTotalTokens());
    await ask(texts, tokens);
    sent.push(tokens());
    texts.push(`${call} ${'one word '.repeat(1_200)}`, 'Go on.');
    if (!isFresh) continue;
    await compactor.close();
    [compactor, ask] = start();
  }
  await compactor.close();
  return sent;
}

describe('the usage of an answer', () => {
  // LangChain's messages hold the usage themselves, and a new edit has not seen it.
  const ACROSS = Object.entries(WAYS).filter(([, open]) => open !== langchainEdit);

  it.each([
    ...Object.entries(WAYS).map(([name, open]) => ['call', name, open] as const),
    ...sample(ACROSS, 3).map(([name, open]) => ['process', name, open] as const),
  ])('reaches the next %s: %s', async (next, _, open) => {
    const sent = await play(open, 20, next === 'process');
    expect(Math.max(...sent)).toBeLessThan(LIMIT);
    expect(Math.max(...sent)).toBeGreaterThan(0.75 * LIMIT);
    expect(sent.at(-1)).toBeLessThan(Math.max(...sent));
  });

  it.each([
    ['nothing', 0, 5],
    ['all', 0.95, 0],
  ])(
    'tells each process when %s of the prompt was read from the cache',
    async (_, share, missed) => {
      const misses: unknown[] = [];
      const open = sdkModel(false, (total) => {
        const cacheRead = Math.floor(share * total);
        return { inputTokens: { total, cacheRead, cacheWrite: total - cacheRead } };
      });
      await play(open, 6, true, (session) => {
        session.on('cacheMissed', (miss) => misses.push(miss));
      });
      expect(misses).toHaveLength(missed);
    },
  );

  /** A process with one conversation; `report` takes the usage of its last answer. */
  function processOf(store: StateStore) {
    const compactor = openCompactor({ store });
    const diverged: string[] = [];
    const compact = openai.chatCompactor(compactor, {
      onError: 'throw',
      onSession: (session) =>
        session.on('stateDiverged', ({ reason }) => {
          diverged.push(reason);
        }),
    });
    let takeUsage = (_: object): void => undefined;
    const ask = async (...texts: readonly string[]): Promise<void> => {
      const messages = texts.map((content, at) => ({ role: roleOf(at), content }));
      const answerUsage = (take: typeof takeUsage): void => void (takeUsage = take);
      await compact(messages, { conversationId: 'c', modelName: 'claude-opus-5-5', answerUsage });
    };
    return { compactor, ask, diverged, report: (tokens: number) => takeUsage({ reportedInputTokens: tokens }) }; // prettier-ignore
  }
  const [LONG, LONGER] = ['one word '.repeat(900), 'two words '.repeat(900)];

  async function someTurns(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  }

  it('does not overwrite the state that another process saved of another branch', async () => {
    const store = memoryStore();
    const [one, other, third] = [processOf(store), processOf(store), processOf(store)];
    await one.ask(LONG, 'Yes.', 'Go on.');
    await other.ask(LONGER, 'No.', 'Go on.');
    one.report(20_000);
    await someTurns();
    await third.ask(LONGER, 'No.', 'Go on.', 'Well.', 'Once more.');
    await someTurns();
    expect(third.diverged).toEqual([]);
  });

  it.each([
    ['is saved while the compactor closes', true, 2],
    ['is not saved once the compactor is closed', false, 1],
  ])('%s', async (_, isClosing, expected) => {
    const memory = memoryStore();
    let saves = 0;
    const { compactor, ask, report } = processOf({
      load: (key) => memory.load(key),
      save: (...state) => {
        saves += 1;
        return memory.save(...state);
      },
      delete: (key) => memory.delete(key),
    });
    await ask(LONG);
    const closing = compactor.close();
    for (let at = 0; at < 100; at += 1) await Promise.resolve();
    if (isClosing) report(20_000);
    await closing;
    report(20_000);
    await someTurns();
    expect(saves).toBe(expected);
  });

  it('is not learned if the provider has run tools itself', async () => {
    const learned: unknown[] = [];
    const compactor = openCompactor();
    const middleware = compactionMiddleware(compactor, {
      onSession: (session) => {
        session.reportUsage = (report) => {
          learned.push(report.inputTokens);
          return 'learned';
        };
      },
    });
    const model = { provider: 'p', modelId: 'm' };
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Go.' }] }];
    const own = { type: 'tool-call', toolCallId: 'a', toolName: 'b', input: '{}' };
    const ask = async (at: number, call: object): Promise<void> => {
      const params = await middleware.transformParams({ model, params: { prompt: [...prompt] } });
      const usage = { inputTokens: { total: at } };
      const parts = [call, { type: 'finish', usage }];
      if (at % 2 === 0) {
        const doGenerate = () => Promise.resolve({ content: [call], usage });
        await middleware.wrapGenerate({ doGenerate, params, model });
      } else {
        const doStream = () => Promise.resolve({ stream: ReadableStream.from(parts) });
        const { stream } = await middleware.wrapStream({ doStream, params, model });
        await partsOf(stream);
      }
      prompt.push(
        { role: 'assistant' as never, content: [{ type: 'text', text: `Yes ${at}.` }] },
        { role: 'user', content: [{ type: 'text', text: `And ${at}?` }] },
      );
    };
    for (const at of [1, 2]) await ask(at, { ...own, providerExecuted: true });
    for (const at of [3, 4, 5]) await ask(at, own);
    expect(learned).toEqual([3, 4, 5]);
  });
});
