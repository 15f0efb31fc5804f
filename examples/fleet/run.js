// A fleet on one machine: four servers behind a load balancer share the states of 200 conversations over Redis.
//
//   npm run example:fleet
//   npm run example:fleet -- --store postgres --requests 20000 --conversations 2000 --proof
//
// With --proof, a server is killed and restarted every five seconds, the database is restarted half-way, and some requests are
// sent twice at once. The run exits with code 1 when a turn fails or a request is wrong.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { createCompactor } from 'ctxfold';
import { messageCompactor } from 'ctxfold/anthropic';
import { openStore } from 'ctxfold/state';
import { isInstalled, startPostgres, startRedis } from '../support/databases.js';
import { startBalancer } from './balancer.js';
import { answerOf, nextOf, startProvider } from './provider.js';

const SERVERS = 4;
const CLIENTS = 12;
const KILL_EVERY_MS = 5_000;
const DAY_MS = 86_400_000;
const MODEL = 'claude-sonnet-4-5';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    conversations: { type: 'string', default: '200' },
    requests: { type: 'string', default: '4000' },
    proof: { type: 'boolean', default: false },
  },
});
const DATABASES = {
  redis: { command: 'redis-server', start: startRedis, url: (port) => `redis://127.0.0.1:${port}` },
  postgres: {
    command: 'postgres',
    start: startPostgres,
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  },
};
const { command, start, url } = DATABASES[values.store];
if (!isInstalled(command)) {
  console.error(`${command} is not installed, but the servers need it to share their states.`);
  process.exit(1);
}

const database = await start();
const store = url(database.port);
const provider = await startProvider();
const servers = await Promise.all(Array.from({ length: SERVERS }, startServer));
const balancer = await startBalancer(() => servers.flatMap(({ port }) => port ?? []));

async function startServer() {
  const env = { ...process.env, PROVIDER: provider.url, STORE: store };
  const child = fork(new URL('server.js', import.meta.url), { env });
  const [port] = await once(child, 'message');
  return { child, port };
}

const conversations = Array.from({ length: Number(values.conversations) }, (_, at) => ({
  id: `c${at}`,
  turn: 0,
  messages: [{ role: 'user', content: `c${at}, ask -1.` }],
}));
const latencies = [];
const failed = [];
let kills = 0;

/** One turn of a conversation: sends all messages to a server, and adds the answer and what follows. */
async function play({ id, turn, messages }) {
  const body = JSON.stringify({ conversation: id, turn, messages, model: MODEL });
  const at = performance.now();
  const answer = await fetch(`http://127.0.0.1:${balancer.port}`, { method: 'POST', body });
  const { message, error, tookMs } = await answer.json();
  latencies.push({ turnMs: performance.now() - at, tookMs });
  if (answer.status !== 200) failed.push(`${id}, turn ${turn}: ${error}`);
  return message ?? answerOf(turn);
}

let left = Number(values.requests);
const idle = [...conversations];
async function client() {
  while (left > 0) {
    const [conversation] = idle.splice(Math.floor(Math.random() * idle.length), 1);
    const isDoubled = values.proof && Math.random() < 0.03;
    left -= isDoubled ? 2 : 1;
    const [message] = await Promise.all([play(conversation), isDoubled && play(conversation)]);
    const { id, turn, messages } = conversation;
    conversation.former = messages;
    conversation.messages = [...messages, message, nextOf(id, turn, message)];
    conversation.turn += 1;
    idle.push(conversation);
  }
}

async function killOne() {
  const server = servers[Math.floor(Math.random() * SERVERS)];
  if (server.port === undefined) return;
  server.port = undefined;
  server.child.kill('SIGKILL');
  kills += 1;
  Object.assign(server, await startServer());
}

const began = performance.now();
const killing = values.proof && setInterval(() => void killOne(), KILL_EVERY_MS);
const total = left;
const restart = (async () => {
  while (values.proof && left > total / 2) await new Promise((resolve) => setTimeout(resolve, 50));
  if (values.proof) await database.restart();
})();
await Promise.all(Array.from({ length: CLIENTS }, client));
const seconds = (performance.now() - began) / 1_000;
clearInterval(killing);
await restart;

const differing = values.proof ? await checkAgain() : [];

/** A fresh process must compact each conversation to exactly what was sent last. */
async function checkAgain() {
  const opened = await openStore(store);
  const compactor = createCompactor({
    store: opened.store,
    offload: 'inline',
    tokenizer: 'estimate',
  });
  // Otherwise a conversation that has rested for minutes would be edited now, because its cache has expired.
  const compact = messageCompactor(compactor, {
    minReclaimTokens: 1_000,
    cacheTtlMs: DAY_MS,
    onError: 'throw',
  });
  const found = [];
  for (const { id, former } of conversations) {
    if (former === undefined) continue;
    const ready = await compact(former, { conversationId: id, modelName: MODEL });
    const texts = ready.map((message) => JSON.stringify(message));
    if (texts.join() !== provider.last(id).texts.join()) found.push(id);
  }
  await compactor.close();
  await opened.close();
  return found;
}

const share = (of, values_) =>
  values_.toSorted((a, b) => a - b)[Math.floor(of * (values_.length - 1))];
const ms = (field) => {
  const all = latencies.flatMap((one) => one[field] ?? []);
  return `${share(0.5, all).toFixed(1)} ms, p99 ${share(0.99, all).toFixed(1)} ms`;
};
const { seen } = provider;
console.log(
  `${seen.requests} requests of ${conversations.length} conversations over ${SERVERS} servers and ${values.store}`,
);
console.log(
  `cache hits       ${((100 * seen.cached) / seen.characters).toFixed(1)} % of what was sent`,
);
console.log(`edits            ${seen.edits}`);
console.log(`requests         ${(latencies.length / seconds).toFixed(0)} per second`);
console.log(`a turn           ${ms('turnMs')}`);
console.log(`of it compacting ${ms('tookMs')}`);
if (values.proof) {
  console.log(`servers killed   ${kills}; ${values.store} restarted once`);
  console.log(`failed turns     ${failed.length}`);
  console.log(`invalid          ${seen.invalid}`);
  console.log(`lost edits       ${seen.lost}`);
  console.log(`rewritten        ${seen.rewritten}, without an edit`);
  console.log(`user's texts     ${seen.untold} missing or duplicated`);
  console.log(`differ           ${differing.length} conversations in a fresh process`);
  for (const line of [...failed.slice(0, 5), ...provider.examples]) console.log(`  ${line}`);
}
const faults =
  failed.length + seen.invalid + seen.lost + seen.rewritten + seen.untold + differing.length;
process.exitCode = faults === 0 ? 0 : 1;

balancer.close();
provider.close();
for (const { child } of servers) child.kill('SIGKILL');
await database.stop();
