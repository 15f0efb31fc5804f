// Follows entries of a history that changes while work on it is under way.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../../src/main/history-service.js';
import { TrackedHistory } from '../../../src/main/preflight/tracked-history.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { runs } from '../../support/scale.js';

interface Followed {
  readonly history: HistoryService;
  readonly followed: TrackedHistory;
  readonly entries: readonly IContent[];
}

function follow(length: number): Followed {
  const history = new HistoryService();
  const entries = Array.from({ length }, (_, at) => humanText(`${at}`));
  history.addAll(entries);
  const followed = new TrackedHistory(history.getRawHistory());
  history.watch((change) => {
    followed.note(change);
  });
  return { history, followed, entries };
}

function textsOf(history: readonly IContent[]): string {
  return history
    .flatMap(({ blocks }) => blocks.map((block) => ('text' in block ? block.text : '')))
    .join(' ');
}

async function apply(
  history: HistoryService,
  removals: readonly number[],
  replacements: readonly (readonly [number, IContent])[] = [],
): Promise<void> {
  await history.applyDensityResult({ ...NO_EDITS, removals, replacements: new Map(replacements) });
}

describe('TrackedHistory', () => {
  it('rebases a result onto the history as it is now', async () => {
    const { history, followed, entries } = follow(6);
    const made = [entries[0]!, humanText('S'), ...entries.slice(3)];
    history.add(humanText('6'));
    await apply(history, [1, 4], [[3, humanText('3b')]]);
    history.add(humanText('7'));
    await apply(history, [0], [[4, humanText('6b')]]);
    expect(textsOf(history.getRawHistory())).toBe('2 3b 5 6b 7');
    expect(textsOf(followed.rebasing(made).rebase(history.getRawHistory()))).toBe('S 3b 5 6b 7');
    expect(followed.isGone).toBe(false);
  });

  it('knows the first edited entry, whichever is edited later', async () => {
    const { history, followed } = follow(6);
    expect(followed.firstEdited).toBe(Infinity);
    for (const index of [4, 1, 2]) await apply(history, [index]);
    expect(followed.firstEdited).toBe(1);
  });

  it('distinguishes the positions of an object that occurs more than once', async () => {
    const history = new HistoryService();
    const twice = humanText('x');
    history.addAll([twice, humanText('1'), twice]);
    const followed = new TrackedHistory(history.getRawHistory());
    history.watch((change) => {
      followed.note(change);
    });
    await apply(history, [0]);
    expect(
      textsOf(followed.rebasing([twice, humanText('S'), twice]).rebase(history.getRawHistory())),
    ).toBe('S x');
  });

  it.each<[string, (history: HistoryService) => void]>([
    [
      'cleared',
      (history) => {
        history.clear();
      },
    ],
    ['rewritten', (history) => void history.replaceAll([humanText('S')], history.base)],
  ])('is gone once the history is %s', (_, act) => {
    const { history, followed } = follow(3);
    act(history);
    expect(followed.isGone).toBe(true);
  });

  it('has the same result as edits of the result itself, whatever lands', async () => {
    const step = fc.record({
      adds: fc.nat(2),
      picks: fc.array(fc.tuple(fc.nat(30), fc.boolean()), { maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(12),
        fc.array(step, { maxLength: 6 }),
        fc.array(fc.boolean()),
        async (length, steps, drops) => {
          const { history, followed, entries } = follow(length);
          const made = entries.filter((_, at) => drops[at] !== true);
          /** The present text of each original entry. */
          const now = new Map(entries.map((entry) => [entry, textsOf([entry])]));
          const standing: (IContent | null)[] = [...entries];
          let added = 0;
          for (const { adds, picks } of steps) {
            for (let at = 0; at < adds; at += 1) {
              history.add(humanText(`+${(added += 1)}`));
              standing.push(null);
            }
            const chosen = new Map(
              picks.map(([at, isRemoval]) => [at % Math.max(1, standing.length), isRemoval]),
            );
            const removals = [...chosen]
              .flatMap(([at, isRemoval]) => (isRemoval && at < standing.length ? [at] : []))
              .sort((a, b) => a - b);
            const replacements = [...chosen].flatMap(([at, isRemoval]) =>
              isRemoval || at >= standing.length ? [] : [[at, humanText(`r${at}`)] as const],
            );
            for (const [at] of replacements) {
              const then = standing[at];
              if (then) now.set(then, `r${at}`);
            }
            for (const at of removals) {
              const then = standing[at];
              if (then) now.delete(then);
            }
            await apply(history, removals, replacements);
            for (const at of removals.toReversed()) standing.splice(at, 1);
          }
          const kept = made.flatMap((entry) => now.get(entry) ?? []);
          const behind = history
            .getRawHistory()
            .slice(standing.filter((then) => then !== null).length);
          expect(textsOf(followed.rebasing(made).rebase(history.getRawHistory()))).toBe(
            [...kept, textsOf(behind)].filter((text) => text !== '').join(' '),
          );
        },
      ),
      { numRuns: runs(1_000) },
    );
  });
});
