// Real providers of two major versions, real HTTP, and a server that misbehaves on demand.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenAICompatible as createOpenAICompatibleV2 } from 'openai-compatible-v2';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { fromLanguageModel } from '../../../src/main/summarizer/language-model.js';
import type {
  LanguageModel,
  LanguageModelOptions,
} from '../../../src/main/summarizer/language-model.js';
import type { SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';
import { SummarizerError } from '../../../src/shared/errors.js';
import { startLoopbackModel } from '../../support/loopback-model.js';
import type { LoopbackAnswer, LoopbackModel } from '../../support/loopback-model.js';

type Connect = (baseURL: string) => LanguageModel;

const PROVIDERS: readonly (readonly [version: string, connect: Connect])[] = [
  ['v2', (baseURL) => createOpenAICompatibleV2({ name: 'loopback', baseURL })('model-2')],
  ['v3', (baseURL) => createOpenAICompatible({ name: 'loopback', baseURL })('model-3')],
];

const PROMPT = { system: 'be brief', prompt: 'summarize', maxOutputTokens: 64 } as const;
const TEXT: LoopbackAnswer = { kind: 'text', text: 'a summary' };

interface Asked {
  readonly server: LoopbackModel;
  readonly response: Promise<SummarizerResponse>;
}

async function ask(
  connect: Connect,
  answers: readonly [LoopbackAnswer, ...LoopbackAnswer[]],
  options: Partial<LanguageModelOptions> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<Asked> {
  const server = await startLoopbackModel(...answers);
  const summarizer = fromLanguageModel(connect(server.baseUrl), {
    contextLimit: 8_000,
    retryDelayMs: 0,
    ...options,
  });
  const response = summarizer.generate({ ...PROMPT, signal });
  // The test awaits it later.
  response.catch(() => undefined);
  return { server, response };
}

describe.each(PROVIDERS)('fromLanguageModel with a %s provider', (version, connect) => {
  it('asks with one system and one user message and no tools', async () => {
    const { server, response } = await ask(connect, [TEXT]);
    expect(await response).toEqual({
      text: 'a summary',
      finishReason: 'stop',
      usage: { inputTokens: 120, outputTokens: 30 },
      toolCalls: [],
    });
    expect(connect(server.baseUrl).specificationVersion).toBe(version);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      max_tokens: 64,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'summarize' },
      ],
    });
    expect(server.requests[0]).not.toHaveProperty('tools');
  });

  it.each<[string, LoopbackAnswer]>([
    ['408', { kind: 'status', status: 408 }],
    ['409', { kind: 'status', status: 409 }],
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '0' } }],
    ['503', { kind: 'status', status: 503 }],
    ['an answer that breaks off', { kind: 'truncated' }],
    ['an answer that is not a completion', { kind: 'body', body: '{"hello":"there"}' }],
    ['an answer that is a web page', { kind: 'body', body: '<html>proxy</html>' }],
    ['a connection that is cut', { kind: 'reset' }],
  ])('retries after %s', async (_, failure) => {
    const { server, response } = await ask(connect, [failure, failure, TEXT]);
    expect(await response).toMatchObject({ text: 'a summary', finishReason: 'stop' });
    expect(server.requests).toHaveLength(3);
  });

  it.each<[string, LoopbackAnswer, object, number]>([
    [
      'a provider that stays busy',
      { kind: 'status', status: 503 },
      { code: 'SUMMARIZER_UNREACHABLE', statusCode: 503 },
      3,
    ],
    [
      'a connection that is always cut',
      { kind: 'reset' },
      { code: 'SUMMARIZER_UNREACHABLE', statusCode: undefined },
      3,
    ],
    [
      'answers that always break off',
      { kind: 'truncated' },
      { code: 'SUMMARIZER_FAILED', statusCode: 200 },
      3,
    ],
    [
      'a request that is refused',
      { kind: 'status', status: 401 },
      { code: 'SUMMARIZER_FAILED', statusCode: 401 },
      1,
    ],
    [
      'a wait longer than the deadline',
      { kind: 'status', status: 429, headers: { 'retry-after': '3600' } },
      { code: 'SUMMARIZER_UNREACHABLE', statusCode: 429 },
      1,
    ],
  ])('gives up on %s', async (_, failure, error, attempts) => {
    const { server, response } = await ask(connect, [failure], { maxRetries: 2 });
    await expect(response).rejects.toMatchObject(error);
    await expect(response).rejects.toBeInstanceOf(SummarizerError);
    expect(server.requests).toHaveLength(attempts);
  });

  it('keeps the prompt out of its errors', async () => {
    const { response } = await ask(connect, [{ kind: 'status', status: 400 }]);
    const error: unknown = await response.catch((thrown: unknown) => thrown);
    const { cause } = error as SummarizerError;
    expect(cause).toMatchObject({ name: 'AI_APICallError', message: 'status 400' });
    expect(Object.getOwnPropertyNames(cause).sort()).toEqual(['message', 'name', 'stack']);
  });

  it('ends an attempt at its deadline and retries', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { server, response } = await ask(connect, [{ kind: 'hang' }, TEXT], {
      attemptTimeoutMs: 500,
    });
    await server.received(1);
    vi.advanceTimersByTime(500);
    expect(await response).toMatchObject({ text: 'a summary' });
    expect(server.requests).toHaveLength(2);
  });

  it('ends all attempts at the overall deadline', async () => {
    const { response } = await ask(connect, [{ kind: 'hang' }], { timeoutMs: 60 });
    await expect(response).rejects.toMatchObject({
      code: 'SUMMARIZER_TIMEOUT',
      message: expect.stringContaining('60 ms'),
    });
  });

  it('rejects with the reason of the signal while it waits for an answer', async () => {
    const controller = new AbortController();
    const { server, response } = await ask(connect, [{ kind: 'hang' }], {}, controller.signal);
    await server.received(1);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(response).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  it('rejects with the reason of the signal while it waits for the next attempt', async () => {
    const controller = new AbortController();
    const busy: LoopbackAnswer = { kind: 'status', status: 429, headers: { 'retry-after': '60' } };
    const { server, response } = await ask(connect, [busy], {}, controller.signal);
    await server.received(1);
    controller.abort('enough');
    await expect(response).rejects.toBe('enough');
    expect(server.requests).toHaveLength(1);
  });

  it('reports a finish by length, and a tool call', async () => {
    const cutOff = await ask(connect, [{ kind: 'text', text: 'half', finishReason: 'length' }]);
    expect(await cutOff.response).toMatchObject({ text: 'half', finishReason: 'length' });
    const called = await ask(connect, [{ kind: 'tool-call', name: 'read_file' }]);
    expect(await called.response).toMatchObject({
      text: '',
      finishReason: 'tool-calls',
      toolCalls: [{ type: 'tool-call', toolName: 'read_file' }],
    });
  });
});

describe('fromLanguageModel', () => {
  const model = (answer: unknown): LanguageModel => ({
    specificationVersion: 'v4',
    modelId: 'made-up',
    doGenerate: () => Promise.resolve(answer),
  });
  const signal = new AbortController().signal;

  it('accepts v4 models', async () => {
    const answer = {
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'one ' },
        { type: 'text', text: 'two' },
      ],
      finishReason: { unified: 'stop', raw: 'end_turn' },
      usage: { inputTokens: { total: 5 }, outputTokens: {} },
    };
    const summarizer = fromLanguageModel(model(answer), { contextLimit: 10 });
    expect(await summarizer.generate({ ...PROMPT, signal })).toEqual({
      text: 'one two',
      finishReason: 'stop',
      usage: { inputTokens: 5, outputTokens: undefined },
      toolCalls: [],
    });
  });

  it.each([undefined, null, 'text', {}, { content: 'text' }])(
    'refuses %o as an answer',
    async (answer) => {
      const summarizer = fromLanguageModel(model(answer), { contextLimit: 10 });
      await expect(summarizer.generate({ ...PROMPT, signal })).rejects.toMatchObject({
        code: 'SUMMARIZER_FAILED',
      });
    },
  );

  it('waits as long as the provider asks', async () => {
    let attempts = 0;
    const summarizer = fromLanguageModel(
      {
        ...model(undefined),
        doGenerate: () => {
          attempts += 1;
          const headers = new Headers({ 'retry-after-ms': '5' });
          return attempts < 3
            ? Promise.reject(Object.assign(new Error('busy'), { status: 429, headers }))
            : Promise.resolve({ content: [], finishReason: 'stop' });
        },
      },
      { contextLimit: 10, retryDelayMs: 0 },
    );
    const before = performance.now();
    expect(await summarizer.generate({ ...PROMPT, signal })).toMatchObject({ text: '' });
    expect(performance.now() - before).toBeGreaterThan(8);
  });

  it.each<[unknown, string]>([
    ['gpt-5', 'got string'],
    [undefined, 'got undefined'],
    [{ specificationVersion: 'v1', doGenerate: () => null }, "specificationVersion 'v1'"],
    [{ specificationVersion: 'v3' }, "specificationVersion 'v3'"],
  ])('refuses %o as a model', (given, message) => {
    const make = (): unknown => fromLanguageModel(given as LanguageModel, { contextLimit: 10 });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  it('names each wrong option', () => {
    const make = (): unknown =>
      fromLanguageModel(model(null), { contextLimit: 0, maxRetries: -1, timeoutMs: 1.5 });
    expect(make).toThrow(RangeError);
    expect(make).toThrow(/contextLimit|maxRetries|timeoutMs/);
  });
});
