// Which response answers which call.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { IContent } from '../../src/shared/content.js';
import { pairTools } from '../../src/shared/tool-pairs.js';
import { arbitraryBrokenHistory } from '../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';

/** Tells pairs as `call@entry>entry`, open ones as `call@entry`. */
function pairsOf(notation: string): string {
  return pairTools(historyOf(notation))
    .pairs.map(({ call, callEntry, responseEntry }) =>
      responseEntry === undefined
        ? `${call.id}@${callEntry}`
        : `${call.id}@${callEntry}>${responseEntry}`,
    )
    .join(' ');
}

interface NaivePair {
  readonly id: string;
  readonly callEntry: number;
  responseEntry: number | undefined;
}

function pairNaively(history: readonly IContent[]): readonly NaivePair[] {
  const pairs: NaivePair[] = [];
  history.forEach(({ speaker, blocks }, entry) => {
    for (const block of blocks) {
      if (speaker === 'ai' && block.type === 'tool_call') {
        pairs.push({ id: block.id, callEntry: entry, responseEntry: undefined });
      }
      if (speaker !== 'tool' || block.type !== 'tool_response') continue;
      if (block.isComplete === false) continue;
      const open = pairs.findLast((p) => p.id === block.callId && p.responseEntry === undefined);
      if (open !== undefined) open.responseEntry = entry;
    }
  });
  return pairs;
}

describe('pairTools', () => {
  it.each([
    ['a call and its response', 'h a:r1 t:r1 a', 'r1@1>2'],
    ['parallel calls, answered apart', 'a:r1,w2 t:w2 t:r1', 'r1@0>2 w2@0>1'],
    ['an open call', 'a:r1,w2 t:r1', 'r1@0>1 w2@0'],
    ['a response that is not complete', 'a:r1 t:r1?', 'r1@0'],
    ['a response that completes one', 'a:r1 t:r1? t:r1', 'r1@0>2'],
    ['a response without a call', 't:r1 a:r1', 'r1@1'],
    ['one id used again', 'a:r1 t:r1 a:r1 t:r1', 'r1@0>1 r1@2>3'],
    ['one id open twice: the nearest is answered', 'a:r1 a:r1 t:r1', 'r1@0 r1@1>2'],
    ['a second response', 'a:r1 t:r1 t:r1', 'r1@0>1'],
    ['blocks where they do not belong', 'h:r1 t:r1 a:>r1', ''],
  ])('pairs %s', (_, notation, pairs) => {
    expect(pairsOf(notation)).toBe(pairs);
  });

  it('finds the pair of each response', () => {
    const tools = pairTools(historyOf('a:r1,w2 t:w2,r1,s3 h'));
    expect(tools.pairOfResponse(1, 0)?.call.id).toBe('w2');
    expect(tools.pairOfResponse(1, 1)?.call.id).toBe('r1');
    expect(tools.pairOfResponse(1, 2)).toBeUndefined();
    expect(tools.pairOfResponse(0, 0)).toBeUndefined();
    expect(tools.pairOfResponse(9, 0)).toBeUndefined();
  });

  it.each([
    ['valid', arbitraryHistory()],
    ['broken', arbitraryBrokenHistory()],
  ])('agrees with a search from the end, on %s histories', (_, histories) => {
    fc.assert(
      fc.property(histories, (history) => {
        const { pairs } = pairTools(history);
        const found = pairs.map(({ call, callEntry, responseEntry }) => {
          return { id: call.id, callEntry, responseEntry };
        });
        expect(found).toEqual(pairNaively(history));
      }),
      { numRuns: 500 },
    );
  });
});
