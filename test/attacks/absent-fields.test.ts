// Fields that are null or missing, which SDKs treat as absent: each of these used to fail a call with an engine TypeError.
// Also: a refused call must leave no state in a reader, or the next answer would be paired with the refused call.

import type { Content } from '@google/genai';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { afterAll, describe, expect, it } from 'vitest';
import { contentFormat } from '../../src/adapters/google/content-format.js';
import { MessageView } from '../../src/adapters/conversation/message-view.js';
import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';
import { contentsCompactor } from '../../src/google.js';
import { createCompactor } from '../../src/index.js';
import { messageCompactor as langchainCompactor } from '../../src/langchain.js';
import { chatCompactor, inputCompactor } from '../../src/openai.js';
import { runSlices } from '../../src/shared/slices.js';

const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
afterAll(() => compactor.close());

const EDITS = { edits: 'every-turn' } as const;
const ARGS = { absolute_path: '/w/a.ts' };
/** The ids of calls. */
function listOf(calls: unknown): unknown[] {
  return Array.isArray(calls) ? calls.map((call: { readonly id?: unknown }) => call.id) : [];
}

const TOOLS = ['read_file', 'write_file'] as const;

describe('contentsCompactor', () => {
  it('takes null for absent in any part', async () => {
    const nothing = { text: null, functionCall: null, functionResponse: null, inlineData: null };
    const contents = [
      { role: null, parts: [{ ...nothing, text: 'Read a.ts.', thoughtSignature: null }] },
      ...TOOLS.flatMap((name) => [
        {
          role: 'model',
          parts: [
            { ...nothing, text: 'I call.' },
            { ...nothing, functionCall: { id: null, name, args: ARGS } },
          ],
        },
        {
          role: 'user',
          parts: [
            { ...nothing, functionResponse: { name, parts: null, response: { output: 'x' } } },
          ],
        },
      ]),
      { role: 'user', parts: null },
      { role: 'user', parts: [{ inlineData: { mimeType: null } }, { functionResponse: {} }] },
    ];
    const compacted = await contentsCompactor(compactor, EDITS)(contents as unknown as Content[]);
    expect(JSON.stringify(compacted)).not.toContain('read_file');
    expect(JSON.stringify(compacted)).toContain('write_file');
  });
});

describe('messageCompactor of LangChain', () => {
  it('takes null for absent, and rewrites messages that lack what others have', async () => {
    const stripped = (message: object, ...keys: readonly string[]): object => {
      for (const key of keys) Reflect.deleteProperty(message, key);
      return message;
    };
    const messages = [
      new HumanMessage('Go.'),
      ...TOOLS.flatMap((name) => [
        stripped(
          Object.assign(
            new AIMessage({
              content: 'I do both.',
              tool_calls: [
                { id: name, name, args: ARGS },
                { id: `${name} 2`, name: 'look', args: {} },
              ],
            }),
            { invalid_tool_calls: null, tool_call_chunks: null, usage_metadata: null },
          ),
          'additional_kwargs',
          'response_metadata',
          'lc_kwargs',
        ),
        Object.assign(new ToolMessage({ content: 'x', tool_call_id: name }), { name: null }),
        new ToolMessage({ content: 'y', tool_call_id: `${name} 2` }),
      ]),
      Object.assign(new AIMessage('z'), { content: null, tool_calls: null }),
    ];
    const compact = langchainCompactor(compactor, EDITS);
    const compacted = await compact(messages as never);
    const calls = compacted.flatMap((message) =>
      'tool_calls' in message ? listOf(message.tool_calls) : [],
    );
    expect(calls).toEqual(['read_file 2', 'write_file', 'write_file 2']);
    expect(compacted.at(-1)).toBe(messages.at(-1));
  });
});

describe('chatCompactor and inputCompactor', () => {
  it('take null for absent', async () => {
    const talk = [
      { role: 'user', content: [{ type: 'text', text: 'Go.', cache_control: null }], name: null },
      ...TOOLS.flatMap((name) => [
        {
          role: 'assistant',
          content: null,
          refusal: null,
          audio: null,
          function_call: null,
          tool_calls: [{ id: name, function: { name, arguments: JSON.stringify(ARGS) } }],
        },
        { role: 'tool', tool_call_id: name, content: name === 'read_file' ? null : 'x' },
      ]),
      { role: 'assistant', content: 'Done.', tool_calls: null },
    ];
    const compacted = await chatCompactor(compactor, EDITS)(talk as never);
    expect(compacted).toEqual([talk[0], ...talk.slice(3)]);
    const items = [
      { role: 'user', content: 'Go.', id: null },
      { type: 'reasoning', id: null, summary: null, content: null, encrypted_content: null },
      ...TOOLS.flatMap((name) => [
        {
          type: 'function_call',
          call_id: name,
          name,
          arguments: JSON.stringify(ARGS),
          caller: null,
        },
        { type: 'function_call_output', call_id: name, output: null },
      ]),
    ];
    const left = JSON.stringify(await inputCompactor(compactor, EDITS)(items as never));
    expect(left).toContain('write_file');
  });

  it('keep arguments that nest deeper than a history does as the text that they are', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const call = { id: 'a', function: { name: 'look', arguments: deep } };
    const talk = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ];
    expect(await chatCompactor(compactor, EDITS)(talk as never)).toEqual(talk);
  });
});

describe('messageCompactor of Anthropic', () => {
  it('refuses an unknown part that contains itself, which ended the process', async () => {
    const novelty: Record<string, unknown> = { type: 'novelty' };
    novelty['self'] = [[novelty], novelty];
    const list: unknown[] = [];
    list.push(list, list);
    for (const part of [novelty, { type: 'novelty', list }]) {
      const compacting = anthropicCompactor(compactor, { onError: 'throw' })([
        { role: 'user', content: [part] },
      ] as never);
      await expect(compacting).rejects.toThrow(/at message 0\.content\[0\].*circular reference/);
    }
  });

  it('recognizes messages with many references to the same value, in time', async () => {
    const tower = (): unknown => {
      let value: unknown = ['x'];
      for (let level = 0; level < 60; level += 1) value = [value, value];
      return value;
    };
    const messages = (): unknown[] => [
      { role: 'user', content: [{ type: 'novelty', a: tower() }] },
    ];
    const compact = anthropicCompactor(compactor, { onError: 'throw' });
    const both = await Promise.allSettled([
      compact(messages() as never),
      compact(messages() as never),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});

describe('MessageView', () => {
  it('ignores a refused call in what follows', () => {
    const start = [{ role: 'user', parts: [{ text: 'Go.' }] }];
    const call = { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] };
    const answer = {
      role: 'user',
      parts: [{ functionResponse: { name: 'look', response: { output: 'x' } } }],
    };
    const [refused, fresh] = [new MessageView(contentFormat), new MessageView(contentFormat)];
    const read = (view: typeof fresh, messages: Content[]) =>
      runSlices(view.readInSlices(messages));
    for (const view of [refused, fresh]) runSlices(read(view, start).commitInSlices());
    const huge = { role: 'user', parts: [{ text: 'x'.repeat(9_000_000) }] };
    expect(() => read(refused, [call, call, huge])).toThrow('message 3');
    expect(read(refused, [call, answer]).entries).toEqual(read(fresh, [call, answer]).entries);
  });
});
