// How messages of the AI SDK read as entries, and what edits leave of them.

import type { ModelMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_MESSAGE_FORMAT } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import { partsOf } from '../../../src/adapters/ai-sdk/sdk-message.js';
import type { SdkMessage, SdkPart } from '../../../src/adapters/ai-sdk/sdk-message.js';
import { REMOVED_SCREENSHOT } from '../../../src/adapters/format/screenshot.js';
import type { PlacedBlock, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { arbitraryMessages } from './arbitrary-messages.js';
import { readAll, readInto } from '../../support/read-all.js';
import { deepFreeze } from '../../support/deep-freeze.js';

const format = MODEL_MESSAGE_FORMAT;

/** The entries of messages, without origins. */
function read(...messages: readonly SdkMessage[]): unknown {
  return readAll(format.createReader(), messages, 0).entries.map(({ speaker, blocks }) => ({
    speaker,
    blocks: blocks.map(({ origin: _, ...block }) => block),
  }));
}

const REASONING = {
  type: 'reasoning',
  text: 'first read it',
  providerOptions: { anthropic: { signature: 'sig' } },
} as const;
const CALL = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'read_file',
  input: { path: 'a.ts' },
  providerOptions: { google: { thoughtSignature: 'thought' } },
} as const;
const RESULT = {
  type: 'tool-result',
  toolCallId: 'c1',
  toolName: 'read_file',
  output: {
    type: 'text',
    value: 'long',
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  },
  providerOptions: { openai: { itemId: 'fc_1' } },
} as const;

const CONVERSATION: ModelMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Read a.ts' },
  { role: 'assistant', content: [REASONING, { type: 'text', text: 'I read it.' }, CALL] },
  { role: 'tool', content: [RESULT] },
  { role: 'assistant', content: 'It is empty.' },
];

describe('MODEL_MESSAGE_FORMAT', () => {
  it('reads a conversation with a tool', () => {
    expect(read(...CONVERSATION)).toEqual([
      { speaker: 'human', blocks: [{ type: 'text', text: 'Read a.ts' }] },
      {
        speaker: 'ai',
        blocks: [
          { type: 'thinking', thought: 'first read it', signature: 'sig' },
          { type: 'text', text: 'I read it.' },
          {
            ...{ type: 'tool_call', id: 'c1', name: 'read_file', parameters: { path: 'a.ts' } },
            hasFixedParameters: true,
          },
        ],
      },
      {
        speaker: 'tool',
        blocks: [
          {
            type: 'tool_response',
            callId: 'c1',
            toolName: 'read_file',
            result: 'long',
            isComplete: true,
          },
        ],
      },
      { speaker: 'ai', blocks: [{ type: 'text', text: 'It is empty.' }] },
    ]);
  });

  it('pins system messages, and counts one token for four characters of them', () => {
    const { entries, pinnedTokens } = readAll(format.createReader(), CONVERSATION, 0);
    expect(pinnedTokens).toBe(3);
    expect(entries[0]?.blocks[0]?.origin).toEqual([1, 0]);
  });

  it('counts origins from the index of the first message', () => {
    const { entries } = readAll(format.createReader(), CONVERSATION, 7);
    expect(entries[1]?.blocks.map(({ origin }) => origin)).toEqual([
      [9, 0],
      [9, 1],
      [9, 2],
    ]);
  });

  it.each([
    ['text', { type: 'text', value: 'ok' }, { result: 'ok' }],
    ['JSON', { type: 'json', value: { a: 1 } }, { result: { a: 1 } }],
    ['a list of texts', { type: 'json', value: ['a', 'b'] }, { result: '["a","b"]' }],
    ['an error', { type: 'error-text', value: 'no' }, { result: 'no', error: 'The tool failed.' }],
    [
      'an error in JSON',
      { type: 'error-json', value: { code: 1 } },
      { result: { code: 1 }, error: 'The tool failed.' },
    ],
    [
      'a refusal',
      { type: 'execution-denied', reason: 'not now' },
      { result: 'not now', error: 'Tool execution denied.' },
    ],
    [
      'content',
      {
        type: 'content',
        value: [
          { type: 'text', text: 'a page' },
          { type: 'image-data', data: 'QUJD', mediaType: 'image/png' },
          { type: 'file-url', url: 'https://a.example/b' },
        ],
      },
      { result: 'a page\n[image/png]\n[file-url]', mediaTokens: IMAGE_TOKENS + OTHER_MEDIA_TOKENS },
    ],
    [
      'pictures in all their forms',
      {
        type: 'content',
        value: [
          { type: 'media', data: 'QUJD', mediaType: 'image/png' },
          { type: 'file', data: { type: 'data', data: 'QUJD' }, mediaType: 'image' },
          { type: 'image-url', url: 'https://a.example/b' },
          { type: 'image-file-id', fileId: 'f1' },
        ],
      },
      {
        result: '[image/png]\n[image]\n[image-url]\n[image-file-id]',
        mediaTokens: 4 * IMAGE_TOKENS,
      },
    ],
    [
      'a file that is a text, and an item of a provider',
      {
        type: 'content',
        value: [
          { type: 'file', data: { type: 'text', text: 'x'.repeat(400) }, mediaType: 'text/plain' },
          { type: 'custom' },
        ],
      },
      { result: ['[text/plain]', '[custom]'], mediaTokens: 100 },
    ],
  ])('reads %s as the output of a tool', (_, output, expected) => {
    const part = { ...RESULT, output };
    const toolResponse = { type: 'tool_response', callId: 'c1', toolName: 'read_file' };
    expect(read({ role: 'tool', content: [part] })).toEqual([
      { speaker: 'tool', blocks: [{ ...toolResponse, ...expected, isComplete: true }] },
    ]);
  });

  it('links approvals and provider results to their call', () => {
    const request = { type: 'tool-approval-request', approvalId: 'ok1', toolCallId: 'c1' };
    const response = { type: 'tool-approval-response', approvalId: 'ok1', approved: true };
    const stray = { type: 'tool-approval-response', approvalId: 'ok2', approved: true };
    const provided = { ...RESULT, toolCallId: 'p1' };
    expect(
      read(
        { role: 'assistant', content: [CALL, request, provided] },
        { role: 'tool', content: [response, stray] },
      ),
    ).toMatchObject([
      {
        blocks: [
          { type: 'tool_call' },
          { type: 'opaque', kind: 'tool-approval-request', callId: 'c1' },
          { type: 'opaque', kind: 'tool-result', callId: 'p1', tokens: 17 },
        ],
      },
      {
        blocks: [
          { type: 'opaque', kind: 'tool-approval-response', callId: 'c1' },
          { type: 'opaque', kind: 'tool-approval-response' },
        ],
      },
    ]);
  });

  it('does not read a call that the provider runs as an open call', () => {
    const content = [{ ...CALL, ...{ providerExecuted: true } }, RESULT];
    expect(read({ role: 'assistant', content })).toMatchObject([
      {
        blocks: [
          { type: 'opaque', kind: 'tool-call' },
          { type: 'opaque', kind: 'tool-result' },
        ],
      },
    ]);
  });

  it("reads the calls of a provider's tool, and its own result in a later message, as one entry", () => {
    const caller = (callerOf: object): object => ({
      providerOptions: { anthropic: { caller: callerOf } },
    });
    const program = { ...CALL, toolCallId: 'p', providerExecuted: true };
    const provided = { ...RESULT, toolCallId: 'p' };
    const made = { ...CALL, ...caller({ type: 'code_execution_20260120', toolId: 'p' }) };
    const request = { type: 'tool-approval-request', approvalId: 'ok', toolCallId: 'c1' };
    const response = { type: 'tool-approval-response', approvalId: 'ok', approved: true };
    const work: SdkMessage[] = [
      { role: 'assistant', content: [program, made, request] },
      { role: 'tool', content: [response] },
      { role: 'tool', content: [RESULT] },
      { role: 'assistant', content: [provided] },
    ];
    const reader = format.createReader();
    const begun = readAll(reader, work.slice(0, -1), 0);
    expect(begun).toEqual({ entries: [], pinnedTokens: expect.any(Number) as number, openFrom: 0 });
    expect(begun.pinnedTokens).toBeGreaterThan(20);
    const whole = readAll(reader, work.slice(-1), 3);
    expect(whole.pinnedTokens).toBe(-begun.pinnedTokens);
    expect(whole.entries.flatMap(({ blocks }) => blocks.map(({ origin }) => origin[0]))).toEqual([
      0, 0, 0, 1, 2, 3,
    ]);
    // Ordinary calls reuse the ids.
    const direct = { ...CALL, ...caller({ type: 'direct' }) };
    const again: SdkMessage[] = [
      { role: 'assistant', content: [program, provided, direct] },
      { role: 'tool', content: [RESULT] },
    ];
    expect(readAll(reader, again, 4).entries).toHaveLength(2);
    const searched = { ...CALL, input: { arguments: {}, call_id: 'c1' } };
    for (const call of [program, made, searched]) {
      expect(read({ role: 'assistant', content: [call] })).toEqual([]);
    }
  });

  it.each([{ imageUrl: 'data:,'.repeat(9_999) }, { fileId: 'f1' }])(
    'counts a screenshot as one image, and leaves a picture in its place',
    (picture) => {
      const shown = { type: 'computer_screenshot', ...picture, detail: 'original' };
      const value = { output: shown, acknowledgedSafetyChecks: [] };
      const message = {
        role: 'tool',
        content: [{ ...RESULT, ...{ output: { type: 'json', value } } }],
      } as const;
      expect(read(message)).toMatchObject([
        { blocks: [{ result: '[computer_screenshot]', mediaTokens: IMAGE_TOKENS }] },
      ]);
      const edit = { type: 'tool_response', callId: 'c1', toolName: 'x', result: 'gone' } as const;
      const { content } = format.rewrite(message, new Map([[0, edit]]));
      const { type, detail } = shown;
      const output = { type, detail, imageUrl: REMOVED_SCREENSHOT };
      expect(content).toEqual([
        { ...RESULT, output: { type: 'json', value: { ...value, output } } },
      ]);
    },
  );

  it('groups parallel calls if the first one carries the signature of all', () => {
    const other = { ...CALL, toolCallId: 'c2' };
    const { providerOptions: _, ...unsigned } = other;
    const groups = (...content: SdkPart[]): unknown => {
      const [entry] = readAll(format.createReader(), [{ role: 'assistant', content }], 0).entries;
      return entry?.blocks.map((block) => 'parallelGroup' in block && block.parallelGroup);
    };
    expect(groups(REASONING, CALL, unsigned)).toEqual([false, '#0', '#0']);
    expect(groups(CALL, other)).toEqual([false, false]);
    expect(groups(unsigned, CALL)).toEqual([false, false]);
  });

  it('reads an empty text with a signature as opaque', () => {
    const signed = {
      type: 'text',
      text: '',
      providerOptions: { google: { thoughtSignature: 't' } },
    };
    const empty = { type: 'text', text: '' };
    expect(read({ role: 'assistant', content: [signed, empty] })).toMatchObject([
      { blocks: [{ type: 'opaque', kind: 'text' }, { type: 'text' }] },
    ]);
  });

  it('reads signed and encrypted reasoning of every provider', () => {
    const content = [
      { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAA' } },
      { bedrock: { redactedData: 'EmwK' } },
      { vertex: { thoughtSignature: 't' } },
      {},
    ].map((providerOptions) => ({ type: 'reasoning', text: '', providerOptions }));
    expect(read({ role: 'assistant', content })).toEqual([
      {
        speaker: 'ai',
        blocks: [
          { type: 'thinking', thought: '', signature: 'rs_1', encryptedContent: 'gAAA' },
          { type: 'thinking', thought: '', encryptedContent: 'EmwK' },
          { type: 'thinking', thought: '', signature: 't' },
          { type: 'thinking', thought: '' },
        ],
      },
    ]);
  });

  it('reads media of users without payloads', () => {
    const content = [
      { type: 'image', image: new Uint8Array(9) },
      { type: 'file', data: 'QUJD', mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', data: { type: 'data', data: 'QUJD' }, mediaType: 'image' },
      { type: 'file', data: { type: 'text', text: 'x'.repeat(400) }, mediaType: 'text/plain' },
    ];
    const media = { type: 'media', data: '', encoding: 'base64' };
    expect(read({ role: 'user', content })).toEqual([
      {
        speaker: 'human',
        blocks: [
          { ...media, mimeType: 'image/*' },
          { ...media, mimeType: 'application/pdf', filename: 'a.pdf' },
          { ...media, mimeType: 'image/*' },
          { type: 'opaque', kind: 'file', tokens: 111 },
        ],
      },
    ]);
  });

  it.each([
    ['Expected a message of the AI SDK at message 3, got string.', 'hello'],
    ['at message 3.role, got the string "developer".', { role: 'developer', content: 'x' }],
    [
      'Expected an array of parts at message 3.content, got string.',
      { role: 'tool', content: 'x' },
    ],
    ['Expected a string at message 3.content, got object.', { role: 'system', content: [] }],
    ['Expected an array of parts at message 3.content, got undefined.', { role: 'user' }],
    ['Expected a part at message 3, part 0, got object.', { role: 'user', content: [null] }],
    [
      'Expected a string at message 3, part 0.type, got undefined.',
      { role: 'user', content: [{}] },
    ],
    [
      'Expected a string at message 3, part 1.toolName, got undefined.',
      { role: 'assistant', content: [REASONING, { type: 'tool-call', toolCallId: 'c1' }] },
    ],
    [
      'Expected an object at message 3, part 0.output, got undefined.',
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'x' }] },
    ],
  ])('refuses an invalid message: %s', (message, wrong) => {
    const reader = format.createReader();
    expect(() => readAll(reader, [wrong as SdkMessage], 3)).toThrow(message);
    expect(() => readAll(reader, [wrong as SdkMessage], 3)).toThrow(TypeError);
  });

  describe('rewrite', () => {
    const response: ContentBlock = {
      type: 'tool_response',
      callId: 'c1',
      toolName: 'read_file',
      result: 'short',
    };

    it('replaces the output of a tool and nothing around it', () => {
      const message: SdkMessage = { role: 'tool', content: [RESULT, { ...RESULT }] };
      const rewritten = format.rewrite(message, new Map([[0, response]]));
      expect(rewritten).toEqual({
        role: 'tool',
        content: [{ ...RESULT, output: { ...RESULT.output, value: 'short' } }, RESULT],
      });
      expect(rewritten.content[1]).toBe(message.content[1]);
    });

    it.each([
      [
        { type: 'json', value: { a: 1 } },
        { type: 'text', value: 'short' },
      ],
      [
        { type: 'content', value: [], providerOptions: { a: { b: 1 } } },
        { type: 'text', value: 'short', providerOptions: { a: { b: 1 } } },
      ],
      [
        { type: 'error-json', value: { a: 1 } },
        { type: 'error-text', value: 'short' },
      ],
      [
        { type: 'execution-denied', reason: 'no' },
        { type: 'execution-denied', reason: 'short' },
      ],
    ])('rewrites the output %j as %j', (output, expected) => {
      const message: SdkMessage = { role: 'tool', content: [{ ...RESULT, ...{ output } }] };
      expect(format.rewrite(message, new Map([[0, response]])).content).toEqual([
        { ...RESULT, output: expected },
      ]);
    });

    const ran = (stdout: string, code: number) => ({
      ...{ stdout, stderr: `of ${stdout}` },
      outcome: { type: 'exit', exitCode: code },
    });
    const patched = { status: 'failed', output: 'long' };

    it.each([
      [
        'shell',
        { output: [ran('a', 0), ran('b', 1)] },
        { output: [{ ...ran('short', 1), stderr: '' }] },
      ],
      ['local_shell', { output: 'long' }, { output: 'short' }],
      ['apply_patch', patched, { ...patched, output: 'short' }],
      ['apply_patch', { status: 'completed' }, { status: 'completed' }],
    ])('keeps the output shape that %s requires', (toolName, value, expected) => {
      const output = { type: 'json', value };
      const part = { ...RESULT, toolName, output };
      const message: SdkMessage = { role: 'tool', content: [part] };
      expect(format.rewrite(message, new Map([[0, response]])).content).toEqual([
        { ...part, output: { ...output, value: expected } },
      ]);
    });

    it('replaces the text of a part, and content that is a string', () => {
      const edits = new Map<number, ContentBlock>([[0, { type: 'text', text: 'new' }]]);
      const part = { type: 'text', text: 'old', providerOptions: { openai: { itemId: 'm' } } };
      expect(format.rewrite({ role: 'user', content: [part] }, edits)).toEqual({
        role: 'user',
        content: [{ ...part, text: 'new' }],
      });
      const plain = { role: 'user', content: 'old', providerOptions: { a: {} } } as const;
      expect(format.rewrite(plain, edits)).toEqual({ ...plain, content: 'new' });
    });

    it('replaces the arguments of a call', () => {
      const edit: ContentBlock = { type: 'tool_call', id: 'c1', name: 'read_file', parameters: {} };
      const message: SdkMessage = { role: 'assistant', content: [CALL] };
      const { content } = format.rewrite(message, new Map([[0, edit]]));
      expect(content).toEqual([{ ...CALL, input: {} }]);
    });

    it('leaves an output that loads tools: the model would lose them', () => {
      const reference = { anthropic: { type: 'tool-reference', toolName: 'search_mail' } };
      const value = [
        { type: 'text', text: 'a' },
        { type: 'custom', providerOptions: reference },
      ];
      const output = { type: 'content', value };
      const message: SdkMessage = { role: 'tool', content: [{ ...RESULT, ...{ output } }] };
      expect(format.rewrite(message, new Map([[0, response]]))).toEqual(message);
    });

    it('removes parts', () => {
      const message: SdkMessage = { role: 'assistant', content: [REASONING, CALL] };
      const rewritten = format.rewrite(message, new Map([[1, null]]));
      expect(rewritten).toEqual({ role: 'assistant', content: [REASONING] });
      expect(rewritten.content[0]).toBe(REASONING);
    });
  });

  it('writes entries of ctxfold as messages with parts, as prompts require', () => {
    const blocks: ContentBlock[] = [{ type: 'text', text: 'so far' }];
    const content = [{ type: 'text', text: 'so far' }];
    expect(format.write({ speaker: 'human', blocks }, [])).toEqual({ role: 'user', content });
    expect(format.write({ speaker: 'ai', blocks }, [])).toEqual({ role: 'assistant', content });
  });

  it('recognizes messages that were rebuilt, or went through JSON', () => {
    fc.assert(
      fc.property(arbitraryMessages(), (messages) => {
        for (const message of messages) {
          expect(format.isSame(message, structuredCloneOf(message))).toBe(true);
          expect(format.isSame(message, { ...message, content: 'something else' })).toBe(false);
          const json = JSON.stringify(message);
          if (/"image"|https:/.test(json)) continue;
          expect(format.isSame(message, JSON.parse(json) as SdkMessage)).toBe(true);
        }
      }),
    );
  });

  it('leaves calls paired with their results and approvals, whichever calls are removed', () => {
    fc.assert(
      fc.property(arbitraryMessages().map(deepFreeze), fc.func(fc.boolean()), (messages, goes) => {
        const view = viewOf(messages);
        const dropped = new Set(callIds(view.entries).filter((id) => goes(id)));
        const changes = view.entries.flatMap((before, index) => {
          const blocks = before.blocks.filter((block) => !dropped.has(pairIdOf(block) ?? ''));
          if (blocks.length === before.blocks.length) return [];
          return [{ index, before, after: blocks.length === 0 ? null : { ...before, blocks } }];
        });
        view.applyChanges(changes);
        const left = view.current.flatMap((message) => partsOf(message));
        const ids = new Set(left.flatMap((part) => ('toolCallId' in part ? part.toolCallId : [])));
        for (const id of dropped) expect(ids).not.toContain(id);
        expect(unpaired(left)).toEqual(unpaired(messages.flatMap((message) => partsOf(message))));
        const given = new Set<unknown>(
          messages.flatMap((message) => message.content as readonly unknown[]),
        );
        for (const { content } of view.current) {
          if (typeof content === 'string') continue;
          expect(content.every((part) => given.has(part))).toBe(true);
        }
      }),
    );
  });
});

type OpenView = MessageView<SdkMessage> & { readonly entries: readonly PlacedEntry[] };

function viewOf(messages: readonly SdkMessage[]): OpenView {
  const view = new MessageView(format);
  const entries = readInto(view, messages);
  return Object.assign(view, { entries });
}

function callIds(entries: readonly PlacedEntry[]): string[] {
  return entries.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'tool_call' ? block.id : [])),
  );
}

function pairIdOf(block: PlacedBlock): string | undefined {
  if (block.type === 'tool_call') return block.id;
  return block.type === 'tool_response' ? block.callId : undefined;
}

/** The ids of calls and approvals whose other half is missing. */
function unpaired(parts: readonly object[]): string[] {
  const halves = new Map<unknown, number>();
  const count = (id: unknown): void => void halves.set(id, (halves.get(id) ?? 0) + 1);
  for (const part of parts as readonly Record<string, unknown>[]) {
    const { type, toolCallId, approvalId } = part;
    if (type === 'tool-call' || type === 'tool-result') count(toolCallId);
    if (approvalId !== undefined) count(approvalId);
  }
  return [...halves].flatMap(([id, times]) => (times % 2 === 0 ? [] : [String(id)]));
}

/** A deep copy. `structuredClone` does not support `URL`. */
function structuredCloneOf(value: SdkMessage): SdkMessage {
  const clone = (part: unknown): unknown => {
    if (part instanceof URL) return new URL(part);
    if (part instanceof Uint8Array) return part.slice();
    if (Array.isArray(part)) return part.map(clone);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, clone(item)]));
  };
  return clone(value) as SdkMessage;
}
