import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { bare, readChunks, readJson, readLines } from './reading.js';

const chat = (...messages: unknown[]) => ({ sessionId: 's', projectHash: 'p', messages });
const response = (fields: object) => [
  { functionResponse: { id: 'x', name: 'n', response: fields } },
];

describe('GEMINI_CLI', () => {
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

  it('keeps each part of a user record as a block', async () => {
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

  it('reads calls, thoughts and results in content too, but none of them twice', async () => {
    const answers = ['a', 'b'].map((id) => ({
      functionResponse: { id, name: 'n', response: { output: `of ${id}` } },
    }));
    const { entries, warnings } = await readJson(
      chat(
        {
          type: 'gemini',
          content: [
            { text: 'hm', thought: true },
            { functionCall: { id: 'a', name: 'n', args: {} } },
            { functionCall: { id: 'c', name: 'n', args: {} } },
          ],
          thoughts: [{ subject: 'hm' }],
          // Shortened results are repeated in each of the parallel calls.
          toolCalls: ['a', 'b'].map((id) => ({
            ...{ id, name: 'n', args: {}, status: 'success', result: answers },
          })),
        },
        {
          type: 'user',
          content: [
            ...answers,
            { functionResponse: { id: 'c', name: 'n', response: { error: 'no' } } },
          ],
        },
      ),
    );
    expect(warnings).toEqual([]);
    expect(bare(entries)).toEqual([
      aiContent([
        { type: 'thinking', thought: 'hm' },
        ...['a', 'c', 'b'].map((id) => toolCall(id, 'n', {})),
      ]),
      toolContent([
        toolResponse('a', 'n', 'of a'),
        toolResponse('b', 'n', 'of b'),
        toolResponse('c', 'n', 'no', 'no'),
      ]),
    ]);
  });

  it('skips notices and reports what it omitted', async () => {
    const { entries, warnings } = await readJson(
      chat(
        { type: 'user', content: 'go' },
        { type: 'info', content: 'Update available' },
        { type: 'error', content: 'oops' },
        { type: 'novel', content: 'x' },
        { type: 'user', content: 5 },
        { type: 'gemini', toolCalls: [{ id: 'a', status: 'success' }] },
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
  ])('is detected and read: %s', async (_, document) => {
    const { format, entries, warnings } = await readJson(document);
    expect([format, warnings]).toEqual(['gemini-cli', []]);
    expect(bare(entries)).toEqual([
      { speaker: 'human', blocks: [{ type: 'text', text: 'read it' }] },
      aiContent([
        { type: 'thinking', thought: 'thinking' },
        toolCall('call', 'read_file', { file_path: 'x' }),
        toolCall('b', 'read_file', { file_path: 'y' }),
      ]),
      toolContent([
        toolResponse('b', 'read_file', 'no y', 'no y'),
        toolResponse('call', 'read_file', 'x it is'),
      ]),
      { speaker: 'human', blocks: [{ type: 'text', text: 'go on' }] },
    ]);
  });
});

describe('a log of Gemini CLI', () => {
  const HEADER = { sessionId: 's', projectHash: 'p', kind: 'main' };
  const said = (id: string, type: 'user' | 'gemini', content: string, fields: object = {}) => ({
    ...{ id, type, content, timestamp: '2026-01-01T00:00:00Z' },
    ...fields,
  });
  const call = {
    id: 'a',
    name: 'n',
    args: {},
    status: 'success',
    result: response({ output: 'x' }),
  };
  const SETS = { $set: { lastUpdated: '2026-01-01T00:00:00Z' } };
  const texts = (entries: Awaited<ReturnType<typeof readLines>>['entries']) =>
    entries.map(({ blocks: [block] }) => (block?.type === 'text' ? block.text : block?.type));

  it.each([undefined, 'gemini-cli' as const])(
    'is read with later additions to a message, format %s',
    async (format) => {
      const records = [
        HEADER,
        { $set: { messages: [said('0', 'user', 'context')] } },
        said('1', 'user', 'go'),
        SETS,
        said('2', 'gemini', 'so'),
        SETS,
        said('2', 'gemini', 'so', { toolCalls: [call] }),
        said('3', 'user', 'and'),
      ];
      const reading = await readLines(records, format);
      expect([reading.format, reading.warnings]).toEqual(['gemini-cli', []]);
      expect(bare(reading.entries)).toEqual([
        ...bare([humanText('context'), humanText('go')]),
        aiContent([{ type: 'text', text: 'so' }, toolCall('a', 'n', {})]),
        toolContent([toolResponse('a', 'n', 'x')]),
        ...bare([humanText('and')]),
      ]);
    },
  );

  it('is read without the turns that the session went back over', async () => {
    const { entries, warnings } = await readLines([
      HEADER,
      said('1', 'user', 'one'),
      said('2', 'gemini', 'two'),
      said('3', 'user', 'wrong'),
      said('4', 'gemini', 'so it is'),
      { $rewindTo: '3' },
      said('5', 'user', 'right'),
    ]);
    expect(texts(entries)).toEqual(['one', 'two', 'right']);
    expect(warnings).toEqual([
      { message: 'messages that the session went back from, left out: 2' },
    ]);
    const nothing = await readLines([HEADER, said('1', 'user', 'one'), { $rewindTo: 'other' }]);
    expect(nothing.entries).toEqual([]);
  });

  it('starts a context at a list that lacks a message', async () => {
    const messages = [said('6', 'user', 'in short'), said('4', 'gemini', 'four')];
    const { entries, contextStarts } = await readLines([
      HEADER,
      said('1', 'user', 'one'),
      said('2', 'gemini', 'two', { toolCalls: [call] }),
      said('3', 'user', 'three'),
      said('4', 'gemini', 'four'),
      { $set: { messages } },
      said('7', 'gemini', 'seven'),
      // Resumed: the same content in another shape.
      {
        $set: { messages: [...messages, said('7', 'gemini', 'SEVEN'), said('8', 'user', 'eight')] },
      },
    ]);
    expect([contextStarts, texts(entries)]).toEqual([
      [5],
      ['one', 'two', 'tool_response', 'three', 'four', 'in short', 'four', 'seven', 'eight'],
    ]);
    const isKept = entries.map(({ metadata }) => metadata?.isKept === true);
    expect(isKept).toEqual([...Array<boolean>(5).fill(false), true, true, false, false]);
  });

  it('is distinguished from a chat on one line, and read after a header that is cut off', async () => {
    const document = { ...chat(said('1', 'user', 'one')) };
    const reading = await readChunks([`${JSON.stringify(document)}\n`], 'gemini-cli');
    expect(texts(reading.entries)).toEqual(['one']);
    const cut = await readLines([said('1', 'gemini', 'one'), said('2', 'user', 'two')]);
    expect([cut.format, texts(cut.entries)]).toEqual(['gemini-cli', ['one', 'two']]);
  });
});
