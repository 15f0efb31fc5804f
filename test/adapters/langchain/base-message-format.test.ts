// How LangChain's messages are read as entries, and edited.

import { load } from '@langchain/core/load';
import {
  AIMessage,
  AIMessageChunk,
  BaseMessage as BaseMessageClass,
  ChatMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import type { BaseMessage, MessageContent } from '@langchain/core/messages';
import { messagesStateReducer } from '@langchain/langgraph';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { baseMessageFormat as format } from '../../../src/adapters/langchain/base-message-format.js';
import type { PartEdits } from '../../../src/adapters/format/message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import { assertIngestible } from '../../../src/shared/ingestion.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { findViolations } from '../../../src/shared/validity.js';
import { runSlices } from '../../../src/shared/slices.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { aiMessageOf, arbitraryBaseMessages, writtenBy } from './arbitrary-base-messages.js';
import { readAll, readInto } from '../../support/read-all.js';

/** The speaker and blocks of each entry, without origins. */
function read(...messages: readonly BaseMessage[]): unknown[][] {
  return readAll(format.createReader(), messages, 0).entries.map(({ speaker, blocks }) => [
    speaker,
    ...blocks.map(({ origin: _, ...block }) => block),
  ]);
}

function origins(...messages: readonly BaseMessage[]): string[] {
  const { entries } = readAll(format.createReader(), messages, 0);
  return entries.flatMap(({ blocks }) => blocks.map(({ origin }) => origin.join()));
}

function rewrite<M extends BaseMessage>(message: M, ...edits: [number, object | null][]): M {
  return format.rewrite(message, new Map(edits) as PartEdits) as M;
}

const opaque = (kind: string): object =>
  expect.objectContaining({ type: 'opaque', kind }) as object;

const blocks = (...items: readonly object[]): MessageContent => [...items] as MessageContent;

function chunkOf(fields: object): AIMessageChunk {
  return new AIMessageChunk(fields);
}

const ARGS = { file_path: 'a.ts' };
const CALL = { id: 'c1', name: 'read_file', args: ARGS, type: 'tool_call' } as const;
const OTHER = { ...CALL, id: 'c2' } as const;
const BLOCK = { type: 'tool_call', id: 'c1', name: 'read_file', parameters: ARGS };
const FIXED = { ...BLOCK, hasFixedParameters: true };

describe('baseMessageFormat', () => {
  it('reads a conversation with a tool, and pins system messages', () => {
    const messages = [
      new SystemMessage('Be brief.'),
      new HumanMessage('Read a.ts'),
      new AIMessage({ content: 'I read it.', tool_calls: [CALL] }),
      new ToolMessage({ content: 'long', tool_call_id: 'c1' }),
      new AIMessage('It is long.'),
    ];
    expect(read(...messages)).toEqual([
      ['human', { type: 'text', text: 'Read a.ts' }],
      ['ai', { type: 'text', text: 'I read it.' }, BLOCK],
      [
        'tool',
        {
          type: 'tool_response',
          callId: 'c1',
          toolName: 'read_file',
          result: 'long',
          isComplete: true,
        },
      ],
      ['ai', { type: 'text', text: 'It is long.' }],
    ]);
    expect(readAll(format.createReader(), messages, 0).pinnedTokens).toBe(6);
    expect(origins(...messages)).toEqual(['1,0', '2,0', '2,1', '3,0', '4,0']);
  });

  it.each([
    ['a block of Anthropic', { type: 'tool_use', id: 'c1', name: 'read_file', input: ARGS }],
    ['a block of LangChain 1.0', CALL],
    [
      'an item of OpenAI',
      { type: 'function_call', call_id: 'c1', arguments: JSON.stringify(ARGS) },
    ],
    ['a part of Gemini', { type: 'functionCall', functionCall: { name: 'read_file', args: ARGS } }],
  ])('reads a call that is also %s as one part', (_, item) => {
    const content = blocks({ type: 'text', text: 'a' }, item);
    const message = new AIMessage({ content, tool_calls: [CALL] });
    expect(read(message)).toEqual([['ai', { type: 'text', text: 'a' }, BLOCK]]);
    expect(origins(message)).toEqual(['0,0', '0,2']);
  });

  it('reads a call that is only listed among the blocks', () => {
    const item = { type: 'tool_use', id: 'c1', name: 'read_file', input: ARGS };
    expect(read(new AIMessage({ content: blocks(item) }))).toEqual([['ai', FIXED]]);
  });

  it.each<[string, object, object]>([
    [
      'thoughts',
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'thinking', thought: 'hm', signature: 's' },
    ],
    [
      'thoughts that are sealed',
      { type: 'redacted_thinking', data: 'x' },
      { type: 'thinking', thought: '', encryptedContent: 'x' },
    ],
    [
      'reasoning of LangChain 1.0',
      { type: 'reasoning', reasoning: 'hm' },
      { type: 'thinking', thought: 'hm' },
    ],
    [
      'reasoning of OpenAI',
      { type: 'reasoning', summary: [{ text: 'a' }, { text: 'b' }], encrypted_content: 'x' },
      { type: 'thinking', thought: 'a\nb', encryptedContent: 'x' },
    ],
    [
      'reasoning of Bedrock',
      { type: 'reasoning_content', reasoningText: { text: 'hm', signature: 's' } },
      { type: 'thinking', thought: 'hm', signature: 's' },
    ],
    [
      'an image of OpenAI',
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'media', mimeType: 'image/*', data: '', encoding: 'base64' },
    ],
    [
      'an image of Anthropic',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64' },
    ],
    [
      'a document that is a text',
      { type: 'document', source: { type: 'text', data: 'abcd' } },
      { type: 'opaque', kind: 'document', tokens: 9 },
    ],
    [
      'what runs at the provider',
      { type: 'web_search_tool_result', tool_use_id: 's1' },
      { type: 'opaque', kind: 'web_search_tool_result', tokens: 10, callId: 's1' },
    ],
    ['what is named as a member of all objects', { type: 'constructor' }, opaque('constructor')],
    ['a file that is a text', { type: 'file', source_type: 'text', text: 'abc' }, opaque('file')],
    ['an empty text', { type: 'text', text: '' }, { type: 'opaque', kind: 'text', tokens: 0 }],
  ])('reads %s', (_, item, block) => {
    expect(read(new AIMessage({ content: blocks(item) }))).toEqual([['ai', block]]);
  });

  it.each<[string, object]>([
    [
      "a provider's tool",
      {
        content: blocks(
          { type: 'server_tool_use', id: 's1', name: 'code_execution' },
          {
            type: 'tool_use',
            id: 'c1',
            caller: { type: 'code_execution_20260120', tool_id: 's1' },
          },
        ),
        tool_calls: [CALL],
      },
    ],
    [
      'a program',
      {
        content: blocks({ type: 'tool_use', id: 'c1', caller: { type: 'program' } }),
        tool_calls: [{ ...CALL, isComputerTool: true }],
      },
    ],
  ])('pins the calls of %s, and their results', (name, fields) => {
    const result = { type: 'code_execution_tool_result', tool_use_id: 's1' };
    const work = [
      aiMessageOf({ content: '', ...fields }),
      new ToolMessage({ content: 'long', tool_call_id: 'c1' }),
    ];
    expect(read(...work)).toEqual([]);
    const isServer = name !== 'a program';
    const late = new AIMessage({ content: blocks(result) });
    // Later calls may reuse the id.
    const again = [new AIMessage({ content: '', tool_calls: [CALL] }), work[1] as BaseMessage];
    expect(read(...work, late, ...again)).toHaveLength(3);
    expect(read(...work, late, ...again)[0]).toHaveLength(isServer ? 7 : 2);
  });

  it('reads a call that the provider answered in the same message', () => {
    const call = { type: 'server_tool_use', id: 's1', name: 'web_search' };
    const result = { type: 'web_search_tool_result', tool_use_id: 's1' };
    const direct = { type: 'tool_use', id: 'c1', caller: { type: 'direct' } };
    const content = blocks(call, result, direct);
    const answer = new ToolMessage({ content: 'a', tool_call_id: 'c1' });
    expect(read(new AIMessage({ content, tool_calls: [CALL] }), answer)).toHaveLength(2);
  });

  it.each<[string, object]>([
    ['with the call', { tool_calls: [{ ...CALL, thoughtSignature: 's' }, OTHER] }],
    [
      'with its block',
      {
        content: blocks({ ...CALL, thoughtSignature: 's' }, OTHER),
        tool_calls: [CALL, OTHER],
      },
    ],
    [
      'by its id',
      {
        tool_calls: [CALL, OTHER],
        additional_kwargs: { __gemini_function_call_thought_signatures__: { c1: 's' } },
      },
    ],
    [
      'by its place',
      { tool_calls: [CALL, OTHER], additional_kwargs: { signatures: ['', 's', ''] } },
    ],
  ])(
    'groups the call that Gemini signed with the parallel ones, with the signature %s',
    (_, fields) => {
      const message = aiMessageOf({ content: '', ...fields });
      const group = { parallelGroup: '#0' };
      expect(read(message)).toEqual([
        ['ai', { ...FIXED, ...group }, { ...BLOCK, id: 'c2', ...group }],
      ]);
      const alone = aiMessageOf({ content: '', tool_calls: [CALL, OTHER] });
      expect(read(alone)).toEqual([['ai', BLOCK, { ...BLOCK, id: 'c2' }]]);
    },
  );

  it("links a result among a human's blocks to its call", () => {
    const item = { type: 'tool_result', tool_use_id: 'c1', content: 'long' };
    expect(read(new HumanMessage({ content: blocks(item) }))).toMatchObject([
      ['human', { type: 'opaque', kind: 'tool_result', callId: 'c1' }],
    ]);
  });

  it('keeps calls that could not be parsed', () => {
    const invalid = { id: 'c9', name: 'read_file', args: '{"file', error: 'Malformed args.' };
    expect(read(new AIMessage({ content: '', invalid_tool_calls: [invalid] }))).toMatchObject([
      ['ai', { type: 'opaque', kind: 'invalid_tool_call' }],
    ]);
  });

  it.each<[string, MessageContent, unknown]>([
    ['texts', blocks({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }), 'a\nb'],
    [
      'media, without their payload',
      blocks({ type: 'text', text: 'a' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }),
      [
        { type: 'text', text: 'a' },
        { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64' },
      ],
    ],
    ['nothing', '', ''],
  ])('reads a result of %s', (_, content, result) => {
    const message = new ToolMessage({ content, tool_call_id: 'c1', status: 'error' });
    expect(read(message)).toMatchObject([['tool', { result, error: expect.any(String) }]]);
  });

  it('counts the tokens of media in a result', () => {
    const content = blocks(
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'file', mimeType: 'application/pdf', data: 'AAAA' },
    );
    const said = new ToolMessage({
      content: blocks({ type: 'text', text: 'a' }),
      tool_call_id: 'c2',
    });
    const entries = read(new ToolMessage({ content, tool_call_id: 'c1' }), said);
    expect(entries).toMatchObject([
      ['tool', { mediaTokens: IMAGE_TOKENS + OTHER_MEDIA_TOKENS }],
      ['tool', expect.not.objectContaining({ mediaTokens: expect.anything() })],
    ]);
  });

  it('pairs calls and results without ids in order', () => {
    const calls = [
      { name: 'a', args: {} },
      { name: 'a', args: {} },
    ];
    const entries = read(
      new AIMessage({ content: '', tool_calls: calls }),
      new ToolMessage({ content: 'x', tool_call_id: '', name: 'a' }),
      new ToolMessage({ content: 'y', tool_call_id: '', name: 'a' }),
    );
    expect(entries).toMatchObject([
      ['ai', { id: '#0.0' }, { id: '#0.1' }],
      ['tool', { callId: '#0.0' }],
      ['tool', { callId: '#0.1' }],
    ]);
  });

  it('pins messages with a role of the provider', () => {
    const reading = readAll(format.createReader(), [new ChatMessage('Be brief.', 'developer')], 0);
    expect(reading).toEqual({ entries: [], pinnedTokens: 6 });
  });

  it.each([
    ['a RemoveMessage', new RemoveMessage({ id: 'a' }), 'messages[3], got a RemoveMessage'],
    ['a plain object', { role: 'user', content: 'a' }, 'messages[3], got object'],
    ['null', null, 'messages[3], got null'],
  ])('names the error in %s', (_, message, error) => {
    const reader = format.createReader();
    expect(() => readAll(reader, [message as BaseMessage], 3)).toThrow(error);
  });

  describe('rewrite', () => {
    const fields = {
      id: 't1',
      name: 'read_file',
      content: 'long',
      tool_call_id: 'c1',
      status: 'error' as const,
      artifact: { whole: 'long' },
      additional_kwargs: { a: 1 },
      response_metadata: { b: 2 },
      metadata: { c: 3 },
    };
    const tool = new ToolMessage(fields);

    it('replaces the output of a tool and nothing else', () => {
      deepFreeze(tool);
      const rewritten = rewrite(tool, [0, { type: 'tool_response', result: 'short' }]);
      const [before, after]: readonly object[] = [tool, rewritten];
      expect({ ...after, lc_kwargs: 0 }).toEqual({ ...before, content: 'short', lc_kwargs: 0 });
      expect(rewritten.artifact).toBe(tool.artifact);
      expect(rewritten.constructor).toBe(ToolMessage);
      expect(rewritten).toBeInstanceOf(ToolMessage);
      expect(ToolMessage.isInstance(rewritten)).toBe(true);
      expect(BaseMessageClass.isInstance(rewritten)).toBe(true);
    });

    it('makes a message that can be stored, serialized and reduced like others', async () => {
      const rewritten = rewrite(tool, [0, { type: 'tool_response', result: 'short' }]);
      expect(rewritten.toDict()).toEqual({
        type: 'tool',
        data: { ...tool.toDict().data, content: 'short' },
      });
      const revived = await load<ToolMessage>(JSON.stringify(rewritten));
      expect(revived).toBeInstanceOf(ToolMessage);
      expect(revived).toMatchObject({ id: 't1', content: 'short', tool_call_id: 'c1' });
      const stored = mapChatMessagesToStoredMessages([rewritten]);
      expect(mapStoredMessagesToChatMessages(stored)[0]?.content).toBe('short');
      expect(messagesStateReducer([tool], [rewritten])).toEqual([rewritten]);
    });

    it('keeps the cache mark on a result', () => {
      const mark = { cache_control: { type: 'ephemeral' } };
      const content = blocks({ type: 'text', text: 'a' }, { type: 'text', text: 'b', ...mark });
      const message = new ToolMessage({ content, tool_call_id: 'c1' });
      expect(rewrite(message, [0, { type: 'tool_response', result: 'short' }]).content).toEqual([
        { type: 'text', text: 'short', ...mark },
      ]);
    });

    it('keeps the kind of blocks of the Responses API', () => {
      const content = blocks({ type: 'input_image', image_url: 'a' });
      const given = new ToolMessage({ content, tool_call_id: 'c1' });
      const edit = { type: 'tool_response', callId: 'c1', toolName: 't', result: 'b' };
      expect(rewrite(given, [0, edit]).content).toEqual([{ type: 'input_text', text: 'b' }]);
    });

    it("removes a call's signature with it from a list of signatures in the order of parts", () => {
      const given = aiMessageOf({
        content: 'a',
        tool_calls: [CALL, OTHER],
        additional_kwargs: { signatures: ['', 's', 't'] },
      });
      expect(rewrite(given, [1, null]).additional_kwargs).toEqual({ signatures: ['', 't'] });
      expect(rewrite(given, [2, null]).additional_kwargs).toEqual({ signatures: ['', 's'] });
    });

    it('replaces texts in strings and blocks', () => {
      const text = { type: 'text', text: 'B' };
      expect(rewrite(new HumanMessage('b'), [0, text]).content).toBe('B');
      const content = blocks({ type: 'text', text: 'a' }, { type: 'text', text: 'b', n: 1 });
      const message = new HumanMessage({ content });
      const rewritten = rewrite(message, [1, text]);
      expect(rewritten.content).toEqual([content[0], { type: 'text', text: 'B', n: 1 }]);
      expect(rewritten.content[0]).toBe(content[0]);
      expect(rewrite(message, [0, null]).content).toEqual([content[1]]);
      expect(rewrite(new AIMessage({ content }), [1, text]).content[1]).toMatchObject(text);
    });

    it('removes a call from every place that repeats it', () => {
      const message = chunkOf({
        id: 'a1',
        content: blocks(
          { type: 'text', text: 'I read.' },
          { type: 'tool_use', id: 'c1', name: 'read_file', input: '', index: 1 },
          { type: 'input_json_delta', input: '{}', index: 1 },
          { type: 'tool_use', id: 'c2', name: 'read_file', input: '', index: 2 },
          { type: 'input_json_delta', input: '{}', index: 2 },
        ),
        tool_call_chunks: [
          { id: 'c1', name: 'read_file', args: '{"a":', index: 1, type: 'tool_call_chunk' },
          { args: '1}', index: 1, type: 'tool_call_chunk' },
          { id: 'c2', name: 'read_file', args: '{}', index: 2, type: 'tool_call_chunk' },
        ],
        additional_kwargs: {
          tool_calls: ['c1', 'c2'].map((id) => ({
            id,
            type: 'function' as const,
            function: { name: 'read_file', arguments: '{}' },
          })),
        },
        response_metadata: {
          output: [
            { type: 'reasoning', id: 'rs_1' },
            { type: 'function_call', id: 'fc_1', call_id: 'c1' },
            { type: 'reasoning', id: 'rs_2' },
            { type: 'function_call', id: 'fc_2', call_id: 'c2' },
          ],
        },
      });
      expect(origins(message)).toEqual(['0,0', '0,5', '0,6']);
      const original = JSON.stringify(message);
      const rewritten = rewrite(message, [5, null]);
      const json = JSON.stringify(rewritten);
      for (const trace of ['c1', 'rs_1', 'fc_1', '"index":1']) expect(json).not.toContain(trace);
      for (const trace of ['c2', 'rs_2', 'fc_2', 'I read.']) expect(json).toContain(trace);
      expect(rewritten.tool_calls).toMatchObject([{ id: 'c2' }]);
      expect(JSON.stringify(message)).toBe(original);
    });

    it('removes an empty list of raw calls', () => {
      const message = aiMessageOf({
        content: 'a',
        tool_calls: [CALL],
        additional_kwargs: {
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{}' } },
          ],
          refusal: null,
        },
      });
      expect(rewrite(message, [1, null]).additional_kwargs).toEqual({ refusal: null });
    });

    it('keeps usage and class, of AI messages and others', () => {
      const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
      const message = aiMessageOf({
        id: 'a1',
        content: 'a',
        tool_calls: [CALL, OTHER],
        usage_metadata: usage,
      });
      const rewritten = rewrite(message, [1, null]);
      expect(rewritten).toMatchObject({ id: 'a1', tool_calls: [OTHER], usage_metadata: usage });
      expect(rewritten.content).toBe('a');
      expect(AIMessage.isInstance(rewritten)).toBe(true);
      expect(rewritten.contentBlocks).toEqual(
        new AIMessage({ content: 'a', tool_calls: [OTHER] }).contentBlocks,
      );
      expect(rewrite(message, [0, null]).content).toBe('');
    });

    it('works on messages of standard content', async () => {
      const message = new AIMessage({
        contentBlocks: [{ type: 'text', text: 'a' }, CALL, OTHER],
      });
      expect(origins(message)).toEqual(['0,0', '0,3', '0,4']);
      const rewritten = rewrite(message, [3, null]);
      expect(rewritten.contentBlocks).toEqual([{ type: 'text', text: 'a' }, OTHER]);
      expect(aiMessageOf({ ...rewritten.lc_kwargs }).tool_calls).toEqual([OTHER]);
      const revived = await load<AIMessage>(JSON.stringify(rewritten));
      expect(revived.tool_calls).toEqual([OTHER]);
      expect(revived.contentBlocks).toEqual(rewritten.contentBlocks);
    });
  });

  describe('write', () => {
    const note: IContent = { speaker: 'human', blocks: [{ type: 'text', text: 'so far' }] };
    const reply: IContent = { speaker: 'ai', blocks: [{ type: 'text', text: 'noted' }] };

    it('makes messages of the classes in use', () => {
      const among = [new HumanMessage('a'), new AIMessage('b')];
      expect(format.write(note, among).constructor).toBe(HumanMessage);
      expect(format.write(reply, among).constructor).toBe(AIMessage);
      expect(format.write(note, among).content).toBe('so far');
    });

    it.each([
      ['HumanMessage', note, HumanMessage, 'human'],
      ['AIMessage', reply, AIMessage, 'ai'],
    ] as const)('makes a %s also if there is none yet', async (name, entry, Class, type) => {
      const message = format.write(entry, [new ToolMessage({ content: '', tool_call_id: '1' })]);
      expect(message).toBeInstanceOf(Class);
      expect(message.type).toBe(type);
      expect(message.text).toBe(entry === note ? 'so far' : 'noted');
      expect(message.lc_id).toEqual(['langchain_core', 'messages', name]);
      expect((await load<BaseMessage>(JSON.stringify(message))).constructor).toBe(Class);
      expect(messagesStateReducer([], [message])[0]).toBeInstanceOf(Class);
    });

    it('needs one message to take the classes from', () => {
      expect(() => format.write(note, [])).toThrow(TypeError);
    });
  });

  it('reads each part of a message as exactly one block of plain data', () => {
    fc.assert(
      fc.property(arbitraryBaseMessages, (messages) => {
        const { entries } = readAll(format.createReader(), messages, 0);
        entries.forEach((entry, at) => {
          assertIngestible(entry, at);
        });
        expect(findViolations(entries)).toEqual([]);
        const found = entries.flatMap((entry) => entry.blocks.map(({ origin }) => origin.join()));
        expect(new Set(found).size).toBe(found.length);
        const calls = messages.flatMap((message) =>
          AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [],
        );
        const all = entries.flatMap((entry) => entry.blocks);
        expect(all.filter(({ type }) => type === 'tool_call')).toHaveLength(calls.length);
        expect(JSON.stringify(entries)).not.toContain('iVBOR');
      }),
    );
  });

  it('recognizes messages that were stored and recreated', () => {
    fc.assert(
      fc.property(arbitraryBaseMessages, (messages) => {
        const json = JSON.stringify(mapChatMessagesToStoredMessages(messages));
        const anew = mapStoredMessagesToChatMessages(JSON.parse(json) as never);
        messages.forEach((message, at) => {
          expect(format.isSame(message, anew[at]!)).toBe(true);
          anew[at]!.content = 'something else';
          expect(format.isSame(message, anew[at]!)).toBe(false);
        });
      }),
    );
    expect(format.isSame(new AIMessage('a'), new HumanMessage('a'))).toBe(false);
    const [first, again] = ['1', '2'].map((id) => new AIMessage({ content: 'a', id }));
    expect(format.isSame(first!, again!)).toBe(true);
  });

  it('keeps calls paired, wherever they are repeated, and all other messages unchanged', () => {
    fc.assert(
      fc.property(arbitraryBaseMessages, fc.func(fc.boolean()), (messages, goes) => {
        const original = JSON.stringify(messages);
        const view = new MessageView(format);
        const entries = readInto(view, messages);
        const idOf = (block: ContentBlock): string =>
          block.type === 'tool_call'
            ? block.id
            : block.type === 'tool_response'
              ? block.callId
              : '';
        const isGone = (block: ContentBlock): boolean => idOf(block) !== '' && goes(idOf(block));
        const history = entries.flatMap((entry) => {
          const left = entry.blocks.filter((block) => !isGone(block));
          if (left.length === entry.blocks.length) return [entry];
          return left.length === 0 ? [] : [{ ...entry, blocks: left }];
        });
        runSlices(view.followInSlices(history));
        const ids = new Set(entries.flatMap((entry) => entry.blocks.map(idOf)));
        for (const message of view.current) {
          const index = messages.indexOf(message);
          if (index !== -1) continue;
          expect(message.type).toBe('ai');
          expect(messages.find(({ id }) => id === message.id)).toBeDefined();
        }
        const json = JSON.stringify(view.current);
        for (const id of ids) {
          if (id === '') continue;
          expect(json.includes(`"${id}"`)).toBe(!goes(id));
          expect(json.includes(writtenBy(id))).toBe(!goes(id));
        }
        expect(JSON.stringify(messages)).toBe(original);
      }),
    );
  });
});
