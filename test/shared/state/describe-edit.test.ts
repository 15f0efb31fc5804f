// Edits without rows as journal records: the fold of each record is the edited history, and unchanged entries are not read.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aiContent } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { applyDensityResult, NO_EDITS } from '../../../src/shared/density.js';
import type { DensityResult } from '../../../src/shared/density.js';
import { runSlices } from '../../../src/shared/slices.js';
import { describeEdit } from '../../../src/shared/state/describe-edit.js';
import { foldJournal } from '../../../src/shared/state/fold-journal.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';

function edited(history: readonly IContent[], result: DensityResult): readonly IContent[] {
  const entries = [...history];
  applyDensityResult(entries, result);
  return entries;
}

/** The history that another process makes of the record of an edit. */
function folded(history: readonly IContent[], result: DensityResult): readonly IContent[] {
  const record = describeEdit(history.length, history, result);
  const fold = runSlices(foldJournal(history, history.length, [record], undefined));
  expect(fold.isWhole).toBe(true);
  return fold.entries;
}

describe('describeEdit', () => {
  it.each([
    ['an entry with reasoning', 'h a:*,done h a', [1], []],
    ['an entry of nothing but reasoning', 'h a:*,_ h a', [1], []],
    ["an entry of the user's with reasoning", 'h h:* h a', [1], []],
    ['the reasoning of an entry', 'h a:*,done h a', [], [[1, 'a:done']]],
    ['reasoning together with a text', 'h a:*,done,r1 t:r1', [], [[1, 'a:r1']]],
    ['entries next to each other', 'h a h a h a', [0, 1, 3], []],
    ['everything', 'h a', [0, 1], []],
    ['a text for another one', 'h a h', [], [[1, 'a:other']]],
  ] as const)('describes the removal of %s', (_, notation, removals, replaced) => {
    const history = historyOf(notation);
    const replacements = new Map(
      replaced.map(([index, word]) => {
        const before = history[index]!;
        const blocks = historyOf(word)[0]!.blocks.map(
          (block) =>
            before.blocks.find((other) => JSON.stringify(other) === JSON.stringify(block)) ?? block,
        );
        return [index, { ...before, blocks }] as const;
      }),
    );
    const result = { ...NO_EDITS, removals, replacements };
    expect(folded(history, result)).toEqual(edited(history, result));
  });

  it('describes every removal of entries and summary of results', () => {
    const fates = fc.array(fc.constantFrom('stays', 'stays', 'removed', 'summarized', 'stripped'), {
      minLength: 60,
      maxLength: 60,
    });
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 60 }), fates, (history, fateOf) => {
        const { callOf } = outlineHistory(history);
        const removals: number[] = [];
        const replacements = new Map<number, IContent>();
        for (const [at, entry] of history.entries()) {
          if (fateOf[at] === 'removed') removals.push(at);
          const after =
            fateOf[at] === 'stripped'
              ? { ...entry, blocks: entry.blocks.filter(({ type }) => type !== 'thinking') }
              : summarizeEntry(entry, at, callOf);
          const isChanged = after.blocks.some((block, place) => block !== entry.blocks[place]);
          const isReplaced = fateOf[at] === 'stripped' || fateOf[at] === 'summarized';
          if (isReplaced && isChanged) replacements.set(at, after);
        }
        const result = { ...NO_EDITS, removals, replacements };
        expect(folded(history, result)).toEqual(edited(history, result));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('describes the removal of more reasoning than a call takes arguments', () => {
    const said = { type: 'text', text: 'done' } as const;
    const thought = aiContent([{ type: 'thinking', thought: 'hm' }, said]);
    const history = Array.from({ length: 130_000 }, () => thought);
    const after = { ...thought, blocks: [said] };
    const replacements = new Map(history.map((_, at) => [at, after] as const));
    const record = describeEdit(history.length, history, { ...NO_EDITS, replacements });
    expect(record.kind).toBe('rows');
  });

  it('reads no entry that stays', () => {
    const history = historyOf('h a:*,done h a t:r1'.repeat(1));
    const long = Array.from({ length: 5_000 }, (_, at) => history[at % history.length]!);
    let reads = 0;
    const watched = new Proxy(long, {
      get: (target, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    const result = { ...NO_EDITS, removals: [0, 1, 2_500], replacements: new Map() };
    expect(describeEdit(long.length, watched, result).kind).toBe('splice');
    expect(reads).toBeLessThan(10);
  });
});
