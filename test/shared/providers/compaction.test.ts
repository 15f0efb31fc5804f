// What each provider accepts before a compaction it accepts after it: one property over all operations.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HighDensityStrategy } from '../../../src/main/strategies/high-density.js';
import { MiddleOutStrategy } from '../../../src/main/strategies/middle-out.js';
import { OneShotStrategy } from '../../../src/main/strategies/one-shot.js';
import { TopDownTruncationStrategy } from '../../../src/main/strategies/top-down-truncation.js';
import type { IContent } from '../../../src/shared/content.js';
import { applyDensityResult } from '../../../src/shared/density.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { PROVIDER_PROFILES } from '../../../src/shared/providers/provider-violation.js';
import type {
  ProviderProfile,
  ProviderViolation,
} from '../../../src/shared/providers/provider-violation.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { outlineHistory } from '../../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../../src/shared/summarize/tool-summary.js';
import { fitToWindow } from '../../../src/shared/summarize/window-fit.js';
import { arbitraryDensityConfig } from '../../support/arbitrary-history.js';
import { arbitrarySendableHistory } from '../../support/arbitrary-sendable-history.js';
import { compressionContext } from '../../support/compression-context.js';
import { describeHistory } from '../../support/notation.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { runs, sightings } from '../../support/scale.js';

interface Knobs {
  readonly density: DensityConfig;
  /** Entries that fit, if each weighs one. */
  readonly room: number;
  readonly top: number;
  readonly bottom: number;
}

type Operation = (history: readonly IContent[], knobs: Knobs) => Promise<readonly IContent[]>;

const ENTRY_TOKENS = 10;
const strategies = [
  new HighDensityStrategy(),
  new TopDownTruncationStrategy(),
  new MiddleOutStrategy(),
  new OneShotStrategy(),
];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  density: async (history, knobs) => {
    const compacted = [...history];
    applyDensityResult(compacted, optimize(history, knobs.density));
    return compacted;
  },
  window: async (history, { room }) => {
    const { outline, callOf } = outlineHistory(history);
    const summaries = history.map((entry, index) => summarizeEntry(entry, index, callOf));
    const tokens = history.map(() => ENTRY_TOKENS);
    const summarizedTokens = history.map((entry, at) =>
      entry === summaries[at] ? ENTRY_TOKENS : ENTRY_TOKENS / 2,
    );
    const fit = fitToWindow({ outline, tokens, summarizedTokens }, room * ENTRY_TOKENS);
    return history.flatMap((entry, at) => {
      if (fit.dropped.includes(at)) return [];
      return [fit.summarized.includes(at) ? (summaries[at] ?? entry) : entry];
    });
  },
  ...Object.fromEntries(
    strategies.map((strategy): [string, Operation] => [
      strategy.name,
      async (history, { room, top, bottom }) => {
        const context = compressionContext(history, {
          summarizer: scriptedSummarizer(snapshot('short')),
          // Whether it becomes smaller is not tested here.
          countEach: (contents) => Promise.resolve(contents.map(() => ENTRY_TOKENS)),
          estimateTokens: (contents) => Promise.resolve(contents.length * ENTRY_TOKENS),
          ephemerals: {
            compressionThreshold: () => 1,
            contextLimit: () => (room * ENTRY_TOKENS) / 0.6,
            topPreserveThreshold: () => top,
            preserveThreshold: () => bottom,
          },
        });
        return (await strategy.compress(context)).newHistory;
      },
    ]),
  ),
};

const knobs: fc.Arbitrary<Knobs> = fc.record({
  density: arbitraryDensityConfig(),
  room: fc.nat(20),
  top: fc.constantFrom(0, 0.1, 0.2, 0.5),
  bottom: fc.constantFrom(0, 0.1, 0.2, 0.5),
});

/** Some histories are already refused before. */
const RUNS = runs(5_500, 110);
const MIN_JUDGED = sightings(5_000);

describe('validate', () => {
  it('finds nothing in a compacted history if it found nothing before', async () => {
    const judged = new Map<ProviderProfile, number>();
    const property = fc.asyncProperty(
      arbitrarySendableHistory({ maxEntries: 20 }),
      knobs,
      async (history, knob) => {
        const profiles = PROVIDER_PROFILES.filter(
          (profile) => validate(history, profile).length === 0,
        );
        for (const profile of profiles) judged.set(profile, (judged.get(profile) ?? 0) + 1);
        for (const [name, operation] of Object.entries(OPERATIONS)) {
          const compacted = await operation(history, knob);
          // Histories that were checked need not be checked again.
          if (
            compacted.length === history.length &&
            compacted.every((entry, at) => entry === history[at])
          )
            continue;
          for (const profile of profiles) {
            const found = validate(compacted, profile);
            if (found.length > 0) throw new Error(refusal(name, profile, compacted, found));
          }
        }
      },
    );
    await fc.assert(property, { numRuns: RUNS });
    for (const profile of PROVIDER_PROFILES) {
      expect(judged.get(profile), profile).toBeGreaterThanOrEqual(MIN_JUDGED);
    }
  });
});

function refusal(
  name: string,
  profile: ProviderProfile,
  compacted: readonly IContent[],
  found: readonly ProviderViolation[],
): string {
  const said = found.map(({ message }) => message).join(' ');
  return `${name} left ${describeHistory(compacted)}, and ${profile} says: ${said}`;
}
