// What is known about a history without its payloads: speakers, and which response answers which call.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import {
  ENTRY_FLAG,
  entryFlags,
  outlineHistory,
} from '../../../src/shared/summarize/history-outline.js';
import { arbitraryBrokenHistory } from '../../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { pairNaively } from '../../support/naive-pairs.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';

/** Describes pairs as `call@entry>entry`, open ones as `call@entry`, and incomplete ones as `~entry`. */
function pairsOf(notation: string): string {
  const history = historyOf(notation);
  const { callEntries, responseEntries, partialEntries, partialCalls } =
    outlineHistory(history).outline;
  const ids = history.flatMap(({ speaker, blocks }) =>
    blocks.flatMap((block) => (speaker === 'ai' && block.type === 'tool_call' ? [block.id] : [])),
  );
  const lines = ids.map((id, row) => {
    const response = responseEntries[row] === -1 ? '' : `>${responseEntries[row]}`;
    return `${id}@${callEntries[row]}${response}`;
  });
  partialEntries.forEach((entry, row) => {
    const call = partialCalls[row]!;
    lines[call] = `${lines[call]!}~${entry}`;
  });
  return lines.join(' ');
}

describe('entryFlags', () => {
  it.each([
    ['h', ENTRY_FLAG.human],
    ['a', ENTRY_FLAG.ai],
    ['t:r1', ENTRY_FLAG.tool],
  ])('of %s contain the speaker', (notation, flags) => {
    expect(historyOf(notation).map(entryFlags)).toEqual([flags]);
  });

  it.each<[IContent['metadata'], number]>([
    [{ isSummary: true }, ENTRY_FLAG.human | ENTRY_FLAG.summary],
    [{ synthetic: true }, ENTRY_FLAG.human | ENTRY_FLAG.synthetic],
    [
      { isSummary: true, synthetic: true },
      ENTRY_FLAG.human | ENTRY_FLAG.summary | ENTRY_FLAG.synthetic,
    ],
    [{ isSummary: false, synthetic: false }, ENTRY_FLAG.human],
    [{ reason: 'none of these' }, ENTRY_FLAG.human],
  ])('contain the marks of %o', (metadata, flags) => {
    expect(entryFlags(humanText('hello', metadata))).toBe(flags);
  });
});

describe('outlineHistory', () => {
  it.each([
    ['a call and its response', 'h a:r1 t:r1 a', 'r1@1>2'],
    ['parallel calls, answered apart', 'a:r1,w2 t:w2 t:r1', 'r1@0>2 w2@0>1'],
    ['an open call', 'a:r1,w2 t:r1', 'r1@0>1 w2@0'],
    ['an incomplete response', 'a:r1 t:r1?', 'r1@0~1'],
    [
      'an incomplete response with the one that completes it',
      'a:r1 t:r1? t:r1? t:r1',
      'r1@0>3~1~2',
    ],
    ['an incomplete response after a complete one with nothing', 'a:r1 t:r1 t:r1?', 'r1@0>1'],
    ['a response without a call', 't:r1 a:r1', 'r1@1'],
    ['one id used again', 'a:r1 t:r1 a:r1 t:r1', 'r1@0>1 r1@2>3'],
    ['one id open twice: the nearest is answered', 'a:r1 a:r1 t:r1', 'r1@0 r1@1>2'],
    ['one id open twice: the nearest goes on', 'a:r1 a:r1 t:r1? t:r1', 'r1@0 r1@1>3~2'],
    ['a second response', 'a:r1 t:r1 t:r1', 'r1@0>1'],
    ['misplaced blocks', 'h:r1 t:r1 a:>r1', ''],
    ['nothing in an empty history', '', ''],
  ])('pairs %s', (_, notation, pairs) => {
    expect(pairsOf(notation)).toBe(pairs);
  });

  it('finds the call of each response', () => {
    const { callOf } = outlineHistory(historyOf('a:r1,w2,r4 t:note,w2,r1,s3,r4? t:r4 h'));
    const found = [0, 1, 2, 3, 4, 5].map((block) => callOf(1, block)?.id);
    expect(found).toEqual([undefined, 'w2', 'r1', undefined, undefined, undefined]);
    expect(callOf(2, 0)?.id).toBe('r4');
    expect(callOf(2, 1)).toBeUndefined();
    expect(callOf(0, 0)).toBeUndefined();
    expect(callOf(3, 0)).toBeUndefined();
    expect(callOf(9, 0)).toBeUndefined();
  });

  it.each([
    ['valid', arbitraryHistory()],
    ['broken', arbitraryBrokenHistory()],
  ])('agrees with a search from the end, on %s histories', (_, histories) => {
    fc.assert(
      fc.property(histories, (history) => {
        const { outline, callOf } = outlineHistory(history);
        const pairs = pairNaively(history);
        expect(outline.length).toBe(history.length);
        expect(outline.flags).toEqual(Uint8Array.from(history, entryFlags));
        expect([...outline.callEntries]).toEqual(pairs.map(({ callEntry }) => callEntry));
        expect([...outline.responseEntries]).toEqual(
          pairs.map(({ responseEntry }) => responseEntry),
        );
        expect([...outline.partialEntries]).toEqual(
          pairs.flatMap(({ partialEntries }) => partialEntries).sort((a, b) => a - b),
        );
        pairs.forEach(({ partialEntries }, call) => {
          const own = outline.partialEntries.filter((_, row) => outline.partialCalls[row] === call);
          expect([...own]).toEqual(partialEntries);
        });
        history.forEach(({ blocks }, entry) => {
          blocks.forEach((__, block) => {
            const pair = pairs.find(
              ({ responseEntry, responseBlock }) =>
                responseEntry === entry && responseBlock === block,
            );
            expect(callOf(entry, block)).toBe(pair?.call);
          });
        });
      }),
      { numRuns: runs(300) },
    );
  });
});
