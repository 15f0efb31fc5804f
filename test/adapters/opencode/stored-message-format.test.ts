// How OpenCode's messages are read as entries, and edited.

import { describe, expect, it } from 'vitest';

import type { PartEdits } from '../../../src/adapters/format/message-format.js';
import type { OpenCodeMessage } from '../../../src/adapters/opencode/stored-message.js';
import { storedMessageFormat } from '../../../src/adapters/opencode/stored-message-format.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { assistant, message, said, tool, user } from './opencode-messages.js';
import { readAll } from '../../support/read-all.js';

function read(...messages: readonly OpenCodeMessage[]): readonly (readonly unknown[])[] {
  const { entries } = readAll(storedMessageFormat.createReader(), deepFreeze(messages), 0);
  return entries.map(({ speaker, blocks }) => [
    speaker,
    ...blocks.map(({ origin: _, ...block }) => block),
  ]);
}

const rewrite = (
  given: OpenCodeMessage,
  ...edits: readonly (readonly [number, unknown])[]
): unknown => storedMessageFormat.rewrite(deepFreeze(given), new Map(edits) as PartEdits).parts;

const shorter = { type: 'tool_response', callId: 'c1', toolName: 'read', result: 'short' };

describe('storedMessageFormat', () => {
  it('reads the reasoning that OpenRouter attaches to the first call of a step as reasoning of the step', () => {
    const metadata = { openrouter: { reasoning_details: [{ text: 'hm', signature: 's' }] } };
    const carrying = { ...tool('c1', 'read', {}, 'text'), metadata };
    const hidden = { openrouter: { reasoning_details: [{ data: 'EmwK', format: 'google-1' }] } };
    const given = assistant(
      { type: 'reasoning', text: 'hm', metadata },
      carrying,
      { type: 'step-start' },
      { ...tool('c2', 'read', {}, 'text'), metadata: hidden },
    );
    const [first, , second] = read(given);
    expect(first).toMatchObject(['ai', { thought: 'hm' }, { thought: '' }, { id: 'c1' }]);
    expect(second).toMatchObject(['ai', { encryptedContent: 'EmwK' }, { id: 'c2' }]);
    const { parts } = given as unknown as { readonly parts: readonly object[] };
    const stripped = { ...carrying, metadata: { openrouter: {} } };
    // The reasoning of part 1, and what part 2 carries.
    expect(rewrite(given, [2, null], [-3, null])).toEqual([parts[0], stripped, ...parts.slice(3)]);
  });

  it('reads a tool part as a call and its response, step by step', () => {
    const two = message('assistant', [
      { type: 'step-start' },
      tool('c1', 'read', { filePath: 'a' }, 'text'),
      { type: 'step-finish' },
      { type: 'step-start' },
      said('Done.'),
    ]);
    expect(read(two)).toEqual([
      ['ai', { type: 'tool_call', id: 'c1', name: 'read', parameters: { filePath: 'a' } }],
      [
        'tool',
        { type: 'tool_response', callId: 'c1', toolName: 'read', result: 'text', isComplete: true },
      ],
      ['ai', { type: 'text', text: 'Done.' }],
    ]);
  });

  it.each([
    ['a command by its code', { metadata: { exit: 1 } }, 'out', 'out'],
    ['a tool that failed', { status: 'error', error: 'gone\nfar' }, 'gone\nfar', 'gone'],
    ['a tool that was cut off', { status: 'running' }, '[Tool execution was interrupted]', '[Tool'],
    [
      'a command that was cut off and has said something',
      { status: 'error', error: 'Aborted', metadata: { interrupted: true, output: 'half' } },
      'half',
      undefined,
    ],
    [
      'a result that OpenCode has cleared',
      { time: { compacted: 1 }, metadata: { exit: 1 } },
      '[Old tool result content cleared]',
      undefined,
    ],
  ])('reads the outcome of %s as it is sent to the model', (_, state, result, error) => {
    const [, [, response] = []] = read(assistant(tool('c1', 'bash', {}, 'out', state)));
    expect(response).toMatchObject({ result });
    if (error === undefined) expect(response).not.toHaveProperty('error');
    else expect(response).toMatchObject({ error: expect.stringContaining(error) });
  });

  it("keeps Gemini's parallel calls together, of which only the first one is signed", () => {
    const signed = { metadata: { google: { thoughtSignature: 's1' } } };
    const calls = ['c1', 'c2'].map((id) => tool(id, 'read_file', { path: id }, 'out'));
    const [[, ...placed] = []] = read(assistant({ ...calls[0], ...signed }, calls[1]!));
    expect(placed).toMatchObject([
      { id: 'c1', parallelGroup: '#0.1', hasFixedParameters: true },
      { id: 'c2', parallelGroup: '#0.1' },
    ]);
  });

  it('leaves out parts that OpenCode does not send', () => {
    const failed = message('assistant', [said('half')], { error: { name: 'APIError' } });
    const cutOff = { error: { name: 'MessageAbortedError' } };
    const cut = message('assistant', [said('half')], cutOff);
    const reasoning = { type: 'reasoning', text: 'Hm.' };
    const unsaid = message('assistant', [{ type: 'step-start' }, reasoning], cutOff);
    const shown = message('user', [
      { type: 'text', text: 'hidden', ignored: true },
      { type: 'file', mime: 'text/plain', url: 'file:///a' },
      { type: 'file', mime: 'image/png', url: 'data:' },
      { type: 'agent', name: 'build' },
    ]);
    expect(read(failed, cut, unsaid, shown)).toEqual([
      ['ai', { type: 'text', text: 'half' }],
      ['human', { type: 'media', mimeType: 'image/png', data: '', encoding: 'url' }],
    ]);
  });

  it('recognizes a message by the parts that are sent, whatever else OpenCode has added', () => {
    const given = user('Go.');
    const titled = { ...given, info: { ...given.info, summary: { title: 'Going', diffs: [] } } };
    expect(storedMessageFormat.isSame(given, structuredClone(titled))).toBe(true);
    expect(storedMessageFormat.isSame(given, { ...given, parts: [said('Go!')] as never })).toBe(
      false,
    );
    const call = (output: string): OpenCodeMessage => {
      const parts = [tool('c1', 'bash', {}, output, { time: { end: output.length } })];
      return { ...message('assistant', parts), info: { ...given.info, role: 'assistant' } };
    };
    expect(storedMessageFormat.isSame(call('a'), call('b'))).toBe(false);
    expect(storedMessageFormat.isSame(call('a'), null as unknown as OpenCodeMessage)).toBe(false);
  });

  it('removes a tool part as a whole, or replaces its result by a text', () => {
    const part = tool('c1', 'read', {}, 'long', { attachments: [{ mime: 'image/png' }] });
    const given = assistant(said('I read.'), part, said('So.'));
    expect(rewrite(given, [4, null], [5, null])).toEqual(given.parts.filter((_, at) => at !== 2));
    expect(rewrite(given, [5, shorter])).toMatchObject({
      2: { callID: 'c1', state: { status: 'completed', output: 'short', attachments: undefined } },
    });
  });

  it('replaces the arguments of a call, and removes metadata of the former text', () => {
    const text = { ...said('long'), metadata: { anthropic: { signature: 's' } } };
    const part = tool('c1', 'write', { filePath: 'a', content: 'long' }, 'Written.');
    const input = { filePath: 'a', content: 'l…' };
    const given = assistant(text, part);
    const shortened = { type: 'tool_call', id: 'c1', name: 'write', parameters: input };
    expect(rewrite(given, [2, { type: 'text', text: 'short' }], [4, shortened])).toEqual([
      { type: 'step-start' },
      { ...said('short'), metadata: undefined },
      tool('c1', 'write', input, 'Written.'),
      { type: 'step-finish' },
    ]);
  });

  it('keeps a failure a failure when its text is replaced, also an aborted call', () => {
    for (const status of ['error', 'running']) {
      const given = assistant(tool('c1', 'read', {}, '', { status, error: 'long' }));
      const [, part] = rewrite(given, [3, shorter]) as [unknown, { state: object }];
      expect(part.state).toMatchObject({ status: 'error', error: 'short' });
      expect(read({ ...given, parts: [part] as never })).toMatchObject(
        [
          [{}, {}],
          ['tool', { result: 'short', error: 'short' }],
        ].map(([, ...rest]) => [expect.anything() as unknown, ...rest]),
      );
    }
  });

  it('writes a message of the session, with the model of the previous one', () => {
    const blocks = [{ type: 'text' as const, text: 'So far.' }];
    const among = [user('Go.'), assistant(said('So.'))];
    const written = storedMessageFormat.write({ speaker: 'human', blocks }, among);
    expect(written).toMatchObject({
      info: { sessionID: 's', role: 'user', model: { modelID: 'm' } },
      parts: [{ type: 'text', text: 'So far.' }],
    });
  });
});
