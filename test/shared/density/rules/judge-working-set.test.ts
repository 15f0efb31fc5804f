// Why a result stays in the working set, or is removed: one rule after the other, on short histories.

import { describe, expect, it } from 'vitest';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../../src/shared/content.js';
import type { IContent } from '../../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../../src/shared/density.js';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfPass } from '../../../../src/shared/density/plan/optimize.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import {
  judgeWorkingSet,
  WORKING_SET_REASON,
} from '../../../../src/shared/density/rules/judge-working-set.js';
import type { WorkingSet } from '../../../../src/shared/density/rules/judge-working-set.js';
import { WORKING_TOOLS } from '../../../support/arbitrary-working-history.js';
import { workingHistory } from '../../../support/working-notation.js';
import { excerptOf } from '../../../support/excerpt-of.js';

/** All rules, so that no test depends on a default. */
const RULES: WorkingSetRules = {
  ...{ readCalls: 2, searchCalls: 1, outputCalls: 1, otherCalls: 1 },
  ...{ earlyShare: 1, paybackCalls: 1, freeTokens: 0 },
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

/** The reasons of all results, in order, with the rows of the calls that superseded them. */
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

/** That many answers without calls. */
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
  it('keeps a result that was not sent to the model yet, however often its call was made', () => {
    const rules = { outputCalls: 0 };
    expect(reasonsOf('run(x)+run(x)+run(x)', rules)).toBe('unsent unsent unsent');
    expect(reasonsOf('run(x) a', rules)).toBe('expired');
  });

  it('keeps answers of the user, even if asked again, and instructions until they are repeated', () => {
    const rules = { otherCalls: 0, earlyShare: 0 };
    expect(reasonsOf(`ask(x) ask(x)${answers(200)}`, rules)).toBe('fresh fresh');
    expect(reasonsOf(`learn(x) learn(y)${answers(200)}`, rules)).toBe('fresh fresh');
    expect(reasonsOf('learn(x) learn(x) a', rules)).toBe('repeated:1 fresh');
  });

  it('keeps short results of unknown tools as long as reads', () => {
    const rules = { readCalls: 3, otherCalls: 1, earlyShare: 1 };
    expect(reasonsOf('other(x)=399 other(y)=400 a a', rules)).toBe('fresh expired');
    expect(reasonsOf('other(x)=399 a a a a', rules)).toBe('expired');
  });

  it('keeps a result that came late, although its call is old', () => {
    const [call, response, ...others] = workingHistory('run(x) a a a');
    const late = [call, ...others, response].filter((entry) => entry !== undefined);
    expect(reasonsOf(late)).toBe('unsent');
    expect(reasonsOf([...late, ...workingHistory('a')])).toBe('expired');
  });

  it('counts ages in answers, and reports them', () => {
    const { age } = judged(workingHistory('run(x)+run(y) a run(z) a a'));
    expect([...age]).toEqual([4, 4, 2]);
  });

  it('does not take a call for more output of a command for a repetition: each returns another part', () => {
    const poll = (id: string): readonly IContent[] => [
      aiContent([toolCall(id, 'run_shell_command', { session_id: 7 })]),
      toolContent([toolResponse(id, 'run_shell_command', 'a part of the output '.repeat(40))]),
    ];
    const history = [...poll('a'), ...poll('b'), ...workingHistory('a')];
    expect(reasonsOf(history, { outputCalls: 9, earlyShare: 1 })).toBe('fresh fresh');
  });

  it('keeps small results', () => {
    expect(reasonsOf(`run(x)=39 run(y)=40${answers(5)}`)).toBe('small expired');
  });

  it('has no reason for a removed result, or for a result without a call', () => {
    const history = workingHistory(`run(x)${answers(5)}`);
    expect(reasonsOf(withResult(history, PRUNED_POINTER))).toBe('none');
    expect(reasonsOf(history.filter(({ speaker }) => speaker === 'tool'))).toBe('none');
  });

  it('has no reason for a result that is already an excerpt', () => {
    const history = workingHistory(`run(x)${answers(5)}`);
    const excerpt = excerptOf('readFile '.repeat(999), PRUNED_POINTER);
    expect(reasonsOf(withResult(history, excerpt))).toBe('none');
  });

  it.each([
    ['read(a.ts)', { readCalls: 3 }],
    ['lines(a.ts:1-9)', { readCalls: 3 }],
    ['run(cat_a.ts)', { readCalls: 3 }],
    ['search(x)', { searchCalls: 3 }],
    ['run(x)', { outputCalls: 3 }],
    ['write(a.ts)', { otherCalls: 3 }],
    ['other(x)', { otherCalls: 3 }],
  ])('keeps the result of %s up to the age of its kind', (call, rules) => {
    expect(reasonsOf(`${call}${answers(3)}`, rules)).toBe('fresh');
    expect(reasonsOf(`${call}${answers(4)}`, rules)).toBe('expired');
  });

  it('lets results past a share of their age be removed with others', () => {
    const rules = { readCalls: 8, earlyShare: 0.25 };
    expect(reasonsOf(`read(a.ts)${answers(2)}`, rules)).toBe('fresh');
    expect(reasonsOf(`read(a.ts)${answers(3)}`, rules)).toBe('aged');
    expect(reasonsOf(`read(a.ts)${answers(8)}`, rules)).toBe('aged');
    expect(reasonsOf(`read(a.ts)${answers(9)}`, rules)).toBe('expired');
    expect(reasonsOf('read(a.ts) a', { readCalls: Infinity, earlyShare: 0 })).toBe('fresh');
  });

  it.each([
    ['write(a.ts) a', true],
    ['write(a.ts)! a', false],
    ['write(a.ts)? a', false],
    ['write(b.ts) a', false],
    ['edit(a.ts) a', false],
    ['read(a.ts) a', true],
    ['read(a.ts)! a', false],
    ['many(a.ts|b.ts) a', false],
    ['lines(a.ts:1-2000) a', true],
    ['lines(a.ts:2-2000) a', false],
    ['lines(a.ts:1-1999) a', false],
  ])('of a write, has by %s spent the content: %s', (later, isSpent) => {
    const write = toolCall('w', 'write_file', { path: 'a.ts', content: 'x'.repeat(400) });
    const response = toolContent([toolResponse('w', 'write_file', 'ok')]);
    const spent = (call: typeof write): number | undefined =>
      judged([aiContent([call]), response, ...workingHistory(later)]).spent[0];
    expect(Number(spent(write)) > 0).toBe(isSpent);
    // Calls of a group are signed.
    expect(spent({ ...write, parallelGroup: 'g' })).toBe(0);
  });

  describe('by a later call with the same parameters', () => {
    it('removes the earlier results, and keeps the newest until it expires', () => {
      expect(reasonsOf('run(x) run(x) run(x) a')).toBe('repeated:2 repeated:2 fresh');
      expect(reasonsOf('search(x) search(y) search(x) a', { searchCalls: 9 })).toBe(
        'repeated:2 fresh fresh',
      );
      expect(reasonsOf(`run(x) run(x)${answers(9)}`)).toBe('repeated:1 expired');
    });

    it('keeps the earlier one if the later failed, is open, or was removed', () => {
      const rules = { outputCalls: 9, readCalls: 9 };
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

    it('removes a failure once the same call has succeeded', () => {
      expect(reasonsOf('run(x)! run(x) a', { outputCalls: 9 })).toBe('repeated:1 fresh');
    });

    it('removes no result of another tool, and no write', () => {
      const rules = { otherCalls: 9, readCalls: 9 };
      expect(reasonsOf('write(a.ts) write(a.ts) edit(a.ts) edit(a.ts) a', rules)).toBe(
        'fresh fresh fresh fresh',
      );
      expect(reasonsOf('read(a.ts) lines(a.ts:1-2000) part(a.ts) a', rules)).toBe(
        'read-again:1 fresh fresh',
      );
    });
  });

  describe('by a later read of the same lines', () => {
    it('removes a read whose lines are all shown again', () => {
      const rules = { readCalls: 9 };
      expect(reasonsOf('lines(a.ts:5-9) lines(a.ts:5-9) a', rules)).toBe('read-again:1 fresh');
      expect(reasonsOf('lines(a.ts:5-9) lines(a.ts:1-20) a', rules)).toBe('read-again:1 fresh');
      expect(reasonsOf('lines(a.ts:5-9) read(a.ts) a', rules)).toBe('read-again:1 fresh');
      expect(reasonsOf('run(sed_-n_5,9p_a.ts) lines(./a.ts:1-20) a', rules)).toBe(
        'read-again:1 fresh',
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
      expect(reasonsOf(notation, { readCalls: 9, searchCalls: 9 })).toBe('fresh fresh');
    });

    it('finds one behind others that do not show all lines', () => {
      const others = Array.from({ length: 20 }, (_, at) => `lines(a.ts:${at + 6}-99)`).join(' ');
      expect(reasonsOf(`lines(a.ts:5-9) ${others} read(a.ts) a`, { readCalls: 99 })).toMatch(
        /^read-again:21 /,
      );
    });

    it('finds none behind more than 64 others', () => {
      const others = Array.from({ length: 64 }, (_, at) => `lines(a.ts:${at + 6}-99)`).join(' ');
      expect(reasonsOf(`read(a.ts) ${others} read(a.ts) a`, { readCalls: 99 })).toMatch(/^fresh /);
    });
  });
});
