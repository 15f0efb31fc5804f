// The function for loops of one's own.

import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { messageCompactor } from '../../../src/adapters/ai-sdk/message-compactor.js';
import { openCompactor } from './sdk-versions.js';

function use(id: string, toolName: string, input: unknown, value: string): ModelMessage[] {
  const call = { type: 'tool-call', toolCallId: id, toolName, input } as const;
  const output = { type: 'text', value } as const;
  return [
    { role: 'assistant', content: [call] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName, output }] },
  ];
}

describe('messageCompactor', () => {
  it('returns the messages to send and says what came of them', async () => {
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
});
