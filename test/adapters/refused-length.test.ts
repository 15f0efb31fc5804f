// A model that counts more tokens than the estimate. Adapters that make the calls compact a prompt that is refused as too long
// further and send it again, unseen by the caller. With adapters that do not make the calls, the next call is accepted.

import Anthropic from '@anthropic-ai/sdk';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { compactionMiddleware as ofAiSdk } from '../../src/adapters/ai-sdk/compaction-middleware.js';
import { prepareStep } from '../../src/adapters/ai-sdk/prepare-step.js';
import type { SdkMessage, SdkPart } from '../../src/adapters/ai-sdk/sdk-message.js';
import { compactionMiddleware as ofAnthropic } from '../../src/adapters/anthropic/compaction-middleware.js';
import { compactionMiddleware as ofLangChain } from '../../src/adapters/langchain/compaction-middleware.js';
import * as google from '../../src/google.js';
import * as openai from '../../src/openai.js';
import { messageCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import type { CompactCall } from '../../src/adapters/request/adapter-options.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import { length, pairs } from '../support/scale.js';

const LIMIT = 24_000;
const CALLS = length(40);
const NAME = 'my-model';

/** The message with which a provider refuses a prompt of `tokens` tokens. */
type Refuse = (tokens: number) => string;

const REFUSALS: readonly (readonly [name: string, refuse: Refuse])[] = [
  ['names both numbers', (tokens) => `prompt is too long: ${tokens} tokens > ${LIMIT} maximum`],
  [
    'names the limit',
    () => `This model's maximum context length is ${LIMIT} tokens. Please reduce your input.`,
  ],
  ['names no number', () => 'Your input exceeds the context window of this model.'],
];

/** Counts one token per character, which is more than the compactor estimates. */
class DenseProvider {
  readonly #refuse: Refuse;
  /** For each request, whether it was refused. */
  readonly requests: boolean[] = [];

  constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  /** @throws Error if the prompt is too long */
  take(prompt: unknown): void {
    const tokens = JSON.stringify(prompt).length;
    this.requests.push(tokens > LIMIT);
    if (tokens > LIMIT) throw new Error(this.#refuse(tokens));
  }
}

/** Calls the model with all messages so far, takes its answer, and adds a result. */
type Step = (at: number, result: string) => Promise<void>;
type StartAgent = (provider: DenseProvider, compactor: Compactor) => Step;

const overAnthropic: StartAgent = (provider, compactor) => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'make it work' }];
  let at = 0;
  const fetch: typeof globalThis.fetch = async (_, init) => {
    try {
      provider.take((JSON.parse(init?.body as string) as { messages: unknown }).messages);
    } catch (thrown) {
      const error = { type: 'invalid_request_error', message: (thrown as Error).message };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
    const use = { type: 'tool_use', id: `t${at}`, name: 'fetch_page', input: { at } };
    return Response.json({ ...{ id: 'm', type: 'message', role: 'assistant' }, content: [use] });
  };
  const middleware = [ofAnthropic(compactor)];
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch, middleware });
  return async (call, content) => {
    at = call;
    const answer = await client.messages.create({ model: NAME, max_tokens: 100, messages });
    messages.push(
      { role: 'assistant', content: answer.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] },
    );
  };
};

const overAiSdk =
  (kind: 'Generate' | 'Stream'): StartAgent =>
  (provider, compactor) => {
    const middleware = ofAiSdk(compactor);
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'make it work' }] },
    ] as unknown as SdkMessage[];
    const answer = async ({ prompt }: { prompt: unknown }): Promise<object> => {
      provider.take(prompt);
      return {};
    };
    const model = { provider: 'p', modelId: NAME, doGenerate: answer, doStream: answer };
    return async (at, value) => {
      const given = { params: { prompt: structuredClone(messages) }, model };
      const params = await middleware.transformParams(given);
      const ask = (): Promise<object> => answer(params);
      await middleware[`wrap${kind}`]({ params, model, doGenerate: ask, doStream: ask });
      const ids = { toolCallId: `t${at}`, toolName: 'fetch_page' };
      const call = { type: 'tool-call', ...ids, input: { at } } as SdkPart;
      const result = { type: 'tool-result', ...ids, output: { type: 'text', value } } as SdkPart;
      messages.push({ role: 'assistant', content: [call] }, { role: 'tool', content: [result] });
    };
  };

/** One run of one step per call. The SDK makes the call, so a refusal fails its run, and the next run is accepted. */
const overPrepareStep =
  (kind: 'Generate' | 'Stream'): StartAgent =>
  (provider, compactor) => {
    const prepare = prepareStep(compactor);
    const messages = [{ role: 'user', content: 'make it work' }] as unknown as SdkMessage[];
    const answer = async ({ prompt }: { prompt: unknown }): Promise<object> => {
      provider.take(prompt);
      return {};
    };
    const model = { provider: 'p', modelId: NAME, doGenerate: answer, doStream: answer };
    return async (at, value) => {
      const run = async (): Promise<unknown> => {
        const given = { model, messages: [...messages], steps: [] };
        const step = { ...given, ...(await prepare(given)) };
        return step.model[`do${kind}`]({ prompt: step.messages });
      };
      await run().catch(run);
      const ids = { toolCallId: `t${at}`, toolName: 'fetch_page' };
      const call = { type: 'tool-call', ...ids, input: { at } } as SdkPart;
      const result = { type: 'tool-result', ...ids, output: { type: 'text', value } } as SdkPart;
      messages.push({ role: 'assistant', content: [call] }, { role: 'tool', content: [result] });
    };
  };

const overLangChain: StartAgent = (provider, compactor) => {
  const { wrapModelCall } = ofLangChain(compactor);
  const messages: BaseMessage[] = [new HumanMessage('make it work')];
  const answer = async ({ messages: sent }: { messages: BaseMessage[] }): Promise<AIMessage> => {
    provider.take(sent.map(({ content }) => content));
    return new AIMessage('hm');
  };
  const model = { _llmType: () => 'mine', model: NAME };
  return async (at, content) => {
    const request = { messages: [...messages], model };
    await wrapModelCall!(request as never, answer as never);
    const id = `t${at}`;
    messages.push(
      new AIMessage({ content: '', tool_calls: [{ id, name: 'fetch_page', args: { at } }] }),
      new ToolMessage({ content, tool_call_id: id }),
    );
  };
};

/** How messages are put in the requests of an API. */
interface Wire {
  readonly compactingFetch: typeof openai.compactingFetch;
  readonly url: string;
  readonly key: string;
  readonly opening: object;
  readonly exchange: (at: number, result: string) => readonly object[];
}

const overFetch =
  ({ compactingFetch, url, key, opening, exchange }: Wire): StartAgent =>
  (provider, compactor) => {
    const messages = [opening];
    const fetch = compactingFetch(compactor, {}, async (_, init) => {
      try {
        provider.take((JSON.parse(init?.body as string) as Record<string, unknown>)[key]);
      } catch (thrown) {
        return Response.json({ error: { message: (thrown as Error).message } }, { status: 413 });
      }
      return Response.json({ choices: [] });
    });
    return async (at, content) => {
      const body = JSON.stringify({ ...(key === 'messages' && { model: NAME }), [key]: messages });
      const answer = await fetch(url, { method: 'POST', body });
      if (!answer.ok) throw new Error(await answer.text());
      messages.push(...exchange(at, content));
    };
  };

const CHAT: Wire = {
  compactingFetch: openai.compactingFetch,
  url: 'https://h/v1/chat/completions',
  key: 'messages',
  opening: { role: 'user', content: 'make it work' },
  exchange: (at, content) => {
    const called = { name: 'fetch_page', arguments: JSON.stringify({ at }) };
    const tool_calls = [{ id: `t${at}`, type: 'function', function: called }];
    return [
      { role: 'assistant', content: null, tool_calls },
      { role: 'tool', tool_call_id: `t${at}`, content },
    ];
  },
};

const GEMINI: Wire = {
  compactingFetch: google.compactingFetch,
  url: `https://h/v1beta/models/${NAME}:generateContent`,
  key: 'contents',
  opening: { role: 'user', parts: [{ text: 'make it work' }] },
  exchange: (at, output) => [
    { role: 'model', parts: [{ functionCall: { name: 'fetch_page', args: { at } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'fetch_page', response: { output } } }] },
  ],
};

async function play(
  start: StartAgent,
  refuse: Refuse,
  contextLimit: CompactorOptions['contextLimit'] = (name) => (name === NAME ? LIMIT : undefined),
): Promise<readonly boolean[]> {
  await using compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit,
  });
  const provider = new DenseProvider(refuse);
  const step = start(provider, compactor);
  for (let call = 0; call < CALLS; call += 1) {
    const words = Array.from({ length: 100 }, (_, at) => Math.sin(call * 100 + at).toString(36));
    await step(call, words.join(' '));
  }
  return provider.requests;
}

const WAYS = [
  ['the Anthropic SDK', overAnthropic],
  ['the AI SDK', overAiSdk('Generate')],
  ['the AI SDK, streamed', overAiSdk('Stream')],
  ["`prepareStep`, by the caller's next run", overPrepareStep('Generate')],
  ["`prepareStep`, by the caller's next run, streamed", overPrepareStep('Stream')],
  ['LangChain', overLangChain],
  ['a fetch for Chat Completions', overFetch(CHAT)],
  ['a fetch for Gemini', overFetch(GEMINI)],
] as const;
const LIMITS = [
  ['the right limit', undefined],
  ['a limit that is set too high', 2 * LIMIT],
] as const;
const REFUSED = pairs(WAYS, pairs(LIMITS, REFUSALS)).map(
  ([[way, start], [[limit, contextLimit], [name, refuse]]]) =>
    [way, limit, name, start, contextLimit, refuse] as const,
);

describe('a refusal in a run of `prepareStep`', () => {
  it('teaches the limit at once, also if the run is started over, and warns once', async () => {
    const warnings: string[] = [];
    const warn = (said: string): number => warnings.push(said);
    const logger = { debug: () => undefined, warn, error: warn };
    await using compactor = createCompactor({ offload: 'inline', contextLimit: 100_000, logger });
    const refuse = (): Promise<never> =>
      Promise.reject(new Error('prompt is too long: 30000 tokens > 24000 maximum'));
    const model = { provider: 'p', modelId: NAME, doGenerate: refuse, doStream: refuse };
    for (const content of ['make it work', 'make it work, please']) {
      const given = { model, messages: [{ role: 'user', content } as const], steps: [] };
      const { model: watched = model } = await prepareStep(compactor)(given);
      await expect(watched.doGenerate()).rejects.toThrow('too long');
      expect(compactor.status().learnedLimits).toEqual({ [NAME]: 24_000 });
    }
    expect(warnings).toEqual(['the provider has named the context limit of a model']);
  });
});

const RUNS = ['named', 'recognized by its messages'].flatMap((kind) =>
  REFUSALS.map(([says, refuse]) => [kind, says, refuse] as const),
);

describe('a run of `prepareStep` that is started over after a refusal', () => {
  it.each(RUNS)('%s, is answered where the provider %s', async (kind, _, refuse) => {
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const provider = new DenseProvider(refuse);
    const answer = async ({ prompt }: { prompt: unknown }): Promise<object> => {
      provider.take(prompt);
      return {};
    };
    const model = { provider: 'azure', modelId: NAME, doGenerate: answer, doStream: answer };
    const conversationId = kind === 'named' ? 'one' : undefined;
    const run = async (attempt: number): Promise<void> => {
      const prepare = prepareStep(compactor, { conversationId });
      const messages = [{ role: 'user', content: 'make it work' }] as unknown as SdkMessage[];
      for (let at = 0; at < 40; at += 1) {
        const given = { model, messages: [...messages], steps: [] };
        const step = { ...given, ...(await prepare(given)) };
        await step.model.doGenerate({ prompt: step.messages });
        const ids = { toolCallId: `t${attempt}-${at}`, toolName: 'fetch_page' };
        const value = Array.from({ length: 60 }, (_, word) => Math.sin(at + word).toString(36));
        const output = { type: 'text', value: value.join(' ') };
        const call = { type: 'tool-call', ...ids, input: { at } } as SdkPart;
        const result = { type: 'tool-result', ...ids, output } as SdkPart;
        messages.push({ role: 'assistant', content: [call] }, { role: 'tool', content: [result] });
      }
    };
    await expect(run(0)).rejects.toThrow();
    for (const attempt of [1, 2]) await run(attempt);
    expect(provider.requests.filter((isRefused) => isRefused)).toHaveLength(1);
  });
});

describe('a prompt that is too long', () => {
  it.each(REFUSED)(
    'over %s is made shorter and sent again, with %s: the provider %s',
    async (_way, _limit, _name, start, contextLimit, refuse) => {
      const requests = await play(start, refuse, contextLimit);
      const refused = requests.filter((isRefused) => isRefused).length;
      expect(requests.length - refused).toBe(CALLS);
      expect(refused).toBeGreaterThan(0);
    },
  );

  it.each(WAYS)(
    'over %s is not sent again if the provider refuses it for another reason',
    async (_way, start) => {
      await expect(play(start, () => 'no such model')).rejects.toThrow('no such model');
    },
  );
});

const FAILED = {
  type: 'response.failed',
  response: {
    error: {
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model.',
    },
  },
};

/** Sends a prompt of texts; returns whether the provider accepted it, which it says in a stream that has begun. */
type Ask = (texts: readonly string[]) => Promise<boolean>;

function streamedParts(isTaken: boolean): readonly object[] {
  const finish = { type: 'finish', usage: { inputTokens: { total: undefined } } };
  const refused = isTaken ? [] : [{ type: 'error', error: FAILED }];
  return [{ type: 'stream-start', warnings: [] }, ...refused, finish];
}

const STREAMED: Record<string, (provider: DenseProvider, compactor: Compactor) => Ask> = {
  'the AI SDK': (provider, compactor) => {
    const middleware = ofAiSdk(compactor);
    const model = { provider: 'openai.responses', modelId: NAME };
    return async (texts) => {
      const prompt = texts.map((text, at) => {
        return { role: at % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] };
      }) as unknown as SdkMessage[];
      const params = await middleware.transformParams({ params: { prompt }, model });
      const isTaken = takes(provider, params.prompt);
      const parts = streamedParts(isTaken);
      const doStream = async (): Promise<{ stream: ReadableStream<object> }> => ({
        stream: ReadableStream.from<object>(parts),
      });
      const { stream } = await middleware.wrapStream({ doStream, params, model });
      for await (const part of stream) expect(parts).toContain(part);
      return isTaken;
    };
  },
  prepareStep: (provider, compactor) => {
    const prepare = prepareStep(compactor);
    let isTaken = true;
    const doStream = async ({ prompt }: { prompt: unknown }) => {
      isTaken = takes(provider, prompt);
      return { stream: ReadableStream.from<object>(streamedParts(isTaken)) };
    };
    const model = { provider: 'openai.responses', modelId: NAME, doGenerate: doStream, doStream };
    return async (texts) => {
      const messages = texts.map((content, at) => {
        return { role: at % 2 === 0 ? 'user' : 'assistant', content };
      }) as unknown as SdkMessage[];
      const step = { messages, ...(await prepare({ model, messages, steps: [] })) };
      const { stream } = await step.model!.doStream({ prompt: step.messages });
      const parts: object[] = [];
      for await (const part of stream) parts.push(part);
      expect(parts).toEqual(streamedParts(isTaken));
      return isTaken;
    };
  },
  compactingFetch: (provider, compactor) => {
    let isTaken = true;
    const fetch = openai.compactingFetch(compactor, {}, async (_, init) => {
      isTaken = takes(provider, (JSON.parse(init?.body as string) as { input: unknown }).input);
      const events = [
        { type: 'response.created', response: { error: null } },
        ...(isTaken ? [] : [FAILED]),
      ];
      const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      return new Response(lines, { headers: { 'content-type': 'text/event-stream' } });
    });
    return async (texts) => {
      const input = texts.map((content, at) => {
        return { type: 'message', role: at % 2 === 0 ? 'user' : 'assistant', content };
      });
      const body = JSON.stringify({ model: NAME, stream: true, input });
      const answer = await fetch('https://h/v1/responses', { method: 'POST', body });
      expect(await answer.text()).toContain('response.created');
      return isTaken;
    };
  },
};

function takes(provider: DenseProvider, prompt: unknown): boolean {
  try {
    provider.take(prompt);
    return true;
  } catch {
    return false;
  }
}

it.each(Object.entries(STREAMED))(
  'a prompt that is refused after its answer began is made shorter in the next call, over %s',
  async (_, open) => {
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: LIMIT },
    });
    const provider = new DenseProvider(() => 'no');
    const ask = open(provider, compactor);
    const texts = ['Begin.'];
    for (let call = 0; call < 2 * CALLS; call += 1) {
      const words = Array.from({ length: 60 }, (_word, at) =>
        Math.sin(call * 60 + at).toString(36),
      );
      // A caller that was refused sends the same once more.
      if (!(await ask(texts))) expect(await ask(texts)).toBe(true);
      texts.push(words.join(' '), 'Go on.');
    }
    expect(provider.requests).toContain(true);
  },
);

it.each(WAYS.filter(([way]) => !way.includes('next run')))(
  'over %s, the caller gets the refusal after one request if nothing can be made shorter',
  async (_way, start) => {
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const refused: string[] = [];
    const provider = new DenseProvider(() => '');
    provider.take = () => {
      refused.push('');
      throw new Error('Input is too long for requested model.');
    };
    await expect(start(provider, compactor)(0, '')).rejects.toThrow('Input is too long');
    expect(refused).toHaveLength(1);
  },
);

it('a prompt that was refused for the length of its answer is not shortened', async () => {
  const message = `maximum context length is ${LIMIT} tokens. However, you requested 30600 tokens (600 in the messages, 30000 in the completion).`;
  await using compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: LIMIT },
  });
  const sent: unknown[] = [];
  const fetch = openai.compactingFetch(compactor, { onError: 'throw' }, async (_url, init) => {
    sent.push(JSON.parse(init?.body as string));
    return Response.json({ error: { message } }, { status: 400 });
  });
  const messages = Array.from({ length: 21 }, (_, at) => {
    return { role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${'a word '.repeat(20)}` };
  });
  const request = { method: 'POST', body: JSON.stringify({ model: NAME, messages }) };
  const ask = () => fetch('https://h/v1/chat/completions', request);
  for (const answer of [await ask(), await ask()]) expect(await answer.text()).toContain(message);
  expect(sent).toEqual([
    { model: NAME, messages },
    { model: NAME, messages },
  ]);
});

it.each([
  [12_000, 1, 3],
  [14_000, 1.2, 3],
  [18_000, 1.5, 5],
])(
  'a refused prompt of %i tokens is shortened just enough by a process that has not sent it',
  async (tokens, least, most) => {
    const store = memoryStore();
    const messages: { role: 'user' | 'assistant'; content: string }[] = [];
    const compactOnce = async (refusal?: string): Promise<number> => {
      const contextLimit = 10_000;
      const options = { offload: 'inline', tokenizer: 'estimate', store, contextLimit } as const;
      await using compactor = createCompactor(options);
      const compact = messageCompactor(compactor, { onError: 'throw' });
      const sent = await compact([...messages], {
        conversationId: 'one',
        modelName: NAME,
        refusal,
      });
      return JSON.stringify(sent).length;
    };
    for (let turn = 0; turn < 8; turn += 1) {
      const words = Array.from({ length: 90 }, (_, at) => Math.sin(turn * 90 + at).toString(36));
      messages.push(
        { role: 'user', content: words.join(' ') },
        { role: 'assistant', content: 'Yes.' },
      );
    }
    messages.push({ role: 'user', content: 'Go on.' });
    const before = await compactOnce();
    const after = await compactOnce(`prompt is too long: ${tokens} tokens > 10000 maximum`);
    expect(after).toBeLessThan(before / least);
    expect(after).toBeGreaterThan(before / most);
  },
);

it('the usage of requests after a refusal teaches how the model counts', async () => {
  await using compactor = createCompactor({ offload: 'inline', contextLimit: LIMIT });
  const compact = messageCompactor(compactor, { onError: 'throw' });
  const messages: Anthropic.MessageParam[] = [];
  const say = (turn: number): void => {
    const words = Array.from({ length: 150 }, (_, at) => Math.sin(turn * 150 + at).toString(36));
    messages.push({ role: 'user', content: words.join(' ') });
  };
  for (let turn = 0; turn < 12; turn += 1) {
    say(turn);
    messages.push({ role: 'assistant', content: `Yes, ${turn}.` });
  }
  let refused = 0;
  let takeUsage = (_: CompactCall): void => undefined;
  const ask = async (refusal?: string): Promise<void> => {
    const answerUsage: CompactCall['answerUsage'] = (take) => void (takeUsage = take);
    const sent = await compact([...messages], { modelName: NAME, refusal, answerUsage });
    const tokens = JSON.stringify(sent).length;
    if (tokens <= LIMIT) {
      takeUsage({ reportedInputTokens: tokens });
      return;
    }
    refused += 1;
    expect(refusal).toBeUndefined();
    await ask(`prompt is too long: ${tokens} tokens > ${LIMIT} maximum`);
  };
  for (let turn = 12; turn < 52; turn += 1) {
    say(turn);
    await ask();
    messages.push({ role: 'assistant', content: `Yes, ${turn}.` });
  }
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThan(3);
});
