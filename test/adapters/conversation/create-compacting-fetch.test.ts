// The `fetch` for OpenAI's APIs and that for Gemini's, one over the other: each leaves alone what is for the other. Clients of OpenAI's
// SDK use them, with a provider that refuses what breaks a rule.

import { describe, expect, it } from 'vitest';
import * as google from '../../../src/google.js';
import * as openai from '../../../src/openai.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { runChat, runResponses } from '../openai/agent-loops.js';
import { scriptedWork } from '../openai/scripted-work.js';
import { noting } from '../../support/noted-usage.js';
import { openCompactor } from '../../support/open-compactor.js';

function compactingFetch(
  compactor: Compactor,
  options?: AdapterOptions,
  send?: typeof fetch,
): typeof fetch {
  const forOpenAi = openai.compactingFetch(compactor, options, send);
  return google.compactingFetch(compactor, options, forOpenAi);
}

function addressOf(asked: Parameters<typeof fetch>[0]): string {
  return asked instanceof Request ? asked.url : asked.toString();
}

function textOf(body: unknown): string {
  return typeof body === 'string' ? body : '';
}

interface Work {
  readonly last: unknown;
  readonly sizes: readonly number[];
  readonly usages: readonly number[];
}

/** Runs a model until it makes no more calls. */
async function work(
  api: 'chat' | 'responses',
  isStreaming: boolean,
  options?: AdapterOptions,
): Promise<Work> {
  const provider = await startStrictProvider(scriptedWork(15));
  const usages: number[] = [];
  const given = { onError: 'throw', onSession: noting(usages), ...options } as const;
  const fetch = options && compactingFetch(openCompactor(), given);
  const run = api === 'chat' ? runChat : runResponses;
  const all: readonly unknown[] = await run(provider, { isStreaming, fetch });
  const sizes = provider.requests.map(({ body }) => JSON.stringify(body).length);
  return { last: all.at(-1), sizes, usages };
}

describe.each(['chat', 'responses'] as const)('compactingFetch, %s', (api) => {
  it.each([
    ['answers', false],
    ['streams', true],
  ])(
    'sends less, which the provider accepts, and reads its usage, when it %s',
    async (_, isStreaming) => {
      const plain = await work(api, isStreaming);
      const folded = await work(api, isStreaming, { edits: 'every-turn' });
      expect(folded.last).toEqual(plain.last);
      expect(folded.sizes).toHaveLength(plain.sizes.length);
      expect(folded.sizes.at(-1)).toBeLessThan(plain.sizes.at(-1)!);
      expect(folded.usages).toHaveLength(plain.sizes.length);
      expect(Math.min(...folded.usages)).toBeGreaterThan(0);
    },
  );
});

const CHAT_URL = 'https://api.openai.com/v1/chat/completions';
const GEMINI_URL = 'https://h/v1beta/models/gemini-3-pro:generateContent';
const MESSAGES = [{ role: 'user', content: 'Go.' }];

describe('compactingFetch', () => {
  const others: readonly (readonly [string, string, RequestInit | undefined])[] = [
    ['a request for something else', 'https://api.openai.com/v1/models', undefined],
    [
      'an embedding',
      'https://api.openai.com/v1/embeddings',
      { method: 'POST', body: '{"input":["a"]}' },
    ],
    ['a body that is no JSON', CHAT_URL, { method: 'POST', body: '{' }],
    ['a body without messages', CHAT_URL, { method: 'POST', body: '{"messages":7}' }],
    ['messages that are no objects', CHAT_URL, { method: 'POST', body: '{"messages":["a"]}' }],
    ['a text as input', 'https://h/v1/responses', { method: 'POST', body: '{"input":"a"}' }],
    ['a body that is no text', CHAT_URL, { method: 'POST', body: new Uint8Array([123, 125]) }],
    [
      'a signed one',
      CHAT_URL,
      {
        method: 'POST',
        body: JSON.stringify({ messages: MESSAGES }),
        headers: { Authorization: 'AWS4-HMAC-SHA256 x' },
      },
    ],
    [
      'one whose items the server keeps',
      'https://h/v1/responses',
      {
        method: 'POST',
        body: '{"previous_response_id":"r","input":[{"role":"user","content":"a"}]}',
      },
    ],
    [
      'one of whose contents the server keeps a part',
      GEMINI_URL,
      {
        method: 'POST',
        body: '{"cachedContent":"c","contents":[{"role":"user","parts":[{"text":"a"}]}]}',
      },
    ],
    [
      'a count of contents',
      GEMINI_URL.replace('generateContent', 'countTokens'),
      { method: 'POST', body: '{"contents":[{"parts":[{"text":"a"}]}]}' },
    ],
  ];

  it.each(others)('passes on %s unchanged', async (_, url, init) => {
    const sent: unknown[] = [];
    const answer = new Response('no');
    const fetch = compactingFetch(openCompactor(), { logger: SILENT_LOGGER }, async (...given) => {
      sent.push(...given);
      return answer;
    });
    expect(await fetch(url, init)).toBe(answer);
    expect(sent).toEqual([url, init]);
    expect(sent[1]).toBe(init);
  });

  it.each(others)('passes on %s unchanged, as a Request', async (_, url, init) => {
    const headers = { 'content-type': 'application/json', ...init?.headers };
    const request = new Request(url, { ...init, headers });
    const sent: unknown[] = [];
    const fetch = compactingFetch(openCompactor(), { logger: SILENT_LOGGER }, async (...given) => {
      sent.push(...given);
      return new Response('no');
    });
    await fetch(request);
    expect(sent).toEqual([request, undefined]);
    expect(sent[0]).toBe(request);
    expect(request.bodyUsed).toBe(false);
  });

  it('does not read a Request without JSON', async () => {
    const body = JSON.stringify({ messages: TALK });
    const request = new Request(CHAT_URL, { method: 'POST', body });
    const fetch = compactingFetch(openCompactor(), {}, async (given) => {
      expect(given).toBe(request);
      return new Response('no');
    });
    await fetch(request);
  });

  it('passes on a stream chunk by chunk, and cancels it when the reader does', async () => {
    let cancelled: unknown;
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls += 1;
        controller.enqueue(new TextEncoder().encode(`data: {"n":${pulls}}\n\n`));
      },
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const headers = { 'content-type': 'text/event-stream', 'x-request-id': 'one' };
    const fetch = compactingFetch(
      openCompactor(),
      {},
      async () => new Response(body, { headers, status: 201 }),
    );
    const request = { method: 'POST', body: JSON.stringify({ messages: MESSAGES }) };
    const answer = await fetch(CHAT_URL, request);
    expect([answer.status, answer.headers.get('x-request-id')]).toEqual([201, 'one']);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    expect(new TextDecoder().decode(value)).toBe('data: {"n":1}\n\n');
    expect(pulls).toBeLessThan(10);
    await reader.cancel('enough');
    await expect.poll(() => cancelled).toBe('enough');
  });

  it.each([
    ['', 200],
    [', also where the server has no endpoint for that', 404],
  ])('has the provider compact with requests like the call%s', async (_, status) => {
    const asked: string[] = [];
    const compactor = openCompactor({
      contextLimit: 16_000,
      settings: { 'compression.strategy': 'provider' },
    });
    const fetch = compactingFetch(compactor, { onError: 'throw' }, async (url, init) => {
      asked.push(`${addressOf(url)} ${new Headers(init?.headers).get('authorization')}`);
      const output = [{ type: 'compaction', id: 'c', encrypted_content: 'sealed' }];
      if (addressOf(url).includes('/compact')) return Response.json({ output }, { status });
      const sent = init?.body as string;
      return Response.json(sent.includes('compaction_trigger') ? { output } : { output: [], sent });
    });
    const text = 'one word '.repeat(200);
    const input = Array.from({ length: 41 }, (_, at) => {
      return {
        type: 'message',
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: `${at} ${text}`,
      };
    });
    const headers = { authorization: 'Bearer k', 'content-length': '1' };
    const body = JSON.stringify({ model: 'gpt-5.5', store: false, input });
    const answer = await fetch('https://h/v1/responses?x=1', { method: 'POST', body, headers });
    const { sent } = (await answer.json()) as { sent: string };
    expect(sent.includes('"encrypted_content":"sealed"')).toBe(true);
    const ordinary = 'https://h/v1/responses?x=1 Bearer k';
    expect(asked).toEqual([
      'https://h/v1/responses/compact?x=1 Bearer k',
      ...(status === 404 ? [ordinary] : []),
      ordinary,
    ]);
  });
});

const LINES = Array.from({ length: 200 }, (_, at) => `${at} lines`).join('\n');
const call = { name: 'read_file', arguments: '{"path":"a.ts"}' };

const TALK = [
  { role: 'user', content: 'read it twice' },
  ...['c1', 'c2'].flatMap((id) => [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
    { role: 'tool', tool_call_id: id, content: LINES },
  ]),
];
const REASONED = TALK.map((message) => {
  const reasoning_details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's' }];
  return message.role === 'assistant' ? { ...message, reasoning_details } : message;
});
const refuseReasoning = (): Response => {
  const message = 'Invalid `signature`. The block is bound to a different conversation.';
  return Response.json({ error: { message } }, { status: 400 });
};
const answerNothing = (): Response => Response.json({ choices: [] });
const ITEMS = [
  { role: 'user', content: 'read it twice' },
  ...['c1', 'c2'].flatMap((id) => [
    { type: 'function_call', call_id: id, ...call },
    { type: 'function_call_output', call_id: id, output: LINES },
  ]),
];
const CONTENTS = [
  { role: 'user', parts: [{ text: 'read it twice' }] },
  ...['c1', 'c2'].flatMap((id) => [
    { role: 'model', parts: [{ functionCall: { id, name: 'read_file', args: { path: 'a.ts' } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { id, name: 'read_file', response: { output: LINES } } }],
    },
  ]),
];
const GEMINI = JSON.stringify({ contents: CONTENTS });
const CHAT = JSON.stringify({ model: 'gpt-5.5', messages: TALK });
const RESPONSES = JSON.stringify({ model: 'gpt-5.5', input: ITEMS });

/** A `fetch` with successive answers, of which the last one repeats. */
function openAnswered(options: AdapterOptions = {}, ...answers: readonly (() => Response)[]) {
  const compactor = openCompactor();
  const seen: Parameters<typeof fetch>[] = [];
  const fetch = compactingFetch(compactor, options, (...request) => {
    seen.push(request);
    const answer = answers[seen.length - 1] ?? answers.at(-1);
    return Promise.resolve(answer?.() ?? Response.json({}));
  });
  return { compactor, fetch, seen, bodies: () => seen.map(([, init]) => init?.body) };
}

describe('compactingFetch, with successive answers', () => {
  it.each([
    ['https://api.openai.com/v1/chat/completions', CHAT],
    ['https://h/openai/deployments/d/chat/completions?api-version=1', CHAT],
    ['http://127.0.0.1:11434/api/chat', CHAT],
    ['https://api.openai.com/v1/responses', RESPONSES],
    [GEMINI_URL, GEMINI],
    ['https://h/v1/models/m:streamGenerateContent?alt=sse', GEMINI],
    ['https://h/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent', GEMINI],
  ])('compacts requests to %s', async (url, body) => {
    const { fetch, seen } = openAnswered({ reasoning: 'strip-after-first-edit' });
    const headers = { authorization: 'Bearer x', 'content-length': `${body.length}` };
    await fetch(url, { method: 'POST', headers, body });
    const [[sentTo, init] = []] = seen;
    const sent = textOf(init?.body);
    expect(sentTo).toBe(url);
    expect(sent.length).toBeLessThan(0.7 * body.length);
    const { model, ...lists } = JSON.parse(sent) as Record<string, unknown[]>;
    expect(model).toEqual((JSON.parse(body) as { model?: string }).model);
    expect(Object.values(lists).map(({ length }) => length)).toEqual([5]);
    expect(Object.fromEntries(new Headers(init?.headers))).toEqual({ authorization: 'Bearer x' });
  });

  it.each([
    ['https://h/v1/chat/completions', CHAT, ['gpt-5.5']],
    [`${GEMINI_URL}?alt=sse`, GEMINI, ['gemini-3-pro']],
    // A path of Azure, which names no model.
    ['https://h/models/chat/completions', JSON.stringify({ messages: TALK }), []],
  ])('knows the model of a request to %s', async (url, body, expected) => {
    const names = new Set<string>();
    const contextLimit = (name: string): undefined => void names.add(name);
    const compactor = openCompactor({ contextLimit });
    const fetch = compactingFetch(compactor, { onError: 'throw' }, async () => Response.json({}));
    await fetch(url, { method: 'POST', body });
    expect([...names]).toEqual(expected);
  });

  it('sends a chat again without refused reasoning', async () => {
    const { fetch, bodies } = openAnswered({ reasoning: 'keep' }, refuseReasoning, answerNothing);
    const body = JSON.stringify({ model: 'a-name', messages: REASONED });
    const { status } = await fetch('https://h/v1/chat/completions', { method: 'POST', body });
    expect(status).toBe(200);
    expect(bodies().map((sent) => textOf(sent).includes('signature'))).toEqual([true, false]);
  });

  it('compacts a Request, also again after a refusal, and keeps all else of it', async () => {
    const { fetch, seen } = openAnswered({ reasoning: 'keep' }, refuseReasoning, answerNothing);
    const abort = new AbortController();
    const headers = { 'content-type': 'application/json', authorization: 'Bearer x' };
    const body = JSON.stringify({ model: 'a-name', messages: REASONED });
    const given = { method: 'POST', headers, body, signal: abort.signal };
    const address = 'https://h/v1/chat/completions?x=1';
    const options = {};
    const { status } = await fetch(new Request(address, { ...given, redirect: 'manual' }), options);
    expect(status).toBe(200);
    expect(seen).toHaveLength(2);
    abort.abort();
    for (const [sent, init] of seen as [Request, RequestInit][]) {
      expect(init).toBe(options);
      expect([sent.url, sent.method, sent.redirect]).toEqual([address, 'POST', 'manual']);
      expect(sent.signal.aborted).toBe(true);
      expect(Object.fromEntries(sent.headers)).toEqual(headers);
      const text = await sent.text();
      expect(text.length).toBeLessThan(0.7 * body.length);
      expect(JSON.parse(text)).toMatchObject({ model: 'a-name' });
    }
  });

  it('passes on an answer unchanged, also a refusal', async () => {
    const headers = { 'content-type': 'text/event-stream', 'x-request-id': 'r' };
    const text = 'data: {"usage": {"prompt_tokens": "many"}}\r\n\r\ndata: {"usage": {\n';
    const wrong = { error: { message: 'No such model.' } };
    const { fetch } = openAnswered(
      {},
      () => new Response(text, { headers, status: 201, statusText: 'Made' }),
      () => new Response(null, { status: 204 }),
      () => Response.json(wrong, { status: 400 }),
    );
    const send = () => fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
    const answer = await send();
    expect([answer.status, answer.statusText]).toEqual([201, 'Made']);
    expect(Object.fromEntries(answer.headers)).toEqual(headers);
    expect(await answer.text()).toBe(text);
    expect((await send()).status).toBe(204);
    expect(await (await send()).json()).toEqual(wrong);
  });

  it('reports the usage once, at the end of a stream that has it in each chunk', async () => {
    const learned: number[] = [];
    const onSession = noting(learned);
    const parts = [7, 8, 9].map((prompt_tokens) => ({ choices: [], usage: { prompt_tokens } }));
    const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream' };
    const { fetch } = openAnswered(
      { onSession },
      () => new Response(`${text}data: [DONE]\n\n`, { headers }),
    );
    const answer = await fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
    expect(learned).toEqual([]);
    await answer.text();
    expect(learned).toEqual([9]);
  });

  it('reports the usage at the end of a stream whose other events name only the kind of traffic', async () => {
    const learned: number[] = [];
    const onSession = noting(learned);
    const parts = [{ trafficType: 'ON_DEMAND' }, { trafficType: 'ON_DEMAND', promptTokenCount: 9 }];
    const text = parts.map((usageMetadata) => `data: ${JSON.stringify({ usageMetadata })}\n\n`);
    const headers = { 'content-type': 'text/event-stream' };
    const { fetch } = openAnswered({ onSession }, () => new Response(text.join(''), { headers }));
    await (await fetch(GEMINI_URL, { method: 'POST', body: GEMINI })).text();
    expect(learned).toEqual([9]);
  });

  it('passes on responses whose body was already read or is locked', async () => {
    const read = async (status: number): Promise<Response> => {
      const response = new Response('{}', { status });
      await response.text();
      return response;
    };
    const [refusal, answer] = [await read(400), new Response('{}')];
    answer.body?.getReader();
    const { fetch } = openAnswered(
      {},
      () => refusal,
      () => answer,
    );
    const send = () => fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
    expect([await send(), await send()]).toEqual([refusal, answer]);
  });

  it('reads the usage of long answers, of which it buffers only the end', async () => {
    const learned: number[] = [];
    const onSession = noting(learned);
    const usage = '"usage":{"prompt_tokens":7}}';
    const blank = Buffer.alloc(1_000_000, ' ');
    const answer = (count: number): Response => {
      const parts = ['{', ...Array<Buffer>(count).fill(blank), usage].map((part) => Buffer.from(part as string)); // prettier-ignore
      const headers = { 'content-type': 'application/json' };
      return new Response(ReadableStream.from(parts), { headers });
    };
    const { fetch } = openAnswered(
      { onSession },
      () => answer(17),
      () => answer(2),
    );
    for (const length of [17, 2]) {
      const { body } = await fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
      let read = 0;
      for await (const bytes of body as ReadableStream<Uint8Array>) read += bytes.length;
      expect(read).toBe(1 + length * blank.length + usage.length);
    }
    expect(learned).toEqual([7, 7]);
  });
});
