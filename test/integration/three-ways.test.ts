// Wherever a session's work runs, its history and its totals come out the same.

import { createCompactor } from 'ctxfold';
import type { Compactor, IContent, OffloadMode } from 'ctxfold';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { arbitraryHistory, WORKSPACE_ROOT } from '../support/arbitrary-history.js';

const MODES: readonly OffloadMode[] = ['inline', 'auto', 'snapshot'];

/** Small enough that many of the random sessions reach the threshold, and some cannot fit. */
const CONTEXT_LIMITS = [400, 1_500, 200_000] as const;

const compactors = new Map<string, Compactor>();
afterAll(() => Promise.all([...compactors.values()].map((compactor) => compactor.close())));

function compactorFor(offload: OffloadMode, contextLimit: number): Compactor {
  const key = `${offload} ${contextLimit}`;
  const known = compactors.get(key);
  if (known !== undefined) return known;
  const compactor = createCompactor({
    offload,
    contextLimit,
    threads: 1,
    workspaceRoot: WORKSPACE_ROOT,
    settings: { 'compression.density.recencyPruning': true, 'compression.threshold': 0.6 },
  });
  compactors.set(key, compactor);
  return compactor;
}

type Step = 'window' | 'clear' | number;

interface Outcome {
  readonly windows: readonly unknown[];
  readonly history: readonly IContent[];
  readonly totalTokens: number;
}

/** Plays a session: a number adds that many entries; the rest of them comes before the last window. */
async function play(
  compactor: Compactor,
  entries: readonly IContent[],
  steps: readonly Step[],
): Promise<Outcome> {
  const session = await compactor.createSession({ history: entries.slice(0, 3) });
  session.on('fallback', ({ error }) => {
    throw error;
  });
  const windows: unknown[] = [];
  let next = 3;
  for (const step of [...steps, entries.length, 'window' as const]) {
    if (step === 'clear') {
      session.history.clear();
    } else if (step === 'window') {
      const window = session.ensureCompressionBeforeSend(`turn ${windows.length}`, 7);
      windows.push(await window.catch((error: unknown) => String(error)));
    } else {
      session.history.addAll(entries.slice(next, next + step));
      next += step;
    }
  }
  return {
    windows,
    history: session.history.getAll(),
    totalTokens: session.history.getTotalTokens(),
  };
}

describe('offload', () => {
  it.each(CONTEXT_LIMITS)(
    'leaves equal histories, all three ways, in a window of %i',
    async (limit) => {
      const step: fc.Arbitrary<Step> = fc.oneof(
        { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) },
        { weight: 4, arbitrary: fc.constant('window' as const) },
        { weight: 1, arbitrary: fc.constant('clear' as const) },
      );
      const steps = fc.array(step, { maxLength: 10, size: 'max' });
      await fc.assert(
        fc.asyncProperty(arbitraryHistory({ maxEntries: 120 }), steps, async (entries, made) => {
          const [inline, ...others] = await Promise.all(
            MODES.map((mode) => play(compactorFor(mode, limit), entries, made)),
          );
          for (const other of others) expect(other).toEqual(inline);
        }),
        { numRuns: 120, interruptAfterTimeLimit: 20_000 },
      );
    },
    60_000,
  );
});
