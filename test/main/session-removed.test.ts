// What a session reports to hosts that track which files the model has read.

import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import type { RemovedEvent } from '../../src/main/preflight/session-events.js';
import type { CompressionStrategy } from '../../src/main/strategies/strategy.js';
import type { Session } from '../../src/main/session.js';
import { isToolCallBlock, isToolResponseBlock } from '../../src/shared/content.js';
import { aiContent, humanText, toolCall, toolResponse } from '../../src/shared/content.js';
import type { IContent, ToolResponseBlock } from '../../src/shared/content.js';
import { isWorkNote } from '../../src/shared/work/work-note.js';
import { openCompactor } from '../support/open-compactor.js';
import { findInclusions } from '../../src/shared/density/index/file-inclusions.js';
import { callUse } from '../../src/shared/density/index/call-use.js';
import { CALL_ACCESS } from '../../src/shared/density/index/history-columns.js';
import { DEFAULT_TOOL_CATALOG } from '../../src/shared/tool-catalog.js';
import { placeholderKind } from '../../src/shared/placeholder.js';
import { findViolations } from '../../src/shared/validity.js';
import { arbitraryHistory, WORKSPACE_ROOT } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';
import { keepLast, openNoted, openSession, strategyOf } from '../support/session-bench.js';
import { runs, sightings } from '../support/scale.js';

function listen(session: Session): RemovedEvent[] {
  const events: RemovedEvent[] = [];
  session.on('removed', (event) => events.push(event));
  return events;
}

/** Replaces all results by a text and copies the other entries, as a custom strategy may. */
function shortening(entry: IContent): IContent {
  const blocks = entry.blocks.map((block) =>
    isToolResponseBlock(block) ? { ...block, result: 'short' } : block,
  );
  return { ...entry, blocks };
}

/** The entries from `start` on, unless a response among them would lack its call. */
function validTail(history: readonly IContent[], start: number): readonly IContent[] {
  const tail = history.slice(start);
  return findViolations(tail).length === 0 ? tail : history;
}

describe('Session', () => {
  describe('pruned', () => {
    it('names the file of a read that a write made stale, by its absolute path', async () => {
      const session = openNoted('h a:r1(src/../a.ts) t:r1 a:w2(/w/a.ts) t:w2 h');
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toEqual([{ step: 'pruned', paths: ['/w/a.ts'], callIds: ['r1'] }]);
    });

    it('finds the call of a result that became a placeholder while the call stays', async () => {
      const session = openNoted(
        'h a:r9(z.ts) t:r9 a:w8(z.ts) t:w8 a:m1(a.ts|b.ts) t:m1 a:m2(c.ts) t:m2',
        {
          settings: {
            'compression.density.recencyPruning': true,
            'compression.density.recencyRetention': 1,
          },
        },
      );
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toEqual([
        { step: 'pruned', paths: ['/w/z.ts', '/w/a.ts', '/w/b.ts'], callIds: ['r9', 'm1'] },
      ]);
    });

    it('takes the newest call in front of a result, when several have its id', async () => {
      const session = openNoted(
        'h a:r9(z.ts) t:r9 a:w8(z.ts) t:w8 a:m1(a.ts) t:m1 a:m1(b.ts) t:m1',
        {
          settings: {
            'compression.density.recencyPruning': true,
            'compression.density.recencyRetention': 1,
          },
        },
      );
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toMatchObject([{ paths: ['/w/z.ts', '/w/a.ts'], callIds: ['r9', 'm1'] }]);
    });

    it('takes the call that stays, if an earlier one of the same id was removed', async () => {
      const session = openNoted(
        'h a:m1(a.ts) t:m1 a:w8(a.ts) t:w8 a:m1(b.ts) t:m1 a:m2(c.ts) t:m2',
        {
          settings: {
            'compression.density.recencyPruning': true,
            'compression.density.recencyRetention': 1,
          },
        },
      );
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toMatchObject([{ paths: ['/w/a.ts', '/w/b.ts'], callIds: ['m1'] }]);
    });

    it('finds the call of a result behind many other results', async () => {
      const others = Array.from({ length: 130 }, (_, at) => `s${at + 100}`);
      const results = others.map((id) => `t:${id}`).join(' ');
      const session = openNoted(
        `h a:m1(z.ts) t:m1 a:m1(a.ts),${others.join()} ${results} t:m1 a:m1(b.ts) t:m1 a:m2(c.ts) t:m2`,
        {
          settings: {
            'compression.density.recencyPruning': true,
            'compression.density.recencyRetention': 2,
          },
        },
      );
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toMatchObject([{ paths: ['/w/z.ts', '/w/a.ts'] }]);
    });

    it('does not take a placeholder for a result that was read', async () => {
      const session = openNoted('h a:r1 t:r1~ h', { strategy: keepLast(1) });
      const events = listen(session);
      expect((await session.performCompression('p1')).outcome).toBe('applied');
      expect(events).toEqual([]);
    });

    it('names the file of a removed inclusion, even if a newer one is left', async () => {
      const session = openNoted('h:see+@a.ts(old) a h:see+@a.ts(new)+@b.ts a');
      const events = listen(session);
      await session.ensureDensityOptimized();
      expect(events).toEqual([{ step: 'pruned', paths: ['/w/a.ts'], callIds: [] }]);
    });

    it('names no file of an entry that a compression keeps', async () => {
      const strategy = strategyOf(async ({ history }) => history.slice(1), null);
      const session = openNoted('h:see+@a.ts h:see+@b.ts h:see+@c.ts a', { strategy });
      const events = listen(session);
      await session.performCompression('p1');
      expect(events).toEqual([{ step: 'compressed', paths: ['/w/a.ts'], callIds: [] }]);
    });

    it('names what a compression removed, and nothing that it kept', async () => {
      const strategy = strategyOf(async ({ history }) => history.slice(3), null);
      const session = openNoted(
        'h:see+@c.ts a:r1,s2 t:r1,s2 h:see+@b.ts a:r3(b.ts) t:r3(={"lines":[1]})',
        {
          strategy,
        },
      );
      const events = listen(session);
      await session.performCompression('p1');
      expect(events).toEqual([
        { step: 'compressed', paths: ['/w/c.ts', '/w/a.ts'], callIds: ['r1', 's2'] },
      ]);
    });

    it('reports nothing for a compression that is not applied', async () => {
      const strategy = strategyOf(async ({ history }) => [...history.map(shortening), ...history]);
      const session = openNoted('h a:r1 t:r1 h', { strategy });
      const events = listen(session);
      expect((await session.performCompression('p1')).outcome).toBe('rejected');
      expect(events).toEqual([]);
    });

    it('reports a call once, even if the short form of its result is removed later', async () => {
      let steps: readonly ((history: readonly IContent[]) => readonly IContent[])[] = [
        (history) => history.slice(1).map(shortening),
        (history) => history.slice(1),
        (history) => history.slice(-1),
      ];
      const strategy = strategyOf(async ({ history }) => {
        const [step, ...rest] = steps;
        steps = rest;
        return step?.(history) ?? history;
      }, null);
      const session = openNoted('h h a:r1 t:r1 h:end', { strategy });
      const events = listen(session);
      for (const prompt of ['p1', 'p2', 'p3']) await session.performCompression(prompt);
      expect(session.history.length).toBe(1);
      expect(events).toEqual([{ step: 'compressed', paths: ['/w/a.ts'], callIds: ['r1'] }]);
    });

    it('names what was summarized and dropped to fit the window', async () => {
      const session = openSession({
        contextLimit: 20,
        entries: historyOf('h a:r1 t:r1 h:now'),
        strategy: strategyOf(async ({ history }) => history, null),
      });
      const events = listen(session);
      await session.ensureCompressionBeforeSend('p1');
      expect(events).toEqual([{ step: 'fitted', paths: ['/w/a.ts'], callIds: ['r1'] }]);
    });

    it('finds the calls of what was summarized behind the note of what was dropped', async () => {
      const settings = { 'compression.preserveThreshold': 1 };
      const compactor = openCompactor({ contextLimit: 4_000, settings });
      const session = await compactor.createSession({ density: { workspaceRoot: '/w' } });
      const events = listen(session);
      const turns = Array.from({ length: 8 }, (_, at) => [
        humanText(`ask ${at}`),
        aiContent(`done ${at} ${'with more words '.repeat(150)}`),
      ]);
      const parameters = { path: 'a.ts' };
      session.history.addAll([
        ...turns.flat(),
        humanText('now'),
        { speaker: 'ai', blocks: [toolCall('r1', 'read_file', parameters)] },
        { speaker: 'tool', blocks: [toolResponse('r1', 'read_file', 'a line\n'.repeat(4_000))] },
      ]);
      expect(await session.enforceContextWindow('p1')).toMatchObject({ summarizedEntries: 1 });
      expect(session.history.getAll().some(isWorkNote)).toBe(true);
      expect(events.at(-1)).toEqual({ step: 'fitted', paths: ['/w/a.ts'], callIds: ['r1'] });
    });

    it('does no work without listeners', async () => {
      const session = openNoted('h a:r1 t:r1 a:w2 t:w2 h', { strategy: keepLast(1) });
      const raw = vi.spyOn(session.history, 'getRawHistory');
      const countListened = vi.spyOn(session, 'listenerCount');
      await session.performCompression('p1');
      const unheard = raw.mock.calls.length;
      expect(countListened).toHaveBeenCalledWith('removed');
      session.history.addAll(historyOf('h a:r1 t:r1'));
      listen(session);
      await session.performCompression('p2');
      expect(raw.mock.calls.length).toBe(unheard * 2 + 1);
    });

    it('reports each removed result once, and none that is left', async () => {
      const plans = fc.record({
        history: arbitraryHistory({ maxEntries: 60 }),
        cuts: fc.array(fc.nat(60), { maxLength: 4 }),
        recency: fc.boolean(),
        contextLimit: fc.constantFrom(100, 300, 10_000),
        compress: fc.constantFrom<CompressionStrategy | undefined>(
          undefined,
          strategyOf(async ({ history }) => validTail(history, -6)),
          strategyOf(async ({ history }) => validTail(history, 3).map(shortening)),
        ),
      });
      let eventCount = 0;
      await fc.assert(
        fc.asyncProperty(plans, async ({ history, cuts, recency, contextLimit, compress }) => {
          const session = openSession({
            contextLimit,
            density: { workspaceRoot: WORKSPACE_ROOT },
            settings: {
              'compression.density.recencyPruning': recency,
              'compression.density.recencyRetention': 1,
            },
            ...(compress !== undefined && { strategy: compress }),
          });
          const events = listen(session);
          const bounds = [0, ...cuts.sort((a, b) => a - b), history.length];
          for (const [at, end] of bounds.slice(1).entries()) {
            session.history.addAll(history.slice(bounds[at], end));
            // What does not fit is reported as well.
            await session.ensureCompressionBeforeSend('p').catch(() => undefined);
          }
          holdTo(session.history.getRawHistory(), history, events);
          eventCount += events.length;
        }),
        { numRuns: runs(150) },
      );
      expect(eventCount).toBeGreaterThan(sightings(20));
    });
  });
});

/** Tools may be called "constructor". */
const CATALOG = new Map(Object.entries(DEFAULT_TOOL_CATALOG));

/** Compares what was reported with what was added and what is left. */
function holdTo(
  left: readonly IContent[],
  added: readonly IContent[],
  events: readonly RemovedEvent[],
): void {
  const removedIds = events.flatMap(({ callIds }) => callIds);
  const originals = uniqueBy(responsesOf(added), ({ callId }) => callId);
  const standing = responsesOf(left);
  for (const original of originals) {
    if (placeholderKind(original) !== 'none') continue;
    const { callId, result } = original;
    const stands = standing.some(
      (block) => block.callId === callId && isDeepStrictEqual(block.result, result),
    );
    const times = removedIds.filter((id) => id === callId).length;
    expect(times, `${callId} is told of`).toBe(stands ? 0 : 1);
  }
  const pathsOf = new Map(
    uniqueBy(added.flatMap(({ blocks }) => blocks).filter(isToolCallBlock), ({ id }) => id).map(
      ({ id, name, parameters }) => {
        const call = { name, parameters };
        const { access, paths } = callUse((tool) => CATALOG.get(tool) ?? [], call, true);
        return [id, access === CALL_ACCESS.read ? paths : []];
      },
    ),
  );
  const included = new Set(added.flatMap(inclusionPaths));
  for (const { paths, callIds } of events) {
    expect(new Set(paths).size).toBe(paths.length);
    const read = callIds.flatMap((id) => pathsOf.get(id) ?? []).map(absolute);
    expect(paths).toEqual(expect.arrayContaining(read));
    if (callIds.every((id) => pathsOf.has(id))) {
      expect(paths.filter((file) => !read.includes(file) && !included.has(file))).toEqual([]);
    }
  }
  // An inclusion is never created again: a file without one left has been reported.
  const removedPaths = new Set(events.flatMap(({ paths }) => paths));
  const stillIncluded = new Set(left.flatMap(inclusionPaths));
  for (const file of included) expect(removedPaths.has(file) || stillIncluded.has(file)).toBe(true);
}

function absolute(file: string): string {
  return path.resolve(WORKSPACE_ROOT, file);
}

function inclusionPaths({ speaker, blocks }: IContent): readonly string[] {
  if (speaker !== 'human') return [];
  return findInclusions(blocks, { workspaceRoot: WORKSPACE_ROOT }).map((found) =>
    absolute(found.path),
  );
}

/** The complete responses of a history. */
function responsesOf(history: readonly IContent[]): readonly ToolResponseBlock[] {
  return history
    .flatMap(({ blocks }) => blocks)
    .filter(isToolResponseBlock)
    .filter(({ isComplete }) => isComplete !== false);
}

/** Items whose key is unique. */
function uniqueBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return items.filter((item) => counts.get(keyOf(item)) === 1);
}
