// Refused requests that the gateway can correct and send again, and others: what client and upstream see.

import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Session } from '../../../src/main/session.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import { gatewayWorld } from '../../support/gateway-world.js';
import type { GatewayWorld, Received } from '../../support/gateway-world.js';

const LIMIT = 4_000;
const [anthropic] = API_TALKS;
const LONG = bodyOf(anthropic!, talk(anthropic!, 80));
const REFUSAL = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: `prompt is too long: 9000 tokens > ${LIMIT} maximum`,
  },
};

/** Sends a long request to an upstream that first answers it with a refusal, and any other with `fine`. */
async function sendRefused(
  refusal: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
  mode: 'observe' | 'compact' = 'compact',
): Promise<{ world: GatewayWorld; received: Received }> {
  const world = await gatewayWorld({ mode });
  world.answer = (_, response) => {
    if (world.received.length > 1) return void response.end('fine');
    response.writeHead(400, 'Bad Request', { 'x-request-id': 'one', ...headers });
    response.end(refusal);
  };
  return { world, received: await world.send('/v1/messages', { body: LONG }) };
}

const coded: readonly (readonly [
  how: string,
  pack: (text: string) => Buffer | string,
  headers: Record<string, string>,
])[] = [
  ['as it is', (text) => text, {}],
  ['with a length', (text) => text, { 'content-length': String(JSON.stringify(REFUSAL).length) }],
  ['compressed', (text) => gzipSync(text), { 'content-encoding': 'gzip' }],
];

it.each(coded)(
  'a prompt that was too long is compacted and sent again: the refusal came %s',
  async (_, pack, headers) => {
    const { world, received } = await sendRefused(pack(JSON.stringify(REFUSAL)), headers);
    expect([received.status, received.body.toString()]).toEqual([200, 'fine']);
    const [first, second] = world.received;
    expect(world.received).toHaveLength(2);
    expect(second!.body.length).toBeLessThan(first!.body.length / 2);
    expect(second!.headers['content-length']).toBe(String(second!.body.length));
  },
);

it('a request refused for reasoning with another prefix is sent again without reasoning', async () => {
  const message = 'Invalid `signature`. The block is bound to a different conversation.';
  const world = await gatewayWorld({ mode: 'compact' });
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };
  const content = [thinking, { type: 'text', text: 'What?' }];
  const asked = anthropic!.user('make it work');
  const messages = [asked, { role: 'assistant', content }, anthropic!.user('all of it')];
  // The name does not tell that the model binds reasoning.
  const body = bodyOf(anthropic!, messages, { model: 'ours', thinking: { type: 'adaptive' } });
  world.answer = (_, response) => {
    if (world.received.length > 1) return void response.end('fine');
    response.writeHead(400).end(JSON.stringify({ error: { message } }));
  };
  const { status } = await world.send('/v1/messages', { body });
  expect(status).toBe(200);
  const sent = world.received.map(({ body: bytes }) => bytes.toString().includes('signature'));
  expect(sent).toEqual([true, false]);
});

it('the usage of the repeated request is learned', async () => {
  const learned = vi.spyOn(Session.prototype, 'reportUsage');
  onTestFinished(() => learned.mockRestore());
  const world = await gatewayWorld({ mode: 'compact' });
  world.answer = (_, response) => {
    const isRefused = world.received.length === 1;
    response.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
    response.end(isRefused ? JSON.stringify(REFUSAL) : '{"usage":{"input_tokens":7}}');
  };
  await world.send('/v1/messages', { body: LONG });
  const report = expect.objectContaining({ inputTokens: 7 }) as unknown;
  await expect.poll(() => learned.mock.calls).toEqual([[report]]);
});

it('a prompt is only sent again once', async () => {
  const { world } = await sendRefused('');
  world.answer = (_, response) => response.writeHead(400).end(JSON.stringify(REFUSAL));
  world.received.length = 0;
  const { status, body } = await world.send('/v1/messages', { body: LONG });
  expect([status, JSON.parse(body.toString())]).toEqual([400, REFUSAL]);
  expect(world.received).toHaveLength(2);
});

it.each([
  ['of another kind', '{"error":{"message":"no such model"}}', {}],
  ['without a body', '', {}],
  ['larger than refusals are', `${JSON.stringify(REFUSAL)}${' '.repeat(1_000_000)}`, {}],
  ['in a coding that it is not in', JSON.stringify(REFUSAL), { 'content-encoding': 'gzip' }],
])('a refusal %s reaches the client unchanged', async (_, refusal, headers) => {
  const { world, received } = await sendRefused(refusal, headers);
  expect([received.status, received.body.toString()]).toEqual([400, refusal]);
  expect(received.headers['x-request-id']).toBe('one');
  expect(world.received).toHaveLength(1);
});

it('a refusal reaches the client in mode observe', async () => {
  const text = JSON.stringify(REFUSAL);
  const { received } = await sendRefused(gzipSync(text), { 'content-encoding': 'gzip' }, 'observe');
  expect([received.status, gunzipSync(received.body).toString()]).toEqual([400, text]);
});

it('an aborted refusal is aborted for the client', async () => {
  const world = await gatewayWorld({ mode: 'compact' });
  world.answer = (_, response) => {
    response.writeHead(400, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  };
  await expect(world.send('/v1/messages', { body: LONG })).rejects.toThrow(
    /aborted|hang up|reset/i,
  );
});

it('the beginning of a refusal that does not end reaches the client', async () => {
  const world = await gatewayWorld({ mode: 'compact' });
  let finish = (): void => undefined;
  world.answer = (_, response) => {
    response.writeHead(400);
    response.write(JSON.stringify(REFUSAL));
    finish = () => response.end(' ');
  };
  const { statusCode } = await new Promise<{ statusCode?: number }>((resolve) => {
    void fetch(`${world.gateway.url}/v1/messages`, { method: 'POST', body: LONG }).then(
      (answer) => {
        resolve({ statusCode: answer.status });
        finish();
        void answer.text();
      },
    );
  });
  expect(statusCode).toBe(400);
});

it('a prompt that was refused after its answer began is shorter in the next request', async () => {
  const world = await gatewayWorld({ mode: 'compact' });
  const responses = API_TALKS.find(({ name }) => name === 'responses')!;
  const body = bodyOf(responses, talk(responses, 60));
  const error = { code: 'context_length_exceeded', message: 'Your input is too long.' };
  const events = [{ type: 'response.created' }, { type: 'response.failed', response: { error } }];
  world.answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
  const sentLength = async (): Promise<number> => {
    await world.send('/v1/responses', { body });
    return world.received.at(-1)!.body.length;
  };
  const first = await sentLength();
  await expect.poll(sentLength).toBeLessThan(first);
});
