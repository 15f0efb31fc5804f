// Why a result stays in the working set, or has left it: one rule after the other, on short histories.

import { describe, expect, it } from 'vitest';
import type { IContent } from '../../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../../src/shared/density.js';
import { excerptOf } from '../../../../src/shared/density/index/excerpt.js';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfPass } from '../../../../src/shared/density/plan/optimize.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import {
  judgeWorkingSet,
  WORKING_SET_REASON,
} from '../../../../src/shared/density/rules/judge-working-set.js';
import type { WorkingSet } from '../../../../src/shared/density/rules/judge-working-set.js';
import { WORKING_TOOLS } from '../../../support/arbitrary-working-history.js';
import { textOf, workingHistory } from '../../../support/working-notation.js';

/** All of them, so that no test depends on a default. */
const RULES: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  ...{ readLease: 2, touchLease: 1, nameLease: 1, searchLease: 1, outputLease: 1 },
  ...{ excerptLease: 1, excerptTokens: 200, callLease: 100, relaxedTokens: 0, maxRelaxation: 1 },
  ...{ minTokens: 50, minCausingTokens: 50, tailTokens: 0 },
};

function judged(history: readonly IContent[], rules: Partial<WorkingSetRules> = {}): WorkingSet {
  const workingSet = { ...RULES, ...rules };
  const index = new HistoryIndex(
    scopeOfPass({
      ...{ readWritePruning: false, fileDedupe: false, recencyPruning: false, recencyRetention: 1 },
      ...{ workspaceRoot: '/work', toolCatalog: WORKING_TOOLS, workingSet },
    }),
  );
  for (const entry of history) index.append(entry);
  return judgeWorkingSet(index, workingSet);
}

const NAMES = Object.keys(WORKING_SET_REASON);

/** The reasons of all results, in their order, with the rows of the calls that they come from. */
function reasonsOf(
  history: string | readonly IContent[],
  rules: Partial<WorkingSetRules> = {},
): string {
  const entries = typeof history === 'string' ? workingHistory(history) : history;
  const { reason, by } = judged(entries, rules);
  return Array.from(reason, (why, row) => {
    const call = by[row] ?? -1;
    return `${NAMES[why] ?? ''}${call === -1 ? '' : `:${call}`}`;
  }).join(' ');
}

/** So many answers that call nothing. */
function answers(count: number): string {
  return ' a'.repeat(count);
}

function withResult(history: readonly IContent[], result: unknown): readonly IContent[] {
  return history.map((entry) => ({
    ...entry,
    blocks: entry.blocks.map((block) =>
      block.type === 'tool_response' ? { ...block, result } : block,
    ),
  }));
}

describe('judgeWorkingSet', () => {
  it('keeps a result that the model was not sent yet, however often its call was made', () => {
    const rules = { readLease: 0, outputLease: 0, excerptLease: 0 };
    expect(reasonsOf('run(x)+run(x)+run(x)', rules)).toBe('unsent unsent unsent');
    expect(reasonsOf('run(x) a', rules)).toBe('expired');
  });

  it('keeps a result that came late, although its call is old', () => {
    const [call, response, ...others] = workingHistory('run(x) a a a');
    const late = [call, ...others, response].filter((entry) => entry !== undefined);
    expect(reasonsOf(late)).toBe('unsent');
    expect(reasonsOf([...late, ...workingHistory('a')])).toBe('expired');
  });

  it('counts ages in answers, and says them', () => {
    const { age } = judged(workingHistory('run(x)+run(y) a run(z) a a'));
    expect([...age]).toEqual([4, 4, 2]);
  });

  it('keeps what is small', () => {
    expect(reasonsOf(`run(x)=49 run(y)=50${answers(5)}`)).toBe('small expired');
  });

  it('has no reason for what is gone, nor for a result without a call', () => {
    const history = workingHistory(`run(x)${answers(5)}`);
    expect(reasonsOf(withResult(history, PRUNED_POINTER))).toBe('none');
    expect(reasonsOf(history.filter(({ speaker }) => speaker === 'tool'))).toBe('none');
  });

  it.each([
    ['read(a.ts)', { readLease: 3 }, 3],
    ['other(x)', { readLease: 3 }, 3],
    ['search(x)', { searchLease: 3, excerptLease: 0 }, 3],
    ['run(x)', { outputLease: 3, excerptLease: 0 }, 3],
    ['write(a.ts)', { outputLease: 3 }, 3],
  ])('keeps the result of %s up to the age of its lease', (call, rules, lease) => {
    expect(reasonsOf(`${call}${answers(lease)}`, rules)).toBe('fresh');
    expect(reasonsOf(`${call}${answers(lease + 1)}`, rules)).toBe('expired');
  });

  describe('by a later call with the same parameters', () => {
    it('takes the earlier results, and keeps the newest until its time is over', () => {
      expect(reasonsOf('run(x) run(x) run(x) a')).toBe('repeated:2 repeated:2 fresh');
      expect(reasonsOf('search(x) search(y) search(x) a', { searchLease: 9 })).toBe(
        'repeated:2 fresh fresh',
      );
      expect(reasonsOf(`run(x) run(x)${answers(9)}`)).toBe('repeated:1 expired');
    });

    it('keeps the earlier one when the later failed, is open, or is gone', () => {
      const rules = { outputLease: 9, readLease: 9 };
      expect(reasonsOf('run(x) run(x)! a', rules)).toBe('fresh fresh');
      expect(reasonsOf('run(x) run(x)? a', rules)).toBe('fresh');
      const [call, response, ...later] = workingHistory('run(x) run(x) a');
      const gone = [call, response, ...withResult(later, PRUNED_POINTER)];
      expect(
        reasonsOf(
          gone.filter((entry) => entry !== undefined),
          rules,
        ),
      ).toBe('fresh none');
    });

    it('takes a failure once the same call has succeeded', () => {
      expect(reasonsOf('run(x)! run(x) a', { outputLease: 9 })).toBe('repeated:1 fresh');
    });

    it('takes none of another tool, and no write', () => {
      const rules = { outputLease: 9, readLease: 9, searchLease: 9 };
      expect(reasonsOf('write(a.ts) write(a.ts) edit(a.ts) edit(a.ts) a', rules)).toBe(
        'fresh fresh fresh fresh',
      );
      expect(reasonsOf('read(a.ts) lines(a.ts:1-2000) part(a.ts) a', rules)).toBe(
        'readAgain:1 fresh fresh',
      );
    });
  });

  describe('by a later read of the same lines', () => {
    it('takes a read whose lines are all shown again', () => {
      const rules = { readLease: 9 };
      expect(reasonsOf('lines(a.ts:5-9) lines(a.ts:5-9) a', rules)).toBe('readAgain:1 fresh');
      expect(reasonsOf('lines(a.ts:5-9) lines(a.ts:1-20) a', rules)).toBe('readAgain:1 fresh');
      expect(reasonsOf('lines(a.ts:5-9) read(a.ts) a', rules)).toBe('readAgain:1 fresh');
      expect(reasonsOf('run(sed_-n_5,9p_a.ts) lines(./a.ts:1-20) a', rules)).toBe(
        'readAgain:1 fresh',
      );
    });

    it.each([
      'lines(a.ts:5-9) lines(a.ts:6-20) a',
      'lines(a.ts:5-9) lines(a.ts:1-8) a',
      'lines(a.ts:5-9) lines(b.ts:5-9) a',
      'lines(a.ts:5-9) part(a.ts) a',
      'lines(a.ts:5-9) lines(a.ts:5-9)! a',
      'lines(a.ts:5-9) many(a.ts|b.ts) a',
      'lines(a.ts:5-9) search(a.ts) a',
      'read(a.ts) lines(a.ts:1-1999) a',
      'read(a.ts) read(a.ts)! a',
    ])('keeps the first read of %s', (notation) => {
      expect(reasonsOf(notation, { readLease: 9, searchLease: 9 })).toBe('fresh fresh');
    });

    it('finds one behind others that do not show all', () => {
      const others = Array.from({ length: 20 }, (_, at) => `lines(a.ts:${at + 6}-99)`).join(' ');
      expect(reasonsOf(`lines(a.ts:5-9) ${others} read(a.ts) a`, { readLease: 99 })).toMatch(
        /^readAgain:21 /,
      );
    });
  });

  describe('by touching the file', () => {
    const rules = { readLease: 1, touchLease: 3, nameLease: 0 };

    it.each([
      'write(a.ts)',
      'edit(./a.ts)',
      'edit(/work/a.ts)',
      'edit(a.ts)!',
      'lines(a.ts:9-30)',
      'run(sed_-n_9,30p_a.ts)',
      'run(sed_-i_x_a.ts)',
    ])('keeps a read of lines for which %s is recent', (touch) => {
      const before = `lines(a.ts:5-9)${answers(2)} ${touch}`;
      expect(reasonsOf(`${before}${answers(3)}`, rules)).toMatch(/^touched:1/);
      expect(reasonsOf(`${before}${answers(4)}`, rules)).toMatch(/^expired/);
    });

    it.each([
      'lines(a.ts:10-30)',
      'lines(a.ts:1-4)',
      'edit(b.ts)',
      'search(a.ts)',
      'other(a.ts)',
      'run(rg_x_a.ts)',
      'many(a.ts|b.ts)',
      'part(a.ts)',
    ])('lets a read of lines go for which there is but %s', (touch) => {
      expect(reasonsOf(`lines(a.ts:5-9)${answers(2)} ${touch} a`, rules)).toMatch(/^expired/);
    });

    it.each(['run(rg_x_a.ts)', 'run(npx_tsc_a.ts)', 'many(a.ts|b.ts)', 'part(a.ts)', 'edit(a.ts)'])(
      'keeps a read of lines whose file %s names, by a lease of its own',
      (naming) => {
        const before = `lines(a.ts:5-9)${answers(2)} ${naming}`;
        const named = { readLease: 1, touchLease: 0, nameLease: 3 };
        expect(reasonsOf(`${before}${answers(3)}`, named)).toMatch(/^touched:1/);
        expect(reasonsOf(`${before}${answers(4)}`, named)).toMatch(/^expired/);
      },
    );

    it('keeps a read whose lines are not known by any call that names one of its files', () => {
      for (const touch of ['part(b.ts)', 'run(rg_x_b.ts)', 'edit(b.ts)', 'lines(b.ts:1-2)']) {
        const before = `many(a.ts|b.ts)${answers(2)} ${touch}`;
        expect(reasonsOf(`${before}${answers(3)}`, rules)).toMatch(/^touched:1/);
        expect(reasonsOf(`${before}${answers(4)}`, rules)).toMatch(/^expired/);
        expect(reasonsOf(`part(a.ts)${answers(2)} ${touch} a`, rules)).toMatch(/^expired/);
      }
    });

    it('counts what was touched before as nothing', () => {
      expect(reasonsOf(`edit(a.ts) lines(a.ts:5-9)${answers(2)}`, rules)).toBe('expired expired');
    });

    it('keeps nothing but reads', () => {
      expect(reasonsOf(`run(npx_tsc_a.ts)${answers(2)} edit(a.ts) a`, rules)).toBe('expired fresh');
      expect(reasonsOf(`write(a.ts)${answers(2)} edit(a.ts) a`, rules)).toBe('expired fresh');
    });
  });

  describe('for outputs', () => {
    const rules = { searchLease: 1, outputLease: 1, excerptLease: 3, excerptTokens: 400 };

    it.each(['search(x)', 'run(x)'])('keeps an excerpt of a large one of %s', (call) => {
      expect(reasonsOf(`${call} a`, rules)).toBe('fresh');
      expect(reasonsOf(`${call} a a`, rules)).toBe('aged');
      expect(reasonsOf(`${call}${answers(3)}`, rules)).toBe('aged');
      expect(reasonsOf(`${call}${answers(4)}`, rules)).toBe('expired');
    });

    it('keeps one whole that is small, and takes it at last', () => {
      expect(reasonsOf('run(x)=399 a a', rules)).toBe('fresh');
      expect(reasonsOf('run(x)=400 a a', rules)).toBe('aged');
      expect(reasonsOf(`run(x)=399${answers(4)}`, rules)).toBe('expired');
    });

    it('cuts short no excerpt, no short text, and nothing that is no text', () => {
      const history = workingHistory('run(x) a a');
      const none = { ...rules, excerptTokens: 0, minTokens: 0 };
      expect(reasonsOf(withResult(history, excerptOf(textOf(999))), none)).toBe('fresh');
      expect(reasonsOf(withResult(history, 'short'), none)).toBe('fresh');
      expect(reasonsOf(withResult(history, { output: textOf(999) }), none)).toBe('fresh');
      expect(reasonsOf(withResult(history, [textOf(999)]), none)).toBe('fresh');
    });

    it('cuts short no text that is short beside its pictures', () => {
      const pictures = withResult(workingHistory('run(x) a a'), 'short').map((entry) => ({
        ...entry,
        blocks: entry.blocks.map((block) => ({ ...block, mediaTokens: 5_000 })),
      }));
      expect(reasonsOf(pictures, rules)).toBe('fresh');
    });
  });

  describe('with few tokens in reads', () => {
    const rules = { readLease: 1, touchLease: 1, relaxedTokens: 4_000, maxRelaxation: 3 };

    it('makes leases of reads longer, up to a limit', () => {
      expect(judged(workingHistory('a'), rules).relaxation).toBe(3);
      expect(judged(workingHistory('read(a.ts)=500 a'), rules).relaxation).toBe(3);
      expect(judged(workingHistory('read(a.ts)=2000 a'), rules).relaxation).toBe(2);
      expect(judged(workingHistory('read(a.ts)=2000 part(b.ts)=1000 a'), rules).relaxation).toBe(
        4_000 / 3_000,
      );
      expect(judged(workingHistory('read(a.ts)=9000 a'), rules).relaxation).toBe(1);
      expect(reasonsOf(`read(a.ts)=2000${answers(2)}`, rules)).toBe('fresh');
      expect(reasonsOf(`read(a.ts)=2000${answers(3)}`, rules)).toBe('expired');
      expect(reasonsOf(`lines(a.ts:1-9)=2000${answers(3)} edit(a.ts) a a`, rules)).toMatch(
        /^touched/,
      );
      expect(reasonsOf(`lines(a.ts:1-9)=2000${answers(3)} edit(a.ts) a a a`, rules)).toMatch(
        /^expired/,
      );
    });

    it('counts neither what is gone nor what is no read', () => {
      const gone = withResult(workingHistory('read(a.ts)=2000 a'), PRUNED_POINTER);
      expect(judged(gone, rules).relaxation).toBe(3);
      const others = 'run(x)=9000 search(x)=9000 edit(a.ts)=9000 other(x)=9000 a';
      expect(judged(workingHistory(others), rules).relaxation).toBe(3);
      expect(judged(workingHistory('run(cat_a.ts)=2000 a'), rules).relaxation).toBe(2);
    });

    it('leaves a lease of nothing as it is, also when there is no limit', () => {
      const none = { ...rules, readLease: 0, touchLease: 0, nameLease: 0 };
      const unlimited = { ...none, relaxedTokens: Infinity, maxRelaxation: Infinity };
      expect(reasonsOf('lines(a.ts:5-9) a', unlimited)).toBe('expired');
      expect(reasonsOf('lines(a.ts:5-9) edit(a.ts)', unlimited)).toBe('touched:1 unsent');
      expect(reasonsOf('lines(a.ts:5-9) edit(a.ts) a', unlimited)).toBe('expired fresh');
    });

    it('leaves the leases of outputs as they are', () => {
      const expired = `run(x)${answers(2)}`;
      expect(reasonsOf(expired, { ...rules, outputLease: 1, excerptLease: 0 })).toBe('expired');
    });
  });
});
