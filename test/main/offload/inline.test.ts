// Work on the calling thread: the same results as the worker, in turns of the event loop.

import fc from 'fast-check';
import { describe, expect, test, onTestFinished, vi } from 'vitest';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import { InlineOffload } from '../../../src/main/offload/inline.js';
import { OffloadMeter } from '../../../src/main/offload/offload-meter.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { applyDensityResult, NO_EDITS } from '../../../src/shared/density.js';
import type { DensityConfig, DensityResult } from '../../../src/shared/density.js';
import { HistoryIndex } from '../../../src/shared/density/index/history-index.js';
import { optimize, planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { runTask } from '../../../src/worker/tasks.js';
import {
  arbitraryWorkingConfig,
  arbitraryWorkingHistory,
} from '../../support/arbitrary-working-history.js';
import { runs } from '../../support/scale.js';

const CONFIG: DensityConfig = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: true,
  recencyRetention: 1,
  workspaceRoot: '/w',
};

const anyText = fc
  .array(fc.oneof(fc.string(), fc.constantFrom('word ', '漢字', '\ud800', '<|endoftext|>', '😀')))
  .map((parts) => parts.join(''));

const anyEntry: fc.Arbitrary<IContent> = fc.oneof(
  anyText.map((text) => humanText(text)),
  fc.record({
    speaker: fc.constant('ai' as const),
    blocks: fc.array(
      fc.record({
        type: fc.constant('tool_call' as const),
        id: fc.string(),
        name: anyText,
        parameters: fc.jsonValue(),
      }),
    ),
  }),
);

describe('InlineOffload', () => {
  test('plans the same as the pass, on the entries of the base', async () => {
    const inclusion = humanText('--- a.ts ---\nx\n--- End of content ---');
    const history = [inclusion, inclusion, inclusion];
    const base = { revision: 1, length: 2 };
    const planned = await new InlineOffload().optimize(history, base, CONFIG);
    expect(planned).toEqual({ plan: planWithTexts(history.slice(0, 2), CONFIG).plan });
  });

  test('plans the same as a pass from scratch after a history has grown or was rewritten, or settings changed', async () => {
    const anyHistory = arbitraryWorkingHistory();
    const anyConfig = fc
      .tuple(arbitraryWorkingConfig(), fc.constantFrom('off', 'lossless', 'default'))
      .map(([config, shrink]) => ({ ...config, shrink }));
    const anyChange = fc.constantFrom(
      ...([
        'none',
        'rewritten',
        'looked at otherwise',
        'edited',
        'edited by another pass',
        'edited twice',
      ] as const),
    );
    const anyStep = fc.tuple(fc.nat(12), anyChange, anyConfig);
    await fc.assert(
      fc.asyncProperty(
        anyHistory,
        anyConfig,
        fc.array(anyStep, { minLength: 2, maxLength: 8 }),
        async (added, firstConfig, steps) => {
          const inline = new InlineOffload();
          let history: readonly IContent[] = [];
          let [revision, next, config] = [0, 0, firstConfig];
          const edit = (result: Pick<DensityResult, 'removals' | 'replacements'>): void => {
            const entries = [...history];
            applyDensityResult(entries, { ...NO_EDITS, ...result });
            history = entries;
            revision += 1;
            const base = { revision, length: entries.length };
            const state = { base, entries, countedTokens: () => undefined };
            inline.noteChange({ kind: 'edit', ...result }, state);
          };
          for (const [count, change, other] of steps) {
            if (change === 'looked at otherwise') config = other;
            if (change === 'edited') edit(optimize(history, config));
            if (change === 'edited by another pass') edit(optimize(history, other));
            if (change === 'edited twice') {
              edit(optimize(history, config));
              edit(optimize(history, other));
            }
            if (count % 2 === 0) await nextTurn();
            if (change === 'rewritten') {
              revision += 1;
              // The same length, and the same end.
              history = history.map((entry, at) =>
                at % 3 === 1 && at < history.length - 1 ? humanText('gone') : entry,
              );
            }
            history = [...history, ...added.slice(next, next + count)];
            next += count;
            const base = { revision, length: history.length };
            const planned = await inline.optimize(history, base, config);
            expect(planned).toEqual(planWithTexts(history, config));
          }
        },
      ),
      { numRuns: runs(400) },
    );
  });

  test('indexes no entry again after an edit, and nothing in the turn of the edit', async () => {
    const inline = new InlineOffload();
    const inclusion = humanText('--- a.ts ---\nx\n--- End of content ---');
    const history = Array.from({ length: 200 }, (_, at) => humanText(`entry ${at}`));
    await inline.optimize(history, { revision: 1, length: 200 }, CONFIG);
    const append = vi.spyOn(HistoryIndex.prototype, 'append');
    onTestFinished(() => void vi.restoreAllMocks());
    const replacements = new Map([[50, inclusion]]);
    const entries = [...history.slice(0, 50), inclusion, ...history.slice(51, 150)];
    const removals = Array.from({ length: 50 }, (_, at) => 150 + at);
    inline.noteChange(
      { kind: 'edit', removals, replacements },
      { base: { revision: 2, length: 150 }, entries, countedTokens: () => undefined },
    );
    expect(append).not.toHaveBeenCalled();
    await nextTurn();
    expect(append).toHaveBeenCalledTimes(1);
    const grown = [...entries, inclusion];
    const base = { revision: 2, length: grown.length };
    const planned = await inline.optimize(grown, base, CONFIG);
    expect(append).toHaveBeenCalledTimes(2);
    expect(planned).toEqual(planWithTexts(grown, CONFIG));
  });

  test('distinguishes histories with the same revision', async () => {
    const inline = new InlineOffload();
    const inclusion = humanText('--- a.ts ---\nx\n--- End of content ---');
    const one = [humanText('a'), humanText('b'), humanText('c')];
    const other = [inclusion, inclusion, inclusion];
    const base = { revision: 1, length: 3 };
    await inline.optimize(one, base, CONFIG);
    expect(await inline.optimize(other, base, CONFIG)).toEqual({
      plan: planWithTexts(other, CONFIG).plan,
    });
  });

  test('indexes a long history in several turns of the event loop, even if the array changes meanwhile', async () => {
    const inclusion = humanText('--- a.ts ---\nx\n--- End of content ---');
    const history = Array.from({ length: 5_000 }, (_, at) =>
      at % 100 === 0 ? inclusion : humanText(`entry ${at}`),
    );
    const base = { revision: 1, length: history.length };
    const expected = { plan: planWithTexts(history, CONFIG).plan };
    const inline = new InlineOffload();
    let hasTurned = false;
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 2));
    onTestFinished(() => void vi.restoreAllMocks());
    const planning = inline.optimize(history, base, CONFIG);
    setImmediate(() => {
      hasTurned = true;
      history.length = 10;
    });
    expect(await planning).toEqual(expected);
    expect(hasTurned).toBe(true);
    const later = { revision: 2, length: history.length };
    expect(await inline.optimize(history, later, CONFIG)).toEqual({
      plan: planWithTexts(history, CONFIG).plan,
    });
  });

  test('counts the same as the worker', async () => {
    const inline = new InlineOffload();
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry), async (contents) => {
        const reply = await runTask({ kind: 'count', contents });
        const tokens = await inline.countTokens(contents);
        expect(reply).toMatchObject({ ok: true, value: { tokens: Int32Array.from(tokens) } });
      }),
      { numRuns: runs(50) },
    );
  });

  test('yields to the event loop while it counts, also within one entry', async () => {
    let turns = 0;
    let isDone = false;
    const countTurns = (): void => {
      turns += 1;
      if (!isDone) setImmediate(countTurns);
    };
    const inline = new InlineOffload();
    await inline.countTokens([humanText('load')]);
    setImmediate(countTurns);
    await inline.countTokens([humanText('word '.repeat(400_000))]);
    isDone = true;
    expect(turns).toBeGreaterThan(5);
  });

  test('uses the entries that it was given when the array changes meanwhile', async () => {
    const contents = [humanText('one'), humanText('two')];
    const counting = new InlineOffload().countTokens(contents);
    contents.length = 0;
    expect(await counting).toHaveLength(2);
  });

  test('aborts between slices with the reason', async () => {
    const controller = new AbortController();
    const counting = new InlineOffload().countTokens(
      [humanText('word '.repeat(400_000))],
      controller.signal,
    );
    setImmediate(() => {
      controller.abort('enough');
    });
    await expect(counting).rejects.toBe('enough');
  });

  test('reports its work', async () => {
    const meter = new OffloadMeter();
    await new InlineOffload(meter).optimize([], { revision: 0, length: 0 }, CONFIG);
    expect(meter.stats).toMatchObject({ inlineTasks: 1, workerTasks: 0 });
  });
});
