// Requests of any client to Chat Completions and to the Responses API, as its `fetch` gets them.

import { describe, expect, it, onTestFinished } from 'vitest';

import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { compactingFetch } from '../../../src/openai.js';

const LINES = Array.from({ length: 200 }, (_, at) => `${at} lines`).join('\n');
const call = { name: 'read_file', arguments: '{"path":"a.ts"}' };

const MESSAGES = [
  { role: 'user', content: 'read it twice' },
  ...['c1', 'c2'].flatMap((id) => [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: call }] },
    { role: 'tool', tool_call_id: id, content: LINES },
  ]),
];
const ITEMS = [
  { role: 'user', content: 'read it twice' },
  ...['c1', 'c2'].flatMap((id) => [
    { type: 'function_call', call_id: id, ...call },
    { type: 'function_call_output', call_id: id, output: LINES },
  ]),
];
const CHAT = JSON.stringify({ model: 'gpt-5.5', messages: MESSAGES });
const RESPONSES = JSON.stringify({ model: 'gpt-5.5', input: ITEMS });

/** Answers in turn, the last of them again and again. */
function open(options: AdapterOptions = {}, ...answers: readonly (() => Response)[]) {
  const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  onTestFinished(() => compactor.close());
  const seen: Parameters<typeof fetch>[] = [];
  const fetch = compactingFetch(compactor, options, (...request) => {
    seen.push(request);
    const answer = answers[seen.length - 1] ?? answers.at(-1);
    return Promise.resolve(answer?.() ?? Response.json({}));
  });
  return { compactor, fetch, seen, bodies: () => seen.map(([, init]) => init?.body) };
}

describe('compactingFetch', () => {
  it.each([
    ['https://api.openai.com/v1/chat/completions', CHAT],
    ['https://h/openai/deployments/d/chat/completions?api-version=1', CHAT],
    ['http://127.0.0.1:11434/api/chat', CHAT],
    ['https://api.openai.com/v1/responses', RESPONSES],
  ])('compacts what is sent to %s', async (url, body) => {
    const { fetch, seen } = open({ reasoning: 'strip-after-first-edit' });
    const headers = { authorization: 'Bearer x', 'content-length': `${body.length}` };
    await fetch(url, { method: 'POST', headers, body });
    const [[sentTo, init] = []] = seen;
    const sent = String(init?.body);
    expect(sentTo).toBe(url);
    expect(sent.length).toBeLessThan(0.7 * body.length);
    const { model, messages, input } = JSON.parse(sent) as Record<string, unknown[]>;
    expect([model, (messages ?? input)?.length]).toEqual(['gpt-5.5', 5]);
    expect(Object.fromEntries(new Headers(init?.headers))).toEqual({ authorization: 'Bearer x' });
  });

  it.each([
    ['https://h/v1/embeddings', JSON.stringify({ input: ['a', 'b'] })],
    ['https://h/v1/responses/compact', RESPONSES],
    ['https://h/v1/responses', JSON.stringify({ input: 'Hello.' })],
    ['https://h/v1/chat/completions', 'no JSON'],
    ['https://h/v1/chat/completions', JSON.stringify({ messages: MESSAGES.slice(0, 3) })],
  ])('leaves as it is what it has nothing to do with: %s, %#', async (url, body) => {
    const { fetch, seen } = open();
    const init = { method: 'POST', body };
    await fetch(url, init);
    expect(seen).toEqual([[url, init]]);
    expect(seen[0]?.[1]).toBe(init);
  });

  it('leaves a conversation that the server holds, and says so once', async () => {
    const warnings: string[] = [];
    const logger = { debug: () => undefined, warn: (said: string) => void warnings.push(said), error: () => undefined }; // prettier-ignore
    const { fetch, bodies } = open({ logger });
    const body = JSON.stringify({ previous_response_id: 'r1', input: ITEMS });
    for (let at = 0; at < 2; at += 1)
      await fetch('https://h/v1/responses', { method: 'POST', body });
    expect(bodies()).toEqual([body, body]);
    expect(warnings).toEqual([expect.stringContaining('previous_response_id')]);
  });

  it('sends a chat again without reasoning that has been refused', async () => {
    const refusal = 'Invalid `signature`. The block is bound to a different conversation.';
    const refuse = (): Response => Response.json({ error: { message: refusal } }, { status: 400 });
    const answer = (): Response => Response.json({ choices: [] });
    const { fetch, bodies } = open({ reasoning: 'keep' }, refuse, answer);
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's' }];
    const messages = MESSAGES.map((message) =>
      message.role === 'assistant' ? { ...message, reasoning_details: details } : message,
    );
    const body = JSON.stringify({ model: 'a-name', messages });
    const { status } = await fetch('https://h/v1/chat/completions', { method: 'POST', body });
    expect(status).toBe(200);
    expect(bodies().map((sent) => String(sent).includes('signature'))).toEqual([true, false]);
  });

  it('passes an answer on as it came, a refusal too', async () => {
    const headers = { 'content-type': 'text/event-stream', 'x-request-id': 'r' };
    const text = 'data: {"usage": {"prompt_tokens": "many"}}\r\n\r\ndata: {"usage": {\n';
    const wrong = { error: { message: 'No such model.' } };
    const { fetch } = open(
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

  it('learns the usage once of a stream that has it in each part, when that is over', async () => {
    const learned: unknown[] = [];
    const onSession = (session: Session): void => {
      session.reportUsage = ({ inputTokens }) => {
        learned.push(inputTokens);
        return 'learned';
      };
    };
    const parts = [7, 8, 9].map((prompt_tokens) => ({ choices: [], usage: { prompt_tokens } }));
    const text = parts.map((part) => `data: ${JSON.stringify(part)}\n\n`).join('');
    const headers = { 'content-type': 'text/event-stream' };
    const { fetch } = open(
      { onSession },
      () => new Response(`${text}data: [DONE]\n\n`, { headers }),
    );
    const answer = await fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
    expect(learned).toEqual([]);
    await answer.text();
    expect(learned).toEqual([9]);
  });

  it('stops the answer when its reader does', async () => {
    let cancelled = (): void => undefined;
    const isCancelled = new Promise<void>((resolve) => (cancelled = resolve));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: {}\n\n')),
      cancel: () => cancelled(),
    });
    const { fetch } = open({}, () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })); // prettier-ignore
    const answer = await fetch('https://h/v1/chat/completions', { method: 'POST', body: CHAT });
    const reader = answer.body!.getReader();
    await reader.read();
    await reader.cancel();
    await isCancelled;
  });
});
