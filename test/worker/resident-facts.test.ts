// Facts of chosen entries, compared with new facts of the same history.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IContent } from '../../src/shared/content.js';
import { HistoryIndex } from '../../src/shared/density/index/history-index.js';
import { scopeOfSession } from '../../src/shared/density/index/index-scope.js';
import { measureEntries } from '../../src/shared/tokens/count-tokens.js';
import { stretchesOfRewrite } from '../../src/shared/density/index/stretches.js';
import { ResidentFacts } from '../../src/worker/resident-facts.js';
import type { MeasuredEntry } from '../../src/worker/resident-facts.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { countThirds } from '../support/piece-counters.js';
import { RESIDENT_AGENT } from '../support/resident-session.js';
import { runs, sightings } from '../support/scale.js';

/** Every fifth entry was counted elsewhere. */
function measured(content: IContent, at: number): MeasuredEntry {
  const known = Int32Array.of(at % 5 === 4 ? 7 : -1);
  const { tokens, blocks, results } = measureEntries([content], countThirds, known);
  return { content, tokens: tokens[0] ?? 0, blocks, results };
}

function fed(entries: readonly MeasuredEntry[]): { index: HistoryIndex; facts: ResidentFacts } {
  const index = new HistoryIndex(scopeOfSession(RESIDENT_AGENT));
  const facts = new ResidentFacts();
  for (const entry of entries) {
    index.append(entry.content);
    facts.append(index, entry);
  }
  return { index, facts };
}

function listed(facts: ResidentFacts): unknown {
  const { entryTokens, callTokens, responseTokens, resultTokens, flags } = facts;
  return {
    columns: [entryTokens, callTokens, responseTokens, resultTokens, flags].map((column) =>
      column.toArray(),
    ),
    keys: Array.from(callTokens.toArray(), (_, row) => facts.keyOfCall(row)),
    digests: Array.from(resultTokens.toArray(), (_, row) => facts.digestOfResponse(row)),
  };
}

describe('ResidentFacts', () => {
  it('equal, for chosen entries, those of their history, also after texts were dropped', () => {
    const orders = fc.array(fc.nat(400), { maxLength: 80, size: 'max' });
    let digests = 0;
    let ownKeys = 0;
    fc.assert(
      fc.property(arbitraryHistory(), orders, (history, order) => {
        const entries = history.map(measured);
        const places = entries.length === 0 ? [] : order.map((place) => place % entries.length);
        const { index, facts } = fed(entries);
        // Names that soon are unused.
        for (let name = 0; name < 300; name += 1) {
          const parameters = { command: `${String(name)} ${String(history.length)}` };
          const blocks = [{ type: 'tool_call', id: 'x', name: 'run', parameters }] as const;
          const content: IContent = { speaker: 'ai', blocks };
          index.append(content);
          facts.append(index, measured(content, 0));
        }
        const stretches = stretchesOfRewrite(index.length, Int32Array.from(places));
        const chosen = facts.chosen(stretches.list(), index.chosen(stretches));
        const expected = fed(places.flatMap((place) => entries[place] ?? [])).facts;
        const [actual, wanted] = [listed(chosen), listed(expected)];
        if (!isDeepStrictEqual(actual, wanted)) expect(actual).toStrictEqual(wanted);
        for (let row = 0; row < chosen.resultTokens.length; row += 1) {
          const digest = chosen.digestOfResponse(row);
          if (digest === undefined || digest.isSummary) continue;
          digests += 1;
          if (digest.ownKey !== undefined) ownKeys += 1;
        }
      }),
      { numRuns: runs(300) },
    );
    expect(Math.min(digests, ownKeys)).toBeGreaterThan(sightings(500));
  });
});
