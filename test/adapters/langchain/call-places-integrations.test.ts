// Calls with changed arguments in requests: LangChain's packages make messages of their providers' answers, and requests of the
// changed messages.

import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { concat } from '@langchain/core/utils/stream';
import { ChatGoogle } from '@langchain/google';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, describe, expect, it } from 'vitest';

import type {
  ScriptedProvider,
  ScriptedStep,
} from '../../../examples/support/scripted-provider.js';
import { messageCompactor } from '../../../src/adapters/langchain/message-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import { startStrictProvider } from '../../support/strict-provider.js';

const compactor = createCompactor({ offload: 'inline' });
afterAll(() => compactor.close());

const OPTIONS = {
  edits: 'every-turn',
  onError: 'throw',
  density: { workingSet: { ...DEFAULT_WORKING_SET, paybackCalls: Infinity, freeTokens: 0 } },
} as const;

type Fields = Readonly<Record<string, unknown>>;

/** A text without characters that JSON escapes. */
const REPLACED = 'const before = 1; '.repeat(20);
const LEFT_OUT = '[left out: what this edit has replaced]';
const edit = (file: string): Fields => ({
  ...{ file_path: `/w/${file}`, old_string: REPLACED, new_string: 'const after = 2;' },
});

const openai = (url: string, fields: Fields): ChatOpenAI =>
  new ChatOpenAI({
    model: 'gpt-4.1',
    apiKey: 'k',
    configuration: { baseURL: `${url}/v1` },
    ...fields,
  });

const MODELS: Readonly<Record<string, (url: string, fields: Fields) => BaseChatModel>> = {
  'Chat Completions': openai,
  Responses: (url, fields) => openai(url, { useResponsesApi: true, ...fields }),
  'Responses that store nothing': (url, fields) =>
    openai(url, { useResponsesApi: true, zdrEnabled: true, ...fields }),
  Anthropic: (url, fields) =>
    new ChatAnthropic({ model: 'claude-x', apiKey: 'k', anthropicApiUrl: url, ...fields }),
  'Google GenAI': (url, fields) =>
    new ChatGoogleGenerativeAI({ model: 'gemini-2.5-pro', apiKey: 'k', baseUrl: url, ...fields }),
  Google: (url, fields) =>
    new ChatGoogle({ model: 'gemini-2.5-pro', apiKey: 'k', endpoint: url, ...fields }),
};

async function streamed(model: BaseChatModel, messages: BaseMessage[]): Promise<AIMessageChunk> {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of await model.stream(messages)) chunks.push(chunk);
  return chunks.reduce((all, chunk) => concat(all, chunk));
}

/** The body of a model's request with the messages, as text. */
async function sentBy(
  model: BaseChatModel,
  messages: BaseMessage[],
  { requests }: ScriptedProvider,
): Promise<string> {
  await model.invoke(messages);
  return JSON.stringify(requests.at(-1)?.body);
}

/** Runs a model's tool calls until it makes none. */
async function talk(
  name: string,
  script: readonly ScriptedStep[],
  { isStreamed = false, ...fields }: Fields = {},
) {
  const provider = await startStrictProvider([...script, ...Array(3).fill({ text: 'Fine.' })]);
  const model = MODELS[name]!(provider.url, { maxRetries: 0, ...fields });
  const messages: BaseMessage[] = [new HumanMessage('Fix it.')];
  for (const _ of script) {
    const reply = await (isStreamed ? streamed(model, messages) : model.invoke(messages));
    const answers = (reply.tool_calls ?? []).map(
      ({ id = '', name: tool }) => new ToolMessage({ tool_call_id: id, name: tool, content: 'ok' }),
    );
    messages.push(reply, ...answers);
  }
  messages.push(new AIMessage('Next.'), new HumanMessage('Go on.'));
  return { provider, model, messages };
}

/** This package sends the results of parallel calls in a form that Gemini refuses. */
const filesFor = (name: string): readonly string[] =>
  name === 'Google GenAI' ? ['a.ts'] : ['a.ts', 'b.ts'];

const statuses = ({ requests }: ScriptedProvider): readonly number[] =>
  requests.map(({ status }) => status);

describe('a call whose arguments are changed', () => {
  const ways = Object.keys(MODELS).flatMap((name) => [
    [name, 'an answer', {}] as const,
    [name, 'a stream', { isStreamed: true }] as const,
  ]);
  const standard = ['Chat Completions', 'Responses', 'Anthropic'].map(
    (name) => [name, 'an answer in standard content', { outputVersion: 'v1' }] as const,
  );

  it.each([...ways, ...standard])(
    'is sent changed by %s, of %s, and nothing else changes',
    async (name, _, fields) => {
      const toolCalls = filesFor(name).map((file) => ({ name: 'Edit', input: edit(file) }));
      const { provider, model, messages } = await talk(name, [{ text: 'Yes.', toolCalls }], fields);
      const before = JSON.stringify(messages);
      const compacted = await messageCompactor(compactor, OPTIONS)(messages);
      const given = await sentBy(model, messages, provider);
      const sent = await sentBy(model, compacted, provider);
      expect(given.split(REPLACED)).toHaveLength(toolCalls.length + 1);
      expect(sent).toBe(given.replaceAll(REPLACED, LEFT_OUT));
      expect(statuses(provider)).toEqual([200, 200, 200]);
      // No other place of the message has the old text either: a later version may send it.
      expect(JSON.stringify({ ...compacted[1], lc_kwargs: {} })).not.toContain(REPLACED);
      expect(compacted[1]?.constructor).toBe(messages[1]?.constructor);
      expect(JSON.stringify(messages)).toBe(before);
    },
  );

  it('is sent unchanged if Gemini has signed it', async () => {
    const toolCalls = [{ name: 'Edit', input: edit('a.ts') }];
    const script = [{ reasoning: 'hm', text: 'Yes.', toolCalls }];
    for (const name of ['Google GenAI', 'Google']) {
      const { messages } = await talk(name, script);
      expect(await messageCompactor(compactor, OPTIONS)(messages)).toEqual(messages);
    }
  });
});

describe('a call that is removed', () => {
  it.each(Object.keys(MODELS))('is in no request by %s', async (name) => {
    const file = { file_path: '/w/a.ts' };
    const { provider, model, messages } = await talk(name, [
      { text: 'I read.', toolCalls: [{ name: 'read_file', input: file }] },
      { toolCalls: [{ name: 'write_file', input: { ...file, content: 'b' } }] },
    ]);
    await using strict = createCompactor({ offload: 'inline', preset: 'specification' });
    const options = { edits: 'every-turn', onError: 'throw' } as const;
    const sent = await sentBy(model, await messageCompactor(strict, options)(messages), provider);
    expect(sent).toContain('I read.');
    expect(sent).toContain('write_file');
    expect(sent).not.toContain('read_file');
    expect(statuses(provider)).toEqual([200, 200, 200]);
  });
});
