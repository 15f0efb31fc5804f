// Handles a request with a history. Mode `observe` forwards it unchanged and compacts a copy; mode `compact` waits and forwards the
// compacted body. If anything fails here, the original bytes are sent.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createHash, randomBytes } from 'node:crypto';
import { nameInHeaders, passesByHeaders } from '../engine/conversation-name.js';
import { SIDE_REQUEST } from '../engine/apis.js';
import type { Api } from '../engine/apis.js';
import type { Engine, EngineAnswer, EngineCall } from '../engine/protocol.js';
import type { SpareMemory } from '../body/spare-memory.js';
import type { CompleteGatewayOptions, GatewayMode } from './options.js';
import { BodyCopy } from './body-copy.js';
import { codingOf, pack, unpack } from './coding.js';
import type { Coding } from './coding.js';
import type { ForwardEvents, Forwarder } from './forward.js';
import type { CallRecord, Ledger } from './ledger.js';
import type { Route } from './route.js';
import { isFixableByCompacting, refusesReasoning } from '../../main/models/model-limits.js';
import { inTurns } from '../../main/waiting/event-loop-turn.js';
import { tapUsage } from './usage-tap.js';

/** Shared by all exchanges. */
export interface ExchangeParts {
  readonly engine: Engine;
  readonly forwarder: Forwarder;
  readonly ledger: Ledger;
  readonly options: CompleteGatewayOptions;
  /** For the bodies of requests that wait for the engine. */
  readonly memory: SpareMemory;
  /** Observed requests that are being read: the end of their answers does not wait for that. */
  readonly reading: Set<Promise<unknown>>;
}

/** Salts digests of API keys, so that they are meaningless outside of this process. Not used with a store, which processes share. */
const SALT = randomBytes(16);
/** Compaction deadline in mode `observe`, in which no request waits for it. */
const OBSERVING_MS = 60_000;
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'] as const;

const ignore = (): void => undefined;

/** A request with a history that is being answered. */
interface Exchange extends ExchangeParts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  /** The coding of the body. */
  readonly coding: Coding | 'none';
  /** What the engine is told besides the body: what the head of the request says. */
  readonly call: Omit<EngineCall, 'body'>;
  readonly copy: BodyCopy;
}

/** Forwards a request with a history, and answers it. */
export function exchange(
  parts: ExchangeParts,
  request: IncomingMessage,
  response: ServerResponse,
  route: Route & { readonly api: Api },
): void {
  const { ledger, options } = parts;
  const coding = isInPlainTransfer(request) ? codingOf(request.headers) : undefined;
  const announced = Number(request.headers['content-length'] ?? 0);
  const copy = new BodyCopy(options.maxBodyBytes, announced, parts.memory);
  const { headers } = request;
  // A trailer is mostly a digest of the body.
  const hasTrailer = headers.trailer !== undefined;
  if (coding === undefined || copy.isTooLarge || hasTrailer) {
    ledger.recordPassed(hasTrailer ? TRAILER : coding === undefined ? UNREAD_CODING : TOO_LARGE);
    if (coding === undefined) ledger.warn(`${UNREAD_CODING} left unread`);
    parts.forwarder.forward(request, response, route);
    return;
  }
  const { api, isSideRequest, model, upstreamName } = route;
  const isObserved = !ledger.mayCompact;
  const call = {
    api: api.name,
    scope: scopeOf(headers, upstreamName, options.store === undefined ? SALT : ''),
    name: nameInHeaders(headers),
    model,
    passes: passesByHeaders(headers) ?? (isSideRequest ? SIDE_REQUEST : undefined),
    isObserved,
  };
  const begun = { ...parts, request, response, route, coding, call, copy };
  if (isObserved) observe(begun);
  else collect(begun);
}

const TOO_LARGE = 'a body that is too large';
const TRAILER = 'a body with a trailer';
const UNREAD_CODING = `a body in a coding that Node ${process.versions.node} does not read (zstd: 22.15 and newer)`;

function isInPlainTransfer({ headers }: IncomingMessage): boolean {
  return (headers['transfer-encoding'] ?? 'chunked').toLowerCase() === 'chunked';
}

/** Pipes the request to the upstream. Copies the body for the engine only once an answer arrives, to add no latency before. */
function observe(begun: Exchange): void {
  const { forwarder, ledger, options, reading, request, response, route, copy } = begun;
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= options.maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  });
  forwarder.forward(request, response, route, undefined, {
    onAnswer: (answer) => {
      // An upstream may answer before it has read the whole body.
      const observed = request.readableEnded ? observeCopy() : Promise.resolve(undefined);
      reading.add(observed);
      void observed.then(() => reading.delete(observed));
      recordUsage(begun, answer, observed, 'observe');
    },
  });

  async function observeCopy(): Promise<RecordedAnswer | undefined> {
    const isWhole = length <= options.maxBodyBytes && (await inTurns(fill(copy, chunks)));
    if (isWhole) return compact(begun);
    ledger.recordPassed(TOO_LARGE);
    return undefined;
  }
}

/** Moves chunks into a copy, in slices. Returns whether the copy is complete. */
function* fill(copy: BodyCopy, chunks: Buffer[]): Generator<void, boolean, undefined> {
  for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
    if (!copy.add(chunk)) return false;
    yield;
  }
  return true;
}

/** Reads the whole body, and forwards it once the engine has answered. */
function collect(begun: Exchange): void {
  const { forwarder, ledger, memory, request, response, route, copy } = begun;
  response.once('close', () => {
    memory.prepare(copy.bytes.length);
  });
  const onData = (chunk: Buffer): void => {
    const before = copy.isTooLarge ? undefined : copy.bytes;
    if (copy.add(chunk)) return;
    // The body exceeds the limit: puts back what was read, and pipes the request unread.
    request.off('data', onData);
    request.off('end', onEnd);
    request.pause();
    ledger.recordPassed(TOO_LARGE);
    if (before !== undefined) for (const bytes of [chunk, before]) request.unshift(bytes);
    forwarder.forward(request, response, route);
  };
  const onEnd = (): void => {
    void compactAndForward(begun);
  };
  request.on('data', onData);
  request.once('end', onEnd);
  request.once('error', () => response.destroy());
}

/** Forwards a request whose body was read, compacted if its conversation is. Never rejects. */
async function compactAndForward(begun: Exchange): Promise<void> {
  const { forwarder, ledger, request, response, route, copy } = begun;
  const answer = await compact(begun);
  if (response.destroyed) return;
  const conversation = answer?.conversation;
  const known = conversation ?? answer?.sideOf;
  const isCompacting = known !== undefined && ledger.modeOf(known) === 'compact';
  const mode = isCompacting ? 'compact' : 'observe';
  const body = (isCompacting ? answer?.body : undefined) ?? copy.bytes;
  if (answer?.sideOf !== undefined || route.isSideRequest) {
    forwarder.forward(request, response, route, body);
    return;
  }
  let latest = answer;
  const onAnswer: ForwardEvents['onAnswer'] = (answered) => {
    recordUsage(begun, answered, Promise.resolve(latest), mode);
  };
  const onRefused: ForwardEvents['onRefused'] = async (refusal, status) => {
    if (conversation === undefined || !isFixableByCompacting(refusal)) return undefined;
    if (answer?.record !== undefined)
      ledger.recordUsage(conversation.id, answer.record, { usage: undefined, mode, status });
    const again = await compact(begun, refusal);
    if (again?.body === undefined || Buffer.compare(again.body, body) === 0) return undefined;
    latest = again;
    return again.body;
  };
  const events = isCompacting ? { onAnswer, onRefused } : { onAnswer };
  forwarder.forward(request, response, route, body, events);
}

/** An engine's answer, as the ledger recorded it. */
interface RecordedAnswer extends EngineAnswer {
  /** `undefined` if the request is no turn of a conversation. */
  readonly record: CallRecord | undefined;
}

/** Resolves to the engine's answer; `undefined` after the deadline or a failure. Never rejects. */
async function compact(begun: Exchange, refusal?: string): Promise<RecordedAnswer | undefined> {
  const { engine, ledger, options, call } = begun;
  const deadlineMs = call.isObserved === true ? OBSERVING_MS : options.deadlineMs;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, undefined).unref();
  });
  try {
    const answered = compactCoded(begun, refusal);
    const answer = await Promise.race([answered, late]);
    if (answer !== undefined)
      return { ...answer, record: ledger.recordAnswer(answer, answer.bytes) };
    if (refusal !== undefined)
      ledger.recordFailure('compaction took too long; a refusal went to the client');
    else {
      ledger.recordFailure('compaction took too long; the request left as it came');
      void answered.then(
        ({ conversation }) => conversation && engine.noteBoundReasoning(conversation.id),
        ignore,
      );
    }
    return undefined;
  } catch (thrown) {
    ledger.recordFailure(thrown instanceof Error ? thrown.name : 'compaction failed');
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Decodes a body and has the engine compact it. An edited body is encoded again in its original coding, which the upstream is known to
 * read; decoded, the body may exceed the upstream's size limit.
 *
 * @returns the engine's answer, with the length of the decoded body in bytes
 */
async function compactCoded(
  { engine, options, coding, call, copy }: Exchange,
  refusal: string | undefined,
): Promise<EngineAnswer & { readonly bytes: number }> {
  const asked = { ...call, body: copy.bytes, refusal };
  if (coding === 'none') return { ...(await engine.compact(asked)), bytes: asked.body.length };
  const passed = (reason: string) => ({ outcome: 'passed', reason, edits: [], bytes: 0 }) as const;
  let body: Buffer | undefined;
  try {
    body = await unpack(asked.body, coding, options.maxBodyBytes);
  } catch {
    return passed('a body that is not in the coding that it names');
  }
  if (body === undefined) return passed(TOO_LARGE);
  const answer = await engine.compact({ ...asked, body });
  const edited = answer.body && (await pack(answer.body, coding));
  return { ...answer, body: edited, bytes: body.length };
}

const COMPACTED_BEFORE =
  'a model refused its reasoning behind these messages, as it does where a gateway has compacted them before; in mode compact they go on';

/** Records the usage that an upstream reports in its answer, or its refusal. */
function recordUsage(
  { engine, ledger }: ExchangeParts,
  answer: IncomingMessage,
  engineAnswer: Promise<RecordedAnswer | undefined>,
  mode: GatewayMode,
): void {
  tapUsage(answer, ({ usage, refusal }) => {
    void engineAnswer.then((answered) => {
      const conversation = answered?.conversation;
      if (refusal !== undefined)
        engine.reportRefusal(
          refusal,
          conversation?.model,
          mode === 'compact' ? conversation?.id : undefined,
        );
      if (conversation === undefined) return;
      // The engine compares the usage with what it would have sent, so the request must have been sent that way.
      const isOfEngine = mode === 'compact' || answered?.outcome === 'unchanged';
      if (usage !== undefined && usage.isSum !== true && isOfEngine)
        engine.report(conversation, usage);
      if (mode === 'observe' && refusesReasoning(refusal)) ledger.recordFailure(COMPACTED_BEFORE);
      if (answered?.record === undefined) return;
      const status = answer.statusCode ?? 0;
      ledger.recordUsage(conversation.id, answered.record, { usage, mode, status });
    });
  });
}

function scopeOf(
  headers: IncomingHttpHeaders,
  upstreamName: string,
  salt: string | Buffer,
): string {
  const digest = createHash('sha256').update(salt).update(upstreamName);
  for (const name of KEY_HEADERS) digest.update(`\n${String(headers[name] ?? '')}`);
  return digest.digest('base64');
}
