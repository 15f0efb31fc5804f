// A session's history and totals do not depend on where its work runs.

import { readdirSync } from 'node:fs';
import { agentPreset, createCompactor } from 'ctxfold';
import { readTranscript } from 'ctxfold/transcripts';
import type { Compactor, IContent, OffloadMode, PlaceholderStyle, SessionOptions } from 'ctxfold';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { arbitraryHistory, WORKSPACE_ROOT } from '../support/arbitrary-history.js';
import {
  arbitraryWorkingHistory,
  arbitraryWorkingSetRules,
  WORKING_TOOLS,
} from '../support/arbitrary-working-history.js';
import { runs, sample, sightings } from '../support/scale.js';

const MODES: readonly OffloadMode[] = ['inline', 'auto', 'snapshot', 'resident'];

/** Small enough that many random sessions reach the threshold, and some cannot fit. */
const CONTEXT_LIMITS = [400, 1_500, 200_000] as const;

const SHORT = { maxEntries: 120 };

const FIXTURES = new URL('../fixtures/transcripts/', import.meta.url).pathname;

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
    settings: {
      'compression.strategy': 'high-density',
      'compression.density.recencyPruning': true,
      'compression.threshold': 0.6,
    },
  });
  compactors.set(key, compactor);
  return compactor;
}

type Step = 'window' | 'clear' | 'settings' | 'turn' | number;

interface Outcome {
  readonly windows: readonly unknown[];
  readonly history: readonly IContent[];
  readonly totalTokens: number;
  readonly fallbacks: readonly unknown[];
}

/** What happened in the sessions of all modes. */
const seen = {
  ...{ compressed: 0, pruned: 0, outsideWorkingSet: 0 },
  ...{ residentPasses: 0, residentPassesOfAuto: 0 },
};

/**
 * Plays a session that opens with `opened` entries. Numbers in the script add that many entries; the rest comes before the
 * last window.
 */
async function play(
  mode: OffloadMode,
  limit: number,
  entries: readonly IContent[],
  steps: readonly Step[],
  opened = 3,
  options: SessionOptions = {},
  placeholder: PlaceholderStyle = 'pointer',
): Promise<Outcome> {
  const compactor = compactorFor(mode, limit);
  const session = await compactor.createSession({ ...options, history: entries.slice(0, opened) });
  session.settings.set('compression.density.placeholder', placeholder);
  const fallbacks: unknown[] = [];
  session.on('fallback', ({ error }) => fallbacks.push(error));
  session.on('compressed', ({ outcome }) => {
    if (outcome === 'applied') seen.compressed += 1;
  });
  session.on('pruned', ({ metadata: { workingSetPruned = 0 } }) => {
    seen.pruned += 1;
    if (workingSetPruned > 0) seen.outsideWorkingSet += 1;
  });
  const windows: unknown[] = [];
  let next = opened;
  let retention = 3;
  for (const step of [...steps, entries.length, 'window' as const]) {
    switch (step) {
      case 'clear':
        session.history.clear();
        break;
      case 'settings':
        retention = 4 - retention;
        session.settings.set('compression.density.recencyRetention', retention);
        session.settings.set(
          'compression.density.placeholder',
          retention === 1 ? 'informative' : placeholder,
        );
        session.settings.set(
          'compression.density.workingSet',
          retention === 1 ? 'aggressive' : 'preset',
        );
        break;
      case 'turn':
        await new Promise((resolve) => setImmediate(resolve));
        break;
      case 'window': {
        const window = session.ensureCompressionBeforeSend(`turn ${windows.length}`, 7);
        windows.push(await window.catch((error: unknown) => String(error)));
        break;
      }
      default:
        session.history.addAll(entries.slice(next, next + step));
        next += step;
    }
  }
  const { residentPasses } = session.stats();
  seen.residentPasses += residentPasses;
  if (mode === 'auto') seen.residentPassesOfAuto += residentPasses;
  const outcome = {
    windows,
    history: session.history.getAll(),
    totalTokens: session.history.getTotalTokens(),
    fallbacks,
  };
  await session.close();
  return outcome;
}

/** Plays the same session in every mode and compares. */
async function expectEqual(...session: PlayArguments): Promise<void> {
  const [inline, ...others] = await Promise.all(MODES.map((mode) => play(mode, ...session)));
  for (const other of others) expect(other).toEqual(inline);
}
type PlayArguments = Parameters<typeof play> extends [OffloadMode, ...infer Rest] ? Rest : never;

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) },
  { weight: 4, arbitrary: fc.constant('window' as const) },
  { weight: 1, arbitrary: fc.constantFrom('clear' as const, 'settings' as const) },
  { weight: 1, arbitrary: fc.constant('turn' as const) },
);
/** Half of the sessions have a working set. */
const working: fc.Arbitrary<SessionOptions> = fc
  .option(arbitraryWorkingSetRules(), { freq: 1 })
  .map((workingSet) => ({
    density: { toolCatalog: WORKING_TOOLS, ...(workingSet !== null && { workingSet }) },
  }));
const placeholder = fc.constantFrom<PlaceholderStyle>('pointer', 'informative');
const steps = fc.array(step, { maxLength: 10, size: 'max' });

/** Repeats a history until it is too long for `auto` to keep it inline. */
function prolonged(entries: readonly IContent[], length: number): readonly IContent[] {
  if (entries.length === 0) return [];
  return Array.from({ length }, (_, at) => ({ ...(entries[at % entries.length] as IContent) }));
}

describe('offload', () => {
  it.each(CONTEXT_LIMITS)(
    'leaves equal histories, all three ways, in a window of %i',
    async (limit) => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(arbitraryHistory(SHORT), arbitraryWorkingHistory(arbitraryHistory(SHORT))),
          steps,
          placeholder,
          working,
          async (entries, made, style, options) => {
            await expectEqual(limit, entries, made, 3, options, style);
          },
        ),
        { numRuns: runs(120, 6), interruptAfterTimeLimit: 20_000 },
      );
    },
  );

  it.each([20_000, 200_000])(
    'leaves equal long histories in a window of %i, where auto makes them resident',
    async (limit) => {
      const opened = fc.integer({ min: 0, max: 300 });
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(arbitraryHistory(), arbitraryWorkingHistory()),
          steps,
          opened,
          placeholder,
          working,
          async (entries, made, start, style, options) => {
            await expectEqual(limit, prolonged(entries, 420), made, start, options, style);
          },
        ),
        { numRuns: runs(25, 2), interruptAfterTimeLimit: 20_000 },
      );
      expect(seen.residentPassesOfAuto).toBeGreaterThan(sightings(10));
    },
  );

  it.each(
    sample(
      readdirSync(FIXTURES, { recursive: true, encoding: 'utf8' }).filter((file) =>
        /\.(?:jsonl?|traj)$/.test(file),
      ),
      2,
    ),
  )('leaves equal histories of the recorded session %s', async (file) => {
    const { entries, format, workspaceRoot } = await readTranscript(FIXTURES + file);
    const density = {
      ...agentPreset(format),
      ...(workspaceRoot !== undefined && { workspaceRoot }),
    };
    const portions = entries.flatMap((_, at): Step[] =>
      at % 7 === 0 ? [4, 'turn', 3, 'window'] : [],
    );
    for (const limit of [20_000, 200_000]) {
      await expectEqual(limit, entries, portions, 0, { density });
      await expectEqual(limit, entries, portions, 0, { density }, 'informative');
    }
  });

  it('was seen to prune, to compress and to keep histories resident', () => {
    for (const [kind, times] of Object.entries(seen)) {
      expect([kind, times > runs(10, 2)]).toEqual([kind, true]);
    }
  });
});
