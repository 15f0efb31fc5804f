// Chats and automatic function calling of the SDK, in which only a `fetch` can compact, with a provider that refuses what breaks a rule.

import { GoogleGenAI } from '@google/genai';
import type { CallableTool, Content, FunctionCall, GoogleGenAIOptions, Part } from '@google/genai';
import { describe, expect, it } from 'vitest';

import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { compactingFetch } from '../../../src/adapters/google/compacting-fetch.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { noting } from '../../support/noted-usage.js';
import { openCompactor } from '../../support/open-compactor.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { runTool, scriptedWork, workspaceTools } from '../openai/scripted-work.js';

const MODEL = 'gemini-3-pro';
const CALLS = 15;

/** Creates a client whose requests are compacted by a compactor with these options; without them, they are sent as they are. */
type Open = (options?: CompactorOptions) => GoogleGenAI;
/** Has a chat do the work, and returns its history. */
type Work = (open: Open, isStreaming: boolean) => Promise<readonly Content[]>;

/** The tools of a new workspace. `callTool` runs the calls of one answer. */
async function tools(): Promise<CallableTool> {
  const files = await workspaceTools();
  const run = async ({ id, name = '', args }: FunctionCall): Promise<Part> => {
    const output = await runTool(files, name, JSON.stringify(args));
    return { functionResponse: { ...(id !== undefined && { id }), name, response: { output } } };
  };
  const functionDeclarations = files.map(({ name, description, inputSchema }) => {
    return { name, description, parametersJsonSchema: inputSchema };
  });
  return {
    tool: async () => ({ functionDeclarations }),
    callTool: (calls) => Promise.all(calls.map(run)),
  };
}

async function sendTo(
  chat: ReturnType<GoogleGenAI['chats']['create']>,
  message: string | Part[],
  isStreaming: boolean,
): Promise<readonly FunctionCall[]> {
  if (!isStreaming) return (await chat.sendMessage({ message })).functionCalls ?? [];
  const calls: FunctionCall[] = [];
  for await (const chunk of await chat.sendMessageStream({ message }))
    calls.push(...(chunk.functionCalls ?? []));
  return calls;
}

/** The SDK runs the tools, and calls the model several times per request. */
const automatically: Work = async (open, isStreaming) => {
  const automaticFunctionCalling = { maximumRemoteCalls: CALLS };
  const config = { tools: [await tools()], automaticFunctionCalling };
  const chat = open({}).chats.create({ model: MODEL, config });
  await sendTo(chat, 'Tidy up the shop.', isStreaming);
  return chat.getHistory();
};

/** After each `span` messages, the chat is continued by another process with the same store. */
const byHand =
  (span: number): Work =>
  async (open, isStreaming) => {
    const { tool, callTool } = await tools();
    const config = { tools: [await tool()], systemInstruction: 'You are a coding agent.' };
    const store = memoryStore();
    let chat = open({ store }).chats.create({ model: MODEL, config });
    let calls = await sendTo(chat, 'Tidy up the shop.', isStreaming);
    for (let sent = 1; calls.length > 0; sent += 1) {
      const history = chat.getHistory();
      if (sent % span === 0) chat = open({ store }).chats.create({ model: MODEL, config, history });
      calls = await sendTo(chat, await callTool([...calls]), isStreaming);
    }
    return chat.getHistory();
  };

/** How clients reach the two services without credentials. */
const SERVICES: readonly (readonly [string, GoogleGenAIOptions])[] = [
  ['Gemini', { apiKey: 'none' }],
  ['Vertex AI', { apiKey: 'none', vertexai: true }],
];

async function play(
  work: Work,
  client: GoogleGenAIOptions,
  isStreaming: boolean,
  isCompacted: boolean,
) {
  const provider: ScriptedProvider = await startStrictProvider(scriptedWork(CALLS));
  const usages: number[] = [];
  const open: Open = (options) => {
    const fetch = compactingFetch(openCompactor(options), {
      edits: 'every-turn',
      onError: 'throw',
      onSession: noting(usages),
    });
    const httpOptions = { baseUrl: provider.url, ...(isCompacted && { fetch }) };
    return new GoogleGenAI({ ...client, httpOptions });
  };
  const history = await work(open, isStreaming);
  const sizes = provider.requests.map(({ body }) => JSON.stringify(body).length);
  return { history, sizes, usages, statuses: provider.requests.map(({ status }) => status) };
}

describe.each(SERVICES)('compactingFetch, %s', (_, client) => {
  it.each([
    ['chats', byHand(Infinity), false],
    ['streamed chats', byHand(Infinity), true],
    ['chats that other processes continue', byHand(4), false],
    ['automatic function calling', automatically, false],
    ['streamed automatic function calling', automatically, true],
  ])(
    'sends less for %s, which the provider accepts, with the same answers',
    async (_name, work, isStreaming) => {
      const plain = await play(work, client, isStreaming, false);
      const folded = await play(work, client, isStreaming, true);
      expect(folded.history).toEqual(plain.history);
      expect(folded.statuses).toEqual(Array(CALLS).fill(200));
      expect(folded.sizes.at(-1)).toBeLessThan(0.9 * plain.sizes.at(-1)!);
      expect(folded.usages).toHaveLength(CALLS);
    },
  );
});
