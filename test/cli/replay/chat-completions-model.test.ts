// The model object against a server on the loopback interface.

import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ChatCompletionsError,
  createChatCompletionsModel,
} from '../../../src/cli/replay/chat-completions-model.js';
import type { LanguageModelCall } from '../../../src/index.js';
import { readProviderFailure } from '../../../src/main/summarizer/provider-failure.js';
import { startLoopbackModel } from '../../support/loopback-model.js';

const KEY = 'sk-correct-horse-battery';

function call(signal: AbortSignal = new AbortController().signal): LanguageModelCall {
  return {
    prompt: [
      { role: 'system', content: 'be short' },
      { role: 'user', content: [{ type: 'text', text: 'what happened?' }] },
    ],
    maxOutputTokens: 77,
    abortSignal: signal,
  };
}

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Answers with whatever `respond` does, and remembers what came in. */
async function startServer(
  respond: (response: ServerResponse) => void,
): Promise<{ readonly baseUrl: string; readonly received: readonly Received[] }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ url: request.url, headers: request.headers, body: JSON.parse(body) });
      respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`, received };
}

/** Whether `fromLanguageModel` would ask again. */
function mayPass(error: ChatCompletionsError): boolean {
  return readProviderFailure(error).isRetryable;
}

async function errorOf(baseUrl: string, apiKey?: string): Promise<ChatCompletionsError> {
  const model = createChatCompletionsModel({ baseUrl, model: 'm', apiKey });
  const error: unknown = await Promise.resolve(model.doGenerate(call())).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ChatCompletionsError);
  return error as ChatCompletionsError;
}

describe('createChatCompletionsModel', () => {
  test('asks with the key, and returns text, end and usage', async () => {
    const { baseUrl, received } = await startServer((response) => {
      response.end(
        JSON.stringify({
          choices: [{ message: { content: 'this' }, finish_reason: 'length' }],
          usage: { prompt_tokens: 5, completion_tokens: 2 },
        }),
      );
    });
    const model = createChatCompletionsModel({ baseUrl, model: 'm', apiKey: KEY });
    expect(await model.doGenerate(call())).toEqual({
      content: [{ type: 'text', text: 'this' }],
      finishReason: { unified: 'length', raw: 'length' },
      usage: { inputTokens: { total: 5 }, outputTokens: { total: 2 } },
    });
    expect(received).toMatchObject([
      {
        url: '/v1/chat/completions',
        headers: { authorization: `Bearer ${KEY}` },
        body: {
          model: 'm',
          max_tokens: 77,
          messages: [
            { role: 'system', content: 'be short' },
            { role: 'user', content: 'what happened?' },
          ],
        },
      },
    ]);
  });

  test('a tool call in the answer is one in the result', async () => {
    const { baseUrl } = await startLoopbackModel({ kind: 'tool-call', name: 'rm' });
    const model = createChatCompletionsModel({ baseUrl, model: 'm' });
    expect(await model.doGenerate(call())).toMatchObject({
      content: [{ type: 'tool-call' }],
      finishReason: { unified: 'tool-calls' },
    });
  });

  test.each([
    [401, false],
    [404, false],
    [408, true],
    [409, true],
    [429, true],
    [503, true],
  ])('status %i is an error with what a retry needs', async (status, isRetryable) => {
    const headers = { 'retry-after': '3' };
    const { baseUrl } = await startLoopbackModel({ kind: 'status', status, headers });
    const error = await errorOf(baseUrl);
    expect(error).toMatchObject({
      statusCode: status,
      responseHeaders: { 'retry-after': '3' },
      message: `status ${status}`,
    });
    expect(mayPass(error)).toBe(isRetryable);
  });

  test.each([
    ['broken JSON', '{"choices":[', /not a chat completion/],
    ['another document', '[]', /not a chat completion/],
    ['an error with status 200', '{"error":{"message":"overloaded"}}', /^overloaded$/],
  ])('%s may pass', async (_, body, message) => {
    const { baseUrl } = await startLoopbackModel({ kind: 'body', body });
    const error = await errorOf(baseUrl);
    expect(error.statusCode).toBe(200);
    expect(mayPass(error)).toBe(true);
    expect(error.message).toMatch(message);
  });

  test('a closed connection may pass, and its reason is told', async () => {
    const { baseUrl } = await startLoopbackModel({ kind: 'reset' });
    const error = await errorOf(baseUrl);
    expect(error.message).toMatch(/^cannot connect to 127\.0\.0\.1:\d+ \(UND_ERR_SOCKET\)$/);
    expect(error.statusCode).toBeUndefined();
    expect(mayPass(error)).toBe(true);
  });

  test('a redirect is not followed', async () => {
    const elsewhere = await startLoopbackModel({ kind: 'text', text: 'here' });
    const { baseUrl } = await startServer((response) => {
      response.writeHead(307, { location: `${elsewhere.baseUrl}/chat/completions` }).end();
    });
    const error = await errorOf(baseUrl);
    expect(error.statusCode).toBe(307);
    expect(mayPass(error)).toBe(false);
    expect(elsewhere.requests).toEqual([]);
  });

  test('a key that the server sends back is not in the error', async () => {
    const { baseUrl } = await startServer((response) => {
      response.writeHead(401).end(JSON.stringify({ error: { message: `bad key ${KEY}!` } }));
    });
    expect((await errorOf(baseUrl, KEY)).message).toBe('bad key [key]!');
  });

  test('aborting rejects with the reason', async () => {
    const { baseUrl, received } = await startLoopbackModel({ kind: 'hang' }).then((server) => ({
      baseUrl: server.baseUrl,
      received: server.received(1),
    }));
    const abortion = new AbortController();
    const model = createChatCompletionsModel({ baseUrl, model: 'm' });
    const answer = model.doGenerate(call(abortion.signal));
    await received;
    const reason = new Error('enough');
    abortion.abort(reason);
    await expect(answer).rejects.toBe(reason);
  });
});
