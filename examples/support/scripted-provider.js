// A model provider on the loopback interface that implements four APIs and answers by a script, so that examples and
// tests need no network, key or model. It ignores what it is told.

import { createServer } from 'node:http';

import { anthropicWire } from './wires/anthropic.js';
import { geminiWire } from './wires/gemini.js';
import { openaiChatWire } from './wires/openai-chat.js';
import { openaiResponsesWire } from './wires/openai-responses.js';

const WIRES = [anthropicWire, openaiChatWire, openaiResponsesWire, geminiWire];

const CHARACTERS_PER_TOKEN = 4;

/** See `scripted-provider.d.ts`. */
export async function startScriptedProvider({ script, check, callIds = true }) {
  const requests = [];
  const failures = [];
  let answered = 0;

  /** Decides on one request: the status of a refusal, or the turn to answer with. */
  async function decide(request) {
    const failure = failures.shift();
    if (failure !== undefined) return failure;
    const message = await check?.(request);
    if (message !== undefined) return { status: 400, message };
    const at = answered;
    const step = typeof script === 'function' ? await script(request, at) : script[at];
    if (step === undefined) return { status: 400, message: `The script has no step ${at}.` };
    answered += 1;
    return { status: 200, step: numbered(step, at, callIds) };
  }

  async function answer(incoming, outgoing) {
    const path = new URL(incoming.url, 'http://127.0.0.1').pathname;
    const wire = WIRES.find(({ accepts }) => accepts(path));
    const text = await readText(incoming);
    const body = tryParse(text);
    if (wire === undefined || body === undefined) {
      return sendJson(outgoing, wire === undefined ? 404 : 400, {
        error: { message: wire === undefined ? `No API at ${path}.` : 'The body is no JSON.' },
      });
    }
    const request = { api: wire.api, path, headers: incoming.headers, body };
    const { status, message, step } = await decide(request);
    requests.push({ ...request, status });
    if (step === undefined) return sendJson(outgoing, status, wire.refusal(status, message));
    const turn = {
      ...step,
      model: wire.modelOf(body, path),
      inputTokens: Math.ceil(text.length / CHARACTERS_PER_TOKEN),
      outputTokens: Math.ceil(JSON.stringify(step).length / CHARACTERS_PER_TOKEN),
    };
    if (wire.streams(body, path)) return sendEvents(outgoing, wire.events(turn));
    return sendJson(outgoing, 200, wire.reply(turn));
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error) => {
      if (outgoing.headersSent) outgoing.destroy();
      else sendJson(outgoing, 500, { error: { message: String(error) } });
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    failNext(status, times = 1) {
      for (let time = 0; time < times; time += 1) {
        failures.push({ status, message: `The service answers with ${status}.` });
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A step with all fields that answers need; `number` makes ids unique. */
function numbered({ text, reasoning, toolCalls = [] }, number, callIds) {
  return { number, text, reasoning, toolCalls, callIds };
}

async function readText(incoming) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function tryParse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendJson(outgoing, status, body) {
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    'request-id': 'req_scripted',
    'x-request-id': 'req_scripted',
    // Retrying clients need not wait here.
    'retry-after-ms': '1',
  });
  outgoing.end(JSON.stringify(body));
}

function sendEvents(outgoing, events) {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const event of events) outgoing.write(event);
  outgoing.end();
}
