// What edits do to the reasoning behind them.

import { describe, expect, it } from 'vitest';

import {
  beginsWithReasoning,
  firstDifference,
  holdsReasoning,
  placeBehindReasoning,
  stripBehind,
  stripReasoning,
  stripRewritten,
} from '../../../src/main/preflight/reasoning-policy.js';
import { applyDensityResult, firstEditedIndex, NO_EDITS } from '../../../src/shared/density.js';
import { COMPACTION_KIND, thinkingBlock } from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { describeHistory, historyOf } from '../../support/notation.js';

const PASS = {
  workspaceRoot: '/w',
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: false,
  recencyRetention: 1,
};

/** The history after a pass, and what the pass does to reasoning. */
function pruned(notation: string): string {
  const history = historyOf(notation);
  applyDensityResult(history, stripReasoning(optimize(history, PASS), history));
  return describeHistory(history);
}

describe('stripReasoning', () => {
  it.each([
    [
      'all of it behind a removed entry',
      'h a:*s1,sure a:r1 t:r1 a:*s2,w2 t:w2 a:*s3,done',
      'h a:*s1,sure a:w2 t:w2 a:done',
    ],
    [
      'the blocks behind the edited block of an entry, and not those in front of it',
      'h a:*s1,sure,r1,*s2,s3 t:r1,s3 a:w2 t:w2',
      'h a:*s1,sure,s3 t:s3 a:w2 t:w2',
    ],
    ['an entry with nothing else', 'h a:r1 t:r1 a:*s2 a:w2 t:w2', 'h a:w2 t:w2'],
    ['nothing before the edit', 'h a:*s1,g9 t:g9 a:r1 t:r1 a:w2 t:w2', 'h a:*s1,g9 t:g9 a:w2 t:w2'],
  ])('removes %s', (_, before, after) => {
    expect(pruned(before)).toBe(after);
  });

  it('returns an edit unchanged if no reasoning stands behind it, or if it edits nothing', () => {
    const history = historyOf('h a:*s1,sure a:r1 t:r1 a:w2 t:w2');
    const result = optimize(history, PASS);
    expect(stripReasoning(result, history)).toBe(result);
    expect(stripReasoning(NO_EDITS, history)).toBe(NO_EDITS);
  });

  it('removes nothing twice', () => {
    const history = historyOf('h a:r1 t:r1 a:*s2,w2 t:w2 a:*s3,done');
    const [, , , , , last] = history;
    const gone = { ...NO_EDITS, removals: [1, 2, 3, 4] };
    const left = new Map([[5, { ...last!, blocks: last!.blocks.slice(0, 1) }]]);
    expect(stripReasoning({ ...gone, replacements: left }, history)).toEqual({
      ...gone,
      removals: [1, 2, 3, 4, 5],
      replacements: new Map(),
    });
  });

  it('keeps the other parts of an entry, and the blocks themselves', () => {
    const history = historyOf('h a:r1 t:r1 a#m1:*s1,w2,sure t:w2');
    const before = history[3];
    applyDensityResult(history, stripReasoning(optimize(history, PASS), history));
    expect(history[1]?.metadata).toBe(before?.metadata);
    expect(history[1]?.blocks[0]).toBe(before?.blocks[1]);
    expect(before?.blocks).toHaveLength(3);
  });
});

describe('stripBehind', () => {
  it('removes reasoning from a place on', () => {
    const history = historyOf('a:*s1,one a:*s2,two,*s3,three a:*s4,four');
    const from = (entry: number, block: number): string => {
      const edited = history.slice();
      applyDensityResult(edited, stripBehind(NO_EDITS, history, { entry, block }));
      return describeHistory(edited);
    };
    expect(from(1, 1)).toBe('a:*s1,one a:*s2,two,three a:four');
    expect(from(2, 0)).toBe('a:*s1,one a:*s2,two,*s3,three a:four');
  });
});

describe('stripRewritten', () => {
  const former = historyOf('h a:*s1,one h a:*s2,two h a:*s3,three');

  it('removes reasoning from the first rewritten entry on', () => {
    const list = [former[0], former[1], ...historyOf('h:summary'), former[3], former[5]];
    const rewritten = list.filter((entry): entry is IContent => entry !== undefined);
    expect(describeHistory(stripRewritten(rewritten, former))).toBe(
      'h a:*s1,one h:summary a:two a:three',
    );
  });

  it('removes entries with nothing but reasoning', () => {
    const rewritten = historyOf('h:summary a:*s4 a:done');
    expect(describeHistory(stripRewritten(rewritten, former))).toBe('h:summary a:done');
  });

  it('returns the same list if it is a prefix of the former one, or has no reasoning', () => {
    const beginning = former.slice(0, 4);
    expect(stripRewritten(beginning, former)).toBe(beginning);
    const summary = historyOf('h:summary a:done');
    expect(stripRewritten(summary, former)).toBe(summary);
  });
});

describe('placeBehindReasoning', () => {
  const history = historyOf('h a:*s1,one,*s2,two h a:three');

  it('is behind the last thinking block, or at the index when none follows', () => {
    expect(placeBehindReasoning(history, 0)).toEqual({ entry: 1, block: 3 });
    expect(placeBehindReasoning(history, 2)).toEqual({ entry: 2, block: 0 });
  });
});

describe('holdsReasoning', () => {
  it('searches from an index on', () => {
    const history = historyOf('h a:*s1,one h');
    expect([0, 1, 2].map((from) => holdsReasoning(history, from))).toEqual([true, true, false]);
  });
});

describe('firstDifference', () => {
  it.each([
    [[], [], 0],
    [[1, 2], [1, 2], 2],
    [[1, 2], [1], 1],
    [[1, 2], [3, 2], 0],
  ])('of %j and %j is %i', (a, b, expected) => {
    expect(firstDifference(a, b)).toBe(expected);
    expect(firstDifference(b, a)).toBe(expected);
  });
});

describe('firstEditedIndex', () => {
  it('is the lowest of removals and replacements', () => {
    const [entry] = historyOf('h');
    if (entry === undefined) throw new Error('There is one.');
    expect(firstEditedIndex({ ...NO_EDITS, removals: [4, 2] })).toBe(2);
    expect(
      firstEditedIndex({ ...NO_EDITS, removals: [4], replacements: new Map([[1, entry]]) }),
    ).toBe(1);
    expect(firstEditedIndex(NO_EDITS)).toBe(Infinity);
  });
});

describe('beginsWithReasoning', () => {
  const text = { type: 'text', text: 'So.' } as const;
  const compaction = { type: 'opaque', kind: COMPACTION_KIND, tokens: 9 } as const;

  it.each<[string, readonly ContentBlock[], boolean]>([
    ['signed', [thinkingBlock('Hm.', { signature: 's' }), text], true],
    ['encrypted', [thinkingBlock('', { encryptedContent: 'e' }), text], true],
    ['behind a compaction', [compaction, thinkingBlock('Hm.', { signature: 's' })], true],
    ['behind a text', [text, thinkingBlock('Hm.', { signature: 's' })], false],
    ['without a signature, which Claude is not sent', [thinkingBlock('Hm.'), text], false],
    ['of OpenAI', [thinkingBlock('Hm.', { signature: 'rs_1' }), text], false],
    ['absent', [], false],
  ])('tells where it is %s', (_, blocks, expected) => {
    expect(beginsWithReasoning(blocks)).toBe(expected);
  });
});
