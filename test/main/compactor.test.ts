// createCompactor: options are checked once and by name, sessions are independent, closing is final.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import { sessionDefaults } from '../../src/main/session-options.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { ANY_TOOL, DEFAULT_TOOL_CATALOG } from '../../src/shared/tool-catalog.js';
import { describeHistory, historyOf } from '../support/notation.js';
import { outcomeOf } from '../support/session-bench.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function messageOf(options: unknown): string {
  try {
    createCompactor(options as CompactorOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return (error as RangeError).message;
  }
  return 'accepted';
}

const INLINE = { offload: 'inline', tokenizer: 'estimate' } as const;

describe('createCompactor', () => {
  it('states which store it has', () => {
    const status = createCompactor({ ...INLINE, store: temporaryFolder() }).status();
    expect(status.store).toBe('directory');
    expect(createCompactor({ ...INLINE, store: memoryStore() }).status().store).toBe('own');
  });

  it.each([undefined, 'specification'] as const)(
    'states its configuration with preset %s, and counts the tools with a name',
    (preset) => {
      const compactor = createCompactor({ ...INLINE, preset, contextLimit: 9_000 });
      const { toolCatalog = DEFAULT_TOOL_CATALOG } = sessionDefaults(preset).density;
      const { [ANY_TOOL]: _, ...named } = toolCatalog;
      expect(compactor.status()).toEqual({
        preset: preset ?? 'agents',
        offload: 'inline',
        threads: 0,
        tokens: 'estimate',
        tools: Object.keys(named).length,
        contextLimit: 9_000,
        learnedLimits: {},
        store: 'none',
        sessions: 0,
        removalLogs: 0,
      });
    },
  );

  it.each([
    ['contextLimit', 0],
    ['contextLimit', 1.5],
    ['contextLimit', '200k'],
    ['overheadTokens', -1],
    ['overheadTokens', 0.5],
    ['workspaceRoot', ''],
    ['offload', 'remote'],
    ['threads', 0],
    ['threads', 65],
    ['tokenizer', 'cl100k'],
    ['tokenizer', { count: () => 1 }],
    ['tokenizer', null],
    ['logger', { debug: () => 1 }],
    ['logger', 'console'],
    ['store', {}],
  ])('names %s when it is %j, and what was expected', (option, value) => {
    const message = messageOf({ [option]: value });
    expect(message).toMatch(/expected /);
    expect(message).toMatch(/^Invalid compactor options\.\n/);
    expect(message).toContain(option);
  });

  it('names an invalid setting, and an unknown one', () => {
    expect(messageOf({ settings: { 'compression.threshold': 2 } })).toContain(
      'compression.threshold',
    );
    expect(messageOf({ settings: { 'compression.treshold': 0.5 } })).toContain(
      'compression.treshold',
    );
  });

  it('names every invalid option at once, and an unknown one', () => {
    const message = messageOf({ contextLimit: -1, threads: 0, workers: 2 });
    for (const option of ['contextLimit', 'threads', 'workers']) expect(message).toContain(option);
  });

  it.each([
    ['nothing', undefined],
    ['options that are undefined', { contextLimit: undefined, logger: undefined }],
    [
      'a tokenizer that is a class',
      {
        tokenizer: new (class {
          countTokens = (): number => 1;
        })(),
      },
    ],
    ['console', { logger: console }],
  ])('accepts %s', async (_, options) => {
    await createCompactor(options).close();
  });
});

describe('Compactor', () => {
  it('passes its overhead to sessions that set none', async () => {
    await using compactor = createCompactor({ ...INLINE, overheadTokens: 300 });
    const inherited = await compactor.createSession();
    const own = await compactor.createSession({ overheadTokens: 20 });
    expect([inherited.contextUsage().tokens, own.contextUsage().tokens]).toEqual([300, 20]);
  });

  it('refuses an overhead of a session that is not a number of tokens', async () => {
    await using compactor = createCompactor(INLINE);
    await expect(compactor.createSession({ overheadTokens: -1 })).rejects.toThrow(RangeError);
    await expect(compactor.createSession({ overheadTokens: '9' as never })).rejects.toThrow(
      TypeError,
    );
  });

  it('passes on when the edits of a session land, and refuses an invalid value', async () => {
    await using compactor = createCompactor(INLINE);
    const history = historyOf('h a:r1 t:r1');
    const session = await compactor.createSession({ edits: 'at-birth', history });
    await session.ensureCompressionBeforeSend('p1');
    session.history.addAll(historyOf('a:w2 t:w2 h'));
    const { pruned } = await session.ensureCompressionBeforeSend('p2');
    expect(pruned).toBeNull();
    expect(session.costs()).toMatchObject({ requests: 2, rewrites: 0 });
    await expect(compactor.createSession({ edits: 'never' as never })).rejects.toThrow(RangeError);
    await expect(compactor.createSession({ cacheTtlMs: '5m' as never })).rejects.toThrow(TypeError);
    expect(compactor.stats().sessions).toBe(1);
  });

  it('opens no removal log for a session that it refuses', async () => {
    await using compactor = createCompactor(INLINE);
    const directory = temporaryFolder();
    const removalLogPath = join(directory, 'session.jsonl');
    const opening = compactor.createSession({ overheadTokens: -1, removalLogPath });
    await expect(opening).rejects.toThrow(RangeError);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('opens a removal log in a directory for each session, and then refuses the path of a file', async () => {
    await using compactor = createCompactor(INLINE);
    const removalLogDirectory = temporaryFolder();
    await compactor.createSession({ removalLogDirectory });
    await compactor.createSession({ removalLogDirectory });
    expect(compactor.status().removalLogs).toBe(2);
    const logs = readdirSync(removalLogDirectory).filter((name) => name.endsWith('.jsonl'));
    expect(logs).toHaveLength(2);
    const removalLogPath = join(removalLogDirectory, 'session.jsonl');
    for (const wrong of [{ removalLogDirectory, removalLogPath }, { removalLogDirectory: '' }])
      await expect(compactor.createSession(wrong)).rejects.toThrow(TypeError);
  });

  it('shares among sessions what one of them learned about a model', async () => {
    await using compactor = createCompactor(INLINE);
    const history = [humanText('x'.repeat(8_000))];
    const [first, second] = [
      await compactor.createSession({ history, overheadTokens: 0 }),
      await compactor.createSession({ history }),
    ];
    const { totalTokens } = await first.ensureCompressionBeforeSend('p1');
    const inputTokens = 2 * totalTokens;
    expect(first.reportUsage({ inputTokens, modelName: 'large' })).toBe('learned');
    expect(second.contextUsage().tokens).toBe(totalTokens);
    second.history.nameModel('large');
    expect(second.contextUsage().tokens).toBe(inputTokens);

    await using other = createCompactor(INLINE);
    const stranger = await other.createSession({ history });
    stranger.history.nameModel('large');
    expect(stranger.contextUsage().tokens).toBe(totalTokens);
  });

  it.each([
    ['claude-opus-4-5', {}, 1.5],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', { tokenizer: 'estimate' }, 1.5],
    ['gpt-5.5', {}, 1],
    [
      'claude-opus-4-5',
      { tokenizer: { countTokens: (text: string) => Math.ceil(text.length / 5) } },
      1,
    ],
    ['claude-opus-4-5', { preset: 'specification' }, 1],
  ] as const)(
    'for %s with %j, multiplies tokens by %d until usage is reported',
    async (name, options, ratio) => {
      await using compactor = createCompactor({
        offload: 'inline',
        contextLimit: 10_000,
        ...options,
      });
      const session = await compactor.createSession({
        history: [humanText('a word '.repeat(1_500))],
      });
      session.history.nameModel(name);
      const { totalTokens } = await session.ensureCompressionBeforeSend('p1');
      expect(session.contextUsage().tokens).toBe(totalTokens * ratio);
    },
  );

  it('compresses before a model counts more than its window, although no usage has been reported', async () => {
    await using compactor = createCompactor({ offload: 'inline', contextLimit: 10_000 });
    const history = Array.from({ length: 70 }, (_, at) =>
      humanText(`${at} ${'a word '.repeat(50)}`),
    );
    for (const [name, isCompressed] of [
      ['claude-opus-4-5', true],
      ['gpt-5.5', false],
    ] as const) {
      const session = await compactor.createSession({ history });
      session.history.nameModel(name);
      const { compressed } = await session.ensureCompressionBeforeSend('p1');
      expect(compressed !== null).toBe(isCompressed);
    }
  });

  it('marks estimated tokens as estimates', async () => {
    const history = [humanText('hello')];
    for (const [tokenizer, source] of [
      ['estimate', 'estimated'],
      ['o200k', 'counted'],
      [{ countTokens: () => 3 }, 'counted'],
    ] as const) {
      await using compactor = createCompactor({ offload: 'inline', tokenizer });
      const session = await compactor.createSession({ history });
      const { tokenSource } = await session.ensureCompressionBeforeSend('p1');
      expect([tokenSource, session.contextUsage().source]).toEqual([source, source]);
    }
  });

  it('creates sessions that start with a history of any length', async () => {
    await using compactor = createCompactor(INLINE);
    const history = Array.from({ length: 1_000 }, (_, at) => humanText(`${at}`));
    const session = await compactor.createSession({ history, sessionId: 's1' });
    expect(session.sessionId).toBe('s1');
    expect(session.history.getAll()).toEqual(history);
    expect(history).toHaveLength(1_000);
    expect(session.densityDirty).toBe(true);
  });

  it('creates independent sessions, each with an id', async () => {
    await using compactor = createCompactor(INLINE);
    const [one, other] = [await compactor.createSession(), await compactor.createSession()];
    expect(one.sessionId).not.toBe(other.sessionId);
    one.history.add(humanText('x'));
    expect(other.history.length).toBe(0);
  });

  it('keeps the history that it was given, even if the array changes meanwhile', async () => {
    const compactor = createCompactor({ offload: 'inline' });
    const entries = Array.from({ length: 500 }, (_, at) => humanText(`${at}`));
    let history: IContent[] = [];
    for (const change of [() => history.push(humanText('late')), () => (history.length = 0)]) {
      history = [...entries];
      const opening = compactor.createSession({ history });
      change();
      const session = await opening;
      expect(session.history.getAll()).toEqual(entries);
      history = [...entries];
      const goingOn = session.goOnWith(history);
      change();
      await goingOn;
      expect(session.history.getAll()).toEqual(entries);
    }
    await compactor.close();
  });

  it('names a bad entry by its position in the whole history', async () => {
    await using compactor = createCompactor(INLINE);
    const history: IContent[] = Array.from({ length: 700 }, () => humanText('x'));
    history[699] = {} as IContent;
    await expect(compactor.createSession({ history })).rejects.toThrow(/entry 699/);
  });

  it('uses settings, context limit, tokenizer and density options', async () => {
    await using compactor = createCompactor({
      offload: 'inline',
      contextLimit: 100,
      tokenizer: { countTokens: () => 30 },
      settings: { 'compression.threshold': 0.5, 'compression.density.readWritePruning': false },
    });
    const history = historyOf('h a:r1 t:r1 a:w2 t:w2');
    const session = await compactor.createSession({ history: history.slice(0, 1) });
    await session.history.waitForTokenUpdates();
    expect(session.history.getTotalTokens()).toBe(33);
    expect(session.shouldCompress(16)).toBe(false);
    expect(session.shouldCompress(17)).toBe(true);
    session.history.addAll(history.slice(1));
    expect(await session.ensureDensityOptimized()).toBeNull();
    expect(describeHistory(session.history.getAll())).toBe('h a:r1 t:r1 a:w2 t:w2');
  });

  it('resolves paths against the root of the compactor, or that of the session', async () => {
    await using compactor = createCompactor({ ...INLINE, workspaceRoot: '/one' });
    const entries = 'a:r1(/two/a.ts) t:r1 a:w2(a.ts) t:w2';
    const options = { history: historyOf(entries) };
    const there = await compactor.createSession(options);
    expect(await there.ensureDensityOptimized()).toBeNull();
    const density = { workspaceRoot: '/two' };
    const here = await compactor.createSession({ ...options, density });
    expect(await here.ensureDensityOptimized()).not.toBeNull();
  });

  it('takes a root on Windows as it is, wherever it runs', async () => {
    await using compactor = createCompactor({ ...INLINE, workspaceRoot: String.raw`C:\one` });
    const history = historyOf('a:r1(/c/one/a.ts) t:r1 a:w2(a.ts) t:w2');
    const session = await compactor.createSession({ history });
    expect(await session.ensureDensityOptimized()).not.toBeNull();
  });

  it('reports to the logger', async () => {
    const debug = vi.fn();
    await using compactor = createCompactor({ ...INLINE, logger: { ...console, debug } });
    const session = await compactor.createSession();
    await session.ensureCompressionBeforeSend('p1');
    expect(debug).toHaveBeenCalled();
  });

  it.each(['inline', 'snapshot', 'auto'] as const)('is closed for good (%s)', async (offload) => {
    const compactor = createCompactor({ offload });
    await compactor.close();
    await Promise.all([compactor.close(), compactor[Symbol.asyncDispose]()]);
    expect(await outcomeOf(compactor.createSession())).toBe('CLOSED');
  });

  it('creates no session when it is closed while a history is added', async () => {
    const compactor = createCompactor(INLINE);
    const history = Array.from({ length: 1_000 }, () => humanText('x'));
    const opening = compactor.createSession({ history });
    await compactor.close();
    expect(await outcomeOf(opening)).toBe('CLOSED');
  });

  it('has released the removal log of a session that was being created when it is closed', async () => {
    const directory = temporaryFolder();
    const removalLogPath = join(directory, 'session.removals.jsonl');
    const options = {
      history: Array.from({ length: 1_000 }, () => humanText('x')),
      removalLogPath,
    };
    // Closes before the log is open, after that, and on fast machines when the session has been created.
    for (const turns of [0, 1, 2, 4, 8, 16, 32]) {
      const compactor = createCompactor(INLINE);
      const opening = outcomeOf(compactor.createSession(options));
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      await compactor.close();
      await using next = createCompactor(INLINE);
      const session = await next.createSession({ removalLogPath });
      await session.close();
      expect(turns < 16 ? ['CLOSED'] : ['CLOSED', 'resolved']).toContain(await opening);
    }
  });
});
