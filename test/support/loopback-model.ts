// A loopback server for `/v1/chat/completions` that answers as a test scripts it.

import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

/** One scripted answer. */
export type LoopbackAnswer =
  | { readonly kind: 'text'; readonly text: string; readonly finishReason?: string }
  | { readonly kind: 'tool-call'; readonly name: string }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Status 200 and truncated JSON. */
  | { readonly kind: 'truncated' }
  /** Status 200 and this body. */
  | { readonly kind: 'body'; readonly body: string }
  /** Closes the connection without an answer. */
  | { readonly kind: 'reset' }
  /** Never answers. */
  | { readonly kind: 'hang' };

/** A received request. */
export interface LoopbackRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly max_tokens?: number;
  readonly tools?: unknown;
}

export interface LoopbackModel {
  /** The base URL for providers; ends in `/v1`. */
  readonly baseUrl: string;
  /** In the order received. */
  readonly requests: readonly LoopbackRequest[];
  /** Resolves when this many requests have been received. */
  received(count: number): Promise<void>;
}

/** Starts a server that gives the answers in order and then repeats the last one; it stops with the test. */
export async function startLoopbackModel(
  ...answers: readonly [LoopbackAnswer, ...LoopbackAnswer[]]
): Promise<LoopbackModel> {
  const requests: LoopbackRequest[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer((incoming, outgoing) => {
    void readJson(incoming).then((request) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)] ?? answers[0];
      requests.push(request);
      respond(outgoing, answer);
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => stop(server));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    requests,
    received: (count) =>
      requests.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
  };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

async function readJson(incoming: IncomingMessage): Promise<LoopbackRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as LoopbackRequest;
}

function respond(outgoing: ServerResponse, answer: LoopbackAnswer): void {
  switch (answer.kind) {
    case 'text':
      return sendJson(
        outgoing,
        completion({ content: answer.text }, answer.finishReason ?? 'stop'),
      );
    case 'tool-call': {
      const call = {
        id: 'call-1',
        type: 'function',
        function: { name: answer.name, arguments: '{}' },
      };
      return sendJson(outgoing, completion({ content: null, tool_calls: [call] }, 'tool_calls'));
    }
    case 'status':
      outgoing.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      outgoing.end(JSON.stringify({ error: { message: `status ${String(answer.status)}` } }));
      return;
    case 'truncated':
      return sendJson(outgoing, completion({ content: 'half of it' }, 'stop').slice(0, 60));
    case 'body':
      return sendJson(outgoing, answer.body);
    case 'reset':
      outgoing.destroy();
      return;
    case 'hang':
      return;
  }
}

function sendJson(outgoing: ServerResponse, body: string): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(body);
}

function completion(message: object, finishReason: string): string {
  return JSON.stringify({
    id: 'completion-1',
    object: 'chat.completion',
    created: 0,
    model: 'loopback',
    choices: [
      { index: 0, message: { role: 'assistant', ...message }, finish_reason: finishReason },
    ],
    usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
  });
}
