// Which message of the SDK's prompt corresponds to a message of a step.

import { describe, expect, it } from 'vitest';

import { markedCall } from '../../../src/adapters/ai-sdk/cache-mark.js';
import type { SdkMessage } from '../../../src/adapters/ai-sdk/sdk-message.js';

type Parts = Exclude<SdkMessage['content'], string>;

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } };
const call = (id: string): Parts => [
  { type: 'tool-call', toolCallId: id, toolName: 'search', input: {} } as never,
];
const answer = (id: string): Parts => [
  { type: 'tool-result', toolCallId: id, toolName: 'search', output: { type: 'text' } } as never,
];
const user = (text: string): SdkMessage => ({
  role: 'user',
  content: [{ type: 'text', text } as never],
});
const tool = (id: string): SdkMessage => ({ role: 'tool', content: answer(id) });

const BEFORE: SdkMessage[] = [
  user('Go.'),
  { role: 'assistant', content: [...call('a'), ...call('b')] },
  tool('a'),
  tool('b'),
];
const BEHIND: SdkMessage[] = Array.from({ length: 12 }, (_, at) => [
  { role: 'assistant' as const, content: call(`c${at}`) },
  tool(`c${at}`),
]).flat();
const END = { ...user('Now?'), providerOptions: MARK };
const MESSAGES = [...BEFORE, ...BEHIND, END];
/** The prompt that the SDK makes of the messages: it joins consecutive results in one message. */
const PROMPT = [
  ...BEFORE.slice(0, 2),
  { role: 'tool', content: [...answer('a'), ...answer('b')] },
  ...BEHIND,
  END,
];
const SYSTEM = { role: 'system', content: 'Be careful.' };

const CLAUDE = { provider: 'anthropic.messages', modelId: 'claude-opus-5-5' };

/** Index in the prompt of the message that a mark was added to. */
function markedAt(prompt: readonly object[], index: number): number {
  const marked = markedCall(CLAUDE, { prompt }, MESSAGES, index) as { prompt: readonly object[] };
  return marked.prompt.findIndex((message, at) => message !== prompt[at]);
}

describe('markedCall', () => {
  it.each([
    ['the message behind joined results', 4, 2],
    ['the second of joined results, whose message begins in front of it', 3, 1],
    ['the first of joined results', 2, 1],
  ])('marks the message in front of %s', (_, index, place) => {
    expect(markedAt(PROMPT, index)).toBe(place);
    expect(markedAt([SYSTEM, SYSTEM, ...PROMPT], index)).toBe(place + 2);
  });

  it.each([
    ['without an edit', PROMPT, 0],
    ['with one more message that is no system text', [user('Hi.'), ...PROMPT], 4],
    ['with one message less', PROMPT.slice(1), 4],
    ['that is no list', 'Go.', 4],
    ['whose first message is no object', [null, ...PROMPT], 4],
  ])('returns the same call for a prompt %s', (_, prompt, index) => {
    const given = { prompt };
    expect(markedCall(CLAUDE, given, MESSAGES, index)).toBe(given);
  });

  it('marks no call that the provider ran', () => {
    const run = [...call('a'), ...call('b')].map((part) => ({ ...part, providerExecuted: true }));
    expect(markedAt(PROMPT.with(1, { role: 'assistant', content: run }), 2)).toBe(0);
  });

  it('passes on a call that is undefined', () => {
    expect(markedCall(CLAUDE, undefined as never, MESSAGES, 4)).toBeUndefined();
  });
});

describe('markedCall at Bedrock', () => {
  const point = { cachePoint: { type: 'default' } };
  const modelId = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const marks = (
    model: { provider: string; modelId: string },
    providerOptions: object,
  ): unknown => {
    const prompt = [...PROMPT.slice(0, -1), { ...END, providerOptions }];
    const { prompt: sent } = markedCall(model, { prompt }, MESSAGES, 4) as { prompt: SdkMessage[] };
    const parts = sent[2]?.content as readonly { readonly providerOptions?: unknown }[];
    return parts.map((part) => part.providerOptions);
  };

  it.each([{ bedrock: point }, { amazonBedrock: point }])('sets a cache point: %j', (given) => {
    const model = { provider: 'amazon-bedrock', modelId };
    expect(marks(model, given)).toEqual([undefined, { bedrock: point }]);
  });

  it.each([
    ['for a model that need not look back', 'amazon-bedrock', 'us.amazon.nova-pro-v1:0'],
    ["in Anthropic's own format", 'bedrock.anthropic.messages', modelId],
  ])('sets none %s', (_, provider, id) => {
    expect(marks({ provider, modelId: id }, { bedrock: point })).toEqual([undefined, undefined]);
  });
});
