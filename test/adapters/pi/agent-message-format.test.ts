// How pi's messages are read as entries, and edited.

import { describe, expect, it } from 'vitest';

import type { PartEdits, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { agentMessageFormat } from '../../../src/adapters/pi/agent-message-format.js';
import type { PiMessage } from '../../../src/adapters/pi/agent-message.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { assistant, call, message, result, said, user } from './pi-messages.js';
import { readAll } from '../../support/read-all.js';

function read(...messages: readonly PiMessage[]): readonly PlacedEntry[] {
  return readAll(agentMessageFormat.createReader(), deepFreeze(messages), 0).entries;
}

function blocksOf(...messages: readonly PiMessage[]): readonly unknown[] {
  return read(...messages).map(({ blocks }) => blocks.map(({ origin: _, ...block }) => block));
}

const rewrite = (given: PiMessage, ...edits: readonly (readonly [number, unknown])[]): unknown =>
  agentMessageFormat.rewrite(deepFreeze(given), new Map(edits) as PartEdits);

describe('agentMessageFormat', () => {
  it('reads a call with its result, the first line of a failure, and the tokens of images', () => {
    const failed = result('c1', 'No such file\nat all', { isError: true });
    const shown = message('toolResult', {
      toolCallId: 'c2',
      content: [said('seen'), { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    });
    expect(
      blocksOf(assistant(call('c1', 'read', { path: 'a' }), call('c2', 'read', {})), failed, shown),
    ).toEqual([
      [
        { type: 'tool_call', id: 'c1', name: 'read', parameters: { path: 'a' } },
        { type: 'tool_call', id: 'c2', name: 'read', parameters: {} },
      ],
      [
        {
          type: 'tool_response',
          callId: 'c1',
          toolName: 't',
          result: 'No such file\nat all',
          error: 'No such file',
          isComplete: true,
        },
      ],
      [
        {
          type: 'tool_response',
          callId: 'c2',
          toolName: 'read',
          result: 'seen\n[image]',
          isComplete: true,
          mediaTokens: IMAGE_TOKENS,
        },
      ],
    ]);
  });

  it('reads the time of an entry, and whether it is a summary', () => {
    const [summary] = read(message('branchSummary', { summary: 'So far', timestamp: 7 }));
    expect(summary).toMatchObject({
      speaker: 'human',
      metadata: { timestamp: 7, isSummary: true },
      blocks: [{ type: 'text', text: 'So far' }],
    });
  });

  it('reads aborted answers, and the results of their calls', () => {
    const cut = message('assistant', { content: [call('c1', 'read', {})], stopReason: 'aborted' });
    const reading = readAll(agentMessageFormat.createReader(), [cut, result('c1', 'late')], 0);
    expect(reading).toEqual({ entries: [], pinnedTokens: 0 });
  });

  it('reads a result that is a text', () => {
    const given = message('toolResult', { toolCallId: 'c1', content: 'found' });
    expect(blocksOf(given)).toMatchObject([[{ result: 'found' }]]);
  });

  it('reads the result of a call whose id an aborted answer had used before', () => {
    const cut = message('assistant', { content: [call('c1', 'read', {})], stopReason: 'aborted' });
    expect(blocksOf(cut, assistant(call('c1', 'read', {})), result('c1', 'found'))).toMatchObject([
      [{ type: 'tool_call', id: 'c1' }],
      [{ type: 'tool_response', callId: 'c1', result: 'found' }],
    ]);
  });

  it('reads commands that the user ran and showed, without those that pi hides from the model', () => {
    const output = 'a line of the output\n'.repeat(100);
    const run = message('bashExecution', { command: 'ls', output });
    const own = message('bashExecution', { command: 'env', output, excludeFromContext: true });
    const shown = message('user', {
      content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    });
    expect(blocksOf(run, own, shown)).toEqual([
      [{ type: 'opaque', kind: 'bashExecution', tokens: expect.any(Number) as number }],
      [{ type: 'media', mimeType: 'image/png', data: '', encoding: 'base64' }],
    ]);
    const unsent = readAll(agentMessageFormat.createReader(), [own], 0);
    expect(unsent).toEqual({ entries: [], pinnedTokens: 0 });
  });

  it('groups parallel calls if the first one carries the signature of all', () => {
    const signed = { ...call('c1', 'read', {}), thoughtSignature: 's' };
    const [calls] = blocksOf(assistant(signed, call('c2', 'read', {})));
    expect(calls).toMatchObject([{ parallelGroup: '#0' }, { parallelGroup: '#0' }]);
    const [own] = blocksOf(assistant(signed, { ...call('c2', 'read', {}), thoughtSignature: 't' }));
    expect(own).not.toMatchObject([{ parallelGroup: '#0' }, {}]);
  });

  it('refuses an invalid message, and names its place', () => {
    const reader = agentMessageFormat.createReader();
    expect(() => readAll(reader, [user('a'), 'b' as unknown as PiMessage], 4)).toThrow(
      'at message 5',
    );
  });

  it('replaces a result by a text, and keeps what pi displays', () => {
    const given = result('c1', 'long', { details: { diff: '+' } });
    const edit = { type: 'tool_response', callId: 'c1', toolName: 't', result: 'short' };
    expect(rewrite(given, [0, edit])).toEqual({ ...given, content: [said('short')] });
  });

  it('replaces the arguments of a call, and removes the signature of the former text', () => {
    const text = { ...said('long'), textSignature: 'u' };
    const given = assistant(text, call('c1', 'write', { content: 'x' }));
    const edits = [
      [0, { type: 'text', text: 'short' }],
      [1, { type: 'tool_call', id: 'c1', name: 'write', parameters: { content: 'y' } }],
    ] as const;
    expect(rewrite(given, ...edits)).toMatchObject({
      content: [said('short'), { id: 'c1', arguments: { content: 'y' } }],
    });
    expect(rewrite(given, ...edits)).not.toHaveProperty('content.0.textSignature');
  });

  it('writes answers as those of the last model', () => {
    const blocks = [{ type: 'text' as const, text: 'Understood.' }];
    const among = [assistant(said('a')), user('b')];
    const written = agentMessageFormat.write({ speaker: 'ai', blocks }, among);
    expect(written).toMatchObject({ role: 'assistant', api: 'a', model: 'm', stopReason: 'stop' });
    expect(agentMessageFormat.write({ speaker: 'human', blocks }, [])).toMatchObject({
      role: 'user',
      content: blocks,
    });
  });
});
