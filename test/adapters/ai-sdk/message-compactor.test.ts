// The function for hand-written agent loops.

import { convertToModelMessages } from 'ai';
import type { DynamicToolUIPart, ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { messageCompactor } from '../../../src/adapters/ai-sdk/message-compactor.js';
import { openCompactor } from '../../support/open-compactor.js';

function use(id: string, toolName: string, input: unknown, value: string): ModelMessage[] {
  const call = { type: 'tool-call', toolCallId: id, toolName, input } as const;
  const output = { type: 'text', value } as const;
  return [
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName, output }] },
  ];
}

describe('messageCompactor', () => {
  it('returns the messages to send, and a report of them', async () => {
    const compact = messageCompactor(openCompactor(), { edits: 'every-turn' });
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Change a.ts.' },
      ...use('c1', 'read_file', { file_path: 'a.ts' }, 'old'),
      ...use('c2', 'write_file', { file_path: 'a.ts', content: 'new' }, 'Wrote it.'),
    ];
    const compacted = await compact(messages);
    expect(compacted).toEqual([messages[0], messages[3], messages[4]]);
    expect(compacted.every((message) => messages.includes(message))).toBe(true);
    expect(compact.report()).toMatchObject([{ givenMessages: 5, sentMessages: 3 }]);
  });

  it('continues a conversation once UI messages hold the result of an approved call', async () => {
    const compact = messageCompactor(openCompactor());
    const text = (value: string) => ({ type: 'text', text: value }) as const;
    const call = { type: 'dynamic-tool', toolName: 'run', toolCallId: 'c1', input: {} } as const;
    const approval = { id: 'ok1', approved: true } as const;
    const step = { type: 'step-start' } as const;
    const messagesOf = (part: DynamicToolUIPart, ...more: ReturnType<typeof text>[]) =>
      convertToModelMessages([
        { role: 'user', parts: [text('Run it.')] },
        { role: 'assistant', parts: [step, part, step, ...more] },
        ...more.map(() => ({ role: 'user' as const, parts: [text('And now?')] })),
      ]);

    const approved = await messagesOf({ ...call, state: 'approval-responded', approval });
    // What the SDK sends once it has run the approved call.
    const [, result] = use('c1', 'run', {}, 'It ran.');
    await compact([...approved, result!]);
    const answered = { ...call, state: 'output-available', output: 'It ran.', approval } as const;
    const later = await messagesOf(answered, text('Done.'));
    expect(later.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    await compact(later);

    expect(compact.report()).toHaveLength(1);
  });

  it('sends an approved result once when an edit removes the result beside it, also if the caller continues from the returned messages', async () => {
    const compact = messageCompactor(openCompactor(), { edits: 'every-turn' });
    const [readA, ofA] = use('c1', 'read_file', { file_path: 'a.ts' }, 'old');
    const [readB, ofB] = use('c2', 'read_file', { file_path: 'b.ts' }, 'other');
    const parts = (...messages: readonly (ModelMessage | undefined)[]) =>
      messages.flatMap((message) => (message?.content ?? []) as never[]);
    const request = { type: 'tool-approval-request', approvalId: 'ok2', toolCallId: 'c2' } as const;
    const approval = { type: 'tool-approval-response', approvalId: 'ok2', approved: true } as const;
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Change a.ts.' },
      { role: 'assistant', content: [...parts(readA, readB), request] },
      { role: 'tool', content: [approval, ...parts(ofA, ofB)] },
    ];
    expect((await compact(messages))[2]).toBe(messages[2]);
    messages.push(...use('c3', 'write_file', { file_path: 'a.ts', content: 'new' }, 'Wrote it.'));
    const compacted = await compact(messages);
    const again = await compact([...compacted, { role: 'user', content: 'And now?' }]);
    expect(compacted.slice(2, -2)).toEqual([{ role: 'tool', content: [approval, ...parts(ofB)] }]);
    expect(again.slice(0, -1)).toEqual(compacted);
    expect(compact.report()).toHaveLength(1);
  });
});
