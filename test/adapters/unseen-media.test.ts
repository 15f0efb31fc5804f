// Results that the model has not been sent yet and that are more than text: a shorter text would replace images, documents and
// search results that the model has never seen.

import { ToolMessage, AIMessage, HumanMessage } from '@langchain/core/messages';
import { afterAll, describe, expect, it } from 'vitest';

import { messageCompactor as aiSdkCompactor } from '../../src/ai-sdk.js';
import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';
import { contentsCompactor } from '../../src/google.js';
import { createCompactor } from '../../src/index.js';
import { messageCompactor as langchainCompactor } from '../../src/langchain.js';
import { chatCompactor, inputCompactor } from '../../src/openai.js';

const compactor = createCompactor({ offload: 'inline' });
afterAll(() => compactor.close());

const OPTIONS = { onError: 'throw' } as const;
const NOISE = 'the same line of noise, again and again\n'.repeat(60);
const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';
const BASE64 = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const TEXT = { type: 'text', text: NOISE };
const citations = { enabled: true };

type Compact = (messages: never) => Promise<readonly unknown[]>;

/** A question, a call and its result. */
type Talk = (content: unknown) => readonly unknown[];

const anthropic: Talk = (content) => [
  { role: 'user', content: 'Look at it.' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
];

const aiSdk: Talk = (value) => [
  { role: 'user', content: 'Look at it.' },
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: {} }],
  },
  {
    role: 'tool',
    content: [
      {
        ...{ type: 'tool-result', toolCallId: 'c1', toolName: 'look' },
        output: { type: 'content', value },
      },
    ],
  },
];

const google: Talk = (parts) => [
  { role: 'user', parts: [{ text: 'Look at it.' }] },
  { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
  {
    role: 'user',
    parts: [{ functionResponse: { id: 'c1', name: 'look', response: { output: NOISE }, parts } }],
  },
];

const chat: Talk = (content) => [
  { role: 'user', content: 'Look at it.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content },
];

const responses: Talk = (output) => [
  { role: 'user', content: 'Look at it.' },
  { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output },
];

const langchain: Talk = (content) => [
  new HumanMessage('Look at it.'),
  new AIMessage({ content: '', tool_calls: [{ id: 'c1', name: 'look', args: {} }] }),
  new ToolMessage({ content: content as never, tool_call_id: 'c1' }),
];

const compacts: Readonly<Record<string, readonly [Compact, Talk, unknown]>> = {
  anthropic: [anthropicCompactor(compactor, OPTIONS), anthropic, [TEXT]],
  aiSdk: [aiSdkCompactor(compactor, OPTIONS), aiSdk, [TEXT]],
  google: [contentsCompactor(compactor, OPTIONS), google, undefined],
  chat: [chatCompactor(compactor, OPTIONS), chat, [TEXT]],
  responses: [inputCompactor(compactor, OPTIONS), responses, [{ type: 'input_text', text: NOISE }]],
  langchain: [langchainCompactor(compactor, OPTIONS), langchain, [TEXT]],
};

function of(name: string): readonly [Compact, Talk, unknown] {
  const found = compacts[name];
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
}

describe('a result that has not been sent yet', () => {
  it.each([
    ['anthropic', 'an image', [TEXT, { type: 'image', source: BASE64 }]],
    [
      'anthropic',
      'a named document',
      [
        TEXT,
        {
          ...{ type: 'document', title: 'a.txt' },
          source: { type: 'text', media_type: 'text/plain', data: NOISE },
        },
      ],
    ],
    [
      'anthropic',
      'search results',
      [
        {
          type: 'search_result',
          source: 'https://a.example',
          title: 'A',
          content: [TEXT],
          citations,
        },
      ],
    ],
    ['aiSdk', 'an image', [TEXT, { type: 'image-data', data: 'QUJD', mediaType: 'image/png' }]],
    ['aiSdk', 'a custom part of a provider', [TEXT, { type: 'custom', providerOptions: {} }]],
    ['google', 'an image', [{ inlineData: { mimeType: 'image/png', data: 'QUJD' } }]],
    ['chat', 'an image', [TEXT, { type: 'image_url', image_url: { url: IMAGE } }]],
    [
      'responses',
      'an image',
      [
        { type: 'input_text', text: NOISE },
        { type: 'input_image', detail: 'auto', image_url: IMAGE },
      ],
    ],
    ['langchain', 'an image', [TEXT, { type: 'image_url', image_url: { url: IMAGE } }]],
  ])('%s: is sent unchanged if it holds %s', async (name, _, content) => {
    const [compact, talk] = of(name);
    const given = talk(content);
    const sent = await compact(given as never);
    expect(sent).toHaveLength(3);
    expect(sent.every((message, at) => message === given[at])).toBe(true);
  });

  it.each(Object.keys(compacts))('%s: is shrunk if it is a text', async (name) => {
    const [compact, talk, content] = of(name);
    const given = talk(content);
    const sent = await compact(given as never);
    expect(sent[2]).not.toBe(given[2]);
    expect(JSON.stringify(sent[2])).toMatch(/Shortened from \d+ characters/);
  });

  it('keeps the breakpoint of a part that is shrunk', async () => {
    const [compact, talk] = of('anthropic');
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const sent = await compact(talk([{ ...TEXT, ...mark }]) as never);
    expect(sent[2]).toMatchObject({
      content: [{ tool_use_id: 'c1', content: [{ type: 'text', ...mark }] }],
    });
  });

  it('is sent as before once its breakpoint has moved, except for the breakpoint', async () => {
    const [compact, talk] = of('anthropic');
    const mark = { cache_control: { type: 'ephemeral' } };
    const [marked] = (await compact(talk([{ ...TEXT, ...mark }]) as never)).slice(2);
    const [unmarked] = (await compact(talk([TEXT]) as never)).slice(2);
    expect(unmarked).not.toEqual(marked);
    const withoutMark = JSON.stringify(marked).replace(`,${JSON.stringify(mark).slice(1, -1)}`, '');
    expect(JSON.stringify(unmarked)).toBe(withoutMark);
  });
});
