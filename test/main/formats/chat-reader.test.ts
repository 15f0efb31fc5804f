import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { readXmlFunctionCall } from '../../../src/main/formats/openai-chat.js';
import { readJson } from './reading.js';

const system = { role: 'system', content: 'be brief' };
const called = (id: string | undefined, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('ChatReader', () => {
  it('reads calls and merges the messages that answer one assistant message', async () => {
    const { entries, format, warnings } = await readJson([
      system,
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'hm',
        tool_calls: [called('a', 'read', '{"path":"x"}'), called('b', 'run', 'not json')],
      },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'A' }] },
      { role: 'assistant', content: 'done', tool_calls: null },
    ]);
    expect({ format, warnings }).toEqual({ format: 'openai-chat', warnings: [] });
    expect(entries).toEqual([
      humanText('be brief', { synthetic: true }),
      humanText('go'),
      aiContent([
        { type: 'thinking', thought: 'hm', sourceField: 'reasoning_content' },
        toolCall('a', 'read', { path: 'x' }),
        toolCall('b', 'run', 'not json'),
      ]),
      toolContent([toolResponse('b', 'run', 'B'), toolResponse('a', 'read', 'A')]),
      aiContent('done'),
    ]);
  });

  it("reads calls in LangChain's spelling", async () => {
    const call = { id: 'a', name: 'read', args: { path: 'x' }, type: 'tool_call' };
    const { entries, warnings } = await readJson([{ role: 'assistant', tool_calls: [call] }]);
    expect(entries).toEqual([aiContent([toolCall('a', 'read', { path: 'x' })])]);
    expect(warnings).toEqual([]);
  });

  it('pairs the function calls of the older API', async () => {
    const { entries } = await readJson({
      messages: [
        { role: 'assistant', content: '', function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: '4' },
      ],
    });
    expect(entries).toEqual([
      aiContent([toolCall('call', 'f', {})]),
      toolContent([toolResponse('call', 'f', '4')]),
    ]);
  });

  it('gives a call a new id if its id was used before', async () => {
    const ask = { role: 'assistant', tool_calls: [called('a', 'f', '')] };
    const answer = { role: 'tool', tool_call_id: 'a', content: 'x' };
    const { entries } = await readJson([ask, answer, ask, answer]);
    expect(entries).toEqual([
      aiContent([toolCall('a', 'f', {})]),
      toolContent([toolResponse('a', 'f', 'x')]),
      aiContent([toolCall('a#2', 'f', {})]),
      toolContent([toolResponse('a#2', 'f', 'x')]),
    ]);
  });

  it('takes the user message after a call in XML as its response', async () => {
    const text = 'Look:\n\n<function=bash>\n<parameter=command>ls</parameter>\n</function>';
    const { entries } = await readJson([
      system,
      { role: 'user', content: 'go' },
      { role: 'assistant', content: text },
      { role: 'user', content: 'OBSERVATION:\nfile' },
      { role: 'user', content: 'thanks' },
    ]);
    expect(entries.slice(2)).toEqual([
      aiContent([{ type: 'text', text: 'Look:' }, toolCall('call', 'bash', { command: 'ls' })]),
      toolContent([toolResponse('call', 'bash', 'OBSERVATION:\nfile')]),
      humanText('thanks'),
    ]);
  });

  it('marks what an editor reports as failed', async () => {
    const { entries } = await readJson([
      { role: 'assistant', tool_calls: [called('a', 'str_replace_editor', '{}')] },
      { role: 'tool', tool_call_id: 'a', content: 'OBSERVATION:\nERROR:\nNo such file.\n' },
    ]);
    expect(entries[1]?.blocks).toEqual([
      toolResponse(
        'a',
        'str_replace_editor',
        'OBSERVATION:\nERROR:\nNo such file.\n',
        'No such file.',
      ),
    ]);
  });

  it('reads images', async () => {
    const image = (url: unknown) => ({ type: 'image_url', image_url: url });
    const { entries } = await readJson([
      {
        role: 'user',
        content: [image({ url: 'data:image/png;base64,AA' }), image('https://example.com/a')],
      },
    ]);
    expect(entries[0]?.blocks).toEqual([
      { type: 'media', mimeType: 'image/png', data: 'AA', encoding: 'base64' },
      { type: 'media', mimeType: 'image/*', data: 'https://example.com/a', encoding: 'url' },
    ]);
  });

  it('omits what cannot be read, and reports where it was', async () => {
    const { entries, warnings } = await readJson([
      { role: 'user', content: 3 },
      { role: 'tool', tool_call_id: 'z', content: 'x' },
      { role: 'assistant', tool_calls: [null] },
      { role: 'narrator', content: 'x' },
      'text',
    ]);
    expect(entries).toEqual([]);
    expect(warnings).toEqual([
      { place: '[0]', message: 'Content that is neither text nor a list was left out.' },
      { place: '[2]', message: 'A tool call without a name was left out.' },
      { place: '[4]', message: 'A message that is no object was left out.' },
      // Its call could still have come later.
      { place: '[1]', message: 'A tool response that answers no open call (z) was left out.' },
      { message: 'messages of the unknown role "narrator" left out: 1' },
    ]);
  });
});

describe('readXmlFunctionCall', () => {
  it('keeps the lines within a value and drops the line breaks around it', () => {
    const text =
      '<function=edit>\n<parameter=command>create</parameter>\n' +
      '<parameter=file_text>\nif a:\n    b\n\n</parameter>\n<parameter=__proto__>x</parameter>\n</function>\n';
    expect(readXmlFunctionCall(text)).toEqual([
      { type: 'text', text: '' },
      toolCall(
        '',
        'edit',
        Object.fromEntries([
          ['command', 'create'],
          ['file_text', 'if a:\n    b\n'],
          ['__proto__', 'x'],
        ]),
      ),
    ]);
  });

  it.each([
    ['no call', 'plain text'],
    ['a call that is quoted in prose', 'Use <function=bash></function> like this.'],
    ['two calls', '<function=a></function>\n<function=b></function>'],
    ['an invalid name', '<function=a b></function>'],
  ])('finds no call in a text with %s', (_, text) => {
    expect(readXmlFunctionCall(text)).toBeUndefined();
  });
});
