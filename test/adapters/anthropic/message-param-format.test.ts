import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import type { AnthropicMessage } from '../../../src/adapters/anthropic/message-part.js';
import type { PlacedBlock, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { arbitraryMessages } from './arbitrary-messages.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { readAll } from '../../support/read-all.js';

const format = MESSAGE_PARAM_FORMAT;

function read(...messages: readonly MessageParam[]): readonly PlacedEntry[] {
  return readAll(format.createReader(), deepFreeze(messages), 0).entries;
}

function rewrite(
  message: MessageParam,
  edits: Record<number, ContentBlock | null>,
): AnthropicMessage {
  const byPart = new Map(Object.entries(edits).map(([part, edit]) => [Number(part), edit]));
  return format.rewrite(deepFreeze(message), byPart);
}

const text = (words: string): ContentBlock => ({ type: 'text', text: words });

const CALL: MessageParam = {
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'I look.', signature: 'c2ln+/==' },
    { type: 'text', text: 'Let me see.' },
    {
      type: 'tool_use',
      id: 'toolu_1',
      name: 'read_file',
      input: { file_path: 'a.ts' },
      caller: { type: 'direct' },
    },
  ],
};

const RESULT: MessageParam = {
  role: 'user',
  content: [
    {
      type: 'tool_result',
      tool_use_id: 'toolu_1',
      is_error: true,
      content: [
        { type: 'text', text: 'Half of it:' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    { type: 'text', text: 'And now?' },
  ],
};

describe('MESSAGE_PARAM_FORMAT', () => {
  describe('reading', () => {
    it('reads a message with results and a text as a tool entry and a human entry', () => {
      const [, tool, human] = read(CALL, RESULT);

      expect(tool).toEqual({
        speaker: 'tool',
        blocks: [
          {
            type: 'tool_response',
            callId: 'toolu_1',
            toolName: 'read_file',
            result: 'Half of it:\n[image]',
            error: 'Half of it:',
            isComplete: true,
            mediaTokens: IMAGE_TOKENS,
            origin: [1, 0],
          },
        ],
      });
      expect(human).toEqual({
        speaker: 'human',
        blocks: [{ type: 'text', text: 'And now?', origin: [1, 1] }],
      });
    });

    it('counts the media tokens of files in a result, except text files', () => {
      const picture = {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: '' },
      };
      const written = { type: 'text', media_type: 'text/plain', data: 'x'.repeat(99) };
      const content = [
        { type: 'document', source: { type: 'url', url: 'https://e.org/a.pdf' } },
        { type: 'document', source: { type: 'content', content: [picture] } },
        { type: 'document', source: written },
      ];
      const answer = { type: 'tool_result', tool_use_id: 'toolu_1', content };
      const [, tool] = read(CALL, { role: 'user', content: [answer] } as MessageParam);

      expect(tool?.blocks).toMatchObject([{ mediaTokens: OTHER_MEDIA_TOKENS + IMAGE_TOKENS }]);
    });

    it('reads a document that is only a text as that text, and one that the model may cite as a list', () => {
      const source = { type: 'text', media_type: 'text/plain', data: 'b' };
      const resultOf = (document: object): unknown => {
        const content = [{ type: 'text', text: 'a' }, document];
        const answer = { type: 'tool_result', tool_use_id: 'toolu_1', content };
        return read(CALL, { role: 'user', content: [answer] } as MessageParam)[1]?.blocks[0];
      };
      const mark = { cache_control: { type: 'ephemeral' } };
      expect(resultOf({ type: 'document', source, ...mark })).toMatchObject({ result: 'a\nb' });
      const cited = { type: 'document', source, citations: { enabled: true } };
      for (const document of [cited, { type: 'document', source, title: 'c' }]) {
        expect(resultOf(document)).toMatchObject({ result: ['a', 'b'] });
      }
    });

    it('reads reasoning, texts and calls as an ai entry', () => {
      expect(read(CALL)).toEqual([
        {
          speaker: 'ai',
          blocks: [
            { type: 'thinking', thought: 'I look.', signature: 'c2ln+/==', origin: [0, 0] },
            { type: 'text', text: 'Let me see.', origin: [0, 1] },
            {
              type: 'tool_call',
              id: 'toolu_1',
              name: 'read_file',
              parameters: { file_path: 'a.ts' },
              origin: [0, 2],
            },
          ],
        },
      ]);
    });

    it('reads content that is a string as part 0', () => {
      expect(read({ role: 'user', content: 'Hello' })[0]?.blocks).toEqual([
        { type: 'text', text: 'Hello', origin: [0, 0] },
      ]);
    });

    it("takes the tool's name for a result from a call that was read earlier", () => {
      const reader = format.createReader();
      readAll(reader, [CALL], 0);

      const [tool] = readAll(reader, [RESULT], 1).entries;

      expect(tool?.blocks[0]).toMatchObject({ toolName: 'read_file', origin: [1, 0] });
    });

    it('pairs a result with the last call of its id', () => {
      const again = { type: 'tool_use', id: 'toolu_1', name: 'write_file', input: {} } as const;
      const entries = read(CALL, RESULT, { role: 'assistant', content: [again] }, RESULT);
      const answered = entries.filter(({ speaker }) => speaker === 'tool');
      expect(answered.flatMap(({ blocks }) => blocks)).toMatchObject([
        { toolName: 'read_file' },
        { toolName: 'write_file' },
      ]);
    });

    it('reads encrypted reasoning as reasoning', () => {
      const [entry] = read({
        role: 'assistant',
        content: [
          { type: 'redacted_thinking', data: 'ZW5j' },
          { type: 'text', text: 'Yes.' },
        ],
      });

      expect(entry?.blocks[0]).toMatchObject({ type: 'thinking', encryptedContent: 'ZW5j' });
    });

    it('reads files without payloads', () => {
      const [entry] = read({
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'document', title: 'x.pdf', source: { type: 'url', url: 'https://e.org/x.pdf' } },
        ],
      });

      expect(entry?.blocks).toEqual([
        { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64', origin: [0, 0] },
        {
          type: 'media',
          mimeType: 'application/octet-stream',
          data: '',
          encoding: 'url',
          filename: 'x.pdf',
          origin: [0, 1],
        },
      ]);
    });

    it('estimates the tokens of opaque parts by their texts', () => {
      const [entry] = read({
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x'.repeat(4_000) },
          },
          { type: 'container_upload', file_id: 'file_1' },
          { type: 'hologram', depth: 3 } as never,
        ],
      });

      expect(entry?.blocks.map((block) => block.type === 'opaque' && block.kind)).toEqual([
        'document',
        'container_upload',
        'hologram',
      ]);
      const [document] = entry?.blocks ?? [];
      expect(document?.type === 'opaque' && document.tokens).toBeCloseTo(1_000, -2);
    });

    it('reads calls of server tools and their results as opaque', () => {
      const [entry] = read({
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
          { type: 'text', text: 'Found.' },
        ],
      });

      expect(entry?.blocks.map(({ type }) => type)).toEqual(['opaque', 'opaque', 'text']);
    });

    it.each([
      ['null', null],
      ['a message without a role', { content: 'x' }],
      ['a message without content', { role: 'user' }],
      ['a part without a type', { role: 'user', content: [{ text: 'x' }] }],
    ])('refuses %s and names the message', (_, message) => {
      const reader = format.createReader();

      expect(() => readAll(reader, [message as never], 7)).toThrow(/message 7/);
    });
  });

  describe('pinning', () => {
    it('keeps a paused message together with the one that goes on, whose own calls may be edited', () => {
      const reader = format.createReader();
      const paused = {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        ],
      };
      const further = [
        {
          role: 'assistant',
          content: [
            { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
            { type: 'thinking', thinking: 'So.', signature: 's' },
            { type: 'tool_use', id: 'a', name: 'read', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'found' }] },
      ];
      const first = readAll(reader, [paused] as never[], 0);
      const second = readAll(reader, further as never[], 1);
      const shown = [...first.entries, ...second.entries].map(({ speaker, blocks }) => [
        speaker,
        ...blocks.map(({ type, origin }) => `${type} ${origin.join('.')}`),
      ]);

      expect(shown).toEqual([
        ['ai', 'thinking 0.0'],
        ['ai', 'opaque 0.1', 'opaque 1.0', 'thinking 1.1', 'tool_call 1.2'],
        ['tool', 'tool_response 2.0'],
      ]);
      expect(first.pinnedTokens).toBeGreaterThan(0);
      expect(first.pinnedTokens + second.pinnedTokens).toBe(0);
    });

    it('pins system messages', () => {
      const reading = readAll(format.createReader(), [{ role: 'system', content: 'Be brief.' }], 0);

      expect(reading.entries).toEqual([]);
      expect(reading.pinnedTokens).toBeGreaterThan(0);
    });

    it.each([[undefined], [null]])(
      'pins a system message that only changes settings: its content is %s',
      (content) => {
        const settings = { role: 'system', content, effort: 'low' } as never;
        const reading = readAll(format.createReader(), [settings], 0);

        expect(reading.entries).toEqual([]);
      },
    );

    it('counts no system message that the model sees only until the next user message', () => {
      const reminder = { role: 'system', content: 'x'.repeat(4_000) } as const;
      const brief = { ...reminder, clear_at: 'next_user_message' } as const;
      const [kept, cleared] = [reminder, brief].map((message) =>
        readAll(format.createReader(), [message], 0),
      );

      expect(kept?.pinnedTokens).toBeGreaterThan(400);
      expect(cleared?.entries).toEqual([]);
      expect(cleared?.pinnedTokens).toBeLessThan(16);
    });

    it('pins a failed compaction by the server, and the result of a call beside it', () => {
      const messages: BetaMessageParam[] = [
        {
          role: 'assistant',
          content: [
            { type: 'compaction', content: null },
            { type: 'tool_use', id: 'toolu_9', name: 'search', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'x' }] },
        { role: 'assistant', content: 'Done.' },
      ];

      const { entries } = readAll(format.createReader(), messages, 0);

      expect(entries.map(({ blocks }) => blocks[0]?.origin[0])).toEqual([2]);
    });

    it('reads the calls that a server tool makes, and their results, as one entry', () => {
      const messages: MessageParam[] = [
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's1', name: 'code_execution', input: {} },
            {
              type: 'tool_use',
              id: 'toolu_1',
              name: 'search',
              input: {},
              caller: { type: 'code_execution_20260120', tool_id: 's1' },
            },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
        {
          role: 'assistant',
          content: [
            {
              type: 'code_execution_tool_result',
              tool_use_id: 's1',
              content: {
                type: 'code_execution_result',
                content: [],
                return_code: 0,
                stderr: '',
                stdout: '',
              },
            },
          ],
        },
        { role: 'user', content: 'Thanks.' },
      ];

      const again: MessageParam[] = [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'search', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }] },
      ];

      const reader = format.createReader();
      const entries = [...messages, ...again].flatMap(
        (message, at) => readAll(reader, [message], at).entries,
      );

      expect(entries.map(({ blocks }) => blocks.map(({ origin }) => origin[0]))).toEqual([
        [0, 0, 1, 2],
        [3],
        [4],
        [5],
      ]);
    });
  });

  describe('isSame', () => {
    it('is true for messages of the same content, wherever their breakpoints are', () => {
      const marked: MessageParam = {
        role: 'user',
        content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
      };

      expect(format.isSame(structuredClone(RESULT), RESULT)).toBe(true);
      expect(format.isSame(marked, { role: 'user', content: [{ type: 'text', text: 'x' }] })).toBe(
        true,
      );
    });

    it('is false when a byte differs', () => {
      const other = structuredClone(CALL);
      Object.assign(other.content[0] ?? {}, { signature: 'c2ln+/=' });

      expect(format.isSame(CALL, other)).toBe(false);
    });
  });

  describe('rewrite', () => {
    it('replaces the content of a result, and keeps everything else', () => {
      const block: ContentBlock = {
        type: 'tool_response',
        callId: 'toolu_1',
        toolName: 'read_file',
        result: 'pruned',
      };

      const { content = [] } = rewrite(RESULT, { 0: block });

      expect(content[0]).toEqual({
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: true,
        content: [{ type: 'text', text: 'pruned' }],
        cache_control: { type: 'ephemeral', ttl: '1h' },
      });
      expect(content[1]).toBe(RESULT.content[1]);
    });

    it('leaves a result that loads tools: the model would lose them', () => {
      const message: MessageParam = {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'tool_reference', tool_name: 'search_mail' }],
          },
        ],
      };
      const found = { type: 'tool_response', callId: 'toolu_1', toolName: 'find_tools' } as const;

      expect(rewrite(message, { 0: { ...found, result: 'pruned' } })).toEqual(message);
    });

    it('replaces a text, also if it is the whole content', () => {
      expect(rewrite({ role: 'user', content: 'long' }, { 0: text('short') })).toEqual({
        role: 'user',
        content: 'short',
      });
      expect(rewrite(RESULT, { 1: text('Now?') }).content?.[1]).toEqual({
        type: 'text',
        text: 'Now?',
      });
    });
  });

  describe('write', () => {
    it('writes texts as a message of the user or the assistant', () => {
      const blocks = [text('One.'), text('Two. ')];

      expect(format.write({ speaker: 'human', blocks: [text('One.')] }, [])).toEqual({
        role: 'user',
        content: 'One.',
      });
      expect(format.write({ speaker: 'ai', blocks }, [])).toEqual({
        role: 'assistant',
        content: 'One.\n\nTwo.',
      });
    });
  });

  it('keeps unedited parts as they are, and results first', () => {
    fc.assert(
      fc.property(arbitraryMessages, fc.infiniteStream(fc.nat(3)), (messages, choices) => {
        for (const { blocks } of readAll(format.createReader(), messages, 0).entries) {
          checkEdits(messages, blocks, choices);
        }
      }),
    );
  });
});

function answeredIdOf(part: object): unknown {
  return 'tool_use_id' in part ? part.tool_use_id : undefined;
}

/** Edits some blocks of one entry, at least one of which is left. */
function checkEdits(
  messages: readonly MessageParam[],
  blocks: readonly PlacedBlock[],
  choices: Iterator<number>,
): void {
  const message = messages[blocks[0]!.origin[0]]!;
  if (typeof message.content === 'string') return;
  const edits = new Map<number, ContentBlock | null>();
  for (const block of blocks) {
    const choice = choices.next().value as number;
    if (choice === 0 && block.type !== 'opaque') edits.set(block.origin[1], null);
    if (choice === 1 && block.type === 'tool_response') {
      edits.set(block.origin[1], { ...block, result: 'pruned' });
    }
  }
  const left = message.content.filter((_, at) => edits.get(at) !== null);
  if (left.every(({ type }) => type.endsWith('thinking'))) return;

  const { content, ...rest } = format.rewrite(message, edits);

  const parts: readonly { readonly type: string }[] = content as typeof left;
  expect(rest).toEqual({ role: message.role });
  for (const part of parts) {
    const at = (message.content as typeof parts).indexOf(part);
    if (at !== -1) continue;
    const original = left.find((one) => answeredIdOf(one) === answeredIdOf(part));
    const { content: given } = original as { content?: unknown };
    const isList = Array.isArray(given);
    const now = isList ? [{ type: 'text', text: 'pruned' }] : 'pruned';
    expect(part).toMatchObject({ type: 'tool_result', content: now });
    expect({ ...part, content: 0 }).toEqual({ ...original, content: 0 });
  }
  const isAnswer = parts.map(({ type }) => type === 'tool_result');
  expect(isAnswer.lastIndexOf(true)).toBe(isAnswer.filter(Boolean).length - 1);
}
