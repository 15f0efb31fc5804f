// A loopback provider that compacts as Anthropic and OpenAI document: it signs its compactions, and accepts them only byte
// for byte and in place; otherwise it refuses in the documented words.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

type Json = Readonly<Record<string, unknown>>;

/** A received request and its response. */
export interface SeenRequest {
  readonly path: string;
  readonly betas: readonly string[];
  readonly body: Json & { readonly messages?: readonly Json[]; readonly input?: readonly Json[] };
  readonly status: number;
}

export interface CompactingProvider {
  readonly baseURL: string;
  readonly requests: readonly SeenRequest[];
  /** Refusals for the next compactions. */
  readonly refusals: (readonly [status: number, answer: Json])[];
  /** Blocks that it accepts besides its own. */
  readonly trusted: Json[];
  /** Whether `/responses/compact` is missing. */
  lacksEndpoint: boolean;
  /** Called for each compaction; the response waits until the result settles. `closed` settles with the connection. */
  onCompaction: (closed: Promise<unknown>) => unknown;
}

const BETA = 'compact-2026-09-04';
const THRESHOLD_BETA = 'compact-2026-01-12';
/** Anthropic's minimum. */
const LEAST_TRIGGER = 50_000;
const sign = (content: string): string => createHmac('sha256', 'key').update(content).digest('hex');
const partsOf = ({ content }: Json): readonly Json[] =>
  Array.isArray(content) ? (content as readonly Json[]) : [];

/** Starts a provider that stops with the test. */
export async function startCompactingProvider(): Promise<CompactingProvider> {
  const requests: SeenRequest[] = [];
  const refusals: (readonly [number, Json])[] = [];
  /** Issued compactions, byte for byte. */
  const made = new Set<string>();
  const server = createServer((request, response) => {
    void answer(request, once(response, 'close')).then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  const provider: CompactingProvider = {
    ...{ baseURL: '', requests, refusals, trusted: [], lacksEndpoint: false },
    onCompaction: () => undefined,
  };
  async function answer(
    request: IncomingMessage,
    closed: Promise<unknown>,
  ): Promise<readonly [number, Json]> {
    const body = JSON.parse(await text(request)) as SeenRequest['body'];
    const betas = String(request.headers['anthropic-beta'] ?? '').split(',');
    const path = request.url ?? '';
    for (const block of provider.trusted) made.add(JSON.stringify(block));
    const last = body.input?.at(-1)?.['type'];
    if (last === 'compaction_trigger' || path.endsWith('/compact'))
      await provider.onCompaction(closed);
    const result = path.includes('/responses')
      ? answerResponses(path, body, made, provider)
      : answerMessages(body, betas, made, refusals);
    requests.push({ path, betas, body, status: result[0] });
    return result;
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(provider, { baseURL: `http://127.0.0.1:${port}` });
}

/** The messages that the provider still reads: from the newest compaction on. */
function readFromNewest(messages: readonly Json[]): readonly Json[] {
  const holds = (message: Json): boolean =>
    message['type'] === 'compaction' ||
    partsOf(message).some((part) => part['type'] === 'compaction' && part['content'] !== null);
  return messages.slice(Math.max(0, messages.findLastIndex(holds)));
}

const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);

function refuse(message: string, code?: string): readonly [number, Json] {
  const details = code === undefined ? {} : { details: { error_code: code } };
  return [400, { type: 'error', error: { type: 'invalid_request_error', message, ...details } }];
}

function answerMessages(
  { messages = [], ...body }: SeenRequest['body'],
  betas: readonly string[],
  made: Set<string>,
  refusals: (readonly [number, Json])[],
): readonly [number, Json] {
  const blocks = messages.flatMap((message, at) =>
    partsOf(message).flatMap((part, index) =>
      part['type'] === 'compaction' ? [{ part, at, index }] : [],
    ),
  );
  const managed = body['context_management'] as { edits?: readonly Json[] } | undefined;
  const edit = managed?.edits?.find(({ type }) => type === 'compact_20260112');
  if (edit !== undefined) return answerAtThreshold(messages, body, edit, betas, made);
  if ((blocks.length > 0 || body['compaction'] !== undefined) && !betas.includes(BETA)) {
    return refuse(`requires anthropic-beta: ${BETA}`);
  }
  if (blocks.length > 1) return refuse('several compaction blocks', 'compaction_block_ambiguous');
  for (const { part, at, index } of blocks) {
    if (at > 0 || index > 0) return refuse('not first', 'compaction_block_misplaced');
    if (!made.has(JSON.stringify(part)))
      return refuse('altered', 'compaction_block_signature_invalid');
  }
  const open = openCalls(messages);
  const usage = { input_tokens: 10, output_tokens: 5 };
  const reply = { id: 'msg_1', type: 'message', role: 'assistant', model: body['model'] };
  if (body['compaction'] === undefined) {
    if (open.size > 0) return refuse('tool_use ids were found without tool_result blocks');
    return [
      200,
      { ...reply, content: [{ type: 'text', text: 'fine' }], stop_reason: 'end_turn', usage },
    ];
  }
  const refusal = refusals.shift();
  if (refusal !== undefined) return refusal;
  if (open.size > 0) return refuse('unanswered tool call', 'compaction_incomplete_turn');
  for (const field of ['stop_sequences', 'context_management']) {
    if (body[field] !== undefined) return refuse(`${field}: not with compaction`);
  }
  const content = `a summary of ${messages.length} messages: ${sign(JSON.stringify(messages)).slice(0, 8)}`;
  const block = { type: 'compaction', content, encrypted_content: 'b64', signature: sign(content) };
  made.add(JSON.stringify(block));
  const iterations = [{ type: 'compaction', input_tokens: 900, output_tokens: 30 }];
  return [
    200,
    { ...reply, content: [block], stop_reason: 'compaction', usage: { ...usage, iterations } },
  ];
}

/** The API itself ignores everything before the newest block. */
function answerAtThreshold(
  messages: readonly Json[],
  body: Json,
  { trigger }: Json,
  betas: readonly string[],
  made: Set<string>,
): readonly [number, Json] {
  if (!betas.includes(THRESHOLD_BETA)) return refuse(`requires anthropic-beta: ${THRESHOLD_BETA}`);
  const { value } = trigger as { value: number };
  if (value < LEAST_TRIGGER) return refuse('trigger.value: at least 50000');
  const read = readFromNewest(messages);
  for (const part of read.flatMap(partsOf)) {
    if (part['type'] === 'compaction' && !made.has(JSON.stringify(part))) return refuse('altered');
  }
  if (openCalls(read).size > 0) return refuse('tool_use ids without tool_result blocks');
  if (hasStray(read)) return refuse('unexpected `tool_use_id` found in `tool_result` blocks');
  const content: Json[] = [{ type: 'text', text: 'fine' }];
  if (tokensOf(read) > value) {
    const summary = `a summary of ${read.length} messages`;
    const block = { type: 'compaction', content: summary, encrypted_content: sign(summary) };
    made.add(JSON.stringify(block));
    content.unshift(block);
  }
  const usage = { input_tokens: tokensOf(read), output_tokens: 5 };
  const reply = { id: 'msg_1', type: 'message', role: 'assistant', model: body['model'] };
  return [200, { ...reply, content, stop_reason: 'end_turn', usage }];
}

/** Whether a result has no call. */
function hasStray(messages: readonly Json[]): boolean {
  const calls = new Set<unknown>();
  return messages.flatMap(partsOf).some((part) => {
    if (part['type'] === 'tool_use') calls.add(part['id']);
    return part['type'] === 'tool_result' && !calls.has(part['tool_use_id']);
  });
}

/** Ids of calls without result. */
function openCalls(messages: readonly Json[]): ReadonlySet<unknown> {
  const open = new Set<unknown>();
  for (const part of messages.flatMap(partsOf)) {
    if (part['type'] === 'tool_use') open.add(part['id']);
    if (part['type'] === 'tool_result') open.delete(part['tool_use_id']);
  }
  return open;
}

function answerResponses(
  path: string,
  { input = [], ...body }: SeenRequest['body'],
  made: Set<string>,
  { refusals, lacksEndpoint }: CompactingProvider,
): readonly [number, Json] {
  for (const item of input) {
    if (item['type'] === 'compaction' && !made.has(JSON.stringify(item))) return refuse('altered');
  }
  const isEndpoint = path.endsWith('/compact');
  if (isEndpoint && lacksEndpoint) return [404, { error: { message: 'Not Found' } }];
  const isTriggered = input.at(-1)?.['type'] === 'compaction_trigger';
  const calls = new Set(
    input.flatMap(({ type, call_id: id }) => (type === 'function_call' ? [id] : [])),
  );
  for (const { type, call_id: id } of input) {
    if (type === 'function_call_output' && !calls.has(id))
      return refuse('No tool call found for function call output');
  }
  const [managed] = (body['context_management'] ?? []) as readonly Json[];
  const isDue =
    managed !== undefined &&
    tokensOf(readFromNewest(input)) > (managed['compact_threshold'] as number);
  const answered = new Set(
    input.flatMap(({ type, call_id: id }) => (type === 'function_call_output' ? [id] : [])),
  );
  if ([...calls].some((id) => !answered.has(id))) return refuse('No tool output found');
  const usage = { input_tokens: tokensOf(input), output_tokens: 5, total_tokens: 5 };
  const named = { id: 'resp_1', object: 'response', status: 'completed', created_at: 1 };
  const response = { ...named, model: body['model'], usage };
  const message = {
    ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', text: 'fine', annotations: [] }],
  };
  if (!isEndpoint && !isTriggered && !isDue) return [200, { ...response, output: [message] }];
  if (isEndpoint && body['previous_response_id'] !== undefined) return refuse('stateless');
  const refusal = isDue ? undefined : refusals.shift();
  if (refusal !== undefined) return refusal;
  const users = input.filter((item) => item['role'] === 'user');
  const item = {
    type: 'compaction',
    id: `cmp_${made.size}`,
    encrypted_content: sign(JSON.stringify(input)),
  };
  made.add(JSON.stringify(item));
  if (isTriggered) return [200, { ...response, output: [item] }];
  if (isDue) return [200, { ...response, output: [item, message] }];
  return [200, { id: 'c', object: 'response.compaction', output: [...users, item], usage: {} }];
}
