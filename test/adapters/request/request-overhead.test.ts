// Tools and system texts of a request take part of the window: in each adapter that sees them, and in the forms that SDKs give to
// tools.

import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { Agent, tool as agentTool } from '@openai/agents';
import { asSchema, tool as sdkTool } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import * as aiSdk from '../../../src/ai-sdk.js';
import * as anthropic from '../../../src/anthropic.js';
import * as langchain from '../../../src/langchain.js';
import * as openai from '../../../src/openai.js';
import { overheadOf } from '../../../src/adapters/request/request-overhead.js';
import type { AdapterOptions } from '../../../src/ai-sdk.js';
import type { Compactor, CompactorOptions } from '../../../src/index.js';
import { openCompactor } from '../../support/open-compactor.js';

const LIMIT = 20_000;

const TEXTS = Array.from(
  { length: 27 },
  (_, at) => `${at}. ${'What was said of it then. '.repeat(80)}`,
);

const roleOf = (at: number): 'user' | 'assistant' => (at % 2 === 0 ? 'user' : 'assistant');

const SCHEMA = z.object({ path: z.string() });

/** Makes one call with a tool of the given description. */
type Call = (
  description: string,
  compactor: Compactor,
  options: AdapterOptions,
) => Promise<unknown>;

const inParts = TEXTS.map((text, at) => ({
  role: roleOf(at),
  content: [{ type: 'text' as const, text }],
}));

const MESSAGES = TEXTS.map((content, at) => ({ role: roleOf(at), content }));

const CALLS: Record<string, Call> = {
  'the middleware of the AI SDK': async (description, compactor, options) => {
    const { inputSchema } = sdkTool({ description, inputSchema: SCHEMA });
    const schema = await asSchema(inputSchema).jsonSchema;
    return aiSdk.compactionMiddleware(compactor, options).transformParams({
      model: 'scripted',
      params: {
        prompt: inParts,
        tools: [{ type: 'function', name: 'look', description, inputSchema: schema }],
      },
    });
  },
  'prepareStep, of instructions': (description, compactor, options) =>
    aiSdk.prepareStep(
      compactor,
      options,
    )({
      model: 'scripted',
      messages: MESSAGES,
      instructions: description,
      steps: [],
    }),
  "Anthropic's fetch": (description, compactor, options) =>
    anthropic.compactingFetch(compactor, options, () => Promise.resolve(new Response('{}')))(
      'https://api.anthropic.com/v1/messages',
      {
        method: 'POST',
        body: JSON.stringify({
          messages: MESSAGES,
          tools: [{ name: 'look', description, input_schema: {} }],
        }),
      },
    ),
  'a fetch for Chat Completions': (description, compactor, options) =>
    openai.compactingFetch(compactor, options, () => Promise.resolve(new Response('{}')))(
      'https://api.openai.com/v1/chat/completions',
      {
        method: 'POST',
        body: JSON.stringify({
          messages: MESSAGES,
          tools: [{ type: 'function', function: { name: 'look', description, parameters: {} } }],
        }),
      },
    ),
  "LangChain's middleware, of tools": (description, compactor, options) =>
    langchainCall(compactor, options, {
      systemMessage: new SystemMessage('Be brief.'),
      tools: [langchainTool(() => 'seen', { name: 'look', description, schema: SCHEMA })],
    }),
  "LangChain's middleware, of what it instructs": (description, compactor, options) =>
    langchainCall(compactor, options, { systemMessage: new SystemMessage(description), tools: [] }),
  'the filter of the Agents SDK': (description, compactor, options) =>
    openai.callModelInputFilter(
      compactor,
      options,
    )({
      modelData: {
        input: TEXTS.map((text, at) =>
          roleOf(at) === 'user'
            ? { type: 'message', role: 'user', content: text }
            : {
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text }],
              },
        ),
      },
      agent: new Agent({
        name: 'a',
        tools: [
          agentTool({ name: 'look', description, parameters: SCHEMA, execute: () => 'seen' }),
        ],
      }),
    }),
};

async function langchainCall(
  compactor: Compactor,
  options: AdapterOptions,
  held: object,
): Promise<unknown> {
  const { wrapModelCall } = langchain.compactionMiddleware(compactor, options);
  const messages = TEXTS.map((text, at) =>
    roleOf(at) === 'user' ? new HumanMessage(text) : new AIMessage(text),
  );
  const request = { messages, model: {}, runtime: {}, ...held };
  return wrapModelCall?.(request as never, (() => new AIMessage('Yes.')) as never);
}

async function sentBy(
  call: Call,
  description: string,
  {
    ofAdapter = {},
    ofCompactor = {},
  }: { ofAdapter?: AdapterOptions; ofCompactor?: CompactorOptions } = {},
): Promise<number> {
  const compactor = openCompactor({ contextLimit: LIMIT, ...ofCompactor });
  let sent = 0;
  const options: AdapterOptions = {
    onError: 'throw',
    ...ofAdapter,
    onSession: (session) => {
      const prepare = session.ensureCompressionBeforeSend.bind(session);
      session.ensureCompressionBeforeSend = async (...given) => {
        const result = await prepare(...given);
        sent = result.totalTokens;
        return result;
      };
    },
  };
  await call(description, compactor, options);
  return sent;
}

const LONG = 'Looks. '.repeat(5_000);

describe('a tool or a system text', () => {
  it.each(Object.entries(CALLS))('is counted towards the window: %s', async (_, call) => {
    expect(await sentBy(call, 'Looks.')).toBeGreaterThan(12_000);
    const sent = await sentBy(call, LONG);
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(LIMIT - LONG.length / 5);
  });

  it.each(Object.entries(CALLS))("is overridden by the host's own number: %s", async (_, call) => {
    const own = { overheadTokens: 10 };
    expect(await sentBy(call, LONG, { ofAdapter: own })).toBeGreaterThan(12_000);
    expect(await sentBy(call, LONG, { ofCompactor: own })).toBeGreaterThan(12_000);
  });
});

it('the overhead is not learned from usage that exceeds the window', async () => {
  const compactor = openCompactor({ contextLimit: LIMIT });
  const compact = openai.chatCompactor(compactor, { onError: 'throw' });
  const messages = MESSAGES.slice(0, 3);
  await compact(messages);
  const next = [...messages, ...MESSAGES.slice(1, 3)];
  expect(await compact(next, { reportedInputTokens: LIMIT + 1 })).toEqual(next);
});

describe('overheadOf', () => {
  it('counts texts, blocks and tools, each object once', () => {
    const tools = [{ name: 'look', description: 'x'.repeat(400) }];
    expect(overheadOf(undefined, 'x'.repeat(400), tools)).toBe(
      100 + Math.ceil(JSON.stringify(tools[0]).length / 4),
    );
    let reads = 0;
    const counted = {
      get name() {
        reads += 1;
        return 'look';
      },
    };
    for (let call = 0; call < 5; call += 1) overheadOf([counted]);
    const once = reads;
    overheadOf([counted]);
    expect(reads).toBe(once);
  });

  it('counts the fields of a tool that are sent, and never throws', () => {
    class Heavy {
      readonly state = 'x'.repeat(10_000);
    }
    const hostile = {
      get name(): string {
        throw new Error('no');
      },
    };
    const cyclic: Record<string, unknown> = { name: 'look' };
    cyclic['self'] = cyclic;
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(overheadOf([hostile, cyclic, revoked.proxy, 5, null])).toBe(0);
    expect(overheadOf([{ name: 'look', invoke: () => 1, client: new Heavy() }])).toBeLessThan(10);
    expect(overheadOf([{ name: 'look', schema: z.object({ path: z.string() }) }])).toBeGreaterThan(
      30,
    );
  });
});
