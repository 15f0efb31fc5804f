// The edits that are written to pi's own session file.

import { describe, expect, it } from 'vitest';

import { contextEdits } from '../../../src/adapters/pi/context-edits.js';
import type { PiContextEntry } from '../../../src/adapters/pi/context-edits.js';
import type { PiMessage } from '../../../src/adapters/pi/agent-message.js';
import { assistant, message, result, said, staleRead, user } from './pi-messages.js';

function entriesOf(messages: readonly PiMessage[]): readonly PiContextEntry[] {
  const system = message('system', { content: 'You are pi.' });
  return [system, ...messages].map((each, at) => ({
    sourceEntry: { id: `e${at}`, type: 'message' },
    messages: [structuredClone(each)],
  }));
}

const TALK = staleRead();
const shorter = (at: number): PiMessage => ({ ...TALK[at]!, ...{ content: [said('short')] } });

describe('contextEdits', () => {
  it('replaces the content of rewritten messages, and omits messages that were not sent', () => {
    const sent = [TALK[0]!, TALK[3]!, { ...TALK[4]!, ...{ content: [said('short')] } }];
    expect(contextEdits(TALK, sent, entriesOf(TALK))).toEqual([
      { type: 'context_edit', targetId: 'e2', replacement: null },
      { type: 'context_edit', targetId: 'e3', replacement: null },
      { type: 'context_edit', targetId: 'e5', replacement: { content: [said('short')] } },
    ]);
  });

  it('distinguishes messages with the same time', () => {
    const twins = ['a', 'b'].map((text) => ({ ...user(text), ...{ timestamp: 1 } }));
    expect(contextEdits(twins, twins.slice(1), entriesOf(twins))).toEqual([
      { type: 'context_edit', targetId: 'e1', replacement: null },
    ]);
  });

  it('distinguishes results with the same time by their calls', () => {
    const twins = ['c1', 'c2'].map((id) => ({ ...result(id, id), ...{ timestamp: 1 } }));
    const short = { ...twins[1]!, ...{ content: [said('short')] } };
    expect(contextEdits(twins, [short], entriesOf(twins))).toEqual([
      { type: 'context_edit', targetId: 'e1', replacement: null },
      { type: 'context_edit', targetId: 'e2', replacement: { content: [said('short')] } },
    ]);
  });

  it('returns none when a summary was sent, which is no entry of pi', () => {
    const sent = [message('user', { content: 'So far' }), shorter(4)];
    expect(contextEdits(TALK, sent, entriesOf(TALK))).toEqual([]);
  });

  it('returns none when another extension has changed the list', () => {
    const others = [user('from elsewhere'), ...TALK];
    expect(contextEdits(others, others.slice(0, -2), entriesOf(TALK))).toEqual([]);
  });

  it('returns none when one is for a message that pi cannot edit', () => {
    const talk = [...TALK, message('bashExecution', { command: 'ls' }), assistant(said('a'))];
    const sent = talk.filter((_, at) => at !== 2 && at !== 5);
    expect(contextEdits(talk, sent, entriesOf(talk))).toEqual([]);
    expect(contextEdits(talk, talk.slice(0, -1), entriesOf(talk))).toHaveLength(1);
  });

  it('returns none when pi has made several messages of one entry', () => {
    const [first, second, ...rest] = entriesOf(TALK);
    const both = { ...second!, messages: [...second!.messages, ...rest[0]!.messages] };
    const sent = TALK.filter((_, at) => at !== 1);
    expect(contextEdits(TALK, sent, [first!, both, ...rest.slice(1)])).toEqual([]);
  });

  it('returns none when nothing was edited', () => {
    const talk = [...TALK, result('c3', 'more')];
    expect(contextEdits(talk, [...talk], entriesOf(talk))).toEqual([]);
  });
});
