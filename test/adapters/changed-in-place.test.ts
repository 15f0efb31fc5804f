// Callers that mutate messages which they have passed before: moved cache marks are sent at their present places, and after
// parts were removed every call still has its result.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import type { AdapterOptions } from '../../src/adapters/request/adapter-options.js';
import { messageCompactor as sdkCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import type { SdkMessage, SdkPart } from '../../src/adapters/ai-sdk/sdk-message.js';
import { messageCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import { ask, longText, say } from './anthropic/conversations.js';
import { openCompactor } from '../support/open-compactor.js';

const OPTIONS: AdapterOptions = { onError: 'throw', edits: 'every-turn' };
/** An output that is shrunk before it is first sent. */
const LISTING = Array.from({ length: 300 }, (_, at) => `file-${(at * 7919) % 1000}.ts`).join('\n');
const MARK = { type: 'ephemeral' } as const;

type Marked = { cache_control?: typeof MARK };

/** The parts of messages. */
function partsOf(messages: readonly { readonly content: unknown }[]): (object & Marked)[] {
  return messages.flatMap(({ content }) => (Array.isArray(content) ? (content as object[]) : []));
}

/** A command whose output later becomes a placeholder. */
function command(number: number): MessageParam[] {
  const id = `toolu_${number}`;
  return [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'Bash', input: { command: `ls ${number}` } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: LISTING }],
    },
  ];
}

describe('cache marks that a caller moves within its messages', () => {
  it.each(['results', 'texts'])('are sent at their present places, on %s', async (kind) => {
    const compact = messageCompactor(openCompactor(), OPTIONS);
    const messages = [ask('Fix a.ts.')];
    let edited = 0;
    for (let number = 0; number < 40; number += 1) {
      messages.push(...command(number));
      if (kind === 'texts') messages.push(say(longText(`${number}`)), ask(`On, ${number}.`));
      for (const part of partsOf(messages)) delete part.cache_control;
      const marked = partsOf(messages)
        .slice(-4)
        .filter((_, at) => at % 2 === 1);
      for (const part of marked) part.cache_control = MARK;
      const sent = await compact(messages);
      const kept = partsOf(sent).filter(({ cache_control: mark }) => mark !== undefined);
      expect(kept).toHaveLength(marked.length);
      edited += sent.filter((message) => !messages.includes(message)).length;
    }
    expect(edited).toBeGreaterThan(30);
  });

  it('are added to an edited message that had none, and removed again', async () => {
    const compact = messageCompactor(openCompactor(), OPTIONS);
    const messages = [ask('Fix a.ts.')];
    for (let number = 0; number < 40; number += 1) messages.push(...command(number));
    const before = await compact(messages);
    const at = before.findLastIndex((message) => !messages.includes(message));
    expect(at).toBeGreaterThan(0);
    const [own] = partsOf([messages[at]!]);
    own!.cache_control = MARK;
    const marked = await compact(messages);
    expect(partsOf([marked[at]!])).toEqual([{ ...partsOf([before[at]!])[0], cache_control: MARK }]);
    delete own!.cache_control;
    expect(await compact(messages)).toEqual(before);
  });

  it('are followed on whole messages, too', async () => {
    const compact = sdkCompactor<SdkMessage>(openCompactor(), OPTIONS);
    const messages: (SdkMessage & { providerOptions?: object })[] = [sdkText('Go.')];
    let edited = 0;
    for (let number = 0; number < 30; number += 1) {
      messages.push(...sdkExchange(number, 'bash', { command: `ls ${number}` }, LISTING));
      for (const message of messages) delete message.providerOptions;
      messages.at(-1)!.providerOptions = { anthropic: { cacheControl: MARK } };
      const sent: readonly (SdkMessage & { readonly providerOptions?: object })[] =
        await compact(messages);
      expect(sent.filter(({ providerOptions }) => providerOptions !== undefined)).toHaveLength(1);
      edited += sent.filter((message) => !messages.includes(message)).length;
    }
    expect(edited).toBeGreaterThan(30);
  });
});

function sdkText(content: string): SdkMessage {
  return { role: 'user', content };
}

function sdkUse(number: number): SdkMessage[] {
  const toolName = number % 3 === 2 ? 'write_file' : 'read_file';
  return sdkExchange(number, toolName, { path: 'a.ts' }, longText(`${number}`));
}

function sdkExchange(number: number, toolName: string, input: object, value: string): SdkMessage[] {
  const named = { toolCallId: `call_${number}`, toolName };
  const call = { type: 'tool-call', ...named, input };
  const output = { type: 'text', value };
  return [
    { role: 'assistant', content: [{ type: 'reasoning' }, { type: 'text' }, call].map(withText) },
    { role: 'tool', content: [{ type: 'tool-result', ...named, output } as SdkPart] },
  ];
}

function withText(part: SdkPart): SdkPart {
  return part.type === 'tool-call' ? part : Object.assign({ ...part }, { text: 'I look.' });
}

describe('messages that a caller removes parts of', () => {
  it.each(['throw', 'send-uncompacted'] as const)(
    'are valid with onError %s, and are compacted',
    async (onError) => {
      let sessions = 0;
      const onSession = (): void => void (sessions += 1);
      const compact = sdkCompactor<SdkMessage>(openCompactor(), { ...OPTIONS, onError, onSession });
      const messages = [sdkText('Go.')];
      let sent: readonly SdkMessage[] = [];
      for (let number = 0; number < 30; number += 1) {
        messages.push(...sdkUse(number));
        for (const message of messages.slice(0, -4)) withoutReasoning(message);
        sent = await compact(messages);
        expect(idsOf(sent, 'tool-call')).toEqual(idsOf(sent, 'tool-result'));
        expect(sent.at(-1)).toBe(messages.at(-1));
      }
      expect(sent.length).toBeLessThan(messages.length);
      expect(sessions).toBeGreaterThan(1);
    },
  );

  it('continue in one session if the conversation has a name', async () => {
    const compact = sdkCompactor<SdkMessage>(openCompactor(), OPTIONS);
    const messages = [sdkText('Go.')];
    for (let number = 0; number < 12; number += 1) {
      messages.push(...sdkUse(number));
      for (const message of messages.slice(0, -4)) withoutReasoning(message);
      const sent = await compact(messages, { conversationId: 'chat' });
      expect(idsOf(sent, 'tool-call')).toEqual(idsOf(sent, 'tool-result'));
    }
    expect(compact.report()).toHaveLength(1);
  });
});

function withoutReasoning(message: { content: SdkMessage['content'] }): void {
  if (typeof message.content === 'string') return;
  message.content = message.content.filter(({ type }) => type !== 'reasoning');
}

function idsOf(messages: readonly SdkMessage[], type: string): unknown[] {
  const parts = partsOf(messages) as (SdkPart & { readonly toolCallId?: unknown })[];
  return parts.filter((part) => part.type === type).map(({ toolCallId }) => toolCallId);
}
