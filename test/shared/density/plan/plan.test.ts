// The rows of a plan as edits of rules, and which passes have the same plans.

import { describe, expect, it } from 'vitest';
import { DEFAULT_DENSITY_CONFIG } from '../../../../src/shared/density.js';
import type { DensityConfig } from '../../../../src/shared/density.js';
import { isSamePass, optimize } from '../../../../src/shared/density/plan/optimize.js';
import { listRuleEdits } from '../../../../src/shared/density/plan/plan.js';
import { describeResult, historyOf } from '../../../support/notation.js';

const CONFIG: DensityConfig = {
  ...DEFAULT_DENSITY_CONFIG,
  ...{ workspaceRoot: '/work', recencyPruning: true, recencyRetention: 1 },
};

describe('listRuleEdits', () => {
  it('has the rule, the action and the file of each row', () => {
    const history = historyOf('h:see+@a.ts a:r1,s2 t:r1,s2 a:w3 t:w3 a:s4 t:s4 h:@a.ts');
    const { rows = new Int32Array() } = optimize(history, CONFIG);
    const blocksOf = (entry: number) => history[entry]?.blocks;
    const edits = listRuleEdits(rows, blocksOf);
    expect(edits).toEqual([
      { entry: 0, block: 0, rule: 'file-dedupe', action: 'cut', path: 'a.ts' },
      { entry: 1, block: 0, rule: 'read-write', action: 'companion', path: null },
      { entry: 2, block: 0, rule: 'read-write', action: 'drop', path: null },
      { entry: 2, block: 1, rule: 'recency', action: 'pointer', path: null },
    ]);
    expect(listRuleEdits(rows, () => undefined).map(({ path }) => path)).toEqual(
      edits.map(() => null),
    );
    for (const [column, unknown] of [
      [2, 99],
      [3, 99],
    ] as const) {
      expect(listRuleEdits(rows.with(column, unknown), blocksOf)).toEqual(edits.slice(1));
    }
  });

  it('refuses other rows, and what is no function', () => {
    expect(() => listRuleEdits([] as unknown as Int32Array, () => [])).toThrow(TypeError);
    expect(() => listRuleEdits(new Int32Array(), {} as () => [])).toThrow(TypeError);
  });
});

describe('isSamePass', () => {
  it('is true of passes that every rule runs alike in', () => {
    const { partialWritesSupersede: _, placeholder: __, ...rest }: DensityConfig = CONFIG;
    expect(isSamePass(CONFIG, CONFIG)).toBe(true);
    expect(isSamePass(rest, { ...rest, placeholder: 'pointer' })).toBe(true);
    expect(isSamePass(rest, { ...rest, partialWritesSupersede: true })).toBe(true);
    expect(isSamePass(rest, { ...rest, partialWritesSupersede: false })).toBe(false);
    expect(isSamePass(rest, { ...rest, recencyRetention: 2 })).toBe(false);
  });
});

describe('optimize', () => {
  it.each([
    ['keeps the first call of a group while another stays', 'a.ts', 'b.ts', ''],
    ['removes another call of a group', 'b.ts', 'a.ts', '~0 ~1'],
    ['removes a whole group', 'a.ts', './a.ts', '-0 -1'],
  ])('%s', (_, first, second, edits) => {
    const history = historyOf(`a:r1(${first}),r2(${second}) t:r1,r2 a:w3(a.ts) t:w3`);
    const grouped = history.map((entry) => ({
      ...entry,
      blocks: entry.blocks.map((block) =>
        block.type === 'tool_call' && block.id !== 'w3' ? { ...block, parallelGroup: 'g' } : block,
      ),
    }));
    expect(describeResult(optimize(grouped, CONFIG))).toBe(edits);
  });
});
