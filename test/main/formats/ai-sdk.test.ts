import { convertToModelMessages } from 'ai';
import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  thinkingBlock,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { readJson, readLines } from './reading.js';

const bare = (entries: readonly IContent[]) =>
  entries.map(({ speaker, blocks }) => ({ speaker, blocks }));

const image = { mediaType: 'image/png', url: 'data:image/png;base64,AAAA' };
const isDone = { state: 'output-available' } as const;

/** A chat of two steps: one with a result and an error, one with JSON and a denied call; then one without calls. */
const CHAT: readonly Omit<UIMessage, 'id'>[] = [
  { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] },
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'go' },
      { type: 'file', ...image },
    ],
  },
  {
    role: 'assistant',
    parts: [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 'S' } } },
      { type: 'text', text: 'I look.' },
      { type: 'tool-read', toolCallId: 'c1', ...isDone, input: { path: 'a' }, output: 'text' },
      {
        ...{ type: 'dynamic-tool', toolName: 'run', toolCallId: 'c2', state: 'output-error' },
        ...{ input: {}, errorText: 'bad\nworse' },
      },
      { type: 'source-url', sourceId: 's', url: 'https://host/' },
      { type: 'step-start' },
      { type: 'tool-list', toolCallId: 'c3', ...isDone, input: {}, output: { x: 1 } },
      {
        ...{ type: 'tool-drop', toolCallId: 'c4', state: 'output-denied', input: {} },
        approval: { id: 'p', approved: false, reason: 'no' },
      },
      { type: 'step-start' },
      { type: 'text', text: 'done' },
    ] as UIMessage['parts'],
  },
];

const READ = [
  { ...humanText('Be brief.') },
  {
    speaker: 'human',
    blocks: [
      { type: 'text', text: 'go' },
      { type: 'media', mimeType: 'image/png', data: 'AAAA', encoding: 'base64' },
    ],
  },
  aiContent([
    thinkingBlock('hm', { signature: 'S' }),
    { type: 'text', text: 'I look.' },
    toolCall('c1', 'read', { path: 'a' }),
    toolCall('c2', 'run', {}),
  ]),
  toolContent([toolResponse('c1', 'read', 'text'), toolResponse('c2', 'run', 'bad\nworse', 'bad')]),
  aiContent([toolCall('c3', 'list', {}), toolCall('c4', 'drop', {})]),
  toolContent([toolResponse('c3', 'list', { x: 1 }), toolResponse('c4', 'drop', 'no', 'no')]),
  aiContent([{ type: 'text', text: 'done' }]),
];

describe('messages of the AI SDK', () => {
  it('are read alike as a chat and as the SDK sends it to a model', async () => {
    const chat = CHAT.map((message, at) => ({ id: `m${at}`, ...message }));
    const sent = await convertToModelMessages(chat);
    for (const messages of [chat, { messages: chat }, sent, { messages: sent }]) {
      const { format, entries, warnings } = await readJson(messages);
      expect({ format, warnings }).toEqual({ format: 'ai-sdk', warnings: [] });
      expect(bare(entries)).toEqual(READ);
      expect(entries[0]?.metadata).toMatchObject({ synthetic: true });
    }
    const { format, entries } = await readLines(sent);
    expect([format, bare(entries)]).toEqual(['ai-sdk', READ]);
  });

  it('may have their parts as text, as a table of SQLite has them', async () => {
    const rows = CHAT.map(({ role, parts }) => ({ role, parts: JSON.stringify(parts) }));
    for (const { format, entries } of [await readJson(rows), await readLines(rows)])
      expect([format, bare(entries)]).toEqual(['ai-sdk', READ]);
    const plain = [{ parts: '[', content: 'go on' }, { parts: 'and on' }];
    const { entries } = await readJson([
      ...rows,
      ...plain.map((each) => ({ role: 'user', ...each })),
    ]);
    expect(bare(entries).slice(READ.length)).toEqual([humanText('go on'), humanText('and on')]);
  });

  it('have their id and time', async () => {
    const [, user] = CHAT;
    const createdAt = '2026-01-01T00:00:00.000Z';
    for (const metadata of [{ createdAt }, { metadata: { createdAt } }]) {
      const { entries } = await readJson([{ ...user, ...metadata, id: 'm' }]);
      expect(entries[0]?.metadata).toEqual({ id: 'm', timestamp: Date.parse(createdAt) });
    }
  });

  it.each([
    ['a text', { type: 'text', value: 'told' }, 'told', undefined],
    ['JSON', { type: 'json', value: [1] }, [1], undefined],
    ['a failure', { type: 'error-text', value: 'no\nreally' }, 'no\nreally', 'no'],
    ['JSON that tells a failure', { type: 'error-json', value: {} }, {}, 'The tool failed.'],
    ['a denial', { type: 'execution-denied', reason: 'not now' }, 'not now', 'not now'],
    ['texts', { type: 'content', value: [{ type: 'text', text: 'told' }] }, 'told', undefined],
    ['what an older SDK wrote', undefined, 'old', undefined],
  ])('have results that are %s', async (_, output, result, error) => {
    const call = { type: 'tool-call', toolCallId: 'c', toolName: 'f', args: {} };
    const answer = { type: 'tool-result', toolCallId: 'c', toolName: 'f', output, result: 'old' };
    const { entries } = await readJson([
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [answer] },
    ]);
    expect(bare(entries)).toEqual([
      aiContent([toolCall('c', 'f', {})]),
      toolContent([toolResponse('c', 'f', result, error)]),
    ]);
  });

  it.each([
    [{ type: 'media', data: 'AAAA', mediaType: 'image/png' }],
    [{ type: 'image-data', data: 'AAAA', mediaType: 'image/png' }],
    [{ type: 'image-url', url: 'https://host/a.png', mediaType: 'image/png' }],
  ])('have images in results: %j', async (part) => {
    const output = { type: 'content', value: [{ type: 'text', text: 'seen' }, part] };
    const { entries } = await readJson([
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'f' }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c', output }] },
    ]);
    const expected = { result: 'seen\n[image]', mediaTokens: IMAGE_TOKENS };
    expect(entries[1]?.blocks).toMatchObject([expected]);
  });

  it('have no result where a call has not ended', async () => {
    const waiting = { type: 'tool-f', toolCallId: 'c', state: 'input-available', input: {} };
    const { entries } = await readJson([{ role: 'assistant', parts: [waiting] }]);
    expect(bare(entries)).toEqual([aiContent([toolCall('c', 'f', {})])]);
  });

  it('have calls in a field of their own since the SDK 4', async () => {
    const called = { toolCallId: 'c', toolName: 'f', args: { x: 1 } };
    const toolInvocation = { ...called, state: 'result', result: 'told' };
    const parts = [{ type: 'tool-invocation', toolInvocation }];
    const { entries } = await readJson([{ role: 'assistant', content: '', parts }]);
    expect(bare(entries)).toEqual([
      aiContent([toolCall('c', 'f', { x: 1 })]),
      toolContent([toolResponse('c', 'f', 'told')]),
    ]);
  });

  it('are not taken for other chats', async () => {
    const typed = { role: 'user', content: [{ type: 'text', text: 'go' }] };
    expect(await readJson([typed])).toMatchObject({ format: 'openai-chat' });
    const ofGemini = { role: 'user', parts: [{ text: 'go' }] };
    expect(await readJson([ofGemini])).toMatchObject({ format: 'gemini-cli' });
    const ofUnknown = { role: 'model', parts: [{ type: 'text', text: 'go' }] };
    expect((await readJson([ofUnknown])).format).not.toBe('ai-sdk');
  });
});
