// Recency pruning with informative placeholders: the edits are the same, and nothing is pruned twice, whatever the setting was before.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IContent } from '../../../../src/shared/content.js';
import { applyDensityResult, PRUNED_POINTER } from '../../../../src/shared/density.js';
import type { DensityConfig, PlaceholderForm } from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { outlineHistory } from '../../../../src/shared/summarize/history-outline.js';
import { placeholderKind } from '../../../../src/shared/placeholder.js';
import { summarizeToolResponse } from '../../../../src/shared/summarize/tool-summary.js';
import { arbitraryDensityConfig, arbitraryHistory } from '../../../support/arbitrary-history.js';
import { historyOf } from '../../../support/notation.js';
import { runs, sightings } from '../../../support/scale.js';

const FORMS: readonly PlaceholderForm[] = ['pointer', 'informative', 'recallable'];
const arbitraryForm = fc.constantFrom(...FORMS);
const RECENCY: DensityConfig = {
  readWritePruning: false,
  fileDedupe: false,
  recencyPruning: true,
  recencyRetention: 1,
  workspaceRoot: '/work',
};

function compacted(history: readonly IContent[], config: DensityConfig): IContent[] {
  const copy = [...history];
  applyDensityResult(copy, optimize(history, config));
  return copy;
}

function resultsOf(history: readonly IContent[]): unknown[] {
  return history.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'tool_response' ? [block.result] : [])),
  );
}

/** The result of a pass with the pointer, with each new pointer replaced by the line for its response. */
function expectedOf(
  history: readonly IContent[],
  config: DensityConfig,
  form: PlaceholderForm,
): IContent[] {
  const { callOf } = outlineHistory(history);
  const { removals, replacements, metadata } = optimize(history, config);
  const said = new Map<number, IContent>();
  for (const [index, after] of replacements) {
    const before = history[index]?.blocks ?? [];
    // A response keeps its position among the responses: none is dropped from an entry that stays in these histories.
    const blocks = after.blocks.map((block) => {
      if (block.type !== 'tool_response' || before.includes(block)) return block;
      const at = before.findIndex(
        (one) =>
          one.type === 'tool_response' &&
          one.callId === block.callId &&
          one.result !== PRUNED_POINTER,
      );
      const original = before[at];
      if (original?.type !== 'tool_response') return block;
      return { ...block, result: summarizeToolResponse(original, callOf(index, at), form) };
    });
    said.set(index, { ...after, blocks });
  }
  const copy = [...history];
  applyDensityResult(copy, { removals, replacements: said, metadata });
  return copy;
}

function holdsPlaceholder(history: readonly IContent[]): boolean {
  return history.some(({ blocks }) =>
    blocks.some((block) => block.type === 'tool_response' && placeholderKind(block) !== 'none'),
  );
}

function repeatsIdsInEntries(history: readonly IContent[]): boolean {
  return history.some(({ blocks }) => {
    const ids = blocks.flatMap((block) => (block.type === 'tool_response' ? [block.callId] : []));
    return new Set(ids).size < ids.length;
  });
}

describe('optimize with an informative placeholder', () => {
  it('names tool, key parameter, outcome, size and id, and how to recall the original', () => {
    const history = historyOf('a:r1 t:r1 a:r2 t:r2');
    const [first] = resultsOf(compacted(history, { ...RECENCY, placeholder: 'recallable' }));
    expect(first).toMatch(/^\[\w+: .+ — success, .+; recall\("r1"\) for the original\]$/);
    const [other] = resultsOf(compacted(history, { ...RECENCY, placeholder: 'informative' }));
    expect(other).toMatch(/^\[\w+: .+ — success, .+; id "r1"\]$/);
  });

  it('makes the same edits as a pass with the pointer, except for the text', () => {
    let written = 0;
    fc.assert(
      fc.property(
        arbitraryHistory(),
        arbitraryDensityConfig(),
        fc.constantFrom('informative' as const, 'recallable' as const),
        (history, config, placeholder) => {
          fc.pre(!holdsPlaceholder(history) && !repeatsIdsInEntries(history));
          const left = compacted(history, { ...config, placeholder });
          expect(left).toStrictEqual(expectedOf(history, config, placeholder));
          if (holdsPlaceholder(left)) written += 1;
        },
      ),
      { numRuns: runs(1_500) },
    );
    expect(written).toBeGreaterThan(sightings(50));
  });

  it('finds nothing in its own output', () => {
    fc.assert(
      fc.property(arbitraryHistory(), arbitraryDensityConfig(), arbitraryForm, (...drawn) => {
        const [history, config, placeholder] = drawn;
        const given = { ...config, placeholder };
        const { removals, replacements } = optimize(compacted(history, given), given);
        expect([removals, [...replacements]]).toEqual([[], []]);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('finds nothing in its own output if an id was too long to be named', () => {
    const id = 'x'.repeat(200);
    const history = historyOf('a:r1 t:r1 a:r2 t:r2').map((entry): IContent => ({
      ...entry,
      blocks: entry.blocks.map((block) => {
        if (block.type === 'tool_call') return { ...block, id: block.id + id };
        return block.type === 'tool_response' ? { ...block, callId: block.callId + id } : block;
      }),
    }));
    const config: DensityConfig = { ...RECENCY, placeholder: 'recallable' };
    const once = compacted(history, config);
    expect(resultsOf(once)[0]).toMatch(/ — success, [^;]+\]$/);
    expect(optimize(once, config).replacements.size).toBe(0);
  });

  it('keeps the placeholders of another form', () => {
    fc.assert(
      fc.property(
        arbitraryHistory(),
        arbitraryDensityConfig(),
        arbitraryForm,
        arbitraryForm,
        (history, config, before, after) => {
          fc.pre(!holdsPlaceholder(history));
          const once = compacted(history, { ...config, placeholder: before });
          const twice = compacted(once, { ...config, placeholder: after });
          expect(twice).toStrictEqual(once);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('keeps summary lines, which the pointer replaces', () => {
    const history = historyOf('a:r1 t:r1 a:r2 t:r2');
    const line = '[read_file: a — success, 1 line]';
    const named = history.map((entry, at): IContent => ({
      ...entry,
      blocks: entry.blocks.map((block) => {
        if (block.type !== 'tool_response') return block;
        const answer = { ...block, toolName: 'read_file' };
        return at === 1 ? { ...answer, result: line } : answer;
      }),
    }));
    expect(optimize(named, { ...RECENCY, placeholder: 'recallable' }).replacements.size).toBe(0);
    const firstAfter = (placeholder: PlaceholderForm): unknown =>
      resultsOf(compacted(named, { ...RECENCY, placeholder }))[0];
    expect(firstAfter('recallable')).toBe(line);
    expect(firstAfter('pointer')).toBe(PRUNED_POINTER);
  });
});
