// A session with a removal log loses nothing: entries are on disk before they are removed, are restored to the byte, and stay when the disk is full.

import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { SessionOptions } from '../../src/main/session-options.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import type { HistoryService } from '../../src/main/history-service.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { providerEntry } from '../../src/main/strategies/provider-compaction.js';
import { COMPRESSION_STRATEGIES } from '../../src/main/strategies/strategy.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import { decodeRemoval } from '../../src/main/removal-log/removal-record.js';
import { RemovalLog } from '../../src/main/removal-log/removal-log.js';
import type { Session } from '../../src/main/session.js';
import { humanText, isToolResponseBlock } from '../../src/shared/content.js';
import type { IContent, ToolResponseBlock } from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { deferred, outcomeOf } from '../support/session-bench.js';
import { FULL_WINDOW_LIMIT, fullHistory } from './preflight/full-window.js';
import { openWith, systemError, temporaryPath } from './removal-log/recording.js';
import { runs } from '../support/scale.js';
import { arbitraryRatio } from '../support/arbitrary-ratio.js';
import { openCompactor } from '../support/open-compactor.js';

type Options = CompactorOptions & SessionOptions & { readonly strategy?: CompressionStrategyName };

async function open({ strategy, ...options }: Options): Promise<Session> {
  const { history, sessionId = 's1', removalLogPath, activeTodos, density, ...rest } = options;
  return openCompactor({
    preset: 'specification',
    workspaceRoot: '/w',
    contextLimit: FULL_WINDOW_LIMIT,
    summarizer: scriptedSummarizer(snapshot('what was done')),
    settings: { 'compression.strategy': strategy },
    ...rest,
  }).createSession({ history, sessionId, removalLogPath, activeTodos, density });
}

/** The entries on disk now, as JSON represents them. */
function recordedIn(path: string): ReadonlySet<string> {
  const lines = readFileSync(path, 'utf8').split('\n');
  const decoded = lines.map((line) => decodeRemoval(Buffer.from(line)));
  return new Set(decoded.flatMap(({ record }) => (record ? [JSON.stringify(record.entry)] : [])));
}

/** Checks that each edit is on disk before it is made. */
function watchEdits(history: HistoryService, path: string): readonly string[] {
  const edits: string[] = [];
  const expectRecorded = (name: string, gone: readonly IContent[]): void => {
    const recorded = recordedIn(path);
    expect(gone.filter((entry) => !recorded.has(JSON.stringify(entry)))).toEqual([]);
    expect(gone.length).toBeGreaterThan(0);
    edits.push(name);
  };
  const apply = history.applyDensityResult.bind(history);
  vi.spyOn(history, 'applyDensityResult').mockImplementation((result, base) => {
    const indices = [...result.removals, ...result.replacements.keys()];
    const entries = history.getAll();
    expectRecorded(
      'edit',
      indices.flatMap((index) => entries[index] ?? []),
    );
    return apply(result, base);
  });
  const replace = history.replaceAll.bind(history);
  vi.spyOn(history, 'replaceAll').mockImplementation((contents, base) => {
    const kept = new Set(contents);
    expectRecorded(
      'compression',
      history.getAll().filter((entry) => !kept.has(entry)),
    );
    return replace(contents, base);
  });
  return edits;
}

function responsesOf(history: readonly IContent[]): readonly ToolResponseBlock[] {
  return history.flatMap(({ blocks }) => blocks.filter(isToolResponseBlock));
}

/** A copy with results that are longer than their summaries. */
function withLongResults({ blocks, ...entry }: IContent): IContent {
  const lengthened = blocks.map((block) =>
    block.type === 'tool_response' && block.result !== PRUNED_POINTER
      ? { ...block, result: [block.result, 'and so on '.repeat(20)] }
      : block,
  );
  return structuredClone({ ...entry, blocks: lengthened });
}

/** Restores every response that is no longer in the history; each must be the original. */
async function expectRestorable(
  session: Session,
  originals: readonly ToolResponseBlock[],
): Promise<number> {
  const present = new Set(responsesOf(session.history.getAll()).map((one) => JSON.stringify(one)));
  const gone = originals.filter((original) => !present.has(JSON.stringify(original)));
  for (const original of gone) {
    const { response } = await session.restore(original.callId);
    expect(response).toEqual(original);
    expect(JSON.stringify(response)).toBe(JSON.stringify(original));
  }
  return gone.length;
}

/** Opens the transcripts of a test through files that fail when `fails` says so. */
function failWrites(fails: (write: number) => boolean): void {
  const open = RemovalLog.open.bind(RemovalLog);
  let writes = 0;
  const openFile = openWith({
    write: (file, bytes) => {
      writes += 1;
      if (fails(writes)) throw systemError('ENOSPC');
      return file.write(bytes);
    },
  });
  const opened = vi
    .spyOn(RemovalLog, 'open')
    .mockImplementation((path, options) => open(path, { ...options, openFile }));
  onTestFinished(() => opened.mockRestore());
}

const DISK_FULL = 'REMOVAL_LOG_WRITE_FAILED';

describe('Session with a removal log', () => {
  describe('removed entries', () => {
    it.each([
      ['high-density', ['edit', 'compression', 'edit']],
      ['middle-out', ['compression', 'edit']],
      ['one-shot', ['compression', 'edit']],
      ['top-down-truncation', ['compression']],
    ] as const)('are on disk before they are removed (%s)', async (strategy, expected) => {
      const removalLogPath = temporaryPath();
      const session = await open({ strategy, history: fullHistory(), removalLogPath });
      const edits = watchEdits(session.history, removalLogPath);
      await session.ensureCompressionBeforeSend('p1');
      expect(edits).toEqual(expected);
      expect(await expectRestorable(session, responsesOf(fullHistory()))).toBeGreaterThan(0);
    });

    it('are in the removal log if they are not in the history', async () => {
      const removalLogPath = temporaryPath();
      const session = await open({ history: fullHistory(), removalLogPath });
      await session.ensureCompressionBeforeSend('p1');
      const recorded = recordedIn(removalLogPath);
      const present = new Set(session.history.getAll().map((entry) => JSON.stringify(entry)));
      const all = fullHistory().map((entry) => JSON.stringify(entry));
      expect(all.filter((entry) => !recorded.has(entry) && !present.has(entry))).toEqual([]);
    });
  });

  describe('restore', () => {
    it('returns the original responses, also to a resumed session', async () => {
      const removalLogPath = temporaryPath();
      const first = await open({ history: fullHistory(), removalLogPath });
      await first.ensureCompressionBeforeSend('p1');
      const gone = await expectRestorable(first, responsesOf(fullHistory()));
      await first.close();

      const again = await open({ history: first.history.getAll(), removalLogPath });
      expect(await expectRestorable(again, responsesOf(fullHistory()))).toBe(gone);
      const call = fullHistory()[1]?.blocks[1];
      expect(await again.restore('r1')).toMatchObject({ call, sessionId: 's1' });
      await again.close();

      const other = await open({ sessionId: 's2', removalLogPath });
      expect(await outcomeOf(other.restore('r1'))).toBe('NOT_IN_REMOVAL_LOG');
    });

    it('returns the original of a result compressed twice', async () => {
      const removalLogPath = temporaryPath();
      const result = 'a long line of no use\n'.repeat(90);
      const history = historyOf(`h:1 a:g1 t:g1(${result}) h:2 a h:3`);
      const session = await open({ history, removalLogPath, contextLimit: 200 });
      await session.history.waitForTokenUpdates();
      await session.performCompression('p1');
      const [summary] = responsesOf(session.history.getAll());
      expect(summary?.result).toBe('[search_file_content: a.ts — success, 91 lines]');

      session.history.addAll(Array.from({ length: 6 }, (_, at) => humanText(`${at}`.repeat(200))));
      await session.history.waitForTokenUpdates();
      await session.performCompression('p2');
      expect(responsesOf(session.history.getAll())).toEqual([]);
      expect(await expectRestorable(session, responsesOf(history))).toBe(1);
    });

    it('returns the original whatever was done to it, over many windows', async () => {
      const situations = fc.record({
        history: arbitraryHistory({ maxEntries: 60 }),
        strategy: fc.constantFrom(...COMPRESSION_STRATEGIES, 'high-density' as const),
        share: arbitraryRatio(0.1, 1),
        windows: fc.integer({ min: 1, max: 6 }),
        recencyPruning: fc.boolean(),
      });
      let restored = 0;
      await fc.assert(
        fc.asyncProperty(
          situations,
          async ({ history, strategy, share, windows, recencyPruning }) => {
            const entries = history.map(withLongResults);
            const removalLogPath = temporaryPath();
            const contextLimit = Math.ceil((20 + JSON.stringify(entries).length / 5) * share);
            const settings = {
              'compression.strategy': strategy,
              'compression.fallbackToTruncation': true,
              'compression.density.recencyPruning': recencyPruning,
              'compression.threshold': 0.7,
            } as const;
            const session = await open({ removalLogPath, contextLimit, settings });
            const step = Math.ceil(entries.length / windows);
            for (let start = 0; start < entries.length; start += step) {
              session.history.addAll(entries.slice(start, start + step));
              await session.ensureCompressionBeforeSend('p').catch(() => undefined);
            }
            const all = responsesOf(entries);
            const originals = all.filter(
              ({ callId, result, isComplete }) =>
                isComplete === true &&
                result !== PRUNED_POINTER &&
                all.filter((other) => other.callId === callId).length === 1,
            );
            restored += await expectRestorable(session, originals);
            await session.close();
          },
        ),
        { numRuns: runs(250) },
      );
      expect(restored).toBeGreaterThan(0);
    });

    it('reports that there is no removal log', async () => {
      const session = await open({ history: fullHistory() });
      await session.ensureCompressionBeforeSend('p1');
      const restoring = session.restore('r1');
      expect(await outcomeOf(restoring)).toBe('NOT_IN_REMOVAL_LOG');
      await expect(restoring).rejects.toThrow(/"r1".*removalLogPath/);
    });
  });

  describe('when the disk is full', () => {
    it.each(COMPRESSION_STRATEGIES)('changes nothing and reports it (%s)', async (strategy) => {
      let isFull = true;
      failWrites(() => isFull);
      const history = fullHistory();
      const removalLogPath = temporaryPath();
      const session = await open({ strategy, history, removalLogPath });
      for (const promptId of ['p1', 'p2']) {
        const sending = session.ensureCompressionBeforeSend(promptId);
        expect(await outcomeOf(sending)).toBe(DISK_FULL);
        await expect(sending).rejects.toThrow('disk is full');
        expect(session.history.getAll()).toEqual(fullHistory());
        expect(session.history.getAll().every((entry, at) => entry === history[at])).toBe(true);
        expect(session.history.isCompressing).toBe(false);
      }
      expect(recordedIn(removalLogPath).size).toBe(0);

      isFull = false;
      await session.ensureCompressionBeforeSend('p3');
      expect(session.history.getTotalTokens()).toBeLessThanOrEqual(FULL_WINDOW_LIMIT);
      await expectRestorable(session, responsesOf(history));
    });

    it.each([
      [1, [0, 0, 0]],
      [3, [1, 1, 0]],
    ])('at write %i, keeps what was done before and does no more', async (full, counts) => {
      failWrites((write) => write === full);
      const session = await open({ history: fullHistory(), removalLogPath: temporaryPath() });
      const events = { pruned: vi.fn(), compressed: vi.fn(), fitted: vi.fn() };
      session.on('pruned', events.pruned);
      session.on('compressed', events.compressed);
      session.on('fitted', events.fitted);
      expect(await outcomeOf(session.ensureCompressionBeforeSend('p1'))).toBe(DISK_FULL);
      expect(Object.values(events).map(({ mock }) => mock.calls.length)).toEqual(counts);
      await session.ensureCompressionBeforeSend('p2');
      await expectRestorable(session, responsesOf(fullHistory()));
    });

    it('does not truncate instead of a compression that could not be recorded', async () => {
      failWrites(() => true);
      const history = fullHistory();
      const session = await open({
        history,
        removalLogPath: temporaryPath(),
        contextLimit: 14_000,
        settings: { 'compression.strategy': 'one-shot', 'compression.fallbackToTruncation': true },
      });
      const compressed = vi.fn();
      session.on('compressed', compressed);
      // It fits uncompressed.
      const { compressed: outcome } = await session.ensureCompressionBeforeSend('p1');
      expect(outcome).toBeNull();
      expect(compressed).not.toHaveBeenCalled();
      expect(session.history.getAll()).toEqual(history);
    });
  });

  describe('when the disk is full and the history fits', () => {
    it('sends what a provider has compacted itself, which the provider ignores', async () => {
      failWrites(() => true);
      const compacted = providerEntry({ kind: 'compaction', data: {}, tokens: 9 });
      const history = [...historyOf('h a:g1 t:g1 a'), compacted, ...historyOf('h:next')];
      const session = await open({ history, removalLogPath: temporaryPath() });
      const { compressed } = await session.ensureCompressionBeforeSend('p1');
      expect(compressed).toBeNull();
      expect(session.history.getAll()).toEqual(history);
    });

    it('skips edits, and reports that once until it works again', async () => {
      let isFull = true;
      failWrites(() => isFull);
      const logger = { ...SILENT_LOGGER, warn: vi.fn() };
      const session = await open({
        history: fullHistory(),
        removalLogPath: temporaryPath(),
        contextLimit: 200_000,
        density: { inclusionSyntaxes: ['delimited'] },
        logger,
      });
      const failed = vi.fn();
      session.on('recordingFailed', failed);
      const turn = async (): Promise<boolean> => {
        // One more read with a superfluous copy.
        session.history.addAll(historyOf(`h:again+@b.ts(${'x'.repeat(600)}) a:done h:next`));
        return (await session.ensureCompressionBeforeSend('p')).pruned !== null;
      };
      const before = session.history.getAll();
      expect([await turn(), await turn(), await turn()]).toEqual([false, false, false]);
      expect(session.history.getAll().slice(0, before.length)).toEqual(before);
      expect(session.densityDirty).toBe(true);
      expect(failed.mock.calls).toMatchObject([[{ error: { code: DISK_FULL } }]]);
      expect(logger.warn).toHaveBeenCalledTimes(1);
      isFull = false;
      expect((await session.ensureCompressionBeforeSend('p')).pruned).not.toBeNull();
      isFull = true;
      expect([await turn(), await turn()]).toEqual([false, false]);
      expect(failed).toHaveBeenCalledTimes(2);
      await expectRestorable(session, responsesOf(fullHistory()));
    });

    it.each(COMPRESSION_STRATEGIES)('skips a compression (%s)', async (strategy) => {
      let isFull = true;
      failWrites(() => isFull);
      const session = await open({
        history: fullHistory(),
        removalLogPath: temporaryPath(),
        contextLimit: 30_000,
        settings: { 'compression.strategy': strategy, 'compression.threshold': 0.2 },
      });
      const failed = vi.fn();
      session.on('recordingFailed', failed);
      const left = await session.ensureCompressionBeforeSend('p1');
      expect(left).toMatchObject({ pruned: null, compressed: null, fitted: null });
      expect(session.history.getAll()).toEqual(fullHistory());
      expect(failed).toHaveBeenCalledTimes(1);
      isFull = false;
      const { compressed } = await session.ensureCompressionBeforeSend('p2');
      expect(compressed?.outcome).toBe('applied');
    });
  });

  describe('close', () => {
    it('releases the file, which nobody else can open before', async () => {
      const removalLogPath = temporaryPath();
      const session = await open({ removalLogPath });
      expect(existsSync(`${removalLogPath}.lock`)).toBe(true);
      expect(await outcomeOf(open({ removalLogPath }))).toBe(DISK_FULL);
      await session.close();
      expect(existsSync(`${removalLogPath}.lock`)).toBe(false);
      const sending = session.ensureCompressionBeforeSend('p1');
      expect(await outcomeOf(sending)).toBe('CLOSED');
      await (await open({ removalLogPath })).close();
    });

    it('releases the file of a session that could not be opened', async () => {
      const compactor = openCompactor();
      const removalLogPath = temporaryPath();
      const history = [humanText('done')];
      const former = await compactor.createSession({ history });
      const state = former.snapshot();
      const broken = [...history, humanText(5 as unknown as string)];
      const opening = compactor.createSession({ history: broken, state, removalLogPath });
      await expect(opening).rejects.toThrow(TypeError);
      await (await RemovalLog.open(removalLogPath)).close();
    });

    it('waits for the open window', async () => {
      const removalLogPath = temporaryPath();
      const opened = deferred<undefined>();
      const debug = (message: string): void => {
        if (message.startsWith('compressing')) opened.resolve(undefined);
      };
      const logger = { ...SILENT_LOGGER, debug };
      const session = await open({ history: fullHistory(), removalLogPath, logger });
      const window = session.ensureCompressionBeforeSend('p1');
      await opened.promise;
      await session.close();
      expect(session.history.getTotalTokens()).toBeLessThanOrEqual(FULL_WINDOW_LIMIT);
      await window;
    });
  });
});

describe('the input of a strategy', () => {
  const activeTodos = (): SessionOptions['activeTodos'] => {
    const todo = { id: '1', content: 'paint the shed', status: 'pending' } as const;
    const done = { id: '2', content: 'buy a brush', status: 'completed' } as const;
    return vi.fn(() => [todo, done]);
  };

  it.each(['middle-out', 'one-shot'] as const)('has path and todos (%s)', async (strategy) => {
    const removalLogPath = temporaryPath();
    const summarizer = scriptedSummarizer(snapshot('so'));
    const session = await open({
      strategy,
      summarizer,
      removalLogPath,
      history: fullHistory(),
      activeTodos: activeTodos(),
    });
    await session.ensureCompressionBeforeSend('p1');
    expect(summarizer.requests).toHaveLength(1);
    expect(summarizer.requests[0]?.prompt).toContain('paint the shed');
    expect(summarizer.requests[0]?.prompt).not.toContain('buy a brush');
    const note = session.history.getAll().find(({ metadata }) => metadata?.isSummary === true);
    expect(JSON.stringify(note)).toContain(
      `Full pre-compression transcript available at: ${removalLogPath}`,
    );
  });

  it('has no path without a removal log', async () => {
    const session = await open({ strategy: 'one-shot', history: fullHistory() });
    await session.ensureCompressionBeforeSend('p1');
    const note = session.history.getAll().find(({ metadata }) => metadata?.isSummary === true);
    expect(note).toBeDefined();
    expect(JSON.stringify(note)).not.toContain('transcript available');
  });

  it.each(['high-density', 'top-down-truncation'] as const)(
    'has nothing for a model where there is none (%s)',
    async (strategy) => {
      const todos = activeTodos();
      const summarizer = vi.fn(() => {
        throw new Error('no such profile');
      });
      const session = await open({
        strategy,
        summarizer,
        history: fullHistory(),
        activeTodos: todos,
      });
      const { compressed } = await session.ensureCompressionBeforeSend('p1');
      expect(compressed).toMatchObject({ strategy, outcome: 'applied', llmCallMade: false });
      expect(todos).not.toHaveBeenCalled();
      expect(summarizer).not.toHaveBeenCalled();
    },
  );
});
