// Stored messages of OpenCode, for tests.

import fc from 'fast-check';
import type { OpenCodeMessage } from '../../../src/adapters/opencode/stored-message.js';

let made = 0;

/** A message of the session `s`, with a unique id. */
export function message(
  role: string,
  parts: readonly object[],
  info: object = {},
): OpenCodeMessage {
  made += 1;
  const known = { id: `m${made}`, sessionID: 's', role, time: { created: made } };
  return { info: { ...known, ...info }, parts } as OpenCodeMessage;
}

export const said = (text: string): object => ({ id: 'p', type: 'text', text });

export function user(text: string, info: object = {}): OpenCodeMessage {
  const model = { providerID: 'p', modelID: 'm' };
  return message('user', [said(text)], { model, ...info });
}

export function assistant(...parts: readonly object[]): OpenCodeMessage {
  const tokens = { input: 10, output: 5, reasoning: 0, cache: { read: 90, write: 0 } };
  const info = { providerID: 'p', modelID: 'm', tokens };
  return message('assistant', [{ type: 'step-start' }, ...parts, { type: 'step-finish' }], info);
}

/** A call with its result. */
export function tool(
  callID: string,
  name: string,
  input: object,
  output: string,
  state = {},
): object {
  const completed = { status: 'completed', input, output, title: name, metadata: {}, time: {} };
  return { type: 'tool', callID, tool: name, state: { ...completed, ...state } };
}

/** A file is read and then written: with the documented defaults the read is removed. */
export function staleRead(): readonly OpenCodeMessage[] {
  const path = { absolute_path: '/w/a.ts' };
  return [
    user('Read a.ts.'),
    assistant(said('I read.'), tool('c1', 'read_file', path, 'a line of the file\n'.repeat(40))),
    assistant(said('I write.'), tool('c2', 'write_file', { ...path, content: 'x' }, 'Written.')),
  ];
}

const text = fc.string({ minLength: 1, maxLength: 30 });

/** Conversations with calls in any state, several steps in a message, and answers that failed. */
export const arbitraryMessages: fc.Arbitrary<readonly OpenCodeMessage[]> = fc
  .array(
    fc.oneof(
      text.map((content) => ({ steps: null, content })),
      fc.record({
        content: fc.constantFrom(undefined, 'MessageAbortedError', 'APIError'),
        steps: fc.array(
          fc.array(
            fc.oneof(
              text.map((thought) => ({ type: 'reasoning', text: thought })),
              text.map(said),
              fc.record({
                name: fc.constantFrom('read_file', 'write_file', 'run_shell_command'),
                file: fc.constantFrom('a', 'b', 'c'),
                answer: fc.string({ maxLength: 60 }),
                status: fc.constantFrom('completed', 'completed', 'error', 'running'),
              }),
            ),
            { maxLength: 4 },
          ),
          { minLength: 1, maxLength: 2 },
        ),
      }),
    ),
    { minLength: 1, maxLength: 10 },
  )
  .map((deeds) => {
    let calls = 0;
    return deeds.map(({ steps, content = '' }) => {
      if (steps === null) return message('user', [said(content)]);
      const parts = steps.flatMap((step) => [
        { type: 'step-start' },
        ...step.map((part) => {
          if (!('status' in part)) return part;
          const { name, file, answer, status } = part;
          const input = { absolute_path: `/w/${file}`, content: '' };
          return tool(`c${(calls += 1)}`, name, input, answer, { status, error: answer });
        }),
      ]);
      return message('assistant', parts, content === '' ? {} : { error: { name: content } });
    });
  });
