// The gateway's own routes below `/ctxfold`: its page, state and events for the page, the mode, originals of edits, and compaction
// without a provider.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRecord, tryParseJson } from '../../shared/json.js';
import { BodyCopy } from './body-copy.js';
import { codingOf } from './coding.js';
import type { ExchangeParts } from './exchange.js';
import { refuse } from './forward.js';
import type { Ledger } from './ledger.js';
import { openApi } from './openapi.js';

/** Shared by all own routes. */
export type OwnParts = Pick<ExchangeParts, 'engine' | 'ledger' | 'options'>;

const MAX_BODY_BYTES = 4_096;
const PRIVATE = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** Whether a path is an own route. */
export function isOwnPath(target: string): boolean {
  return /^\/ctxfold(?:[/?]|$)/.test(target);
}

/** A request for an own route. */
interface OwnCall extends OwnParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly query: URLSearchParams;
}

type Route = Readonly<Record<string, (call: OwnCall) => Promise<void> | void>>;

/** The routes by path and method. */
const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['/ctxfold', { GET: page, HEAD: page }],
  ['/ctxfold/', { GET: redirect, HEAD: redirect }],
  ['/ctxfold/state', { GET: state }],
  ['/ctxfold/events', { GET: ({ ledger, response }) => streamEvents(ledger, response) }],
  ['/ctxfold/original', { GET: original }],
  [
    '/ctxfold/openapi.json',
    { GET: ({ options, response }) => sendJson(response, openApi(options.maxBodyBytes)) },
  ],
  ['/ctxfold/mode', { POST: switchMode }],
  ['/ctxfold/compact', { POST: compact }],
]);

/** Answers a request for an own route. */
export async function answerOwn(
  parts: OwnParts,
  request: IncomingMessage,
  response: ServerResponse,
  target: string,
): Promise<void> {
  const { pathname, searchParams: query } = new URL(target, 'http://gateway.invalid');
  const route = ROUTES.get(pathname);
  const { method = '' } = request;
  if (route === undefined) refuse(response, 404, 'there is no such page.');
  else if (!Object.hasOwn(route, method)) {
    response.setHeader('allow', Object.keys(route).join(', '));
    refuse(response, 405, `${pathname} is no page for this method.`);
  } else await route[method]?.({ ...parts, request, response, query });
}

/** The page's requests are relative to its address without the slash. */
function redirect({ response }: OwnCall): void {
  response.writeHead(308, { ...PRIVATE, location: '../ctxfold' }).end();
}

function state({ ledger, response }: OwnCall): void {
  sendJson(response, { ...ledger.status, conversations: ledger.conversations });
}

async function page({ options, ledger, response }: OwnCall): Promise<void> {
  if (options.page === undefined) {
    sendJson(response, ledger.status);
    return;
  }
  const { html, contentSecurityPolicy } = await options.page();
  send(response, 'text/html; charset=utf-8', html, {
    'content-security-policy': contentSecurityPolicy,
    'x-frame-options': 'DENY',
  });
}

async function original({ engine, response, query }: OwnCall): Promise<void> {
  const edit = Number(query.get('edit') ?? NaN);
  const found = await engine.original(query.get('conversation') ?? '', edit);
  if (found === undefined) {
    refuse(response, 404, 'the original is not kept any more.');
    return;
  }
  send(response, 'text/plain; charset=utf-8', found);
}

async function switchMode({ engine, ledger, request, response }: OwnCall): Promise<void> {
  const body = await bodyOf(request, response, MAX_BODY_BYTES);
  if (body === undefined) return;
  const given = tryParseJson(body.toString());
  const { mode, conversation } = isRecord(given) ? given : {};
  const isMode = mode === 'observe' || mode === 'compact';
  if (!isMode || (conversation !== undefined && typeof conversation !== 'string')) {
    refuse(response, 400, 'expected {"mode": "observe" | "compact", "conversation"?: string}.');
    return;
  }
  const known = conversation === undefined ? undefined : ledger.conversation(conversation);
  if (known?.isHeld === true && mode === 'observe') {
    refuse(
      response,
      409,
      'its model would refuse the original messages, so it is compacted to its end. Switch a new conversation instead.',
    );
    return;
  }
  const compacted = ledger.setMode(mode, conversation);
  if (compacted === undefined) {
    refuse(response, 404, 'there is no such conversation.');
    return;
  }
  for (const id of compacted) engine.noteBoundReasoning(id);
  sendJson(response, { mode });
}

function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 'application/json', JSON.stringify(value));
}

function send(
  response: ServerResponse,
  type: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { ...PRIVATE, 'content-type': type, ...headers });
  response.end(body);
}

async function compact({ engine, options, request, response }: OwnCall): Promise<void> {
  const given = await bodyOf(request, response, options.maxBodyBytes);
  if (given === undefined) return;
  const { status, body } = await engine.compactOnce(given);
  if (status !== 200) {
    refuse(response, status, Buffer.from(body).toString());
    return;
  }
  send(response, 'application/json', body);
}

/** Reads the body of a request. Returns `undefined` if it was aborted, or if it is too large or encoded, which is answered here. */
async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Buffer | undefined> {
  if (codingOf(request.headers) !== 'none') {
    refuse(response, 415, 'expected a body without content-encoding.');
    return undefined;
  }
  const copy = new BodyCopy(maxBytes);
  try {
    for await (const chunk of request) {
      if (copy.add(chunk as Buffer)) continue;
      refuse(response, 413, `expected at most ${maxBytes} bytes.`);
      return undefined;
    }
  } catch {
    // The client has disconnected.
    return undefined;
  }
  return copy.bytes;
}

/** Delay by which events are debounced. */
const DEBOUNCE_MS = 100;
/** Interval of comments that keep proxies from closing an idle connection. */
const HEARTBEAT_MS = 15_000;
/** Backpressure: events are held back while more bytes are buffered. Also limits what one turn of the event loop writes. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Sends the current state and later changes as server-sent events, until the page disconnects. A page that does not keep up skips
 * intermediate states, and gets only the newest state of each changed conversation.
 */
function streamEvents(ledger: Ledger, response: ServerResponse): void {
  response.writeHead(200, { ...PRIVATE, 'content-type': 'text/event-stream' });
  const changed = new Set(ledger.conversations.map(({ line }) => line.id));
  let hasStatus = true;
  let timer: NodeJS.Timeout | undefined;
  const isFull = (): boolean => response.writableLength > MAX_BUFFERED_BYTES;
  const flush = (): void => {
    timer = undefined;
    if (hasStatus && !isFull()) {
      write('status', ledger.status);
      hasStatus = false;
    }
    for (const id of changed) {
      if (isFull()) break;
      changed.delete(id);
      const record = ledger.conversation(id);
      if (record === undefined) write('gone', { id });
      else write('conversation', record);
    }
    if (hasStatus || changed.size > 0) schedule();
  };
  const write = (event: string, value: unknown): void => {
    response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const schedule = (): void => {
    timer ??= setTimeout(flush, DEBOUNCE_MS);
  };
  const onConversation = (id: string): void => {
    changed.add(id);
    schedule();
  };
  const onStatus = (): void => {
    hasStatus = true;
    schedule();
  };
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS).unref();
  ledger.on('conversation', onConversation);
  ledger.on('status', onStatus);
  // The stream never ends by itself, and a closing gateway would wait for it.
  const onEnd = (): void => void response.end();
  ledger.on('end', onEnd);
  response.once('close', () => {
    clearInterval(heartbeat);
    clearTimeout(timer);
    ledger.off('conversation', onConversation);
    ledger.off('status', onStatus);
    ledger.off('end', onEnd);
  });
  flush();
}
