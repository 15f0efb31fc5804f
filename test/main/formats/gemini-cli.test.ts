import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { bare, readJson } from './reading.js';

const chat = (...messages: unknown[]) => ({ sessionId: 's', projectHash: 'p', messages });
const response = (fields: object) => [
  { functionResponse: { id: 'x', name: 'n', response: fields } },
];

describe('readGeminiCliMessage', () => {
  it('makes a model entry and a tool entry of a record with calls', async () => {
    const { entries, format, warnings } = await readJson(
      chat({
        type: 'gemini',
        id: 'g',
        timestamp: '2026-01-01T00:00:00Z',
        content: 'reading',
        thoughts: [{ subject: 'Plan', description: 'read it' }],
        toolCalls: [
          {
            id: 'a',
            name: 'read_file',
            args: { file_path: 'x' },
            status: 'success',
            result: response({ output: 'text' }),
          },
          {
            id: 'b',
            name: 'replace',
            args: {},
            status: 'error',
            result: response({ error: 'no match\nmore' }),
          },
          { id: 'c', name: 'replace', args: {}, status: 'cancelled' },
          { id: 'd', name: 'shell', status: 'executing' },
        ],
        model: 'gemini-2.5',
        tokens: { total: 3 },
      }),
    );
    expect({ format, warnings }).toEqual({ format: 'gemini-cli', warnings: [] });
    expect(entries).toEqual([
      aiContent(
        [
          { type: 'thinking', thought: '**Plan**\nread it' },
          { type: 'text', text: 'reading' },
          toolCall('a', 'read_file', { file_path: 'x' }),
          toolCall('b', 'replace', {}),
          toolCall('c', 'replace', {}),
          toolCall('d', 'shell', {}),
        ],
        { timestamp: 1767225600000, id: 'g', model: 'gemini-2.5', usage: { total: 3 } },
      ),
      toolContent(
        [
          toolResponse('a', 'read_file', 'text'),
          toolResponse('b', 'replace', 'no match\nmore', 'no match'),
          toolResponse('c', 'replace', '', 'cancelled'),
        ],
        { timestamp: 1767225600000, id: 'g' },
      ),
    ]);
  });

  it('keeps each part of a user record a block of its own', async () => {
    const { entries } = await readJson(
      chat({
        type: 'user',
        content: [
          { text: 'look at @a.ts' },
          { text: '\n--- Content from referenced files ---' },
          { text: 'code' },
          { inlineData: { mimeType: 'image/png', data: 'AA' } },
        ],
      }),
    );
    expect(entries[0]?.blocks).toEqual([
      { type: 'text', text: 'look at @a.ts' },
      { type: 'text', text: '\n--- Content from referenced files ---' },
      { type: 'text', text: 'code' },
      { type: 'media', mimeType: 'image/png', data: 'AA', encoding: 'base64' },
    ]);
  });

  it('pairs calls that have no ids', async () => {
    const call = { name: 'n', args: {}, status: 'success', result: response({ output: 'x' }) };
    const { entries } = await readJson(
      chat({ type: 'gemini', content: '', toolCalls: [call, call] }),
    );
    const [first, second] = ['messages[0].toolCalls[0]', 'messages[0].toolCalls[1]'];
    expect(bare(entries)).toEqual([
      aiContent([toolCall(first, 'n', {}), toolCall(second, 'n', {})]),
      toolContent([toolResponse(first, 'n', 'x'), toolResponse(second, 'n', 'x')]),
    ]);
  });

  it('passes over notices and tells what it left out', async () => {
    const { entries, warnings } = await readJson(
      chat(
        { type: 'user', content: 'go' },
        { type: 'info', content: 'Update available' },
        { type: 'error', content: 'oops' },
        { type: 'novel', content: 'x' },
        { type: 'user', content: 5 },
        { type: 'gemini', toolCalls: [{ id: 'a' }] },
        null,
      ),
    );
    expect(entries).toEqual([humanText('go')]);
    expect(warnings).toEqual([
      { place: 'messages[4]', message: 'A user record without readable content was left out.' },
      { place: 'messages[5]', message: 'A tool call without a name was left out.' },
      { place: 'messages[6]', message: 'A message that is no object was left out.' },
      { message: 'records of the unknown type "novel" left out: 1' },
    ]);
  });
});

describe('a list of Content', () => {
  const contents = [
    { role: 'user', parts: [{ text: 'read it' }] },
    {
      role: 'model',
      parts: [
        { text: 'thinking', thought: true },
        { functionCall: { name: 'read_file', args: { file_path: 'x' } } },
        { functionCall: { id: 'b', name: 'read_file', args: { file_path: 'y' } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'b', name: 'read_file', response: { error: 'no y' } } },
        { functionResponse: { name: 'read_file', response: { output: 'x it is' } } },
        { text: 'go on' },
      ],
    },
  ];

  it.each([
    ['alone', contents],
    ['as the history of a checkpoint', { history: contents }],
    ['as the contents of a request', { contents }],
  ])('is read as what it is: %s', async (_, document) => {
    const { format, entries, warnings } = await readJson(document);
    expect([format, warnings]).toEqual(['gemini-cli', []]);
    expect(bare(entries)).toEqual([
      { speaker: 'human', blocks: [{ type: 'text', text: 'read it' }] },
      aiContent([
        { type: 'thinking', thought: 'thinking' },
        toolCall('call-1', 'read_file', { file_path: 'x' }),
        toolCall('b', 'read_file', { file_path: 'y' }),
      ]),
      toolContent([
        toolResponse('b', 'read_file', 'no y', 'no y'),
        toolResponse('call-1', 'read_file', 'x it is'),
      ]),
      { speaker: 'human', blocks: [{ type: 'text', text: 'go on' }] },
    ]);
  });
});
