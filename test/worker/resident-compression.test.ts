// The tokens that a compression planned without payloads predicts for its new entries.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { postedPart } from '../../src/main/offload/posted-entry.js';
import { HighDensityStrategy } from '../../src/main/strategies/high-density.js';
import { TARGET_SHARE } from '../../src/main/strategies/strategy.js';
import { carriesContent } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import type { PlannedCompression } from '../../src/shared/resident-protocol.js';
import { carryOutCompression } from '../../src/shared/summarize/plan-compression.js';
import { countEntryTokens } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { compressionContext } from '../support/compression-context.js';
import { historyOf } from '../support/notation.js';
import { countThirds } from '../support/piece-counters.js';
import { RESIDENT_AGENT } from '../support/resident-session.js';
import { runs, sightings } from '../support/scale.js';

function planOf(
  history: readonly IContent[],
  targetTokens: number,
  keepsShort?: boolean,
): PlannedCompression {
  const resident = new ResidentHistory({ agent: RESIDENT_AGENT, countsTokens: true }, countThirds);
  const after = { revision: 0, length: history.length };
  const contents = history.map(postedPart);
  const knownTokens = new Int32Array(history.length).fill(-1);
  const steps = [{ kind: 'stage', contents, knownTokens } as const];
  const compression = { preserveThreshold: 0.2, targetTokens, keepsShort };
  const before = { revision: 0, length: 0 };
  const value = resident.receive({ sequence: 1, before, after, steps, compression });
  if (!value.compression) throw new Error();
  return value.compression;
}

/** The history that strategies see. */
function curatedOf(history: readonly IContent[]): readonly IContent[] {
  return history.filter(({ speaker, blocks }) => speaker !== 'ai' || blocks.some(carriesContent));
}

/** What the strategy makes of a history here, with the counts of the worker. */
async function compressHere(
  history: readonly IContent[],
  contextLimit: number,
  keepsShortResults: boolean,
): Promise<readonly IContent[]> {
  const { newHistory } = await new HighDensityStrategy().compress(
    compressionContext(curatedOf(history), {
      contextLimit,
      keepsShortResults,
      countEach: (entries) =>
        Promise.resolve(entries.map((entry) => countEntryTokens(entry, countThirds))),
    }),
  );
  return newHistory;
}

describe('planResidentCompression', () => {
  it('predicts the tokens of every entry whose results become lines', () => {
    let withMedia = 0;
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 80 }), fc.nat(20_000), (history, targetTokens) => {
        const plan = planOf(history, targetTokens);
        const curated = curatedOf(history);
        for (const [entry, tokens] of carryOutCompression(plan, curated).knownTokens) {
          expect(tokens).toBe(countEntryTokens(entry, countThirds));
        }
        for (let at = 0; at < plan.summarized.length; at += 2) {
          const block = curated[plan.summarized[at] ?? -1]?.blocks[plan.summarized[at + 1] ?? -1];
          if (block?.type === 'tool_response' && (block.mediaTokens ?? 0) > 0) withMedia += 1;
        }
      }),
      { numRuns: runs(300) },
    );
    expect(withMedia).toBeGreaterThan(sightings(100));
  });

  it('plans the same as the strategy does, also with empty answers and results that are lines already', async () => {
    const expectSame = async (
      history: readonly IContent[],
      limit: number,
      keepsShort: boolean,
    ): Promise<IContent[]> => {
      const here = await compressHere(history, limit, keepsShort);
      const plan = planOf(history, TARGET_SHARE * 0.85 * limit, keepsShort);
      const { newHistory, knownTokens } = carryOutCompression(plan, curatedOf(history));
      expect(newHistory).toEqual(here);
      const made = newHistory.filter((entry) => !history.includes(entry));
      expect(made).toEqual(here.filter((entry) => !history.includes(entry)));
      expect(knownTokens).toEqual(
        new Map(made.map((entry) => [entry, countEntryTokens(entry, countThirds)])),
      );
      return newHistory;
    };
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        fc.nat(80),
        fc.nat(2_000),
        fc.boolean(),
        async (given, place, limit, keepsShort) => {
          const inside = historyOf('a: a:r1,r2 t:r1? a: t:r1,r2 h a:');
          const once = await expectSame(given.toSpliced(place, 0, ...inside), limit, keepsShort);
          await expectSame([...once, ...historyOf('h a: a:r3 t:r3 h a')], limit, keepsShort);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
