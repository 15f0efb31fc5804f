// What the gateway says of itself, below `/ctxfold`: its page, what the page listens to, the switch of the modes, and the
// text that an edit took away, for who asks for one.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord, tryParseJson } from '../../shared/json.js';
import type { Engine } from '../engine/protocol.js';
import { BodyCopy } from './body-copy.js';
import { refuse } from './forward.js';
import type { Ledger } from './ledger.js';
import { listen } from './live-events.js';
import { OPENAPI } from './openapi.js';
import type { CompleteGatewayOptions } from './options.js';

/** What these routes need. */
export interface OwnParts {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly options: CompleteGatewayOptions;
}

const MAX_BODY_BYTES = 4_096;
const PRIVATE = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Whether a path is one of the gateway's own. */
export function isOwnPath(target: string): boolean {
  return /^\/ctxfold(?:[/?]|$)/.test(target);
}

/** Answers a request for one of these. */
export async function answerOwn(
  parts: OwnParts,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
): Promise<void> {
  const { pathname, searchParams } = new URL(target, 'http://gateway.invalid');
  const route = `${request.method ?? ''} ${pathname}`;
  switch (route) {
    case 'GET /ctxfold':
      return page(parts, response);
    case 'GET /ctxfold/state': {
      say(response, 200, {
        ...parts.ledger.status,
        conversations: parts.ledger.conversations,
      });
      return;
    }
    case 'GET /ctxfold/events':
      listen(parts.ledger, response, PRIVATE);
      return;
    case 'GET /ctxfold/original':
      return original(parts, response, searchParams);
    case 'GET /ctxfold/openapi.json': {
      say(response, 200, OPENAPI);
      return;
    }
    case 'POST /ctxfold/mode':
      return switchMode(parts, request, response);
    case 'POST /ctxfold/compact':
      return compact(parts, request, response);
    default:
      refuse(response, 404, 'there is no such page.');
  }
}

async function page({ options, ledger }: OwnParts, response: ServerResponse): Promise<void> {
  if (options.page === undefined) {
    say(response, 200, ledger.status);
    return;
  }
  const { html, contentSecurityPolicy } = await options.page();
  response.writeHead(200, {
    ...PRIVATE,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy,
    'x-frame-options': 'DENY',
  });
  response.end(html);
}

async function original(
  { engine }: OwnParts,
  response: ServerResponse,
  asked: URLSearchParams,
): Promise<void> {
  const edit = Number(asked.get('edit') ?? NaN);
  const found = await engine.original(asked.get('conversation') ?? '', edit);
  if (found === undefined) {
    refuse(response, 404, 'the original is not kept any more.');
    return;
  }
  response.writeHead(200, { ...PRIVATE, 'content-type': 'text/plain; charset=utf-8' });
  response.end(found);
}

async function switchMode(
  { ledger }: OwnParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await bodyOf(request, response, MAX_BODY_BYTES);
  if (body === undefined) return;
  const given = tryParseJson(body.toString());
  const { mode, conversation } = isRecord(given) ? given : {};
  const isMode = mode === 'observe' || mode === 'compact';
  if (!isMode || (conversation !== undefined && typeof conversation !== 'string')) {
    refuse(response, 400, 'expected {"mode": "observe" | "compact", "conversation"?: string}.');
  } else if (!ledger.setMode(mode, conversation)) {
    refuse(response, 404, 'there is no such conversation.');
  } else {
    say(response, 200, { mode });
  }
}

/** Answers with a document. */
export function say(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...PRIVATE, 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

async function compact(
  { engine, options }: OwnParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const given = await bodyOf(request, response, options.maxBodyBytes);
  if (given === undefined) return;
  const { status, body } = await engine.compactOnce(given);
  if (status !== 200) {
    refuse(response, status, Buffer.from(body).toString());
    return;
  }
  response.writeHead(200, { ...PRIVATE, 'content-type': 'application/json' });
  response.end(body);
}

/** The body of a request; `undefined` for one that is too large, which is answered then, or was cut off. */
async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const copy = new BodyCopy(maxBytes, undefined);
  try {
    for await (const chunk of request) {
      if (copy.add(chunk as Buffer)) continue;
      refuse(response, 413, `expected at most ${maxBytes} bytes.`);
      return undefined;
    }
  } catch {
    // It was cut off: there is nobody to be told.
    return undefined;
  }
  return copy.bytes;
}
