// What is put back of a turn that has lost the reasoning that it began with.

import { describe, expect, it } from 'vitest';

import { restoreTurnStart } from '../../../src/adapters/conversation/restore-turn-start.js';
import type { PlacedBlock } from '../../../src/adapters/format/message-format.js';
import { NO_EDITS } from '../../../src/adapters/format/message-place.js';
import type { GivenMessage, Place } from '../../../src/adapters/format/message-place.js';
import { historyOf } from '../../support/notation.js';

/**
 * Returns the messages that are sent. A message is its number; behind a `-`, it has lost its reasoning or results, and behind a `~`
 * what follows its first two parts. `h` and `a` are messages that ctxfold wrote.
 */
function restored(notation: string, left: string): string {
  const records = historyOf(notation).map(({ speaker, blocks }, index): GivenMessage<string> => {
    const parts = blocks.map((block, part): PlacedBlock => ({ ...block, origin: [index, part] }));
    const given = String(index);
    const edited = { parts, remaining: [], edits: NO_EDITS, current: null };
    return { index, given, length: 1, speaker, ...edited };
  });
  const places = left.split(' ').map((name): Place<string> => {
    const [entry] = /^[ah]$/.test(name) ? historyOf(name) : [];
    if (entry !== undefined) return { entry, current: name };
    const record = records[Number.parseInt(name, 10)]!;
    record.current = name;
    record.remaining = record.parts.slice(name.endsWith('-') ? 1 : 0, name.endsWith('~') ? 2 : 9);
    return record;
  });
  const current = places.map((place) => place.current!);
  const given = { messages: records.map((record) => record.given), places: records };
  const knownLists = [given, { messages: current, places }] as const;
  return restoreTurnStart({ knownLists }, current).join(' ');
}

const TURN = 'a:hello h a:*s1,r1 t:r1 a:w2 t:w2 a:s3 t:s3';

describe('restoreTurnStart', () => {
  it.each([
    ['the call that began the turn', TURN, '1 4 5 6 7', '1 2 3 4 5 6 7'],
    ['it in front of what is left', TURN, '1 6 7', '1 2 3 6 7'],
    ['its reasoning', TURN, '1 2- 3 4 5', '1 2 3 4 5'],
    ['its reasoning, in front of a summary', TURN, '1 2- 3 h 6 7', '1 2 3 h 6 7'],
    ['it behind a summary', TURN, 'h 6 7', 'h 2 3 6 7'],
    ['it in place of the acknowledgement of a summary', TURN, 'h a 6 7', 'h 2 3 6 7'],
    ['it behind an answer of the model', TURN, '0 6 7', '0 2 3 6 7'],
    ['the question, where nothing is in front', TURN, '6 7', '1 2 3 6 7'],
    [
      'it with results in several messages',
      'h a:*s1,r1,s9 t:r1 t:s9 a:w2 t:w2',
      '0 4 5',
      '0 1 2 3 4 5',
    ],
    [
      'it where the user speaks behind results',
      'h a:*s1,r1 t:r1 h a:w2 t:w2',
      '0 3 4 5',
      '0 1 2 3 4 5',
    ],
    [
      'a call too whose results are gone from beside words',
      'h a:*s1,r1 t:r1 a:r2 t:r2,aside a:w2 t:w2',
      '0 4- 5 6',
      '0 1 2 3 4 5 6',
    ],
    [
      'such a call that has left a text',
      'h a:*s1,r1 t:r1 a:r2,so t:r2,aside a:w2 t:w2',
      '0 1 2 3- 4- 5 6',
      '0 1 2 3 4 5 6',
    ],
    [
      'only such a call, if it begins with reasoning',
      'h a:*s1,r1 t:r1 a:*s2,r2 t:r2,aside a:w2 t:w2',
      '0 4- 5 6',
      '0 3 4 5 6',
    ],
    [
      'the end of an earlier turn, which would go on in this one',
      'h a:*s1,r1 t:r1 a h a:*s2,r2 t:r2 a:w3 t:w3',
      '0 1- 2 h 4 5 6 7 8',
      '0 1- 2 h 3 4 5 6 7 8',
    ],
    [
      'the question behind it',
      'h a:*s1,r1 t:r1 a h a:*s2,r2 t:r2 a:w3 t:w3',
      '0 1- 2 h 7 8',
      '0 1- 2 h 3 4 5 6 7 8',
    ],
    [
      'the end of an earlier turn in front of a question',
      'h a:*s1,r1 t:r1 a:w2 t:w2 a h',
      '0 3 4 6',
      '0 3 4 5 6',
    ],
    [
      'what the acknowledgement of a summary has ended',
      'h a:*s1,r1 t:r1 h a:w2 t:w2 a:r3 t:r3',
      '0 1 2 h a 3 6 7',
      '0 1 2 h 3 6 7',
    ],
    [
      'what a summary behind an answer without its call has ended',
      'h a:*s1,so,r1 t:r1 a:w2 t:w2 a:r3 t:r3',
      '0 1~ h a 5 6',
      '0 h 1~ 5 6',
    ],
    [
      'it in the middle of the turn',
      'h a:*s1,r1 t:r1 a:*s2,so,w2 t:w2 a:r3 t:r3',
      '0 1 2 3~ h 5 6',
      '0 1 2 h 3~ 5 6',
    ],
    ['its reasoning and results around a summary', TURN, '1 2- h 6 7', '1 h 2 3 6 7'],
    ['these behind the question, where nothing is in front', TURN, '2- h 6 7', '1 h 2 3 6 7'],
  ])('restores %s', (_, notation, left, expected) => {
    expect(restored(notation, left)).toBe(expected);
  });

  it.each([
    ['the turn begins with reasoning', TURN, '1 2 3 6 7'],
    ['another answer with reasoning begins it', 'h a:*s1,r1 t:r1 a:*s2,r2 t:r2', '0 3 4'],
    ['nothing of the turn is left', TURN, '1'],
    ['a summary of the turn is all that is left', TURN, 'h a'],
    ['the turn is over', `${TURN} a:done h`, '1 6 7 8 9'],
    ['it began without', 'h a:r1 t:r1 a:w2 t:w2', '0 3 4'],
    ['it began with reasoning of OpenAI', 'h a:*rs_1,r1 t:r1 a:w2 t:w2', '0 3 4'],
    ['the provider has compacted it', 'h a:*s1,r1 t:r1 a:&compaction,*s2,w2 t:w2', '3 4'],
  ])('leaves the messages as they are where %s', (_, notation, left) => {
    expect(restored(notation, left)).toBe(left);
  });
});
