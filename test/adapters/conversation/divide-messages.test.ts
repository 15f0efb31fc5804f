// Where the messages of a conversation can be divided for a provider that compacts the first part.

import { describe, expect, it } from 'vitest';

import { divideMessages } from '../../../src/adapters/conversation/divide-messages.js';
import type { Origin, PlacedBlock } from '../../../src/adapters/format/message-format.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

/** A history, with the number of each entry's message. */
function conversationOf(notation: string, messages: readonly number[]) {
  const history = historyOf(notation).map((entry, index): IContent => {
    const blocks = entry.blocks.map((block, part) => {
      const origin: Origin = [messages[index] ?? index, 10 * index + part];
      return { ...block, origin };
    });
    return { ...entry, blocks };
  });
  const count = Math.max(...messages) + 1;
  const places = Array.from({ length: count }, (_, message) => {
    const left = history
      .flatMap(({ blocks }) => blocks as readonly PlacedBlock[])
      .filter(({ origin }) => origin[0] === message);
    return { current: message, remaining: left, parts: left };
  });
  return { history, places };
}

const ANYWHERE = { allowsPinned: false, divides: () => true, write: () => 0 };

describe('divideMessages', () => {
  it.each<[string, string, readonly number[], number, number | undefined]>([
    ['as late as allowed', 'h a h a h', [0, 1, 2, 3, 4], 3, 3],
    ['never within a message', 'h a:r1 t:r1 h a', [0, 1, 2, 2, 3], 3, 1],
    ['before a call whose result comes later', 'h a:r1 t:r1 h a h', [0, 1, 2, 2, 3, 4], 3, 1],
    ['never at the start', 'h a h', [0, 1, 2], 0, undefined],
    ['before the reasoning of a later message', 'h a a h', [0, 2, 1, 3], 2, 1],
    ['not right before a pinned message', 'h a h a', [0, 1, 3, 4], 4, 1],
  ])('divides %s', (_, notation, messages, tailStart, length) => {
    const { history, places } = conversationOf(notation, messages);
    const division = divideMessages(places, history, tailStart, { provider: ANYWHERE });
    expect(division?.length).toBe(length);
    expect(division?.messages.length ?? 0).toBe(length ?? 0);
  });

  it('asks the format, and keeps pinned messages in place if allowed', () => {
    const { history, places } = conversationOf('h a h a', [0, 1, 3, 4]);
    const divides = (before: number, behind: number): boolean => before === 1 && behind === 3;
    const takesAll = { ...ANYWHERE, allowsPinned: true };
    expect(divideMessages(places, history, 4, { provider: takesAll })).toEqual({
      length: 3,
      messages: [0, 1, 3],
      instructions: [],
    });
    expect(divideMessages(places, history, 4, { provider: { ...takesAll, divides } })).toBeNull();
  });

  it('divides nothing from pinned messages alone', () => {
    const { history, places } = conversationOf('h a', [1, 2]);
    const provider = { ...ANYWHERE, allowsPinned: true };
    expect(divideMessages(places, history, 0, { provider })).toBeNull();
  });

  it('names the instructions in front of the head, and no others', () => {
    const { history, places } = conversationOf('h a h a', [1, 2, 4, 5]);
    const isInstruction = (message: number): boolean => message === 0 || message === 3;
    const provider = { ...ANYWHERE, allowsPinned: true };
    expect(divideMessages(places, history, 2, { provider, isInstruction })).toEqual({
      length: 2,
      messages: [1, 2],
      instructions: [0],
    });
  });

  it('returns null for a history that has diverged, and without a provider', () => {
    const { history, places } = conversationOf('h a h a', [0, 1, 2, 3]);
    expect(divideMessages(places, history.slice(2), 1, { provider: ANYWHERE })).toBeNull();
    expect(divideMessages(places, history, 2, {})).toBeNull();
  });
});
