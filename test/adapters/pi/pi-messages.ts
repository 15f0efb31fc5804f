// Messages of pi for tests: a conversation with a stale read, and messages of every kind.

import fc from 'fast-check';
import type { PiMessage } from '../../../src/adapters/pi/agent-message.js';

let time = 0;

/** A message with the fields that all of pi's messages have. */
export function message(role: string, fields: object): PiMessage {
  time += 1;
  return { role, timestamp: time, ...fields } as PiMessage;
}

export const said = (text: string): object => ({ type: 'text', text });

export function user(text: string): PiMessage {
  return message('user', { content: [said(text)] });
}

export function assistant(...content: readonly object[]): PiMessage {
  const usage = { input: 10, output: 5, cacheRead: 90, cacheWrite: 0 };
  return message('assistant', { content, api: 'a', provider: 'p', model: 'm', usage });
}

export function call(id: string, name: string, input: object): object {
  return { type: 'toolCall', id, name, arguments: input };
}

export function result(toolCallId: string, text: string, fields: object = {}): PiMessage {
  const content = [said(text)];
  return message('toolResult', { toolCallId, toolName: 't', content, isError: false, ...fields });
}

const LONG = 'a line of the file\n'.repeat(40);

/** A file is read and then written: with the documented defaults the read and its result are removed. */
export function staleRead(): readonly PiMessage[] {
  return [
    user('Read a.ts.'),
    assistant(said('I read.'), call('c1', 'read_file', { absolute_path: '/w/a.ts' })),
    result('c1', LONG, { details: { lines: 40 } }),
    assistant(
      said('I write.'),
      call('c2', 'write_file', { absolute_path: '/w/a.ts', content: 'x' }),
    ),
    result('c2', 'Written.'),
  ];
}

const text = fc.string({ minLength: 1, maxLength: 30 });
const thinking = fc.record({
  type: fc.constant('thinking'),
  thinking: text,
  thinkingSignature: fc.option(text, { nil: undefined }),
});

/** Conversations with answered calls, reasoning, and pi's own kinds of messages. */
export const arbitraryMessages: fc.Arbitrary<readonly PiMessage[]> = fc
  .array(
    fc.oneof(
      text.map((content) => ({ kind: 'user' as const, content })),
      fc.record({
        kind: fc.constant('turn' as const),
        parts: fc.array(fc.oneof(thinking, text.map(said)), { maxLength: 2 }),
        calls: fc.array(
          fc.record({
            name: fc.constantFrom('read_file', 'write_file', 'run_shell_command'),
            file: fc.constantFrom('a', 'b', 'c'),
            answer: fc.string({ maxLength: 60 }),
            isError: fc.boolean(),
          }),
          { maxLength: 3 },
        ),
        stopReason: fc.constantFrom('toolUse', 'toolUse', 'toolUse', 'aborted'),
      }),
      fc.record({ kind: fc.constant('own' as const), summary: text }),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((deeds) => {
    let made = 0;
    return deeds.flatMap((deed): readonly PiMessage[] => {
      if (deed.kind === 'user') return [message('user', { content: deed.content })];
      if (deed.kind === 'own') return [message('compactionSummary', { summary: deed.summary })];
      const calls = deed.calls.map((each) => ({ ...each, id: `c${(made += 1)}` }));
      const content = [
        ...deed.parts,
        ...calls.map(({ id, name, file }) =>
          call(id, name, { absolute_path: `/w/${file}`, content: '' }),
        ),
      ];
      return [
        message('assistant', { content, stopReason: deed.stopReason }),
        ...calls.map(({ id, answer, isError }) => result(id, answer, { isError })),
      ];
    });
  });
