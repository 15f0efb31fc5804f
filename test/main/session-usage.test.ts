// What a session learns from the usage that a provider reports: from then on it decides by the model's own tokens, and names the source of each number.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import { TokenCalibration } from '../../src/main/tokens/token-calibration.js';
import type { Session } from '../../src/main/session.js';
import { humanText } from '../../src/shared/content.js';
import { ContextWindowExceededError } from '../../src/shared/errors.js';
import { historyOf } from '../support/notation.js';
import { entries, keepLast, openNoted, openSession, strategyOf } from '../support/session-bench.js';
import type { BenchParts } from '../support/session-bench.js';
import { runs } from '../support/scale.js';
import { arbitraryRatio } from '../support/arbitrary-ratio.js';

const countHundreds: CountEntries = (contents) => Promise.resolve(contents.map(() => 100));

/** A session of ten entries of 100 tokens, in a window of 10,000 by default. */
function openHundreds(parts: BenchParts = {}): Session {
  return openSession({
    entries: entries(10),
    countEntries: countHundreds,
    contextLimit: 10_000,
    ...parts,
    gauge: { overheadTokens: 0, ...parts.gauge },
  });
}

/** The same, after a window and a report of that many tokens. */
async function openReported(inputTokens: number, parts: BenchParts = {}): Promise<Session> {
  const session = openHundreds(parts);
  await session.ensureCompressionBeforeSend('p1');
  expect(session.reportUsage({ inputTokens })).toBe('learned');
  return session;
}

/** A calibration that knows the ratio of an unnamed model. */
function calibrationOf(ratio: number): TokenCalibration {
  const calibration = new TokenCalibration();
  expect(calibration.observe(undefined, ratio * 1e6, 1e6)).toBe('learned');
  return calibration;
}

describe('Session', () => {
  describe('reportUsage', () => {
    it('refuses a misspelt field, as a session refuses a misspelt option of a call', async () => {
      const session = openSession();
      const report = { inputTokens: 1, cacheReadToken: 1 };
      expect(() => session.reportUsage(report)).toThrow("(did you mean 'cacheReadTokens'?)");
      expect(() => session.reportUsage({ promptTokens: 1 } as never)).toThrow(
        'there is no option "promptTokens". Known are inputTokens, modelName,',
      );
      const given = { abortSignal: new AbortController().signal, cacheTtl: 1 };
      expect(() => session.ensureCompressionBeforeSend('p', 0, 'send', given as never)).toThrow(
        `Invalid options of a call: there is no option "abortSignal", "cacheTtl" (did you mean 'cacheTtlMs'?).`,
      );
      await session.ensureCompressionBeforeSend('p', 0, 'send', new AbortController());
    });

    it('refuses a report with a getter that throws, and reports that error', () => {
      const cause = new Error('read too late');
      const report = {
        get inputTokens(): number {
          throw cause;
        },
      };
      expect(() => openSession().reportUsage(report)).toThrow(
        expect.objectContaining({ name: 'TypeError', cause }),
      );
    });

    it('learns how many tokens the model counts for each counted one', async () => {
      const session = await openReported(1_500);
      session.history.add(humanText('more'));
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage()).toEqual({ tokens: 1_650, source: 'counted' });
    });

    it('subtracts what the request had besides the history', async () => {
      const session = openHundreds({ gauge: { overheadTokens: 300 } });
      await session.ensureCompressionBeforeSend('p1', 200);
      expect(session.reportUsage({ inputTokens: 2_000 })).toBe('learned');
      session.history.add(humanText('more'));
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage().tokens).toBe(1_100 * 1.5 + 300);
    });

    it('learns what requests have besides the history, if it is not given', async () => {
      const session = openHundreds({ gauge: { overheadTokens: undefined } });
      const report = async (ratio: number): Promise<string> => {
        const { totalTokens } = await session.ensureCompressionBeforeSend('p');
        return session.reportUsage({ inputTokens: 2_800 + ratio * totalTokens });
      };
      // Used as the ratio, this would make every entry four times as large.
      expect(await report(1.2)).toBe('too-small');
      session.history.add(humanText('more'));
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage()).toEqual({ tokens: 4_100, source: 'counted' });
      session.history.addAll(entries(25));
      expect(await report(1.2)).toBe('learned');
      session.history.add(humanText('more'));
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage()).toEqual({ tokens: 2_800 + 3_700 * 1.2, source: 'counted' });
    });

    it('compares with what was sent, even if the response was added before', async () => {
      const session = openHundreds();
      await session.ensureCompressionBeforeSend('p1');
      session.history.addAll(historyOf('a:*s1 t:s1'));
      await session.history.waitForTokenUpdates();
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('learned');
      expect(session.contextUsage()).toEqual({ tokens: 1_800, source: 'counted' });
    });

    it('applies what it learns only to the model that was named last', async () => {
      const session = openHundreds();
      session.history.add(humanText('to the large one'), 'large');
      await session.ensureCompressionBeforeSend('p1');
      session.reportUsage({ inputTokens: 2_200 });
      await session.ensureCompressionBeforeSend('p2');
      session.reportUsage({ inputTokens: 880, modelName: 'small' });
      const tokensWith = async (modelName?: string): Promise<number> => {
        session.history.add(humanText('next'), modelName);
        await session.history.waitForTokenUpdates();
        return session.contextUsage().tokens;
      };
      expect(await tokensWith()).toBe(Math.ceil(1_200 * 0.8));
      expect(await tokensWith('large')).toBe(1_300 * 2);
      expect(await tokensWith('unheard of')).toBe(1_400);
    });

    it('learns nothing without a window before it, or while one is open', async () => {
      const session = openHundreds();
      await session.history.waitForTokenUpdates();
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('no-preflight');
      const window = session.ensureCompressionBeforeSend('p1');
      await Promise.resolve();
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('no-preflight');
      await window;
      const next = session.ensureCompressionBeforeSend('p2');
      await Promise.resolve();
      await Promise.resolve();
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('no-preflight');
      await next;
      expect(session.contextUsage()).toEqual({ tokens: 1_000, source: 'counted' });
    });

    it('learns nothing from a failed window', async () => {
      const session = openHundreds();
      await session.ensureCompressionBeforeSend('p1');
      await expect(session.ensureCompressionBeforeSend('p2', 20_000)).rejects.toThrow(
        ContextWindowExceededError,
      );
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('no-preflight');
    });

    it.each([
      [
        'emptied',
        (session: Session) => {
          session.history.clear();
          return Promise.resolve();
        },
      ],
      ['pruned', (session: Session) => session.ensureDensityOptimized()],
      ['compressed', (session: Session) => session.performCompression('p2')],
    ])('learns nothing, and reports nothing, if the history was %s since', async (_, rewrite) => {
      const session = openNoted('h a:r1 t:r1 a h a h a h', {
        countEntries: countHundreds,
        strategy: keepLast(3),
        contextLimit: 10_000,
      });
      await session.ensureCompressionBeforeSend('p1');
      session.history.addAll(historyOf('a:w2 t:w2'));
      await rewrite(session);
      await session.history.waitForTokenUpdates();
      const counted = session.history.getTotalTokens();
      expect(session.reportUsage({ inputTokens: 3_000 })).toBe('rewritten');
      expect(session.contextUsage()).toEqual({ tokens: counted, source: 'counted' });
    });

    it('learns nothing from entries that were added too late to be counted', async () => {
      const strategy = strategyOf(async ({ history }) => history, null);
      const session = openHundreds({ strategy, contextLimit: 1_100 });
      session.on('compressed', () => {
        session.history.add(humanText('late'));
      });
      const { tokenSource } = await session.ensureCompressionBeforeSend('p1');
      expect(tokenSource).toBe('estimated');
      expect(session.reportUsage({ inputTokens: 1_500 })).toBe('uncounted');
    });

    it.each([
      [200, 'too-low', { tokens: 1_000, source: 'counted' }],
      [9_000, 'too-high', { tokens: 9_000, source: 'reported' }],
    ])('considers %i tokens for 1,000 counted ones %s', async (inputTokens, outcome, usage) => {
      const session = openHundreds();
      await session.ensureCompressionBeforeSend('p1');
      expect(session.reportUsage({ inputTokens })).toBe(outcome);
      expect(session.contextUsage()).toEqual(usage);
    });

    it.each([
      [{ inputTokens: -1 }, RangeError],
      [{ inputTokens: NaN }, RangeError],
      [{ inputTokens: Infinity }, RangeError],
      [{ inputTokens: '1500' }, TypeError],
      [{}, TypeError],
      [{ inputTokens: 1_500, modelName: 3 }, TypeError],
      [{ inputTokens: 1_500, cacheReadTokens: 1_501 }, RangeError],
      [{ inputTokens: 1_500, cacheReadTokens: -1 }, RangeError],
      [{ inputTokens: 1_500, cacheReadTokens: NaN }, RangeError],
      [{ inputTokens: 1_500, cacheReadTokens: '9' }, TypeError],
      [{ inputTokens: 1_500, cacheMissReason: 7 }, TypeError],
      [{ inputTokens: 1_500, cacheMissReason: 'a'.repeat(201) }, RangeError],
    ])('refuses %j', async (report, kind) => {
      const session = openHundreds();
      await session.ensureCompressionBeforeSend('p1');
      expect(() => session.reportUsage(report as never)).toThrow(kind);
      expect(session.contextUsage()).toEqual({ tokens: 1_000, source: 'counted' });
    });
  });

  describe('contextUsage', () => {
    it('is estimated, then counted, then reported, until something is added', async () => {
      const session = openHundreds({ gauge: { overheadTokens: 300 } });
      expect(session.contextUsage().source).toBe('estimated');
      await session.ensureCompressionBeforeSend('p1');
      expect(session.contextUsage()).toEqual({ tokens: 1_300, source: 'counted' });
      session.reportUsage({ inputTokens: 1_810 });
      expect(session.contextUsage()).toEqual({ tokens: 1_810, source: 'reported' });
      session.history.add(humanText('more'));
      expect(session.contextUsage().source).toBe('estimated');
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage()).toEqual({ tokens: 1_100 * 1.51 + 300, source: 'counted' });
    });

    it('excludes the pending tokens of that request', async () => {
      const session = openHundreds();
      await session.ensureCompressionBeforeSend('p1', 250);
      session.reportUsage({ inputTokens: 1_750 });
      expect(session.contextUsage()).toEqual({ tokens: 1_500, source: 'reported' });
    });

    it('is still reported after a window that changed nothing', async () => {
      const session = await openReported(1_500);
      const { totalTokens, tokenSource } = await session.ensureCompressionBeforeSend('p2');
      expect(session.contextUsage()).toEqual({ tokens: 1_500, source: 'reported' });
      expect([totalTokens, tokenSource]).toEqual([1_000, 'counted']);
    });

    it('is no longer reported once the history was edited', async () => {
      const session = await openReported(1_500);
      await session.history.applyDensityResult({
        removals: [0],
        replacements: new Map(),
        metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
      });
      expect(session.contextUsage()).toEqual({ tokens: 1_350, source: 'counted' });
    });

    it('is never counted by an estimating tokenizer', async () => {
      const session = openHundreds({ gauge: { countsAreEstimates: () => true } });
      const { tokenSource } = await session.ensureCompressionBeforeSend('p1');
      expect([tokenSource, session.contextUsage().source]).toEqual(['estimated', 'estimated']);
      session.reportUsage({ inputTokens: 1_500 });
      expect(session.contextUsage().source).toBe('reported');
    });

    it('is an estimate while entries wait for a compression', async () => {
      const session = openHundreds();
      await session.history.waitForTokenUpdates();
      session.history.startCompression();
      expect(session.contextUsage().source).toBe('counted');
      session.history.add(humanText('waits'));
      expect(session.contextUsage().source).toBe('estimated');
    });
  });

  describe('with usage reported', () => {
    it.each([
      // The threshold is at 1,700 of 2,000 tokens, at 1.5 tokens for each counted one.
      [1_133, 0, 0, false],
      [1_134, 0, 0, true],
      [1_066, 100, 0, false],
      [1_067, 100, 0, true],
      [1_000, 100, 99, false],
      [1_000, 100, 100, true],
    ])(
      'with %i tokens counted, %i overhead and %i pending a compression is due: %s',
      async (tokens, overheadTokens, pending, isDue) => {
        const session = openSession({
          contextLimit: 2_000,
          entries: entries(1),
          countEntries: () => Promise.resolve([tokens]),
          gauge: { calibration: calibrationOf(1.5), overheadTokens },
        });
        await session.history.waitForTokenUpdates();
        expect(session.shouldCompress(pending)).toBe(isDue);
      },
    );

    it('compresses a history that is below the threshold by its counts', async () => {
      const session = await openReported(1_500, { contextLimit: 1_700, strategy: keepLast(2) });
      expect(session.shouldCompress()).toBe(true);
      const { compressed } = await session.ensureCompressionBeforeSend('p2');
      expect(compressed).toMatchObject({ outcome: 'applied', tokensAfter: 200 });
    });

    it('gives strategies the window in counted tokens', async () => {
      const session = await openReported(1_800, { gauge: { overheadTokens: 300 } });
      const { runtimeContext, currentTokenCount } = session.buildCompressionContext('p2');
      expect(runtimeContext.ephemerals.contextLimit()).toBe(Math.floor((10_000 - 300) / 1.5));
      expect(runtimeContext.ephemerals.compressionThreshold()).toBe(0.85);
      expect(currentTokenCount).toBe(1_000);
    });

    it('cuts a history that is below the limit by its counts', async () => {
      const strategy = strategyOf(async ({ history }) => history, null);
      const session = await openReported(1_500, { contextLimit: 1_000, strategy });
      const { fitted } = await session.ensureCompressionBeforeSend('p2');
      expect(fitted).toMatchObject({ droppedEntries: 5, tokensAfter: 500 });
      expect(session.contextUsage()).toEqual({ tokens: 750, source: 'counted' });
    });

    it('does not decide by a report from before an edit', async () => {
      const session = await openReported(3_990, { contextLimit: 4_600 });
      expect(session.shouldCompress()).toBe(true);
      session.history.clear();
      session.history.addAll(entries(9));
      await session.history.waitForTokenUpdates();
      expect(session.contextUsage()).toEqual({ tokens: 3_591, source: 'counted' });
      expect(session.shouldCompress()).toBe(false);
    });

    it.each([
      [100, 10, 'the newest human entry (entry 0, 1500 tokens)', 1_610],
      [1_600, 10, 'the 1600 tokens of overheadTokens', 3_110],
      [100, 1_600, 'the 1600 tokens that the request holds besides the history', 3_200],
    ])(
      "names the largest part in the model's tokens: overhead %i, pending %i",
      async (overheadTokens, pending, largest, needed) => {
        const session = openSession({
          contextLimit: 1_550,
          entries: entries(1),
          countEntries: () => Promise.resolve([1_000]),
          strategy: strategyOf(async ({ history }) => history, null),
          gauge: { calibration: calibrationOf(1.5), overheadTokens },
        });
        const sending = session.ensureCompressionBeforeSend('p1', pending);
        await expect(sending).rejects.toThrow(`The largest part is ${largest}: `);
        await expect(sending).rejects.toThrow(
          `needs ${needed} tokens, the context window has 1550,`,
        );
        await expect(sending).rejects.toMatchObject({
          projectedTokens: needed,
          contextLimit: 1_550,
        });
      },
    );

    it("fits the model's window, whatever the ratio, the overhead and the pending tokens", async () => {
      const ends = new Set<string>();
      await fc.assert(
        fc.asyncProperty(
          arbitraryRatio(0.25, 4),
          fc.nat(2_000),
          fc.nat(2_000),
          fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 60, size: 'max' }),
          async (ratio, overheadTokens, pending, sizes) => {
            const contents = entries(sizes.length);
            const sizeOf = new Map(contents.map((content, at) => [content, sizes[at] ?? 0]));
            const session = openSession({
              contextLimit: 4_000,
              entries: contents,
              countEntries: (asked) =>
                Promise.resolve(asked.map((content) => sizeOf.get(content) ?? 1)),
              gauge: { calibration: calibrationOf(ratio), overheadTokens },
            });
            const outcome = await session
              .ensureCompressionBeforeSend('p1', pending)
              .catch((error: unknown) => error);
            if (outcome instanceof Error) {
              expect(outcome).toBeInstanceOf(ContextWindowExceededError);
              const { projectedTokens } = outcome as Partial<ContextWindowExceededError>;
              expect(projectedTokens).toBeGreaterThan(4_000);
            } else {
              const { tokens, source } = session.contextUsage();
              expect(tokens + pending).toBeLessThanOrEqual(4_000);
              expect(source).toBe('counted');
            }
            ends.add(outcome instanceof Error ? 'exceeded' : 'fits');
          },
        ),
        { numRuns: runs(200, 100) },
      );
      expect([...ends].sort()).toEqual(['exceeded', 'fits']);
    });
  });
});
