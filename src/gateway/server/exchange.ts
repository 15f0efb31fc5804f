// One request that carries a history: passes it on as it comes and has it looked at beside that, or waits until it is
// compacted and sends that. Whatever fails here, the bytes that came are what goes out.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { createHash, randomBytes } from 'node:crypto';
import { nameInHeaders, passesByHeaders } from '../engine/conversation-name.js';
import type { Api } from '../engine/apis.js';
import type { Engine, EngineAnswer, EngineCall } from '../engine/protocol.js';
import type { CompleteGatewayOptions } from './options.js';
import { BodyCopy } from './body-copy.js';
import type { Forwarder } from './forward.js';
import type { Ledger } from './ledger.js';
import type { Route } from './route.js';
import { tapUsage } from './usage-tap.js';

/** What exchanges share. */
export interface ExchangeParts {
  readonly engine: Engine;
  readonly forwarder: Forwarder;
  readonly ledger: Ledger;
  readonly options: CompleteGatewayOptions;
}

/** Keys are told apart by digests, which mean nothing outside of this process where no other one has the same conversations. */
const SALT = randomBytes(16);
/** What is copied in a fraction of a millisecond. */
const BYTES_PER_TURN = 1024 * 1024;
/** Nobody waits for what is looked at beside a request. */
const OBSERVING_MS = 60_000;
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;

/** Sends a request on, and answers it. */
export function exchange(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: Route & { readonly api: Api },
): void {
  const { ledger, options } = parts;
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const announced = Number(request.headers['content-length'] ?? NaN);
  const copy = new BodyCopy(options.maxBodyBytes, Number.isNaN(announced) ? undefined : announced);
  const why =
    encoding !== 'identity'
      ? 'a compressed body'
      : copy.isTooLarge
        ? 'a body that is too large'
        : undefined;
  if (why !== undefined) {
    ledger.notePassed(why);
    parts.forwarder.forward(request, response, route, undefined, failureTo(ledger, route));
  } else if (ledger.mayCompact) {
    collect(parts, request, response, route, copy);
  } else {
    observe(parts, request, response, route, copy);
  }
}

type Served = Route & { readonly api: Api };

/** The request goes out as it comes in. What is looked at beside that waits until there is an answer. */
function observe(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: Served,
  copy: BodyCopy,
): void {
  const { forwarder, ledger } = parts;
  const chunks: Buffer[] = [];
  let length = 0;
  let look = (_: EngineAnswer | undefined | PromiseLike<EngineAnswer | undefined>): void =>
    undefined;
  const looked = new Promise<EngineAnswer | undefined>((resolve) => (look = resolve));
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (copy.hasRoomFor(length)) chunks.push(chunk);
    else chunks.length = 0;
  });
  response.once('close', () => {
    look(undefined);
  });
  const listeners = answerTo(parts, route, looked, 'observe');
  forwarder.forward(request, response, route, undefined, {
    ...listeners,
    onAnswer: (answer) => {
      listeners.onAnswer(answer);
      if (!request.complete) return;
      if (!copy.hasRoomFor(length)) ledger.notePassed('a body that is too large');
      else {
        look(fill(copy, chunks).then(() => compact(parts, request, route, copy, OBSERVING_MS)));
      }
    },
  });
}

/** Copies chunk by chunk, with turns of the event loop between. */
async function fill(copy: BodyCopy, chunks: readonly Buffer[]): Promise<void> {
  let copied = 0;
  for (const chunk of chunks) {
    copy.add(chunk);
    copied += chunk.length;
    if (copied < BYTES_PER_TURN) continue;
    copied = 0;
    await nextTurn();
  }
}

/** The request goes out once it is known what of it. */
function collect(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: Served,
  copy: BodyCopy,
): void {
  const { forwarder, ledger, options } = parts;
  const onData = (chunk: Buffer): void => {
    const before = copy.isTooLarge ? undefined : copy.bytes;
    if (copy.add(chunk)) return;
    // Larger than it was said to be possible: what has come goes first, then the rest.
    request.off('data', onData);
    request.off('end', onEnd);
    request.pause();
    ledger.notePassed('a body that is too large');
    if (before !== undefined) request.unshift(chunk);
    if (before !== undefined && before.length > 0) request.unshift(before);
    forwarder.forward(request, response, route, undefined, failureTo(ledger, route));
  };
  const onEnd = (): void => {
    void compact(parts, request, route, copy, options.deadlineMs).then((answer) => {
      if (response.destroyed) return;
      const isCompacting = answer?.line !== undefined && ledger.modeOf(answer.line) === 'compact';
      const mode = isCompacting ? 'compact' : 'observe';
      const body = (isCompacting ? answer.body : undefined) ?? copy.bytes;
      forwarder.forward(
        request,
        response,
        route,
        body,
        answerTo(parts, route, Promise.resolve(answer), mode),
      );
    });
  };
  request.on('data', onData);
  request.once('end', onEnd);
  request.once('error', () => response.destroy());
}

/** What the engine makes of a request, within the time there is. Never rejects. */
async function compact(
  { engine, ledger, options }: ExchangeParts,
  request: IncomingMessage,
  { api, model, upstreamName }: Served,
  copy: BodyCopy,
  deadlineMs: number,
): Promise<EngineAnswer | undefined> {
  const call: EngineCall = {
    api: api.name,
    body: copy.bytes,
    scope: scopeOf(request, upstreamName, options.store === undefined ? SALT : ''),
    name: nameInHeaders(request.headers),
    model,
    passes: passesByHeaders(request.headers),
  };
  const ended = new AbortController();
  try {
    const late = delay(deadlineMs, undefined, { signal: ended.signal, ref: false });
    const answer = await Promise.race([engine.compact(call), late]);
    if (answer === undefined)
      ledger.noteFailure('compaction took too long; the request left as it came');
    else ledger.noteAnswer(answer, copy.length);
    return answer;
  } catch (thrown) {
    ledger.noteFailure(thrown instanceof Error ? thrown.name : 'compaction failed');
    return undefined;
  } finally {
    ended.abort();
  }
}

function answerTo(
  { engine, ledger }: ExchangeParts,
  route: Served,
  looked: Promise<EngineAnswer | undefined>,
  mode: 'observe' | 'compact',
) {
  return {
    ...failureTo(ledger, route),
    onAnswer: (answer: IncomingMessage): void => {
      tapUsage(answer, ({ usage, refusal }) => {
        void looked.then((seen) => {
          const line = seen?.line;
          if (refusal !== undefined) engine.reportRefusal(refusal, line?.model);
          if (line === undefined) return;
          if (usage !== undefined) engine.report(line.id, usage);
          ledger.noteUsage(line.id, { usage, mode, status: answer.statusCode ?? 0 });
        });
      });
    },
  };
}

function failureTo(ledger: Ledger, { upstreamName }: Route) {
  return {
    onFailure: (code: string): void => {
      ledger.noteFailure(`${upstreamName} did not answer (${code})`);
    },
  };
}

function scopeOf(
  { headers }: IncomingMessage,
  upstreamName: string,
  salt: string | Buffer,
): string {
  const digest = createHash('sha256').update(salt).update(upstreamName);
  for (const name of KEY_HEADERS) digest.update(`\n${String(headers[name] ?? '')}`);
  return digest.digest('base64');
}
