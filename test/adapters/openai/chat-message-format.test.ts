// How messages of Chat Completions are read as entries, and edited.

import fc from 'fast-check';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { describe, expect, it } from 'vitest';
import { chatMessageFormat } from '../../../src/adapters/openai/chat-message-format.js';
import { humanText, toolCall, toolResponse } from '../../../src/shared/content.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { findBreaches } from '../../support/find-breaches.js';
import { arbitraryTalk } from './arbitrary-talks.js';
import { arbitraryEdits, editTalk, SHRUNK } from './edited-talk.js';
import { readAll } from '../../support/read-all.js';

function read(...messages: readonly unknown[]): readonly unknown[] {
  const reader = chatMessageFormat.createReader();
  return readAll(reader, messages as ChatCompletionMessageParam[], 0).entries.map((entry) => [
    entry.speaker,
    ...entry.blocks.map(({ origin: [message, part], ...block }) => [`${message}.${part}`, block]),
  ]);
}

const text = (said: string): ContentBlock => ({ type: 'text', text: said });

function call(id: string, path: string) {
  return {
    id,
    type: 'function',
    function: { name: 'read_file', arguments: JSON.stringify({ path }) },
  } as const;
}

const callBlock = (id: string, path: string): ContentBlock => ({
  type: 'tool_call',
  id,
  name: 'read_file',
  parameters: { path },
});

const ASKED = { role: 'user', content: 'go' } as const;
const CALLED = {
  role: 'assistant',
  content: null,
  tool_calls: [call('c1', 'a.ts'), call('c2', 'b.ts')],
} as const;

describe('chatMessageFormat', () => {
  it('reads a conversation with tools', () => {
    expect(
      read(
        { role: 'system', content: 'Be brief.' },
        ASKED,
        CALLED,
        { role: 'tool', tool_call_id: 'c2', content: 'b' },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content: 'Done.' },
      ),
    ).toEqual([
      ['human', ['1.0', text('go')]],
      ['ai', ['2.0', callBlock('c1', 'a.ts')], ['2.1', callBlock('c2', 'b.ts')]],
      ['tool', ['3.0', toolResponse('c2', 'read_file', 'b')]],
      ['tool', ['4.0', toolResponse('c1', 'read_file', 'a')]],
      ['ai', ['5.0', text('Done.')]],
    ]);
  });

  it("reads Ollama's own messages, whose calls have no ids, and objects as arguments", () => {
    const called = (name: string, path: string): object => ({
      function: { name, arguments: { path } },
    });
    const block = (id: string, name: string, path: string): ContentBlock => ({
      ...{ type: 'tool_call', id, name, parameters: { path } },
    });
    expect(
      read(
        {
          role: 'assistant',
          content: '',
          thinking: 'first look',
          tool_calls: [called('ls', '.'), called('read_file', 'a.ts'), called('read_file', 'b.ts')],
        },
        { role: 'tool', tool_name: 'read_file', content: 'a' },
        { role: 'tool', tool_name: 'read_file', content: 'b' },
        { role: 'tool', content: 'a.ts b.ts' },
        { role: 'assistant', content: '', tool_calls: [{ id: 'c9', ...called('ls', 'x') }] },
        { role: 'tool', tool_name: 'ls', content: 'none' },
      ),
    ).toEqual([
      [
        'ai',
        ['0.0', { type: 'thinking', thought: 'first look', sourceField: 'thinking' }],
        ['0.1', block('#0.1', 'ls', '.')],
        ['0.2', block('#0.2', 'read_file', 'a.ts')],
        ['0.3', block('#0.3', 'read_file', 'b.ts')],
      ],
      ['tool', ['1.0', toolResponse('#0.2', 'read_file', 'a')]],
      ['tool', ['2.0', toolResponse('#0.3', 'read_file', 'b')]],
      ['tool', ['3.0', toolResponse('#0.1', 'ls', 'a.ts b.ts')]],
      ['ai', ['4.0', block('c9', 'ls', 'x')]],
      ['tool', ['5.0', toolResponse('c9', 'ls', 'none')]],
    ]);
    const given = { role: 'assistant', content: '', tool_calls: [called('ls', '.')] } as never;
    const edits = new Map([[0, block('#0.0', 'ls', '…')]]);
    expect(chatMessageFormat.rewrite(given, edits)).toMatchObject({
      tool_calls: [called('ls', '…')],
    });
    expect(() => read({ role: 'tool', content: 'an answer to nothing' })).toThrow(
      'Expected a tool_call_id in message 0',
    );
  });

  it('replaces the input of a custom tool, and nothing else of the call', () => {
    const custom = { id: 'c2', type: 'custom', custom: { name: 'apply_patch', input: '*** x' } };
    const tool_calls = [call('c1', 'a.ts'), custom];
    const given = { role: 'assistant', content: 'I patch.', tool_calls } as never;
    const shorter = toolCall('c2', 'apply_patch', { input: '…' });
    const rewritten = chatMessageFormat.rewrite(given, new Map([[2, shorter]]));
    expect(rewritten).toEqual({
      role: 'assistant',
      content: 'I patch.',
      tool_calls: [tool_calls[0], { ...custom, custom: { name: 'apply_patch', input: '…' } }],
    });
  });

  it('numbers the parts of an assistant: reasoning, content, refusal, audio, calls', () => {
    const custom = { id: 'c2', type: 'custom', custom: { name: 'apply_patch', input: '*** x' } };
    expect(
      read({
        role: 'assistant',
        tool_calls: [call('c1', 'a.ts'), custom],
        audio: { id: 'audio_1' },
        refusal: 'No.',
        content: [
          { type: 'text', text: 'I read.' },
          { type: 'refusal', refusal: 'Not that.' },
        ],
        reasoning_content: 'first read it',
      }),
    ).toEqual([
      [
        'ai',
        ['0.0', { type: 'thinking', thought: 'first read it', sourceField: 'reasoning_content' }],
        ['0.1', text('I read.')],
        ['0.2', { type: 'opaque', kind: 'refusal', tokens: expect.any(Number) }],
        ['0.3', { type: 'opaque', kind: 'refusal', tokens: expect.any(Number) }],
        ['0.4', { type: 'opaque', kind: 'audio', tokens: expect.any(Number) }],
        ['0.5', callBlock('c1', 'a.ts')],
        [
          '0.6',
          { type: 'tool_call', id: 'c2', name: 'apply_patch', parameters: { input: '*** x' } },
        ],
      ],
    ]);
  });

  it('removes reasoning in all its forms, and counts its text once', () => {
    const thinking = (thought: string, sourceField: string): object => ({
      ...{ type: 'thinking', thought, sourceField },
    });
    const details = [
      { type: 'reasoning.text', text: 'hm', signature: 's' },
      { type: 'reasoning.encrypted', data: 'x' },
    ];
    const thinkingBlocks = [{ type: 'thinking', thinking: 'hm', signature: 's' }];
    const given = { role: 'assistant', content: 'a', reasoning_details: details };
    const all = { ...given, reasoning: 'hm', thinking_blocks: thinkingBlocks };
    expect(read(given)).toEqual([
      ['ai', ['0.0', thinking('hm', 'reasoning_details')], ['0.1', text('a')]],
    ]);
    expect(read(all)).toEqual([
      [
        'ai',
        ['0.0', thinking('hm', 'reasoning')],
        ['0.1', thinking('', 'reasoning_details')],
        ['0.2', thinking('', 'thinking_blocks')],
        ['0.3', text('a')],
      ],
    ]);
    const none = new Map([0, 1, 2].map((part) => [part, null]));
    expect(chatMessageFormat.rewrite(all as never, none)).toEqual({
      role: 'assistant',
      content: 'a',
    });
  });

  it('reads media by name, without payloads', () => {
    const entries = read({
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_data: 'AAAA', filename: 'a.pdf' } },
      ],
    });
    expect(JSON.stringify(entries)).not.toContain('AAAA');
    expect(entries).toMatchObject([
      [
        'human',
        ['0.0', { mimeType: 'image/*' }],
        ['0.1', { mimeType: 'audio/*' }],
        ['0.2', { filename: 'a.pdf' }],
      ],
    ]);
  });

  it("counts the tokens of images in a tool's output", () => {
    const content = [
      { type: 'text' as const, text: 'see' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } },
    ];
    const answer = {
      role: 'tool',
      tool_call_id: 'c1',
      content,
    } as unknown as ChatCompletionMessageParam;
    expect(read(CALLED, answer).at(-1)).toMatchObject([
      'tool',
      ['1.0', { result: ['see', { type: 'image_url' }], mediaTokens: IMAGE_TOKENS }],
    ]);
  });

  it('ignores empty content beside calls, and reads it if there is nothing else', () => {
    expect(read({ ...CALLED, content: '' })).toEqual(read(CALLED));
    expect(read({ ...CALLED, content: [] })).toEqual(read(CALLED));
    expect(read({ role: 'assistant', content: '' })).toEqual([['ai', ['0.0', text('')]]]);
    expect(read({ role: 'assistant', content: null })).toEqual([['ai', ['0.0', text('')]]]);
  });

  it('reads functions of the older API, whose calls have no ids', () => {
    const called = (path: string) =>
      ({
        role: 'assistant',
        content: null,
        function_call: { name: 'read_file', arguments: `{"path":"${path}"}` },
      }) as const;
    const answer = (content: string) => ({ role: 'function', name: 'read_file', content }) as const;
    expect(read(called('a.ts'), answer('a'), called('b.ts'), answer('b'))).toEqual([
      ['ai', ['0.0', callBlock('#0.0', 'a.ts')]],
      ['tool', ['1.0', toolResponse('#0.0', 'read_file', 'a')]],
      ['ai', ['2.0', callBlock('#2.0', 'b.ts')]],
      ['tool', ['3.0', toolResponse('#2.0', 'read_file', 'b')]],
    ]);
    // The first call was never answered.
    expect(read(called('a.ts'), called('b.ts'), answer('b')).at(-1)).toEqual([
      'tool',
      ['2.0', toolResponse('#1.0', 'read_file', 'b')],
    ]);
    const rewrite = chatMessageFormat.rewrite;
    const shortened = new Map([[0, callBlock('#0.0', '…')]]);
    expect(rewrite(called('a.ts'), shortened)).toEqual(called('…'));
    const replaced = new Map([[0, toolResponse('#0.0', 'read_file', 'gone')]]);
    expect(rewrite(answer('a'), replaced)).toEqual(answer('gone'));
    const said = { ...called('a.ts'), content: 'I look.' };
    expect(rewrite(said, new Map([[1, null]]))).toEqual({ role: 'assistant', content: 'I look.' });
    expect(rewrite(said, new Map([[0, null]]))).toEqual(called('a.ts'));
  });

  it('pins unknown roles, and results without a call', () => {
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'function', name: 'f', content: 'long' },
      { role: 'tool', tool_call_id: 'c9', content: 'long' },
      { role: 'oracle', content: 'long' },
    ] as unknown as ChatCompletionMessageParam[];
    const { entries, pinnedTokens } = readAll(chatMessageFormat.createReader(), messages, 0);
    expect(entries).toEqual([]);
    expect(pinnedTokens).toBeGreaterThan(messages.length);
  });

  it('remembers calls across reads, and uses the newest of an id', () => {
    const reader = chatMessageFormat.createReader();
    readAll(reader, [ASKED, CALLED as never], 0);
    const again = { ...call('c1', 'a.ts'), function: { name: 'search', arguments: '[' } };
    const { entries } = readAll(
      reader,
      [
        { role: 'tool', tool_call_id: 'c1', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [again] },
        { role: 'tool', tool_call_id: 'c1', content: 'Error: a bracket' },
      ],
      2,
    );
    expect(entries.map(({ blocks }) => blocks[0])).toMatchObject([
      { toolName: 'read_file', origin: [2, 0] },
      { name: 'search', parameters: '[', origin: [3, 0] },
      { toolName: 'search', error: 'Error: a bracket', origin: [4, 0] },
    ]);
  });

  it.each([
    ['message 1', null],
    ['message 1', { content: 'go' }],
    ['message 1', { role: 'tool', content: 'go' }],
    ['message 1, tool call 0', { role: 'assistant', tool_calls: [{ id: 'c1' }] }],
    ['message 1, part 1', { role: 'user', content: [{ type: 'text', text: 'go' }, 'go'] }],
  ])('refuses an invalid message, and names %s', (place, message) => {
    expect(() => read(ASKED, message)).toThrow(TypeError);
    expect(() => read(ASKED, message)).toThrow(place);
  });

  it('drops calls, and the field with the last call', () => {
    const some = chatMessageFormat.rewrite(CALLED as never, new Map([[0, null]]));
    expect(some).toEqual({ role: 'assistant', content: null, tool_calls: [CALLED.tool_calls[1]] });
    expect('tool_calls' in some && some.tool_calls[0]).toBe(CALLED.tool_calls[1]);
    const said = { ...CALLED, content: 'I read.', name: 'Ada' };
    const none = chatMessageFormat.rewrite(
      said as never,
      new Map([
        [1, null],
        [2, null],
      ]),
    );
    expect(none).toEqual({ role: 'assistant', content: 'I read.', name: 'Ada' });
  });

  it('replaces removed content by null beside calls, and by an empty text without', () => {
    const said = { ...CALLED, content: 'I read.', reasoning_content: 'first' } as never;
    const all = new Map([1, 2, 3].map((part) => [part, null]));
    expect(chatMessageFormat.rewrite(said, new Map([[1, null]]))).toEqual({
      ...CALLED,
      reasoning_content: 'first',
    });
    expect(chatMessageFormat.rewrite(said, all)).toEqual({
      role: 'assistant',
      content: '',
      reasoning_content: 'first',
    });
    expect(chatMessageFormat.rewrite(said, new Map([[0, null]]))).toEqual({
      ...CALLED,
      content: 'I read.',
    });
  });

  it('writes texts and results in their former shape', () => {
    const parts = [
      { type: 'text' as const, text: 'long' },
      { type: 'image_url' as const, image_url: { url: 'https://a' } },
    ];
    const asked = chatMessageFormat.rewrite(
      { role: 'user', content: parts, name: 'Ada' },
      new Map([[0, text('short')]]),
    );
    expect(asked).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'short' }, parts[1]],
      name: 'Ada',
    });
    expect((asked.content as unknown[])[1]).toBe(parts[1]);
    const result = new Map([[0, toolResponse('c1', 'read_file', 'short')]]);
    const tool = { role: 'tool' as const, tool_call_id: 'c1' };
    expect(chatMessageFormat.rewrite({ ...tool, content: 'long' }, result)).toEqual({
      ...tool,
      content: 'short',
    });
    expect(
      chatMessageFormat.rewrite({ ...tool, content: [{ type: 'text', text: 'long' }] }, result),
    ).toEqual({ ...tool, content: [{ type: 'text', text: 'short' }] });
  });

  it("groups the call with Gemini's signature with the parallel calls", () => {
    const signature = { extra_content: { google: { thought_signature: 's' } } };
    const signed = { ...call('c1', 'a.ts'), ...signature };
    const groups = (...calls: readonly object[]): unknown => {
      const message = {
        role: 'assistant',
        tool_calls: calls,
      } as unknown as ChatCompletionMessageParam;
      const [entry] = readAll(chatMessageFormat.createReader(), [message], 0).entries;
      return entry?.blocks.map((block) => 'parallelGroup' in block && block.parallelGroup);
    };
    expect(groups(signed, call('c2', 'b.ts'))).toEqual(['#0', '#0']);
    expect(groups(signed, { ...call('c2', 'b.ts'), ...signature })).toEqual([false, false]);
    expect(groups(call('c1', 'a.ts'), call('c2', 'b.ts'))).toEqual([false, false]);
  });

  it('writes entries of its own as messages', () => {
    expect(chatMessageFormat.write(humanText('so far'), [])).toEqual({
      role: 'user',
      content: 'so far',
    });
    expect(chatMessageFormat.write({ speaker: 'ai', blocks: [text('a'), text('b')] }, [])).toEqual({
      role: 'assistant',
      content: 'a\n\nb',
    });
  });

  it('keeps messages valid, and changes nothing but edited parts', () => {
    fc.assert(
      fc.property(arbitraryTalk, arbitraryEdits, ({ chat }, edits) => {
        const { standing } = editTalk(chatMessageFormat, chat, edits);
        expect(breaches(chat)).toEqual([]);
        expect(breaches(standing)).toEqual([]);
        const formers = new Map(chat.map((message) => [keyOf(message), message]));
        for (const message of standing) {
          const former = formers.get(keyOf(message));
          if (message === former) continue;
          if (message.role === 'tool') {
            expect(message).toEqual({ ...former, content: SHRUNK });
            continue;
          }
          // The other messages may only lack calls, and are unchanged otherwise.
          const calls = 'tool_calls' in message ? message.tool_calls : [];
          const given = former !== undefined && 'tool_calls' in former ? former.tool_calls : [];
          for (const left of calls) expect(given.includes(left)).toBe(true);
          expect({ ...message, tool_calls: given }).toEqual(former);
          expect(message.content).toBe((former as typeof message).content);
        }
      }),
    );
  });
});

/** Identifies a message of a conversation: texts and ids name the turn. */
function keyOf(message: ChatCompletionMessageParam): string {
  if (message.role === 'tool') return message.tool_call_id;
  return `${message.role} ${/(?:turn |said |call_)(\d+)/.exec(JSON.stringify(message))?.[1] ?? ''}`;
}

/** The rules that the messages violate, apart from the one against an assistant message at the end: no model call follows. */
function breaches(messages: readonly ChatCompletionMessageParam[]): readonly unknown[] {
  const body = { messages, tools: [{}] };
  return findBreaches({ api: 'openai-chat', path: '', headers: {}, body }).filter(
    ({ rule }) => rule !== 'prefill',
  );
}
