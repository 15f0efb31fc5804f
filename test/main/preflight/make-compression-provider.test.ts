// What may be removed from the start of a history because a provider has compacted it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { replacedEntries } from '../../../src/main/preflight/make-compression.js';
import {
  newestCompaction,
  providerEntry,
} from '../../../src/main/strategies/provider-compaction.js';
import type { IContent } from '../../../src/shared/content.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';

const COMPACTION = providerEntry({ kind: 'compaction', data: {}, tokens: 9 });
const SAID = providerEntry({ kind: 'message', data: {}, tokens: 9 });

/** A history in which `c` is a compaction and `u` the user's words that came back with one. */
function withCompactions(notation: string): IContent[] {
  return notation
    .split(' ')
    .flatMap((word) => (word === 'c' ? COMPACTION : word === 'u' ? SAID : historyOf(word)));
}

function replacedFrom(history: readonly IContent[], from: number): number {
  const compaction = newestCompaction(history, from, undefined);
  return compaction === -1 ? 0 : replacedEntries(history, compaction);
}

describe('replacedEntries', () => {
  it.each([
    ['all before it', 'h a c h a', 0, 2],
    ['all before the newest', 'h a c h a c h', 0, 5],
    ['nothing where there is none', 'h a h a', 0, 0],
    ['nothing said only by the user', 'h h c h a', 0, 0],
    ['nothing that came with it', 'u u c h a', 0, 0],
    ['nothing twice', 'h a c h a', 3, 0],
    ['no call that is answered behind it', 'h a a:r1 c t:r1 h', 0, 2],
    ['no call that is open', 'h a a:r1 c h', 0, 2],
    ['nothing for what came back with one', 'h a u h', 0, 0],
  ])('is %s', (_, notation, from, replaced) => {
    expect(replacedFrom(withCompactions(notation), from)).toBe(replaced);
  });

  it('leaves no response without its call in any history', () => {
    fc.assert(
      fc.property(arbitraryHistory(), fc.nat(), (history, place) => {
        const at = place % (history.length + 1);
        const given = [...history.slice(0, at), COMPACTION, ...history.slice(at)];
        const replaced = replacedFrom(given, 0);
        expect(replaced).toBeLessThanOrEqual(at);
        const gone = new Set(
          given
            .slice(0, replaced)
            .flatMap(({ blocks }) =>
              blocks.flatMap((block) => (block.type === 'tool_call' ? [block.id] : [])),
            ),
        );
        const stands = new Set<string>();
        for (const block of given.slice(replaced).flatMap(({ blocks }) => blocks)) {
          if (block.type === 'tool_call') stands.add(block.id);
          if (block.type !== 'tool_response' || !gone.has(block.callId)) continue;
          expect(stands.has(block.callId) || isAnsweredBefore(given, replaced, block.callId)).toBe(
            true,
          );
        }
      }),
      { numRuns: runs(500) },
    );
  });
});

/** An id used again: the removed call had its response. */
function isAnsweredBefore(history: readonly IContent[], end: number, callId: string): boolean {
  return history
    .slice(0, end)
    .some(({ blocks }) =>
      blocks.some((each) => each.type === 'tool_response' && each.callId === callId),
    );
}
