// What a gateway adds to requests, against a plain pass-through of the same server: time to first byte, event loop pauses, 200
// concurrent streams, and memory.

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { check } from './support/check.js';
import type { GatewayVitals } from './support/gateway-monitor-entry.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { median } from './support/timing.js';

const SCOPE = 'gateway';
const COMMAND = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const MONITOR = new URL('./support/gateway-monitor-entry.js', import.meta.url);
const MODES = ['observe', 'compact'] as const;
const PASS = '/anthropic/v1/pass';
const MESSAGES = '/anthropic/v1/messages';
const BODIES = [
  { megabytes: 1, runs: 25, limitMs: 3 },
  { megabytes: 10, runs: 15, limitMs: 10 },
];
const MAX_BLOCK_MS = 15;
const STREAMS = 200;
const STREAM_ROUNDS = 5;
const CHUNKS = 50;
const CHUNK_MS = 20;
const MANY = 10_000;
const KILOBYTE = 1_024;
const MEGABYTE = KILOBYTE * KILOBYTE;

interface Gateway {
  readonly url: string;
  readonly vitals: () => Promise<GatewayVitals>;
  readonly close: () => Promise<void>;
}

/** Reported in the column of the shortest histories, whatever sizes are requested. */
export async function measureGateway({ sizes }: ScopeContext): Promise<ScopeResult> {
  const upstream = await startUpstream();
  const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  const add = (name: string, value: number, unit: Measurement['unit'], runs: number): void => {
    measurements.push({ scope: SCOPE, name, entries: sizes[0] ?? 0, value, unit, runs });
  };
  const gateways = new Map<(typeof MODES)[number], Gateway>();
  for (const mode of MODES) gateways.set(mode, await startGateway(mode, upstreamUrl));
  try {
    for (const body of BODIES) await measureFirstByte(gateways, body, add, goals);
    await measureStreams(gateways, add, goals);
    await measureMemory(gateways, add, goals);
  } finally {
    for (const gateway of gateways.values()) await gateway.close();
    upstream.closeAllConnections();
    upstream.close();
  }
  return { measurements, goals };
}

type Add = (name: string, value: number, unit: Measurement['unit'], runs: number) => void;

async function measureFirstByte(
  gateways: ReadonlyMap<string, Gateway>,
  { megabytes, runs, limitMs }: (typeof BODIES)[number],
  add: Add,
  goals: Goal[],
): Promise<void> {
  const size = `${megabytes} MB`;
  for (const [mode, gateway] of gateways) {
    const talk = new Talk(megabytes * MEGABYTE, `${mode} ${size}`);
    await post(gateway.url + MESSAGES, talk.body());
    await post(gateway.url + PASS, talk.body());
    // Wait until the work started by the conversation's first request is done: the request after a background call reports it.
    while (!(await isKnown(gateway, talk))) await post(gateway.url + MESSAGES, talk.body());
    await gateway.vitals();
    const times = { plain: [] as number[], known: [] as number[] };
    const blocks: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      talk.goOn();
      const body = talk.body();
      times.plain.push(await post(gateway.url + PASS, body));
      await gateway.vitals();
      times.known.push(await post(gateway.url + MESSAGES, body));
      // Includes work that continues after the response.
      await new Promise((resolve) => setTimeout(resolve, 50));
      blocks.push((await gateway.vitals()).longestPauseMs);
    }
    const added = median(times.known) - median(times.plain);
    add(`${mode}, first byte of ${size}`, median(times.known), 'ms', runs);
    add(`plain, first byte of ${size} (${mode})`, median(times.plain), 'ms', runs);
    add(`${mode}, longest pause at ${size}`, median(blocks), 'ms', runs);
    goals.push({
      name: `${mode}, added to the first byte of ${size}, ms`,
      limit: limitMs,
      value: added,
    });
    goals.push({
      name: `${mode}, event loop blocked at ${size}, ms`,
      limit: MAX_BLOCK_MS,
      value: median(blocks),
    });
  }
}

async function measureStreams(
  gateways: ReadonlyMap<string, Gateway>,
  add: Add,
  goals: Goal[],
): Promise<void> {
  for (const [mode, gateway] of gateways) {
    const talks = Array.from(
      { length: STREAMS },
      (_, at) => new Talk(20 * KILOBYTE, `${mode} stream ${at}`),
    );
    const round = async (path: string): Promise<number> => {
      for (const talk of talks) talk.goOn();
      const bodies = talks.map((talk) => talk.body());
      const start = performance.now();
      await Promise.all(bodies.map((body) => post(`${gateway.url}${path}?stream`, body, true)));
      return performance.now() - start;
    };
    const times = { plain: [] as number[], known: [] as number[] };
    await round(MESSAGES);
    await round(PASS);
    for (let at = 0; at < STREAM_ROUNDS; at += 1) {
      times.plain.push(await round(PASS));
      times.known.push(await round(MESSAGES));
    }
    add(`${mode}, ${STREAMS} streams`, median(times.known), 'ms', STREAM_ROUNDS);
    goals.push({
      name: `${mode}, ${STREAMS} streams, of plain`,
      limit: 1.3,
      value: median(times.known) / median(times.plain),
    });
  }
}

async function measureMemory(
  gateways: ReadonlyMap<string, Gateway>,
  add: Add,
  goals: Goal[],
): Promise<void> {
  for (const [mode, gateway] of gateways) {
    const talks = Array.from(
      { length: 50 },
      (_, at) => new Talk(4 * KILOBYTE, `${mode} many ${at}`),
    );
    const some = async (count: number): Promise<number> => {
      for (let at = 0; at < count; at += talks.length) {
        await Promise.all(talks.map((talk) => post(gateway.url + MESSAGES, talk.body())));
      }
      return (await gateway.vitals()).residentBytes / MEGABYTE;
    };
    const early = await some(MANY / 2);
    const late = await some(MANY / 2);
    add(`${mode}, after ${MANY / 2} requests`, early, 'MB', 1);
    add(`${mode}, after ${MANY} requests`, late, 'MB', 1);
    goals.push({
      name: `${mode}, memory after ${MANY} requests, of half of them`,
      limit: 1.1,
      value: late / early,
    });
    const large = new Talk(25 * MEGABYTE, `${mode} large`).body();
    await gateway.vitals();
    const before = (await gateway.vitals()).residentBytes;
    await post(gateway.url + PASS, large);
    const passed = (await gateway.vitals()).peakBytes - before;
    add(`${mode}, a body of 25 MB that passes`, passed / MEGABYTE, 'MB', 1);
    await post(gateway.url + MESSAGES, large);
    const peak = (await gateway.vitals()).peakBytes - before;
    add(`${mode}, a body of 25 MB`, peak / MEGABYTE, 'MB', 1);
    goals.push({
      name: `${mode}, memory for a body of 25 MB, of the body`,
      limit: 3,
      value: peak / large.length,
    });
  }
}

/** A growing conversation of the Messages API. */
class Talk {
  readonly #parts: string[] = [];
  #steps = 0;

  constructor(bytes: number, name: string) {
    this.#parts.push(JSON.stringify({ role: 'user', content: `make ${name} work` }));
    let length = 0;
    while (length < bytes) length += this.goOn();
  }

  /** Adds a tool call with its result. Returns the added bytes. */
  goOn(): number {
    const id = `call_${(this.#steps += 1)}`;
    const isWrite = this.#steps % 5 === 0;
    const path = `src/file-${this.#steps % 50}.ts`;
    const text = Array.from(
      { length: 50 },
      (_, at) => `${at}\tconst value${at} = "step ${this.#steps}";`,
    ).join('\n');
    const input = isWrite ? { file_path: path, content: text } : { file_path: path };
    const use = { type: 'tool_use', id, name: isWrite ? 'Write' : 'Read', input };
    const result = { type: 'tool_result', tool_use_id: id, content: isWrite ? 'written' : text };
    const added = [
      JSON.stringify({ role: 'assistant', content: [use] }),
      JSON.stringify({ role: 'user', content: [result] }),
    ];
    this.#parts.push(...added);
    return added.join(',').length;
  }

  get messages(): number {
    return this.#parts.length;
  }

  body(): Buffer {
    const head =
      '{"model":"claude-sonnet-4-5","max_tokens":100,"tools":[{"name":"Read"}],"messages":[';
    return Buffer.from(`${head}${this.#parts.join(',')}]}`);
  }
}

const AGENT = new Agent({ keepAlive: true });

/** Milliseconds until the response headers, or until its end. */
async function post(url: string, body: Buffer, toItsEnd: boolean = false): Promise<number> {
  const start = performance.now();
  const asked = request(url, {
    method: 'POST',
    agent: AGENT,
    headers: { 'content-length': body.length },
  });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [
    NodeJS.ReadableStream & { statusCode?: number },
  ];
  const headMs = performance.now() - start;
  check(answer.statusCode === 200, `status ${answer.statusCode ?? 0} of ${url}`);
  answer.resume();
  await once(answer, 'end');
  return toItsEnd ? performance.now() - start : headMs;
}

/** Whether the gateway tracks a conversation. */
async function isKnown({ url }: Gateway, { messages }: Talk): Promise<boolean> {
  const answer = await fetch(`${url}/ctxfold/state`);
  const { conversations } = (await answer.json()) as {
    conversations: { line: { givenMessages: number } }[];
  };
  return conversations.some(({ line }) => line.givenMessages === messages);
}

/** Responds once it has the body; streams on request. */
async function startUpstream(): Promise<Server> {
  const server = createServer((asked, answer) => {
    asked.resume();
    asked.once('end', () => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.url?.endsWith('?stream') !== true)
        return void answer.end('{"usage":{"input_tokens":1}}');
      let left = CHUNKS;
      const next = (): void => {
        answer.write(
          `data: {"type":"content_block_delta","delta":{"text":"${'x'.repeat(150)}"}}\n\n`,
        );
        left -= 1;
        // Spread over time, as a model writes.
        if (left > 0) setTimeout(next, CHUNK_MS);
        else answer.end();
      };
      next();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function startGateway(mode: string, upstream: string): Promise<Gateway> {
  const args = ['gateway', '--port', '0', '--mode', mode, '--upstream', `anthropic=${upstream}`];
  const child = fork(COMMAND, args, {
    execArgv: ['--import', MONITOR.href],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  return { url: await urlOf(child), vitals: () => vitalsOf(child), close: () => end(child) };
}

async function urlOf(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error('The gateway has no standard error.');
  for await (const line of createInterface(child.stderr)) {
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('The gateway ended before it listened.');
}

async function vitalsOf(child: ChildProcess): Promise<GatewayVitals> {
  const told = once(child, 'message') as Promise<[GatewayVitals]>;
  child.send('vitals');
  return (await told)[0];
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
