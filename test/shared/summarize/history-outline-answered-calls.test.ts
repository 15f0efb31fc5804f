import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { answeredCalls, outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { runs, sightings } from '../../support/scale.js';

/** Few ids, so that each is used by several calls, in any order. */
const ID = fc.constantFrom('a', 'b');
const BLOCK: fc.Arbitrary<ContentBlock> = fc.oneof(
  ID.map((id) => ({ type: 'tool_call' as const, id, name: 'run', parameters: {} })),
  fc.record({ callId: ID, isPartial: fc.boolean() }).map(({ callId, isPartial }) => ({
    type: 'tool_response' as const,
    callId,
    toolName: 'run',
    result: '',
    ...(isPartial && { isComplete: false }),
  })),
  fc.constant({ type: 'text' as const, text: 'so' }),
);
const ENTRY: fc.Arbitrary<IContent> = fc.record({
  speaker: fc.constantFrom('ai', 'tool', 'tool', 'human'),
  blocks: fc.array(BLOCK, { maxLength: 4 }),
});

describe('answeredCalls', () => {
  it('finds the same calls as pairing from the start', () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(ENTRY, { minLength: 6, maxLength: 16 }),
        fc.nat(16),
        fc.integer({ min: 100, max: 140 }),
        (drawn, at, length) => {
          // With so many blocks between them, some calls are too far from their results to be searched for backwards.
          const said = Array.from({ length }, () => ({ type: 'text', text: 'so' }) as const);
          const history = drawn.toSpliced(at, 0, { speaker: 'human', blocks: said });
          const { callOf } = outlineHistory(history);
          const find = answeredCalls(history);
          for (const [entry, { blocks }] of history.entries()) {
            for (const block of blocks.keys()) {
              const call = callOf(entry, block);
              expect(answeredCalls(history)(entry, block)).toBe(call);
              expect(find(entry, block)).toBe(call);
              if (call !== undefined) found += 1;
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
    expect(found).toBeGreaterThan(sightings(500));
  });

  it('finds nothing outside of a history', () => {
    expect(answeredCalls([])(0, 0)).toBeUndefined();
  });
});
