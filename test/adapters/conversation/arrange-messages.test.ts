// Where messages that ctxfold wrote are inserted among the given ones.

import { describe, expect, it } from 'vitest';

import { arrangeMessages } from '../../../src/adapters/conversation/arrange-messages.js';
import type {
  MessageFormat,
  Origin,
  PlacedBlock,
} from '../../../src/adapters/format/message-format.js';
import { summaryEntries } from '../../../src/main/summarizer/summary-note.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { runSlices } from '../../../src/shared/slices.js';
import { historyOf } from '../../support/notation.js';

const NOTE = humanText('A note.');
const [SUMMARY, ACKNOWLEDGEMENT] = summaryEntries('What was.', undefined);
const WRITTEN = new Map<IContent, string>([
  [NOTE, 'N'],
  [SUMMARY, 'S'],
  [ACKNOWLEDGEMENT, 'A'],
]);

/**
 * Describes the order of messages for a history: given ones by number, written ones by letter.
 *
 * @param messages the number of each entry's message
 * @param written entries that ctxfold wrote, with their indexes in the history
 */
function arranged(
  notation: string,
  messages: readonly number[],
  written: readonly (readonly [number, IContent])[],
  format: Pick<MessageFormat<string>, 'mayNotOpen'> = {},
  openFrom?: number,
): string {
  const history = historyOf(notation).map((entry, index): IContent => {
    const blocks = entry.blocks.map((block, part) => {
      const origin: Origin = [messages[index] ?? 0, 10 * index + part];
      return { ...block, origin };
    });
    return { ...entry, blocks };
  });
  const records = Array.from({ length: Math.max(...messages) + 1 }, (_, index) => {
    const parts = history
      .flatMap(({ blocks }) => blocks as readonly PlacedBlock[])
      .filter(({ origin }) => origin[0] === index);
    const given = String(index);
    const lists = { parts, remaining: parts, edits: new Map() };
    return { index, given, length: 1, speaker: undefined, current: given, ...lists };
  });
  for (const [at, entry] of written) history.splice(at, 0, entry);
  const writtenAs = (entry: IContent) => ({ entry, current: WRITTEN.get(entry) ?? '?' });
  const { places, waiting } = runSlices(
    arrangeMessages(records, writtenAs, history, format, openFrom),
  );
  const shown = [places, waiting].map((list) => list.map(({ current }) => current).join(' '));
  return shown.join(' | ').replace(/ \| $/, '');
}

describe('arrangeMessages', () => {
  it.each<[string, string, readonly number[], readonly (readonly [number, IContent])[], string]>([
    ['between messages', 'h a h a', [0, 1, 2, 3], [[2, NOTE]], '0 1 N 2 3'],
    ['behind pinned messages', 'h a h a', [0, 1, 3, 4], [[2, NOTE]], '0 1 2 N 3 4'],
    [
      'behind a message that it would split, and the results of its calls',
      'a a:r1 t:r1 h a',
      [0, 0, 1, 2, 3],
      [[1, NOTE]],
      '0 1 N 2 3',
    ],
    ['at the end behind such a message', 'a a:r1 t:r1', [0, 0, 1], [[1, NOTE]], '0 1 N'],
    [
      'in their own order',
      'a a:r1 t:r1 h',
      [0, 0, 1, 2],
      [
        [1, NOTE],
        [2, SUMMARY],
      ],
      '0 1 N S 2',
    ],
    [
      'with an acknowledgement in front of a user message',
      'h a h',
      [0, 1, 2],
      [
        [2, SUMMARY],
        [3, ACKNOWLEDGEMENT],
      ],
      '0 1 S A 2',
    ],
    [
      'without an acknowledgement in front of a model message',
      'h a:r1 t:r1',
      [0, 1, 2],
      [
        [1, SUMMARY],
        [2, ACKNOWLEDGEMENT],
      ],
      '0 S 1 2',
    ],
  ])('inserts written messages %s', (_, notation, messages, written, expected) => {
    expect(arranged(notation, messages, written)).toBe(expected);
  });

  it('inserts nothing between pinned calls and their results', () => {
    const written = [[1, NOTE]] as const;
    const ofModel = { mayNotOpen: (message: string) => message === '2' };
    expect(arranged('h h', [0, 4], written)).toBe('0 1 2 3 N 4');
    expect(arranged('h h', [0, 4], written, ofModel)).toBe('0 1 N 2 3 4');
  });

  it('holds back a written message behind the start of an open exchange', () => {
    const written = [[2, NOTE]] as const;
    expect(arranged('h a', [0, 1], written, {}, 1)).toBe('0 1 | N');
    expect(arranged('h a', [0, 1], written, {}, 2)).toBe('0 1 N');
  });
});
