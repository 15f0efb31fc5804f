// The explanation of a pass, compared with the pass: every entry, every block, and whether the facts are true.

import { resolve } from 'node:path';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { toolContent, toolResponse } from '../../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, REMOVED_POINTER } from '../../../../src/shared/density.js';
import type { DensityConfig } from '../../../../src/shared/density.js';
import { withoutSpentText } from '../../../../src/shared/density/index/spent-text.js';
import { explainDensity } from '../../../../src/shared/density/explain/explain-density.js';
import type {
  BlockExplanation,
  EntryExplanation,
} from '../../../../src/shared/density/explain/explanation.js';
import type { BlockPlace } from '../../../../src/shared/density/rules/finding.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import type { WorkingSetRules } from '../../../../src/shared/density/rules/working-set-rules.js';
import { placeholderKind } from '../../../../src/shared/placeholder.js';
import { estimateResultTokens } from '../../../../src/shared/tokens/estimate.js';
import {
  arbitraryDensityConfig,
  arbitraryHistory,
  WORKSPACE_ROOT,
} from '../../../support/arbitrary-history.js';
import {
  arbitraryWorkingConfig,
  arbitraryWorkingHistoryOf,
} from '../../../support/arbitrary-working-history.js';
import { historyOf } from '../../../support/notation.js';
import { runs } from '../../../support/scale.js';
import { workingHistory } from '../../../support/working-notation.js';
import { excerptOfBlock } from '../../../../src/shared/density/index/excerpt.js';

const CONFIG: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: WORKSPACE_ROOT };

/** Rules by which results are removed as soon as they are stale. */
const RULES: WorkingSetRules = {
  ...{ readCalls: 2, searchCalls: 1, outputCalls: 1, otherCalls: 2 },
  ...{ earlyShare: 1, paybackCalls: Infinity, freeTokens: 0 },
};

/** Longer than a placeholder. */
const LONG = 'x'.repeat(200);

const cases = fc.oneof(
  fc.tuple(arbitraryHistory({ maxEntries: 80 }), arbitraryDensityConfig()),
  fc.tuple(arbitraryWorkingHistoryOf({ maxEntries: 80 }), arbitraryWorkingConfig()),
  fc.tuple(arbitraryWorkingHistoryOf({ maxEntries: 80 }), arbitraryWorkingConfig()),
);

function forAnyPass(
  check: (
    history: readonly IContent[],
    config: DensityConfig,
    explained: readonly EntryExplanation[],
  ) => void,
): void {
  fc.assert(
    fc.property(cases, ([history, config]) => {
      const { explain } = explainDensity(history, config);
      check(
        history,
        config,
        history.map((_, index) => explain(index)),
      );
    }),
    { numRuns: runs(300) },
  );
}

function explainAll(notation: string, config: Partial<DensityConfig> = {}) {
  const history = historyOf(notation);
  const { explain } = explainDensity(history, { ...CONFIG, ...config });
  return { history, explain };
}

/** The explanation of the only block of an entry. */
function only(explanation: EntryExplanation): BlockExplanation {
  const [block, ...more] = explanation.blocks;
  if (block === undefined || more.length > 0) throw new Error('Expected one block.');
  return block;
}

describe('explainDensity', () => {
  it('explains the pass that optimize runs', () => {
    forAnyPass((history, config) => {
      expect(explainDensity(history, config).result).toEqual(optimize(history, config));
    });
  });

  it('has the outcome of the pass for every entry', () => {
    forAnyPass((history, config, explained) => {
      const { removals, replacements } = optimize(history, config);
      for (const { index, verdict } of explained) {
        const expected = removals.includes(index)
          ? 'removed'
          : replacements.has(index)
            ? 'changed'
            : 'kept';
        expect([index, verdict]).toEqual([index, expected]);
      }
    });
  });

  it('has the outcome of the pass for every block', () => {
    forAnyPass((history, config, explained) => {
      const { removals, replacements } = optimize(history, config);
      for (const { index, speaker, verdict, blocks } of explained) {
        const before = history[index]?.blocks ?? [];
        expect([...new Set(blocks.map(({ block }) => block))]).toEqual([...before.keys()]);
        expect(blocks.every((block) => block.verdict === 'kept')).toBe(verdict === 'kept');
        if (speaker === 'human') continue;
        const entry = replacements.get(index) ?? history[index];
        const after = removals.includes(index) ? [] : (entry?.blocks ?? []);
        const left = blocks.filter((block) => block.verdict !== 'dropped');
        expect(after).toHaveLength(verdict === 'removed' ? 0 : left.length);
        if (verdict === 'removed') expect(left).toEqual([]);
        for (const [at, block] of left.entries()) expectVerdict(block, before, after[at]);
      }
    });
  });

  it('names a rule as often as the pass counts it', () => {
    forAnyPass((history, config, explained) => {
      const { metadata } = optimize(history, config);
      const gone = explained
        .flatMap(({ blocks }) => blocks)
        .filter(({ verdict }) => verdict !== 'kept');
      const of = (rule: string, type: string): number =>
        gone.filter((block) => block.rule === rule && block.type === type).length;
      expect(of('read-write', 'tool_call')).toBe(metadata.readWritePairsPruned);
      expect(of('read-write', 'tool_response')).toBe(metadata.readWritePairsPruned);
      expect(of('file-dedupe', 'text')).toBe(metadata.fileDeduplicationsPruned);
      expect(of('recency', 'tool_response')).toBe(metadata.recencyPruned);
      expect(of('working-set', 'tool_response') + of('working-set', 'tool_call')).toBe(
        metadata.workingSetPruned ?? 0,
      );
      for (const { rule, reason } of gone) {
        if (rule === 'none') expect(reason).toBe('companion');
      }
    });
  });

  it('names later calls, of the same file or the same tool', () => {
    forAnyPass((history, config, explained) => {
      for (const { index, blocks } of explained) {
        for (const block of blocks) {
          if (!('by' in block) || block.by === null) continue;
          const by = blockAt(history, block.by);
          if (block.rule === 'file-dedupe') {
            expect(block.by.entry * 1_000 + block.by.block).toBeGreaterThanOrEqual(
              index * 1_000 + block.block,
            );
            continue;
          }
          if (by?.type !== 'tool_call') throw new Error('Expected a call.');
          expect(by).toMatchObject({ id: block.by.callId, name: block.by.toolName });
          expect(block.by.entry).toBeGreaterThanOrEqual(callEntryOf(index, block));
          if (block.reason === 'repeated') {
            expect(by.name).toBe(calledTool(history, block));
            continue;
          }
          const explainedBy = explained[block.by.entry]?.blocks[block.by.block];
          const files = (paths: readonly string[] = []): readonly string[] =>
            paths.map((path) => resolve(WORKSPACE_ROOT, path));
          const named = files(explainedBy?.paths);
          expect(files(block.paths).some((path) => named.includes(path))).toBe(true);
          if (block.rule === 'read-write') expect(explainedBy?.purpose).toBe('write');
        }
      }
      expect(config.workspaceRoot).toBe(WORKSPACE_ROOT);
    });
  });

  it('has the ages and times that lead to the verdict', () => {
    forAnyPass((history, _, explained) => {
      for (const { index, blocks } of explained) {
        for (const block of blocks) {
          if (block.rule !== 'working-set') continue;
          const { reason, age, time, verdict, isWaiting } = block;
          const calledAt = callEntryOf(index, block);
          expect(age).toBe(history.slice(calledAt + 1).filter(isAnswer).length);
          if (age === 0) expect(reason).toBe('unsent');
          if (reason === 'spent') {
            expect([block.type, age > 0, block.tokens > 0]).toEqual(['tool_call', true, true]);
            continue;
          }
          if (reason === 'fresh' || reason === 'aged') expect(age).toBeLessThanOrEqual(time);
          if (reason === 'expired') expect(age).toBeGreaterThan(time);
          const isStale = !['unsent', 'small', 'fresh'].includes(reason);
          expect(isWaiting || verdict !== 'kept').toBe(isStale);
          if (isWaiting && reason !== 'aged')
            expect(block.waitingTokens).toBeLessThan(block.neededTokens);
          const response = blockAt(history, blockOf(index, block));
          if (response?.type !== 'tool_response') throw new Error('Expected a response.');
          // A placeholder has no tokens that could be reclaimed.
          const hasPlaceholder = placeholderKind(response) !== 'none';
          expect(block.tokens).toBe(hasPlaceholder ? 0 : estimateResultTokens(response));
        }
      }
    });
  });

  it('gives the reason in one or two sentences', () => {
    forAnyPass((_, __, explained) => {
      for (const { text } of explained.flatMap(({ blocks }) => blocks)) {
        expect(text).toMatch(/^[A-Z].*\.$/);
        expect(text).not.toMatch(/undefined|null|NaN|another call/);
      }
    });
  });

  it('explains a read that was written later', () => {
    const { explain } = explainAll('a:r1 t:r1 a:w2 t:w2');
    const facts = {
      rule: 'read-write',
      reason: 'written-later',
      verdict: 'dropped',
      callId: 'r1',
      paths: ['a.ts'],
      by: { entry: 2, block: 0, callId: 'w2', toolName: 'write_file' },
      text: 'What was read was written later, last by the write_file call w2 in entry 2.',
    };
    expect(explain(0)).toMatchObject({ index: 0, speaker: 'ai', verdict: 'removed' });
    expect(only(explain(0))).toMatchObject({ ...facts, partner: { entry: 1, block: 0 } });
    expect(only(explain(1))).toMatchObject({ ...facts, partner: { entry: 0, block: 0 } });
    expect(only(explain(3))).toMatchObject({ rule: 'none', reason: 'no-rule', purpose: 'write' });
  });

  it('explains inclusions one by one', () => {
    const { explain } = explainAll('h:@a.ts+@b.ts h:@./a.ts');
    expect(explain(0)).toMatchObject({
      verdict: 'changed',
      blocks: [
        { block: 0, verdict: 'cut', reason: 'included-again', paths: ['a.ts'], by: { entry: 1 } },
        { block: 0, verdict: 'kept', reason: 'newest', paths: ['b.ts'], by: null },
      ],
    });
    expect(only(explain(1))).toMatchObject({ reason: 'newest', paths: ['./a.ts'] });
  });

  it('explains results by their rank', () => {
    const { explain } = explainAll('a:s1 t:s1 a:s2 t:s2', {
      recencyPruning: true,
      recencyRetention: 1,
    });
    expect(only(explain(1))).toMatchObject({
      ...{ rule: 'recency', reason: 'old', verdict: 'placeholder', rank: 2, retained: 1 },
      text: 'The newest 1 results of run_shell_command are kept, and this is number 2 from the newest.',
    });
    expect(only(explain(3))).toMatchObject({ reason: 'recent', verdict: 'kept', rank: 1 });
  });

  it('explains what is neither sent nor answered nor there', () => {
    const { explain } = explainAll('t:r9 a:r1 t:r1~ a:s2,s3 t:s2,s3?', { workingSet: RULES });
    expect(only(explain(0))).toMatchObject({ reason: 'no-call', purpose: null, partner: null });
    expect(only(explain(2))).toMatchObject({ reason: 'gone' });
    const excerpt = toolResponse('s1', 'run_shell_command', `${REMOVED_POINTER}\nIt named: a.ts`);
    const shortened = explainDensity([...historyOf('a:s1'), toolContent([excerpt])], CONFIG);
    expect(only(shortened.explain(1))).toMatchObject({ reason: 'gone' });
    expect(explain(3).blocks).toMatchObject([{ reason: 'no-rule' }, { reason: 'open' }]);
    expect(explain(4).blocks).toMatchObject([{ reason: 'unsent', age: 0 }, { reason: 'open' }]);
  });

  it('explains reasoning by what is removed with it', () => {
    const { explain } = explainAll('a:*,r1 t:r1 a:w2 t:w2');
    expect(explain(0).blocks).toMatchObject([
      { type: 'thinking', verdict: 'dropped', rule: 'none', reason: 'companion' },
      { type: 'tool_call', verdict: 'dropped', rule: 'read-write' },
    ]);
  });

  it('names edits that wait until they are worth it', () => {
    const workingSet = { ...RULES, paybackCalls: 1, outputCalls: 0, readCalls: 0, otherCalls: 0 };
    const { explain } = explainAll(`a:s1 t:s1(${LONG}) a:s2 a`, { workingSet });
    const block = only(explain(1));
    expect(block).toMatchObject({
      ...{ rule: 'working-set', reason: 'expired', verdict: 'kept', isWaiting: true },
      ...{ age: 2, time: 0 },
    });
    expect(block.text).toContain('It is not pruned yet:');
    expect(explain(1).verdict).toBe('kept');
  });

  it('says that an edit waits as long as it reclaims little', () => {
    const workingSet = { ...RULES, readCalls: 0, otherCalls: 0, freeTokens: Infinity };
    const { explain } = explainAll(`a:s1 t:s1(${LONG}) a a`, { workingSet });
    expect(only(explain(1)).text).toContain(
      'It is not pruned yet: all results together have few tokens.',
    );
  });

  it.each([-1, 1, 0.5, NaN])('has no explanation of entry %d of one', (index) => {
    const { explain } = explainAll('h');
    expect(() => explain(index)).toThrow(RangeError);
    expect(() => explain(index)).toThrow('0 to 0');
  });

  it('refuses invalid rules', () => {
    const workingSet = { ...RULES, readCalls: -1 };
    expect(() => explainDensity([], { ...CONFIG, workingSet })).toThrow('readCalls');
  });
});

function expectVerdict(
  { block, verdict }: BlockExplanation,
  before: readonly ContentBlock[],
  after: ContentBlock | undefined,
): void {
  const former = before[block];
  if (verdict === 'kept') {
    expect(after).toBe(former);
    return;
  }
  if (verdict === 'shortened' && former?.type === 'tool_call') {
    const parameters = withoutSpentText(former.parameters);
    expect(after).toEqual({ ...former, parameters });
    expect(parameters).not.toEqual(former.parameters);
    return;
  }
  if (former?.type !== 'tool_response' || after?.type !== 'tool_response') {
    throw new Error('Expected a response.');
  }
  if (verdict === 'placeholder') expect(placeholderKind(after)).not.toBe('none');
  else
    expect([verdict, after.result]).toEqual(['excerpt', excerptOfBlock(former, REMOVED_POINTER)]);
}

function isAnswer({ speaker }: IContent): boolean {
  return speaker === 'ai';
}

function blockAt(
  history: readonly IContent[],
  { entry, block }: BlockPlace,
): ContentBlock | undefined {
  return history[entry]?.blocks[block];
}

/** The response of an explained block, whichever of the pair that is. */
function blockOf(index: number, { type, block, partner }: BlockExplanation): BlockPlace {
  return type === 'tool_call' && partner !== null ? partner : { entry: index, block };
}

function callEntryOf(index: number, { type, partner }: BlockExplanation): number {
  return type === 'tool_response' && partner !== null ? partner.entry : index;
}

/** A response may have another tool name than its call. */
function calledTool(history: readonly IContent[], block: BlockExplanation): string | null {
  const call = block.partner && blockAt(history, block.partner);
  return call?.type === 'tool_call' ? call.name : block.toolName;
}

it('counts one token as one', () => {
  const history = workingHistory('run(x)=1 a a');
  const { blocks } = explainDensity(history, { ...CONFIG, workingSet: RULES }).explain(1);
  expect(blocks[0]?.text).toBe('It has only 1 token.');
});
