// Handles a request with a history: forwards it unchanged and compacts it in parallel, or waits and forwards the compacted body. If
// anything fails here, the original bytes are sent.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createHash, randomBytes } from 'node:crypto';
import { nameInHeaders, passesByHeaders } from '../engine/conversation-name.js';
import type { Api } from '../engine/apis.js';
import type { Engine, EngineAnswer, EngineCall } from '../engine/protocol.js';
import type { CompleteGatewayOptions, GatewayMode } from './options.js';
import { BodyCopy } from './body-copy.js';
import type { ForwardEvents, Forwarder } from './forward.js';
import type { Ledger } from './ledger.js';
import type { Route } from './route.js';
import { inTurns } from '../../main/waiting/event-loop-turn.js';
import { tapUsage } from './usage-tap.js';

/** Shared by all exchanges. */
export interface ExchangeParts {
  readonly engine: Engine;
  readonly forwarder: Forwarder;
  readonly ledger: Ledger;
  readonly options: CompleteGatewayOptions;
}

/** For digests of API keys, which are meaningless outside of this process unless it shares conversations through a store. */
const SALT = randomBytes(16);
/** Timeout in mode `observe`, in which no request waits. */
const OBSERVING_MS = 60_000;
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;

type HistoryRoute = Route & { readonly api: Api };

/** Forwards a request, and answers it. */
export function exchange(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: HistoryRoute,
): void {
  const { ledger, options } = parts;
  const isPlain = isAsItIs(request.headers);
  const announced = Number(request.headers['content-length'] ?? NaN);
  const copy = new BodyCopy(options.maxBodyBytes, Number.isNaN(announced) ? undefined : announced);
  if (!isPlain || copy.isTooLarge) {
    ledger.recordPassed(isPlain ? TOO_LARGE : 'a compressed body');
    parts.forwarder.forward(request, response, route, undefined, recordingFailure(ledger, route));
  } else if (ledger.mayCompact) {
    collect(parts, request, response, route, copy);
  } else {
    observe(parts, request, response, route, copy);
  }
}

const TOO_LARGE = 'a body that is too large';

/** Whether a body is in no coding, neither of its content nor of its transfer. */
function isAsItIs({
  'content-encoding': encoding = 'identity',
  'transfer-encoding': coding = 'chunked',
}: IncomingHttpHeaders): boolean {
  return encoding === 'identity' && coding.toLowerCase() === 'chunked';
}

/** Pipes the request to the upstream. Its body is copied for the engine once there is an answer: until then, nothing may take time. */
function observe(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: HistoryRoute,
  copy: BodyCopy,
): void {
  const { forwarder, ledger, options } = parts;
  let resolveAnswer = (_: EngineAnswer | undefined | PromiseLike<EngineAnswer | undefined>): void =>
    undefined;
  const engineAnswer = new Promise<EngineAnswer | undefined>(
    (resolve) => (resolveAnswer = resolve),
  );
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= options.maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  response.once('close', () => {
    resolveAnswer(undefined);
  });
  const listeners = recordingAnswer(parts, route, engineAnswer, 'observe');
  forwarder.forward(request, response, route, undefined, {
    ...listeners,
    onAnswer: (answer) => {
      listeners.onAnswer(answer);
      // An upstream may answer before it has read the body.
      if (!request.readableEnded) return;
      if (length > options.maxBodyBytes) ledger.recordPassed(TOO_LARGE);
      else resolveAnswer(observeCopy());
    },
  });

  async function observeCopy(): Promise<EngineAnswer | undefined> {
    if (await inTurns(fill(copy, chunks))) return compact(parts, request, route, copy, 'observe');
    ledger.recordPassed(TOO_LARGE);
    return undefined;
  }
}

/** Copies chunks, and drops each. Returns whether the copy is complete. */
function* fill(copy: BodyCopy, chunks: Buffer[]): Generator<void, boolean, undefined> {
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    if (!copy.add(chunk)) return false;
    yield;
  }
  return true;
}

/** Reads the whole body, and forwards it once the engine has answered. */
function collect(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: HistoryRoute,
  copy: BodyCopy,
): void {
  const { forwarder, ledger } = parts;
  const onData = (chunk: Buffer): void => {
    const before = copy.isTooLarge ? undefined : copy.bytes;
    if (copy.add(chunk)) return;
    // The body has exceeded the limit: puts back what was read, and pipes the request.
    request.off('data', onData);
    request.off('end', onEnd);
    request.pause();
    ledger.recordPassed(TOO_LARGE);
    if (before !== undefined) request.unshift(chunk);
    if (before !== undefined && before.length > 0) request.unshift(before);
    forwarder.forward(request, response, route, undefined, recordingFailure(ledger, route));
  };
  const onEnd = (): void => {
    void compact(parts, request, route, copy, 'compact').then((answer) => {
      if (response.destroyed) return;
      const isCompacting = answer?.line !== undefined && ledger.modeOf(answer.line) === 'compact';
      const mode = isCompacting ? 'compact' : 'observe';
      const body = (isCompacting ? answer.body : undefined) ?? copy.bytes;
      const listeners = recordingAnswer(parts, route, Promise.resolve(answer), mode);
      forwarder.forward(request, response, route, body, listeners);
    });
  };
  request.on('data', onData);
  request.once('end', onEnd);
  request.once('error', () => response.destroy());
}

/** Returns the engine's answer, `undefined` after the deadline or a failure. Never rejects. */
async function compact(
  { engine, ledger, options }: ExchangeParts,
  request: IncomingMessage,
  { api, model, upstreamName }: HistoryRoute,
  copy: BodyCopy,
  mode: GatewayMode,
): Promise<EngineAnswer | undefined> {
  const isObserved = mode === 'observe';
  const call: EngineCall = {
    api: api.name,
    body: copy.bytes,
    scope: scopeOf(request, upstreamName, options.store === undefined ? SALT : ''),
    name: nameInHeaders(request.headers),
    model,
    passes: passesByHeaders(request.headers),
    isObserved,
  };
  const ended = new AbortController();
  try {
    const deadlineMs = isObserved ? OBSERVING_MS : options.deadlineMs;
    const late = delay(deadlineMs, undefined, { signal: ended.signal, ref: false });
    const answer = await Promise.race([engine.compact(call), late]);
    if (answer === undefined)
      ledger.recordFailure('compaction took too long; the request left as it came');
    else ledger.recordAnswer(answer, copy.length);
    return answer;
  } catch (thrown) {
    ledger.recordFailure(thrown instanceof Error ? thrown.name : 'compaction failed');
    return undefined;
  } finally {
    ended.abort();
  }
}

/** Returns listeners that record the upstream's usage, rejection or failure. */
function recordingAnswer(
  { engine, ledger }: ExchangeParts,
  route: HistoryRoute,
  engineAnswer: Promise<EngineAnswer | undefined>,
  mode: GatewayMode,
): Required<ForwardEvents> {
  return {
    ...recordingFailure(ledger, route),
    onAnswer: (answer) => {
      tapUsage(answer, ({ usage, refusal }) => {
        void engineAnswer.then((answered) => {
          const line = answered?.line;
          if (refusal !== undefined) engine.reportRefusal(refusal, line?.model);
          if (line === undefined) return;
          // The engine compares it with what it would have sent.
          const isOfEngine = mode === 'compact' || answered?.outcome === 'unchanged';
          if (usage !== undefined && isOfEngine) engine.report(line.id, usage);
          ledger.recordUsage(line.id, { usage, mode, status: answer.statusCode ?? 0 });
        });
      });
    },
  };
}

/** Returns a listener that records that the upstream did not answer. */
export function recordingFailure(
  ledger: Ledger,
  { upstreamName }: Route,
): Required<Pick<ForwardEvents, 'onFailure'>> {
  return {
    onFailure: (code) => {
      ledger.recordFailure(`${upstreamName} did not answer (${code})`);
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
