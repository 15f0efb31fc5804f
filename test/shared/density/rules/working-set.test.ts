// Properties of a working set over any history and by any rules: laws, and agreement with a naive second implementation of the rules.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { aiContent, toolCall, toolContent, toolResponse } from '../../../../src/shared/content.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../../../../src/shared/content.js';
import {
  DEFAULT_DENSITY_CONFIG,
  isEmptyDensityResult,
  REMOVED_POINTER,
} from '../../../../src/shared/density.js';
import type { DensityConfig, ShrinkOption } from '../../../../src/shared/density.js';
import { isExcerpt } from '../../../../src/shared/density/index/excerpt.js';
import { isRecord } from '../../../../src/shared/json.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import {
  DEFAULT_WORKING_SET,
  withColdCache,
  WORKING_SET_RULE_NAMES,
} from '../../../../src/shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import { PROVIDER_PROFILES } from '../../../../src/shared/providers/provider-violation.js';
import { validate } from '../../../../src/shared/providers/validate.js';
import { placeholderKind } from '../../../../src/shared/placeholder.js';
import {
  estimatePayloadTokens,
  estimateResultTokens,
} from '../../../../src/shared/tokens/estimate.js';
import { findViolations } from '../../../../src/shared/validity.js';
import { applied, documented, freezeDeep } from '../../../support/applied.js';
import { arbitraryBrokenHistory } from '../../../support/arbitrary-broken-history.js';
import { arbitrarySendableHistory } from '../../../support/arbitrary-sendable-history.js';
import {
  arbitraryWorkingConfig,
  arbitraryWorkingHistory,
  WORKING_TOOLS,
} from '../../../support/arbitrary-working-history.js';
import { naiveOptimize } from '../../../support/naive-optimize.js';
import { pairNaively } from '../../../support/naive-pairs.js';
import { workingHistory } from '../../../support/working-notation.js';
import { runs, sightings } from '../../../support/scale.js';

type WorkingConfig = DensityConfig & { readonly workingSet: WorkingSetRules };
type Law = (history: IContent[], config: WorkingConfig) => void;

/** Checks a law on random histories and rules; a failure prints its seed and smallest case. */
function holds(cases: number, law: Law, histories = arbitraryWorkingHistory()): void {
  const configs = arbitraryWorkingConfig() as fc.Arbitrary<WorkingConfig>;
  fc.assert(fc.property(histories, configs, law), { numRuns: runs(cases) });
}

/** The same with the working set as the only phase. */
function holdsAlone(cases: number, law: Law, histories = arbitraryWorkingHistory()): void {
  const off = { readWritePruning: false, fileDedupe: false, recencyPruning: false };
  holds(cases, (history, config) => law(history, { ...config, ...off }), histories);
}

const broken = arbitraryWorkingHistory(arbitraryBrokenHistory());

function blocksOf(history: readonly IContent[]): ReadonlySet<ContentBlock> {
  return new Set(history.flatMap(({ blocks }) => blocks));
}

/** What the laws have seen. */
const seen = {
  pointers: 0,
  excerpts: 0,
  spent: 0,
  kept: 0,
  unsent: 0,
  repeated: 0,
  withOthers: 0,
};

function note(history: readonly IContent[], compacted: readonly IContent[]): void {
  const before = blocksOf(history);
  const after = blocksOf(compacted);
  for (const block of after) {
    if (block.type !== 'tool_response') continue;
    if (before.has(block)) seen.kept += 1;
    else if (isExcerpt(block.result)) seen.excerpts += 1;
    else seen.pointers += 1;
  }
}

describe('optimize with a working set', () => {
  it('agrees with the naive implementation', () => {
    holds(3_000, (history, config) => {
      const result = optimize(history, config);
      expect(documented(result)).toStrictEqual(naiveOptimize(history, config));
      const { workingSetPruned = 0, readWritePairsPruned, recencyPruned } = result.metadata;
      if (workingSetPruned > 0 && readWritePairsPruned + recencyPruned > 0) seen.withOthers += 1;
    });
  });

  it('agrees with the naive implementation on broken histories', () => {
    holds(
      1_500,
      (history, config) => {
        expect(documented(optimize(history, config))).toStrictEqual(naiveOptimize(history, config));
      },
      broken,
    );
  });

  it('finds nothing in its own output', () => {
    holds(6_000, (history, config) => {
      const compacted = applied(history, optimize(history, config));
      expect(isEmptyDensityResult(optimize(compacted, config))).toBe(true);
    });
  });

  it('finds nothing in its own output of broken histories', () => {
    holds(
      2_000,
      (history, config) => {
        const compacted = applied(history, optimize(history, config));
        expect(isEmptyDensityResult(optimize(compacted, config))).toBe(true);
      },
      broken,
    );
  });

  it.each(['informative', 'recallable'] as const)(
    'finds nothing in its own output with %s placeholders, and removes the same',
    (placeholder) => {
      holds(1_500, (history, config) => {
        const pointers = optimize(history, config);
        const result = optimize(history, { ...config, placeholder });
        const compacted = applied(history, result);
        expect(isEmptyDensityResult(optimize(compacted, { ...config, placeholder }))).toBe(true);
        // Recency pruning treats existing lines differently.
        if (config.recencyPruning) return;
        expect(result.metadata).toEqual(pointers.metadata);
        expect(result.removals).toEqual(pointers.removals);
        expect([...result.replacements.keys()]).toEqual([...pointers.replacements.keys()]);
      });
    },
  );

  it('has equal results for equal histories, and does not modify them', () => {
    holds(1_000, (history, config) => {
      const copy = structuredClone(history);
      const result = optimize(freezeDeep(history), freezeDeep(config));
      expect(optimize(copy, config)).toStrictEqual(result);
      expect(copy).toStrictEqual(history);
    });
  });

  it('never suggests a repetition in place of a result, not even of a repeated one', () => {
    const rules = { ...DEFAULT_WORKING_SET, outputCalls: 0, earlyShare: 0, freeTokens: 0 };
    const workingSet = withColdCache(rules);
    const config = {
      ...DEFAULT_DENSITY_CONFIG,
      toolCatalog: WORKING_TOOLS,
      workspaceRoot: '/w',
      workingSet,
    };
    const history = workingHistory('run(x)=900 run(x)=900 run(y)=900 a a a');
    const results = applied(history, optimize(history, config)).flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool_response' ? [String(block.result)] : [])),
    );
    expect(results[0]).toBe(REMOVED_POINTER);
    expect(results[2]).toContain(REMOVED_POINTER);
    for (const result of results) expect(result).not.toMatch(/re-run|again/);
  });

  describe('of results that newer ones supersede', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `order_${at} is on its way`);
    const pruned = (
      tool: string,
      parameters: unknown,
      shrink: ShrinkOption,
    ): readonly unknown[] => {
      const workingSet = withColdCache({
        ...{ ...DEFAULT_WORKING_SET, earlyShare: 0, freeTokens: 0 },
        ...{ outputCalls: 0, otherCalls: 0, readCalls: 0 },
      });
      const config = {
        ...{ ...DEFAULT_DENSITY_CONFIG, toolCatalog: WORKING_TOOLS, workspaceRoot: '/w' },
        ...{ workingSet, shrink },
      };
      const asked = ['1', '2'].flatMap((id) => [
        aiContent([toolCall(id, tool, parameters)]),
        toolContent([toolResponse(id, tool, [`now_${id}`, ...lines].join('\n'))]),
      ]);
      const sent = applied(asked, optimize(asked, config));
      const later = [...sent, ...workingHistory(Array(25).fill('a').join(' '))];
      return applied(later, optimize(later, config)).flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === 'tool_response' ? [block.result] : [])),
      );
    };

    it('describes nothing if the newer one shows the same', () => {
      const [older, newer] = pruned('run_shell_command', { command: 'orders' }, 'off');
      expect(older).toBe(REMOVED_POINTER);
      expect(newer).toContain('order_0');
    });

    it('describes the content if the newer one refers to it', () => {
      const [older, newer] = pruned('run_shell_command', { command: 'orders' }, 'lossless');
      expect(older).toContain('order_0');
      expect(newer).not.toContain('order_0');
    });

    it('describes the content if an unknown tool may have returned something else then', () => {
      expect(pruned('get_weather', { what: 'orders' }, 'off')[0]).toContain('now_1');
    });
  });

  it('changes results and arguments only: calls stay, and name what can be read again', () => {
    holdsAlone(3_000, (history, config) => {
      const result = optimize(history, config);
      const compacted = applied(history, result);
      note(history, compacted);
      expect(result.removals).toEqual([]);
      for (const [index, { speaker, metadata, blocks }] of result.replacements) {
        const entry = history[index];
        expect([speaker, metadata]).toEqual([entry?.speaker, entry?.metadata]);
        expect(speaker).not.toBe('human');
        for (const block of blocks) {
          if (entry?.blocks.includes(block)) continue;
          if (block.type === 'tool_call') {
            seen.spent += 1;
            continue;
          }
          expect(block.type).toBe('tool_response');
          const { result: left, ...others } = block as ToolResponseBlock;
          expect(left === REMOVED_POINTER || isExcerpt(left)).toBe(true);
          expect(others).not.toHaveProperty('mediaTokens');
          const origins = (entry?.blocks ?? []).flatMap((candidate) => {
            if (candidate.type !== 'tool_response') return [];
            const { result: _, mediaTokens: __, ...rest } = candidate;
            return [rest];
          });
          expect(origins).toContainEqual(others);
        }
      }
      expect(isEmptyDensityResult(result)).toBe(result.metadata.workingSetPruned === 0);
    });
  });

  it('changes no result that was never sent, and no call of the newest answer', () => {
    const law: Law = (history, config) => {
      const after = blocksOf(applied(history, optimize(history, config)));
      const newest = history.findLastIndex(({ speaker }) => speaker === 'ai');
      for (const [index, { blocks }] of history.entries()) {
        if (index < newest) continue;
        for (const block of blocks) {
          if (block.type !== 'tool_response' && block.type !== 'tool_call') continue;
          // A placeholder is older than this pass.
          if (block.type === 'tool_response' && placeholderKind(block) !== 'none') continue;
          seen.unsent += 1;
          expect(after.has(block)).toBe(true);
        }
      }
    };
    holdsAlone(2_000, law);
    holdsAlone(1_000, law, broken);
  });

  it('keeps the newest success of equal calls until it expires', () => {
    holdsAlone(2_000, (history, config) => {
      const after = blocksOf(applied(history, optimize(history, config)));
      const pairs = pairNaively(history);
      pairs.forEach(({ call, callEntry, responseEntry, responseBlock }, at) => {
        const isSearch = call.name === 'search_text';
        if (!isSearch && call.name !== 'get_weather') return;
        const response = history[responseEntry]?.blocks[responseBlock];
        if (response?.type !== 'tool_response' || response.error !== undefined) return;
        const isSame = (other: typeof call): boolean =>
          JSON.stringify([other.name, other.parameters]) ===
          JSON.stringify([call.name, call.parameters]);
        if (pairs.slice(at + 1).some((other) => isSame(other.call))) seen.repeated += 1;
        else {
          const { readCalls, searchCalls, otherCalls, earlyShare } = config.workingSet;
          const age = history.slice(callEntry + 1).filter(({ speaker }) => speaker === 'ai').length;
          const hasPlaceholder = placeholderKind(response) !== 'none';
          // An unknown tool with a file parameter may show the file, and so may one with parameters that are not fields; a short result may be a record.
          const keys = isRecord(call.parameters) ? Object.keys(call.parameters) : ['file'];
          const saysLittle = estimateResultTokens(response) < 400;
          const isRead = saysLittle || keys.some((key) => /path|file/.test(key));
          const time = isSearch ? searchCalls : isRead ? readCalls : otherCalls;
          if (!hasPlaceholder && age <= earlyShare * time) expect(after.has(response)).toBe(true);
        }
      });
    });
  });

  it('removes nothing while all results, and all arguments, have few tokens', () => {
    holdsAlone(1_000, (history, config) => {
      let [results, texts] = [0, 0];
      for (const block of blocksOf(history)) {
        if (block.type === 'tool_response') results += estimateResultTokens(block);
        if (block.type === 'tool_call') texts += estimatePayloadTokens(block.parameters);
      }
      if (Math.max(results, texts) >= config.workingSet.freeTokens) return;
      expect(isEmptyDensityResult(optimize(history, config))).toBe(true);
    });
  });

  it('makes no history longer', () => {
    holdsAlone(2_000, (history, config) => {
      // By the estimate that the rule uses: text without words, such as blank lines, may have fewer tokens than its replacement.
      const tokensOf = (entries: readonly IContent[]): number =>
        [...blocksOf(entries)].reduce(
          (sum, block) => sum + (block.type === 'tool_response' ? estimateResultTokens(block) : 0),
          0,
        );
      const compacted = applied(history, optimize(history, config));
      expect(tokensOf(compacted)).toBeLessThanOrEqual(tokensOf(history));
    });
  });

  it('keeps valid histories valid', () => {
    holds(2_000, (history, config) => {
      const compacted = applied(history, optimize(history, config));
      expect(findViolations(compacted, history)).toEqual([]);
    });
  });

  it('adds no violations', () => {
    holds(
      1_500,
      (history, config) => {
        const compacted = applied(history, optimize(history, config));
        expect(findViolations(compacted).length).toBeLessThanOrEqual(
          findViolations(history).length,
        );
      },
      broken,
    );
  });

  it('keeps histories acceptable to every provider that accepted them before', () => {
    let judgedTimes = 0;
    holds(
      2_000,
      (history, config) => {
        const compacted = applied(history, optimize(history, config));
        for (const profile of PROVIDER_PROFILES) {
          if (validate(history, profile).length > 0) continue;
          judgedTimes += 1;
          expect(validate(compacted, profile)).toEqual([]);
        }
      },
      arbitraryWorkingHistory(arbitrarySendableHistory({ maxEntries: 60 })),
    );
    expect(judgedTimes).toBeGreaterThan(sightings(2_000));
  });

  it('was tested in all of its cases', () => {
    for (const [kind, times] of Object.entries(seen)) {
      expect([kind, times > sightings(80)]).toEqual([kind, true]);
    }
  });
});

const WORTH_NOTHING: WorkingSetRules = {
  ...{ readCalls: 0, searchCalls: 0, outputCalls: 0, otherCalls: 0 },
  ...{ earlyShare: 1, paybackCalls: Infinity, freeTokens: 0 },
};

function configOf(workingSet?: unknown): DensityConfig {
  return {
    ...DEFAULT_DENSITY_CONFIG,
    ...{ workspaceRoot: '/work', toolCatalog: WORKING_TOOLS },
    ...(workingSet !== undefined && { workingSet: workingSet as WorkingSetRules }),
  };
}

describe('DensityConfig.workingSet', () => {
  it.each(WORKING_SET_RULE_NAMES)('is refused without a number for %s', (name) => {
    const history = freezeDeep(workingHistory('read(a.ts) run(x) a a'));
    for (const rule of [undefined, null, NaN, -1, -0.001, -Infinity, '5', true, {}, 5n]) {
      const refused = (): unknown =>
        optimize(history, configOf({ ...WORTH_NOTHING, [name]: rule }));
      expect(refused).toThrow(RangeError);
      expect(refused).toThrow(`'${name}'`);
    }
    const { [name]: _, ...others } = WORTH_NOTHING;
    expect(() => optimize(history, configOf(others))).toThrow(RangeError);
  });

  it('may be infinite in every rule except a share', () => {
    const history = workingHistory('read(a.ts) run(x) a a');
    for (const name of WORKING_SET_RULE_NAMES) {
      if (name === 'earlyShare') continue;
      const config = configOf({ ...WORTH_NOTHING, [name]: Infinity });
      const compacted = applied(history, optimize(history, config));
      expect(isEmptyDensityResult(optimize(compacted, config))).toBe(true);
    }
    const all = Object.fromEntries(WORKING_SET_RULE_NAMES.map((name) => [name, Infinity]));
    expect(() => optimize(history, configOf(all))).toThrow("'earlyShare'");
    all.earlyShare = 0;
    expect(isEmptyDensityResult(optimize(history, configOf(all)))).toBe(true);
  });

  it.each(['readLease', 'minReclaimTokens', 'callLease', 'toString', 'x'.repeat(99)])(
    'is refused with an unknown rule: %s',
    (name) => {
      const rules = { ...WORTH_NOTHING, [name]: 1 };
      expect(() => optimize([], configOf(rules))).toThrow(RangeError);
      expect(() => optimize([], configOf(rules))).toThrow('its rules are readCalls');
    },
  );

  it('lets edits leave earlier reads in place, unless told otherwise', () => {
    const history = workingHistory('read(a.ts) edit(a.ts) a');
    const keeping = { ...WORTH_NOTHING, readCalls: 99, otherCalls: 99 };
    const config = configOf(keeping);
    expect(isEmptyDensityResult(optimize(history, config))).toBe(true);
    const superseding = optimize(history, { ...config, partialWritesSupersede: true });
    expect(superseding.metadata.readWritePairsPruned).toBe(1);
    expect(optimize(history, configOf()).metadata.readWritePairsPruned).toBe(1);
  });

  it('reports how many results were removed, and nothing without one', () => {
    const history = workingHistory('run(x) run(y) a');
    expect(optimize(history, configOf(WORTH_NOTHING)).metadata.workingSetPruned).toBe(2);
    expect(optimize(history, configOf()).metadata).not.toHaveProperty('workingSetPruned');
  });
});
