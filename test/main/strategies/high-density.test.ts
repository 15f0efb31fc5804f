// The default strategy: what it summarizes, what it drops and in which order, what it never changes.

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { createAgentRuntimeContext } from '../../../src/main/settings/session-config.js';
import { Settings } from '../../../src/main/settings/settings.js';
import { HighDensityStrategy } from '../../../src/main/strategies/high-density.js';
import type { CompressionContext } from '../../../src/main/strategies/strategy.js';
import type { IContent } from '../../../src/shared/content.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryBrokenHistory } from '../../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { describeHistory, historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

interface Conditions {
  /** The target in tokens; every entry has 10. */
  readonly target?: number;
  readonly preserve?: number;
  /** @default 0.5 */
  readonly threshold?: number;
  /** @default the limit for which 0.5 × contextLimit × 0.6 is the target */
  readonly contextLimit?: number;
}

function contextOf(
  history: readonly IContent[],
  { target = 1_000_000, preserve = 0.2, threshold = 0.5, ...rest }: Conditions = {},
): CompressionContext {
  const settings = new Settings({
    'compression.threshold': threshold,
    'compression.preserveThreshold': preserve,
  });
  return {
    history,
    runtimeContext: createAgentRuntimeContext(
      settings,
      rest.contextLimit ?? Math.ceil(target / 0.3),
    ),
    estimateTokens: (contents) => Promise.resolve(contents.length * 10),
    currentTokenCount: history.length * 10,
    logger: SILENT_LOGGER,
    promptId: 'p1',
  };
}

async function compress(notation: string, conditions?: Conditions): Promise<string> {
  const context = contextOf(historyOf(notation), conditions);
  const { newHistory } = await new HighDensityStrategy().compress(context);
  return describeHistory(newHistory);
}

const SUMMARY = '[read_file: a.ts — success, 1 line]';

describe('HighDensityStrategy', () => {
  const strategy = new HighDensityStrategy();

  it('is continuous, deterministic and needs no model', () => {
    expect(strategy).toMatchObject({
      name: 'high-density',
      requiresLLM: false,
      trigger: { mode: 'continuous', defaultThreshold: 0.85 },
    });
  });

  it('optimizes as the density pass does', () => {
    const history = historyOf('h a:r1 t:r1 a:w2 t:w2');
    const config = {
      readWritePruning: true,
      fileDedupe: true,
      recencyPruning: true,
      recencyRetention: 1,
      workspaceRoot: '/w',
    };
    expect(strategy.optimize(history, config)).toEqual(optimize(history, config));
  });

  describe('compress', () => {
    it.each([
      ['an empty history as it is', '', undefined, ''],
      ['a single entry as it is', 'h', undefined, 'h'],
      ['a single result as it is', 't:r1', undefined, 't:r1'],
      ['everything when the tail covers it', 'a:r1 t:r1', { preserve: 1 }, 'a:r1 t:r1'],
      [
        'no result in the tail',
        'h a:r1 t:r1 a:r2 t:r2',
        undefined,
        `h a:r1 t:r1(${SUMMARY}) a:r2 t:r2`,
      ],
      [
        'the last entry even if nothing is to be preserved',
        'a:r1 t:r1 a:r2 t:r2',
        { preserve: 0 },
        `a:r1 t:r1(${SUMMARY}) a:r2 t:r2`,
      ],
      [
        'a tail of the requested size',
        'a:r1 t:r1 a:r2 t:r2 a:r3 t:r3 h a h a',
        { preserve: 0.8 },
        `a:r1 t:r1(${SUMMARY}) a:r2 t:r2 a:r3 t:r3 h a h a`,
      ],
      ['a result whose call begins the tail', 'h:1 a:r1 t:r1', { preserve: 0.1 }, 'h:1 a:r1 t:r1'],
      [
        'blocks that are not results beside results',
        'a:r1 t:r1,note,% h h h h',
        undefined,
        `a:r1 t:r1(${SUMMARY}),note,% h h h h`,
      ],
      ['an incomplete result', 'a:r1 t:r1? h h h', undefined, 'a:r1 t:r1? h h h'],
      ['reasoning and texts', 'h:_ a:*s1,okay h h h', undefined, 'h:_ a:*s1,okay h h h'],
    ])('keeps %s', async (_, notation, conditions, expected) => {
      expect(await compress(notation, conditions)).toBe(expected);
    });

    it('keeps every field of a response except its result, and the error', async () => {
      const history = historyOf('a:r1 t#m7:r1(245 lines)! h h h');
      const { newHistory } = await strategy.compress(contextOf(history));
      expect(newHistory[1]).toEqual({
        speaker: 'tool',
        metadata: { id: 'm7' },
        blocks: [
          {
            type: 'tool_response',
            callId: 'r1',
            toolName: 'read_file',
            result: '[read_file: a.ts — error, 1 line]',
            error: 'failed',
            isComplete: true,
          },
        ],
      });
    });

    it('uses the parameter of the right call when an id is repeated', async () => {
      expect(await compress('a:r1(one.ts) t:r1 a:r1(two.ts) t:r1 h h')).toBe(
        'a:r1(one.ts) t:r1([read_file: one.ts — success, 1 line]) ' +
          'a:r1(two.ts) t:r1([read_file: two.ts — success, 1 line]) h h',
      );
    });

    it.each([
      ['nothing at the target', 60, 'h:1 a:1 h:2 a:2 h:3 a:3'],
      ['the oldest ai entry first', 50, 'h:1 h:2 a:2 h:3 a:3'],
      ['human entries once no ai entry is left to drop', 30, 'h:2 h:3 a:3'],
      ['never the newest human entry and the tail', 0, 'h:3 a:3'],
    ])('drops %s', async (_, target, expected) => {
      const notation = 'h:1 a:1 h:2 a:2 h:3 a:3';
      expect(await compress(notation, { target, preserve: 0.1 })).toBe(expected);
    });

    it.each([
      [1, 'h:2 a:2 h:3 a:3 h:4 a:4'],
      [0.75, 'h:2 h:3 h:4 a:4'],
      [0.5, 'h:3 h:4 a:4'],
    ])('aims at 0.6 of a threshold of %d of the window', async (threshold, expected) => {
      const conditions = { threshold, contextLimit: 100, preserve: 0.1 };
      const dropsAiFirst = 'a:1 h:2 a:2 h:3 a:3 h:4 a:4';
      expect(await compress(dropsAiFirst, conditions)).toBe(expected);
    });

    it('drops calls together with their responses', async () => {
      expect(await compress('a:r1,r2 t:r1 t:r2 a:r3 t:r3 h a', { target: 40, preserve: 0.1 })).toBe(
        `a:r3 t:r3(${SUMMARY}) h a`,
      );
    });

    it('reports how many entries there were and are', async () => {
      const history = historyOf('h:1 a:1 h:2 a:2 h:3 a:3');
      const { metadata } = await strategy.compress(contextOf(history, { target: 30 }));
      expect(metadata).toEqual({
        originalMessageCount: 6,
        compressedMessageCount: 3,
        strategyUsed: 'high-density',
        llmCallMade: false,
      });
    });

    it('asks for the tokens of all entries once', async () => {
      const countEach = vi.fn((contents: readonly IContent[]) =>
        Promise.resolve(contents.map(() => 10)),
      );
      const estimateTokens = vi.fn();
      const history = historyOf('h:1 a:1 h:2 a:2 h:3 a:3');
      const context = { ...contextOf(history, { target: 30 }), countEach, estimateTokens };
      expect((await strategy.compress(context)).newHistory).toHaveLength(3);
      expect(countEach).toHaveBeenCalledOnce();
      expect(estimateTokens).not.toHaveBeenCalled();
    });

    it('stops with the reason of a signal that aborts while tokens are counted', async () => {
      const controller = new AbortController();
      const countEach = (contents: readonly IContent[]): Promise<number[]> => {
        controller.abort('enough');
        return Promise.resolve(contents.map(() => 1));
      };
      const context = { ...contextOf(historyOf('h a h a')), countEach, signal: controller.signal };
      await expect(strategy.compress(context)).rejects.toBe('enough');
    });

    it('rejects as the counter does', async () => {
      const countEach = (): Promise<number[]> => Promise.reject(new Error('no count'));
      const context = { ...contextOf(historyOf('h a h a')), countEach };
      await expect(strategy.compress(context)).rejects.toThrow('no count');
    });

    describe('on any history', () => {
      const total = (history: readonly IContent[]): number =>
        history.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);

      function estimating(history: readonly IContent[], share: number): CompressionContext {
        return {
          ...contextOf(history, { target: Math.floor(total(history) * share) }),
          countEach: (contents) => Promise.resolve(contents.map(estimateEntryTokens)),
        };
      }
      const share = arbitraryRatio();

      it('leaves it valid, and its input unchanged', async () => {
        await fc.assert(
          fc.asyncProperty(arbitraryHistory(), share, async (history, target) => {
            const before = structuredClone<readonly IContent[]>(history);
            const { newHistory } = await strategy.compress(estimating(history, target));
            expect(findViolations(newHistory, history)).toEqual([]);
            expect(findViolations(structuredClone(newHistory), before)).toEqual([]);
            expect(history).toEqual(before);
          }),
          { numRuns: runs(1_000) },
        );
      });

      it('keeps the tail, and every entry that it does not change, as the same objects', async () => {
        await fc.assert(
          fc.asyncProperty(arbitraryHistory(), share, async (history, target) => {
            const { newHistory } = await strategy.compress(estimating(history, target));
            const tail = history.slice(history.length - Math.ceil(history.length * 0.2));
            expect(newHistory.slice(newHistory.length - tail.length)).toEqual(tail);
            for (const entry of newHistory) {
              if (entry.speaker !== 'tool') expect(history).toContain(entry);
            }
          }),
          { numRuns: runs(300) },
        );
      });

      it('changes nothing more in its own output if all of that is below the target', async () => {
        await fc.assert(
          fc.asyncProperty(arbitraryHistory(), async (history) => {
            const { newHistory } = await strategy.compress(contextOf(history));
            const again = await strategy.compress(contextOf(newHistory));
            expect(again.newHistory).toEqual(newHistory);
            for (const [at, entry] of again.newHistory.entries())
              expect(entry).toBe(newHistory[at]);
          }),
          { numRuns: runs(300) },
        );
      });

      it('adds no violations to an invalid one', async () => {
        await fc.assert(
          fc.asyncProperty(arbitraryBrokenHistory(), share, async (history, target) => {
            const { newHistory } = await strategy.compress(estimating(history, target));
            // A second response loses its call when that is removed: one violation as before.
            const [after, before] = [findViolations(newHistory), findViolations(history)];
            expect(after.length).toBeLessThanOrEqual(before.length);
          }),
          { numRuns: runs(500) },
        );
      });
    });
  });
});
