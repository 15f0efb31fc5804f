// How parts in the own form of a provider or a tool of the AI SDK are read and rewritten.

import { expect, it } from 'vitest';
import { MODEL_MESSAGE_FORMAT as format } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import type { SdkMessage } from '../../../src/adapters/ai-sdk/sdk-message.js';
import { rewriteToolOutput } from '../../../src/adapters/ai-sdk/tool-output.js';
import { toolResponse } from '../../../src/shared/content.js';
import { readAll } from '../../support/read-all.js';

function read(...messages: readonly SdkMessage[]): unknown {
  return readAll(format.createReader(), messages, 0).entries;
}

it('reads the reasoning that OpenRouter attaches to the first call as reasoning of the step', () => {
  const detail = { type: 'reasoning.text', text: 'first read it', signature: 'sig' };
  const providerOptions = { openrouter: { usage: 1, reasoning_details: [detail] } };
  const other = {
    ...{ type: 'tool-call', toolCallId: 'c2', toolName: 'read_file', input: { path: 'a.ts' } },
  };
  const call = { ...other, toolCallId: 'c1', providerOptions };
  const reasoning = { type: 'reasoning', text: 'first read it', providerOptions };
  const content = [reasoning, call, other];
  const calls = [
    { type: 'tool_call', parallelGroup: '#0' },
    { type: 'tool_call', parallelGroup: '#0' },
  ];
  expect(read({ role: 'assistant', content })).toMatchObject([
    { blocks: [{ thought: '' }, { thought: 'first read it' }, ...calls] },
  ]);
  const sealed = { openrouter: { reasoning_details: [{ data: 'EmwK', format: 'google-v1' }] } };
  const sealedCall = { ...call, providerOptions: sealed };
  expect(read({ role: 'assistant', content: [sealedCall] })).toMatchObject([
    { blocks: [{ type: 'thinking', encryptedContent: 'EmwK' }, { type: 'tool_call' }] },
  ]);
  const message = { role: 'assistant', content, providerOptions } as const;
  const stripped = { ...call, providerOptions: { openrouter: { usage: 1 } } };
  const edits = new Map([
    [0, null],
    [3, null],
  ]);
  expect(format.rewrite(message, edits)).toEqual({
    ...{ role: 'assistant', content: [stripped, other] },
    providerOptions: { openrouter: { usage: 1 } },
  });
  const without = { ...message, content: content.slice(0, 2) };
  expect(format.rewrite(message, new Map([[2, null]]))).toEqual(without);
  expect(format.rewrite({ ...message, content: 'hi' }, new Map([[1, null]]))).toEqual({
    ...{ role: 'assistant', content: 'hi', providerOptions: { openrouter: { usage: 1 } } },
  });
});

it.each([
  { anthropic: { redactedData: 'EmwK' } },
  { bedrock: { redactedContent: 'EmwK' } },
  { xai: { itemId: 'rs_1', reasoningEncryptedContent: 'EmwK' } },
])('reads what a provider encrypted of its reasoning: %j', (providerOptions) => {
  const part = { type: 'reasoning', text: '', providerOptions };
  expect(read({ role: 'assistant', content: [part] })).toMatchObject([
    { blocks: [{ type: 'thinking', encryptedContent: 'EmwK' }] },
  ]);
});

it('reads the text in the only field of a JSON output as the result, and replaces it', () => {
  const ids = { type: 'tool-result', toolCallId: 'c1', toolName: 'read_file' };
  const given = (value: object): SdkMessage => {
    const part = { ...ids, output: { type: 'json', value } };
    return { role: 'tool', content: [part] };
  };
  const edit = toolResponse('c1', 'read_file', 'short');
  const shortened = (value: object): unknown =>
    format.rewrite(given(value), new Map([[0, edit]])).content;
  expect(read(given({ content: 'a\nb' }))).toMatchObject([{ blocks: [{ result: 'a\nb' }] }]);
  expect(shortened({ content: 'a\nb' })).toEqual(given({ content: 'short' }).content);
  // A failure stays a failure.
  expect(read(given({ error: 'no' }))).toMatchObject([{ blocks: [{ result: { error: 'no' } }] }]);
  expect(shortened({ error: 'no' })).toMatchObject([{ output: { type: 'text', value: 'short' } }]);
});

it('reads a file that the model made as opaque', () => {
  const file = { type: 'file', mediaType: 'image/png', data: 'AAAA' };
  const [made, given] = (['assistant', 'user'] as const).map((role) =>
    read({ role, content: [file] }),
  );
  expect(made).toMatchObject([{ blocks: [{ type: 'opaque', kind: 'file' }] }]);
  expect(given).toMatchObject([{ blocks: [{ type: 'media' }] }]);
});

it('replaces JSON that no provider requires by a text', () => {
  const output = { type: 'json', value: { output: 'long', lines: 3 } };
  expect(rewriteToolOutput(output, 'short', 'read')).toEqual({ type: 'text', value: 'short' });
});
