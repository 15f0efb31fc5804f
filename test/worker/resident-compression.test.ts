// What a compression that is planned without payloads foretells of the entries that it makes.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countablePart } from '../../src/main/offload/posted-entry.js';
import { carriesContent } from '../../src/shared/content.js';
import { carryOutCompression } from '../../src/shared/summarize/plan-compression.js';
import { countEntryTokens } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { countThirds } from '../support/piece-counters.js';
import { RESIDENT_AGENT } from '../support/resident-session.js';
import { runs, sightings } from '../support/scale.js';

describe('planResidentCompression', () => {
  it('foretells the tokens of every entry whose results become lines', () => {
    let withMedia = 0;
    fc.assert(
      fc.property(arbitraryHistory({ maxEntries: 80 }), fc.nat(20_000), (history, targetTokens) => {
        const resident = new ResidentHistory(
          { agent: RESIDENT_AGENT, countsTokens: true },
          countThirds,
        );
        const after = { revision: 0, length: history.length };
        const contents = history.map(countablePart);
        const knownTokens = new Int32Array(history.length).fill(-1);
        const steps = [{ kind: 'stage', contents, knownTokens } as const];
        resident.receive({ sequence: 1, before: { revision: 0, length: 0 }, after, steps });
        const plan = resident.compress(after, { preserveThreshold: 0.2, targetTokens });
        if (plan === null) throw new Error();

        const curated = history.filter(
          ({ speaker, blocks }) => speaker !== 'ai' || blocks.some(carriesContent),
        );
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
});
