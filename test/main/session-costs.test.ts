// What a session's requests cost in tokens, compared with an account that keeps whole requests.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CostReport } from '../../src/main/preflight/cost-meter.js';
import type { RequestTokens } from '../../src/main/preflight/token-tally.js';
import { providerEntry } from '../../src/main/strategies/provider-compaction.js';
import { beginsAnswer } from '../../src/main/preflight/context-gauge.js';
import { firstDifference } from '../../src/main/preflight/reasoning-policy.js';
import type { IContent } from '../../src/shared/content.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';
import { deferred, keepLast, openNoted, openSession } from '../support/session-bench.js';
import { runs } from '../support/scale.js';

const NOTHING: RequestTokens = { sentTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** Keeps each request as it was sent, and compares it with the next one. */
class NaiveAccount {
  #last: readonly IContent[] = [];
  #hasSent = false;
  tokens: RequestTokens = NOTHING;
  rewrites = 0;

  /** @param unedited the history before the edits of its preflight */
  send(history: readonly IContent[], isWarm: boolean, unedited = history): void {
    const same = firstDifference(history, this.#last);
    // What an answer follows was sent, also if the host has made that call alone.
    const answer = unedited.findLastIndex((_, at) => beginsAnswer(unedited, at));
    const isAhead = this.#hasSent && answer > this.#last.length;
    const former = isAhead ? unedited.slice(0, answer) : this.#last;
    if (firstDifference(history, former) < former.length) this.rewrites += 1;
    this.#hasSent = true;
    const sent = sumOf(history);
    const read = isWarm ? sumOf(history.slice(0, same)) : 0;
    this.tokens = {
      sentTokens: this.tokens.sentTokens + sent,
      cacheReadTokens: this.tokens.cacheReadTokens + read,
      cacheWriteTokens: this.tokens.cacheWriteTokens + sent - read,
    };
    this.#last = history;
  }
}

function sumOf(history: readonly IContent[]): number {
  return history.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
}

describe('Session', () => {
  describe('costs', () => {
    it('are zero at first', () => {
      expect(openSession().costs()).toEqual({
        requests: 0,
        ...NOTHING,
        uncompacted: NOTHING,
        rewrites: 0,
      });
    });

    it("count nothing as saved by a provider's own compaction", async () => {
      const session = openSession({ entries: historyOf('h:"Do it." a:r1 t:r1 a:done') });
      await session.ensureCompressionBeforeSend('p1');
      const before = session.costs().uncompacted.sentTokens;
      const compacted = providerEntry({ kind: 'compaction', data: {}, tokens: 9 });
      session.history.addAll([compacted, ...historyOf('h:next')]);
      const { compressed, totalTokens } = await session.ensureCompressionBeforeSend('p2');
      expect(compressed).toMatchObject({ outcome: 'applied' });
      expect(session.costs().uncompacted.sentTokens - before).toBe(totalTokens);
    });

    it('are the same whenever a snapshot is taken', async () => {
      const play = async (isRead: boolean): Promise<readonly unknown[]> => {
        let counting: Promise<unknown> = Promise.resolve();
        const session = openSession({
          countEntries: async (contents) => {
            await counting;
            return contents.map(() => 10);
          },
          settings: {
            'compression.density.recencyPruning': true,
            'compression.density.recencyRetention': 1,
          },
          timing: { now: () => 0 },
        });
        session.history.addAll(historyOf('h a:r1 t:r1'));
        await session.ensureCompressionBeforeSend('p1');
        session.history.addAll(historyOf('a:r2 t:r2'));
        await session.history.waitForTokenUpdates();
        const counted = deferred<undefined>();
        counting = counted.promise;
        const { revision } = session.history;
        const onTokens = (): void => {
          if (isRead) session.snapshot();
        };
        session.history.on('tokensUpdated', onTokens);
        const prepared = session.ensureCompressionBeforeSend('p2');
        // The edit has landed, and its replacements are not counted yet.
        await expect.poll(() => session.history.revision).toBeGreaterThan(revision);
        onTokens();
        counted.resolve(undefined);
        await prepared;
        return [session.costs(), session.snapshot().memory.sent];
      };
      expect(await play(true)).toEqual(await play(false));
    });

    it('are exact in a long history, too', async () => {
      const session = openNoted(`${'h '.repeat(50)} a:r1 t:r1 ${'h '.repeat(600)}`, {
        contextLimit: 1_000_000,
      });
      await session.ensureCompressionBeforeSend('p1');
      session.history.addAll(historyOf('a:w2 t:w2'));
      await session.ensureCompressionBeforeSend('p2');
      expect(session.costs()).toMatchObject({ cacheReadTokens: 500, rewrites: 1 });
      session.history.addAll(historyOf('h'));
      await session.ensureCompressionBeforeSend('p3');
      expect(session.costs()).toMatchObject({ cacheReadTokens: 500 + 6_520, rewrites: 1 });
    });

    it('start again when the history is cleared', async () => {
      const session = openNoted('h a:r1 t:r1 a:w2 t:w2');
      await session.ensureCompressionBeforeSend('p1');
      session.history.clear();
      session.history.addAll(historyOf('h'));
      await session.ensureCompressionBeforeSend('p2');
      expect(session.costs()).toEqual<CostReport>({
        requests: 2,
        sentTokens: 40,
        cacheReadTokens: 0,
        cacheWriteTokens: 40,
        uncompacted: { sentTokens: 60, cacheReadTokens: 0, cacheWriteTokens: 60 },
        rewrites: 0,
      });
    });

    it('count no reads from the cache of another model', async () => {
      let nowMs = 0;
      const timing = { now: () => nowMs, cacheTtlMs: 100, edits: 'every-turn' } as const;
      const session = openSession({ timing });
      session.history.addAll(historyOf('h'));
      const reads = async (modelName: string, later: number): Promise<boolean> => {
        nowMs += later;
        session.history.nameModel(modelName);
        const { cacheReadTokens } = session.costs();
        await session.ensureCompressionBeforeSend('p');
        return session.costs().cacheReadTokens > cacheReadTokens;
      };
      await session.ensureCompressionBeforeSend('before it has a name');
      expect([await reads('a', 1), await reads('b', 1), await reads('b', 1)]).toEqual([
        true,
        false,
        true,
      ]);
      expect([await reads('a', 1), await reads('b', 60), await reads('a', 60)]).toEqual([
        true,
        true,
        false,
      ]);
    });

    it('count a failed window for nothing, and its edits for the next one', async () => {
      const session = openNoted('h a:r1 t:r1', { contextLimit: 100 });
      await session.ensureCompressionBeforeSend('p1');
      session.history.addAll(historyOf('a:w2 t:w2'));
      await expect(session.ensureCompressionBeforeSend('p2', 100)).rejects.toThrow();
      expect(session.costs().requests).toBe(1);
      await session.ensureCompressionBeforeSend('p3');
      expect(session.costs()).toMatchObject({ requests: 2, rewrites: 1 });
    });

    it('equal those of an account that keeps all requests', async () => {
      const steps = fc.array(
        fc.record({
          adds: fc.integer({ min: 0, max: 12 }),
          waitMs: fc.constantFrom(0, 400, 1_000),
        }),
        { minLength: 1, maxLength: 12, size: 'max' },
      );
      const property = fc.asyncProperty(
        arbitraryHistory({ maxEntries: 80 }),
        steps,
        fc.constantFrom('every-turn' as const, 'batched' as const, 'at-birth' as const),
        fc.constantFrom('keep' as const, 'strip-after-first-edit' as const),
        fc.constantFrom(200, 1_000_000),
        async (history, plan, edits, reasoning, contextLimit) => {
          let timeMs = 0;
          const session = openSession({
            contextLimit,
            ...(contextLimit === 200 && { strategy: keepLast(4) }),
            countEntries: (contents) => Promise.resolve(contents.map(estimateEntryTokens)),
            timing: {
              edits,
              reasoning,
              cacheTtlMs: 1_000,
              minReclaimTokens: 60,
              now: () => timeMs,
            },
          });
          const [compacted, uncompacted] = [new NaiveAccount(), new NaiveAccount()];
          let fed = 0;
          let sentAtMs = -Infinity;
          let requests = 0;
          for (const { adds, waitMs } of plan) {
            session.history.addAll(history.slice(fed, fed + adds));
            fed = Math.min(history.length, fed + adds);
            timeMs += waitMs;
            const unedited = session.history.getAll();
            try {
              await session.ensureCompressionBeforeSend('p');
            } catch {
              break;
            }
            requests += 1;
            const isWarm = timeMs - sentAtMs < 1_000;
            compacted.send(session.history.getAll(), isWarm, unedited);
            uncompacted.send(history.slice(0, fed), isWarm);
            sentAtMs = timeMs;
          }
          expect(session.costs()).toEqual<CostReport>({
            requests,
            ...compacted.tokens,
            uncompacted: uncompacted.tokens,
            rewrites: compacted.rewrites,
          });
        },
      );
      await fc.assert(property, { numRuns: runs(1_000) });
    });
  });
});
