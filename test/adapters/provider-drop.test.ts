// Compactions that a provider made at its own threshold, in the messages of each SDK that can hold them.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';

import { messageCompactor as anthropicCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import { messageCompactor as sdkCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as langchainCompactor } from '../../src/adapters/langchain/message-compactor.js';
import { callModelInputFilter } from '../../src/adapters/openai/call-model-input-filter.js';
import type { Compactor } from '../../src/main/compactor.js';
import { openCompactor } from '../support/open-compactor.js';

type Send = (compactor: Compactor, messages: never) => Promise<readonly unknown[]>;

const sdk: Send = (compactor, messages: ModelMessage[]) =>
  sdkCompactor(compactor, { onError: 'throw' })(messages);
const langchain: Send = (compactor, messages: BaseMessage[]) =>
  langchainCompactor(compactor, { onError: 'throw' })(messages);
const agents: Send = async (compactor, input: object[]) =>
  (await callModelInputFilter(compactor, { onError: 'throw' })({ modelData: { input } })).input;

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const anthropic = { providerOptions: { anthropic: { type: 'compaction' } } };
const custom = {
  type: 'custom',
  kind: 'openai.compaction',
  providerOptions: { openai: { itemId: 'c' } },
};
const said = [{ type: 'output_text', text: 'done' }];

const TALKS: readonly (readonly [string, Send, (isWhole: boolean) => readonly unknown[]])[] = [
  ['the AI SDK with Anthropic', sdk, (isWhole) => [
    user('one'), assistant('done'), user('two'),
    assistant([{ type: 'text', text: isWhole ? 'what was' : '', ...anthropic }, { type: 'text', text: 'fine' }]),
    user('go on'),
  ]],
  ['the AI SDK with OpenAI', sdk, (isWhole) => [
    user('one'), assistant('done'), user('two'),
    assistant([isWhole ? custom : { ...custom, kind: 'openai.other' }, { type: 'text', text: 'fine' }]),
    user('go on'),
  ]],
  ['LangChain with Anthropic', langchain, (isWhole) => [
    new HumanMessage('one'), new AIMessage('done'), new HumanMessage('two'),
    new AIMessage({ content: [{ type: 'compaction', content: isWhole ? 'what was' : null }, { type: 'text', text: 'fine' }] }),
    new HumanMessage('go on'),
  ]],
  ['the Agents SDK', agents, (isWhole) => [
    user('one'), { type: 'message', role: 'assistant', status: 'completed', content: said }, user('two'),
    { type: 'compaction', encrypted_content: isWhole ? 'sealed' : '' },
    user('go on'),
  ]],
]; // prettier-ignore

describe("a provider's own compaction", () => {
  it.each(TALKS)(
    'replaces the messages in front of it, in messages of %s',
    async (_, send, talk) => {
      const compactor = openCompactor({
        preset: 'specification',
      });
      const whole = talk(true);
      const sent = await send(compactor, whole as never);
      expect(sent).toHaveLength(2);
      expect(sent.every((message) => whole.includes(message))).toBe(true);
      const failed = talk(false);
      expect(await send(compactor, failed as never)).toEqual(failed);
    },
  );

  it('leaves its note behind the results of calls that are open when it arrives', async () => {
    const compact = anthropicCompactor(openCompactor(), { onError: 'throw' });
    const call = (id: string) => ({
      type: 'tool_use' as const,
      id,
      name: 'bash',
      input: { command: id },
    });
    const result = (tool_use_id: string) => ({
      type: 'tool_result' as const,
      tool_use_id,
      content: 'ok',
    });
    const messages: MessageParam[] = [
      { role: 'user', content: `never touch a.ts ${'lorem ipsum '.repeat(1_000)}` },
      { role: 'assistant', content: 'done' },
      { role: 'user', content: 'go on' },
      {
        role: 'assistant',
        content: [{ type: 'compaction', content: 'what was' } as never, call('a'), call('b')],
      },
    ];
    expect(await compact(messages)).toEqual(messages.slice(3));
    messages.push({ role: 'user', content: [result('a')] });
    expect(await compact(messages)).toEqual(messages.slice(3));
    messages.push({ role: 'user', content: [result('b')] });
    const sent = await compact(messages);
    expect(sent.slice(0, 3)).toEqual(messages.slice(3));
    expect(JSON.stringify(sent.slice(3))).toContain('never touch a.ts');
    messages.push({ role: 'assistant', content: 'fine' }, { role: 'user', content: 'on' });
    expect((await compact(messages)).slice(0, 4)).toEqual(sent);
  });
});
