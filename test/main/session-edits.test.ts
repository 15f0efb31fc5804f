// When the edits of a session land, by policy, and what happens to reasoning behind them.

import type { ModelPrice } from '../../src/main/models/price-table.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { EditOptions } from '../../src/main/preflight/edit-options.js';
import { firstDifference, holdsReasoning } from '../../src/main/preflight/reasoning-policy.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import type { Session } from '../../src/main/session.js';
import { RemovalLog } from '../../src/main/removal-log/removal-log.js';
import { SessionLog } from '../../src/main/removal-log/session-log.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { ContextWindowExceededError } from '../../src/shared/errors.js';
import { findViolations } from '../../src/shared/validity.js';
import { readRemovals } from '../../src/main/removal-log/removal-reader.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { describeHistory, historyOf } from '../support/notation.js';
import {
  deferred,
  entriesOf,
  keepLast,
  openNoted,
  openSession,
  strategyOf,
} from '../support/session-bench.js';
import type { BenchParts } from '../support/session-bench.js';
import { temporaryPath } from './removal-log/recording.js';
import { runs } from '../support/scale.js';
import type { PreflightResult } from '../../src/main/preflight/session-events.js';

/** A read, and the write that supersedes it. */
const READ = 'h a:r1 t:r1';
const WRITE = 'a:w2 t:w2 h';

/** A clock that stands still until it is set. */
function clock(): { now: () => number; timeMs: number } {
  const state = { timeMs: 0, now: (): number => state.timeMs };
  return state;
}

/** A session that has sent a read. */
async function sentRead(edits: EditOptions, parts: BenchParts = {}): Promise<Session> {
  const session = openNoted(READ, { contextLimit: 10_000, timing: { ...edits }, ...parts });
  await session.ensureCompressionBeforeSend('first');
  return session;
}

async function write(session: Session, pendingTokens = 0): Promise<PreflightResult> {
  session.history.addAll(historyOf(WRITE));
  return session.ensureCompressionBeforeSend('second', pendingTokens);
}

const USUAL = { name: 'm', input: 1, cacheRead: 0.1, cacheWrite: 1.25 };

describe('Session', () => {
  describe('with edits every turn', () => {
    it('lands what it finds, and gives that as the reason', async () => {
      const session = await sentRead({});
      const { pruned } = await write(session);
      expect(pruned?.reason).toBe('every-turn');
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h');
    });
  });

  describe('with batched edits', () => {
    const batched = { edits: 'batched', minReclaimTokens: 21 } as const;

    it('holds edits that reclaim too little, only logs it, and stays dirty', async () => {
      const debug = vi.fn();
      const session = await sentRead(batched, { logger: { ...SILENT_LOGGER, debug } });
      const onPruned = vi.fn();
      session.on('pruned', onPruned);
      const { pruned } = await write(session);
      expect(pruned).toBeNull();
      expect(entriesOf(session)).toBe(`${READ} ${WRITE}`);
      expect(session.densityDirty).toBe(true);
      expect(onPruned).not.toHaveBeenCalled();
      expect(debug).toHaveBeenCalledWith('density edits are held', { found: 2, landing: 0 });
    });

    it('lands them once they reclaim enough, all at once', async () => {
      const session = await sentRead(batched);
      await write(session);
      session.history.addAll(historyOf('a:r3(b.ts) t:r3 a:w4(b.ts) t:w4'));
      const { pruned } = await session.ensureCompressionBeforeSend('third');
      expect(pruned).toMatchObject({
        reason: 'reclaims-enough',
        metadata: { readWritePairsPruned: 2 },
      });
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h a:w4(b.ts) t:w4');
      expect(session.densityDirty).toBe(false);
    });

    it('lands edits that reclaim exactly enough', async () => {
      const session = await sentRead({ edits: 'batched', minReclaimTokens: 20 });
      expect((await write(session)).pruned?.reason).toBe('reclaims-enough');
    });

    it('lands held edits when the cache has gone cold, even without new content', async () => {
      const time = clock();
      const session = await sentRead(batched, {
        timing: { ...batched, cacheTtlMs: 1_000, now: time.now },
      });
      time.timeMs = 999;
      expect((await write(session)).pruned).toBeNull();
      time.timeMs = 1_998;
      expect((await session.ensureCompressionBeforeSend('p')).pruned).toBeNull();
      time.timeMs = 2_998;
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(pruned?.reason).toBe('cache-cold');
    });

    it.each([
      [100, null],
      [1_000, 'cache-cold'],
      [undefined, 'cache-cold'],
    ])(
      'reads the age of a cache that the host has used since from its answers: %s',
      async (age, reason) => {
        const time = clock();
        const session = await sentRead(batched, {
          timing: { ...batched, cacheTtlMs: 1_000, now: time.now },
        });
        time.timeMs = 5_000;
        const [first, result, answer, ...others] = historyOf(`a:r3(b.ts) t:r3 ${WRITE}`);
        const metadata = age === undefined ? {} : { timestamp: Date.now() - age };
        session.history.addAll([first, result, { ...answer, metadata }, ...others] as IContent[]);
        const { pruned } = await session.ensureCompressionBeforeSend('p');
        expect(pruned?.reason ?? null).toBe(reason);
      },
    );

    it('treats the cache as cold in the first window, and in the first after clearing', async () => {
      const session = openNoted(`${READ} ${WRITE}`, { timing: batched });
      const reason = async (): Promise<string | undefined> =>
        (await session.ensureCompressionBeforeSend('p')).pruned?.reason;
      expect(await reason()).toBe('cache-cold');
      session.history.clear();
      session.history.addAll(historyOf(`${READ} ${WRITE}`));
      expect(await reason()).toBe('cache-cold');
    });

    it.each([
      ['the threshold is reached with pending tokens', { contextLimit: 100 }, 26],
      [
        'the prompt does not fit',
        { contextLimit: 90, settings: { 'compression.threshold': 1 } },
        31,
      ],
    ])('lands edits when %s', async (_, parts, pendingTokens) => {
      const session = await sentRead(batched, parts);
      const { pruned, compressed } = await write(session, pendingTokens);
      expect(pruned?.reason).toBe('threshold');
      expect(compressed).toBeNull();
    });

    it('compresses as well if an edit at the threshold leaves little room', async () => {
      const strategy = keepLast(2);
      const session = await sentRead(batched, { contextLimit: 100, strategy });
      const { pruned, compressed } = await write(session, 39);
      expect([pruned?.reason, pruned?.tokensAfter]).toEqual(['threshold', 40]);
      expect(compressed).toMatchObject({ outcome: 'applied', tokensBefore: 40, tokensAfter: 20 });
      // The next request starts with the same prefix, because there is room again.
      session.history.add(humanText('Go on.'));
      const next = await session.ensureCompressionBeforeSend('p', 39);
      expect(next).toMatchObject({ pruned: null, compressed: null });
    });

    it.each([
      [130, 'price-step'],
      [129, undefined],
      [151, undefined],
    ])('lands edits to get below a price step at %d tokens: %s', async (promptTokens, reason) => {
      const above = { promptTokens, input: 2, cacheRead: 1, cacheWrite: 12.5 };
      const price = (): ModelPrice => ({ ...USUAL, above });
      const session = openNoted(`${READ}${' h'.repeat(7)}`, {
        timing: { edits: 'auto', price },
        gauge: { overheadTokens: 20 },
      });
      await session.ensureCompressionBeforeSend('p');
      expect((await write(session)).pruned?.reason).toBe(reason);
    });

    it('lands edits when the context window is enforced', async () => {
      const session = await sentRead(batched, { contextLimit: 200 });
      session.history.addAll(historyOf(WRITE));
      await session.enforceContextWindow('p', 150);
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h');
    });
  });

  describe('with edits at birth', () => {
    const atBirth = { edits: 'at-birth' } as const;

    it('edits nothing that was sent, stays dirty, and lands all of it at the threshold', async () => {
      const session = await sentRead(atBirth, { contextLimit: 200 });
      expect((await write(session)).pruned).toBeNull();
      expect(session.densityDirty).toBe(true);
      const { pruned } = await session.ensureCompressionBeforeSend('p', 110);
      expect(pruned).toMatchObject({
        reason: 'threshold',
        metadata: { readWritePairsPruned: 1 },
      });
      expect(session.densityDirty).toBe(false);
    });

    it('keeps what an answer follows: the host has sent it without a preflight', async () => {
      const session = await sentRead(atBirth);
      session.history.addAll(historyOf(`a:r3 t:r3 ${WRITE}`));
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(pruned).toBeNull();
      expect(entriesOf(session)).toBe(`${READ} a:r3 t:r3 ${WRITE}`);
    });

    it('lands the whole edit in a first window', async () => {
      const session = openNoted(`${READ} ${WRITE}`, { timing: atBirth });
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(pruned?.reason).toBe('unsent');
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h');
    });
  });

  describe('that strips reasoning', () => {
    const strip = { reasoning: 'strip-after-first-edit' } as const;
    const THOUGHT = 'h a:*s1,sure a:r1 t:r1 a:*s2,w2 t:w2 a:*s3,s4 t:s4 h';

    it('strips it in the same edit, and lists the entries among the changes', async () => {
      const session = openNoted(THOUGHT, { timing: strip });
      const apply = vi.spyOn(session.history, 'applyDensityResult');
      const { pruned, totalTokens } = await session.ensureCompressionBeforeSend('p');
      expect(entriesOf(session)).toBe('h a:*s1,sure a:w2 t:w2 a:s4 t:s4 h');
      expect(pruned?.changes.map(({ index }) => index)).toEqual([2, 3, 4, 6]);
      expect(pruned?.metadata.readWritePairsPruned).toBe(1);
      expect(totalTokens).toBe(70);
      expect(apply).toHaveBeenCalledOnce();
    });

    it('keeps it by default', async () => {
      const session = openNoted(THOUGHT);
      await session.ensureCompressionBeforeSend('p');
      expect(entriesOf(session)).toBe('h a:*s1,sure a:*s2,w2 t:w2 a:*s3,s4 t:s4 h');
    });

    it('strips it from the result of a compression, before that is in place', async () => {
      const strategy = strategyOf(async ({ history }) => history.slice(3));
      const session = openNoted('h a:*s1,one h a:*s2,two h a:*s3,three', {
        strategy,
        contextLimit: 60,
        timing: strip,
      });
      const replace = vi.spyOn(session.history, 'replaceAll');
      const { compressed } = await session.ensureCompressionBeforeSend('p');
      expect(compressed?.outcome).toBe('applied');
      expect(entriesOf(session)).toBe('a:two h a:three');
      expect(describeHistory(replace.mock.calls[0]?.[0] ?? [])).toBe('a:two h a:three');
    });

    it.each(['strip-after-first-edit', 'forbid-edits'] as const)(
      'strips it where the history was cut to fit, by %s',
      async (reasoning) => {
        const strategy = strategyOf(async ({ history }) => history);
        const session = openNoted('h:old a:*s1,one h a:*s2,two h:new', {
          strategy,
          contextLimit: 40,
          timing: { reasoning },
        });
        const { fitted } = await session.ensureCompressionBeforeSend('p');
        expect(holdsReasoning(session.history.getRawHistory(), 0)).toBe(false);
        expect(fitted?.changes.some(({ after }) => after !== null)).toBe(true);
      },
    );

    it('strips it from entries that are added while a compression runs, too', async () => {
      const strategy = strategyOf(async ({ history }) => {
        session.history.addAll(historyOf('a:*s9,late h'));
        return history.slice(2);
      });
      const session: Session = openNoted('h a:*s1,one h a:*s2,two', {
        strategy,
        contextLimit: 40,
        timing: strip,
      });
      await session.performCompression('p');
      expect(entriesOf(session)).toBe('h a:two a:late h');
    });

    it('records what it strips, also from entries that are added during the recording', async () => {
      const path = temporaryPath();
      const opened = await RemovalLog.open(path);
      const append = opened.append.bind(opened);
      const recording = deferred<null>();
      const begun = deferred<null>();
      opened.append = async (...args) => {
        begun.resolve(null);
        await recording.promise;
        return append(...args);
      };
      const log = { path, sessionId: 'session', logger: SILENT_LOGGER };
      const removalLog = new SessionLog(log, opened);
      const session = openNoted(THOUGHT, { timing: { ...strip, removalLog } });
      const window = session.ensureCompressionBeforeSend('p');
      await begun.promise;
      session.history.addAll(historyOf('a:*s9,late h'));
      recording.resolve(null);
      await window;
      expect(entriesOf(session)).toBe('h a:*s1,sure a:w2 t:w2 a:s4 t:s4 h a:late h');
      await session.close();
      const recorded = new Set<string>();
      for await (const { record } of readRemovals(path)) {
        recorded.add(describeHistory([record.entry]));
      }
      for (const gone of ['a:r1', 't:r1', 'a:*s2,w2', 'a:*s3,s4', 'a:*s9,late']) {
        expect(recorded).toContain(gone);
      }
    });
  });

  describe('that forbids edits before reasoning', () => {
    const forbid = { reasoning: 'forbid-edits' } as const;

    it('edits behind the last thinking block only, and stays dirty', async () => {
      const session = openNoted('h a:r1 t:r1 a:*s1,w2 t:w2 a:r3 t:r3 a:w4 t:w4', {
        timing: forbid,
      });
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(pruned?.metadata.readWritePairsPruned).toBe(1);
      expect(entriesOf(session)).toBe('h a:r1 t:r1 a:*s1,w2 t:w2 a:w4 t:w4');
      expect(session.densityDirty).toBe(true);
    });

    it('holds even what the threshold would force', async () => {
      const strategy = strategyOf(async ({ history }) => history);
      const session = openNoted('h a:r1 t:r1 a:*s1,w2 t:w2', {
        strategy,
        contextLimit: 50,
        timing: forbid,
      });
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(pruned).toBeNull();
    });
  });

  describe('fed step by step', () => {
    const POLICIES = ['every-turn', 'batched', 'at-birth'] as const;
    const REASONING = ['keep', 'strip-after-first-edit', 'forbid-edits'] as const;
    const UNLIMITED = 1_000_000;
    /** How many entries each window adds, and whether the cache has gone cold before it. */
    const steps = fc.array(
      fc.record({ adds: fc.integer({ min: 1, max: 12 }), isCold: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 12,
        size: 'max',
      },
    );
    const settings = { 'compression.density.recencyPruning': true };

    /** Feeds a history to a session, with callbacks around each window. */
    async function feed(
      history: readonly IContent[],
      plan: readonly { readonly adds: number; readonly isCold: boolean }[],
      options: EditOptions & { readonly contextLimit?: number; readonly isPruningRecent?: boolean },
      onWindow: (before: readonly IContent[], session: Session, sent: number) => void,
    ): Promise<Session> {
      const { contextLimit = UNLIMITED, isPruningRecent = true, ...timing } = options;
      const time = clock();
      const session = openSession({
        contextLimit,
        timing: { ...timing, now: time.now },
        ...(isPruningRecent && { settings }),
      });
      let sent = 0;
      let fed = 0;
      for (const { adds, isCold } of [...plan, { adds: history.length, isCold: true }]) {
        session.history.addAll(history.slice(fed, fed + adds));
        fed += adds;
        if (isCold) time.timeMs += 300_000;
        const before = session.history.getAll();
        try {
          await session.ensureCompressionBeforeSend('p');
        } catch (error) {
          if (error instanceof ContextWindowExceededError) break;
          throw error;
        }
        onWindow(before, session, sent);
        sent = session.history.length;
      }
      return session;
    }

    it('stays valid by every policy, above the threshold and below it', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        fc.constantFrom(...POLICIES),
        fc.constantFrom(...REASONING),
        fc.constantFrom(150, 400, UNLIMITED),
        fc.constantFrom(0, 60, 20_000),
        async (history, plan, edits, reasoning, contextLimit, minReclaimTokens) => {
          const options = { edits, reasoning, contextLimit, minReclaimTokens };
          await feed(history, plan, options, (before, session) => {
            expect(findViolations(before)).toEqual([]);
            expect(findViolations(session.history.getRawHistory())).toEqual([]);
          });
        },
      );
      await fc.assert(property, { numRuns: runs(1_000) });
    });

    it('is after a batch the same as after one pass over all entries', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        async (history, plan) => {
          const held = plan.map(({ adds }) => ({ adds, isCold: false }));
          const options = { edits: 'batched', minReclaimTokens: UNLIMITED } as const;
          const adds = plan[0]?.adds ?? 0;
          const batched = await feed(history, held, options, () => undefined);
          // The first window is cold: the batch sees its edits, not the original entries.
          const once = openSession({ contextLimit: UNLIMITED, settings });
          once.history.addAll(history.slice(0, adds));
          await once.ensureCompressionBeforeSend('p');
          once.history.addAll(history.slice(adds));
          await once.ensureCompressionBeforeSend('p');
          expect(batched.history.getAll()).toEqual(once.history.getAll());
        },
      );
      await fc.assert(property, { numRuns: runs(500) });
    });

    it('is after a batch the same as after a pass in every turn, except for old results', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        async (history, plan) => {
          const ends = await Promise.all(
            (['batched', 'every-turn'] as const).map((edits) =>
              feed(history, plan, { edits, isPruningRecent: false }, () => undefined),
            ),
          );
          const [batched, everyTurn] = ends.map((session) => session.history.getAll());
          expect(batched).toEqual(everyTurn);
        },
      );
      await fc.assert(property, { numRuns: runs(500) });
    });

    it('edits at birth nothing that was sent, below the threshold', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        async (history, plan) => {
          await feed(history, plan, { edits: 'at-birth' }, (before, session, sent) => {
            const kept = firstDifference(before, session.history.getRawHistory());
            expect(kept).toBeGreaterThanOrEqual(sent);
          });
        },
      );
      await fc.assert(property, { numRuns: runs(500) });
    });

    it('keeps no reasoning behind the first place that it edited', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        fc.constantFrom(...POLICIES),
        fc.constantFrom(150, 400, UNLIMITED),
        async (history, plan, edits, contextLimit) => {
          const options = { edits, contextLimit, reasoning: 'strip-after-first-edit' } as const;
          await feed(history, plan, options, (before, session) => {
            const after = session.history.getRawHistory();
            const at = firstDifference(before, after);
            if (at === before.length && at === after.length) return;
            expect(holdsReasoning(after, at + 1)).toBe(false);
            const blocks = after[at]?.blocks ?? [];
            const same = firstDifference(blocks, before[at]?.blocks ?? []);
            expect(blocks.slice(same).filter(({ type }) => type === 'thinking')).toEqual([]);
          });
        },
      );
      await fc.assert(property, { numRuns: runs(1_000) });
    });

    it('edits nothing in front of reasoning where that is forbidden, below the threshold', async () => {
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        fc.constantFrom(...POLICIES),
        async (history, plan, edits) => {
          await feed(history, plan, { edits, reasoning: 'forbid-edits' }, (before, session) => {
            const after = session.history.getRawHistory();
            const last = before.findLastIndex((entry) => holdsReasoning([entry], 0));
            expect(firstDifference(before, after)).toBeGreaterThanOrEqual(last);
            const blocks = before[last]?.blocks ?? [];
            const place = blocks.findLastIndex(({ type }) => type === 'thinking') + 1;
            expect(after[last]?.blocks.slice(0, place) ?? []).toEqual(blocks.slice(0, place));
          });
        },
      );
      await fc.assert(property, { numRuns: runs(1_000) });
    });
  });
});
