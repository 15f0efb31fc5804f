// How a session's settings choose its strategy, also while it runs, and what happens when a model fails.

import { describe, expect, it, vi } from 'vitest';

import type { CompactorOptions } from '../../src/main/compactor-options.js';
import type { CompressedEvent } from '../../src/main/preflight/session-events.js';
import type { EphemeralSettings } from '../../src/main/settings/ephemeral-settings.js';
import { COMPRESSION_STRATEGIES } from '../../src/main/strategies/strategy.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import type { Summarizer } from '../../src/main/summarizer/summarizer.js';
import type { Session } from '../../src/main/session.js';
import type { IContent } from '../../src/shared/content.js';
import { CompressionExecutionError } from '../../src/shared/errors.js';
import { historyOf } from '../support/notation.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { outcomeOf } from '../support/session-bench.js';
import { openCompactor } from '../support/open-compactor.js';

const LONG = 'lorem ipsum '.repeat(40);

/** Turns of five entries and some 275 tokens each. */
function turns(count: number): IContent[] {
  return Array.from({ length: count }, (_, at) =>
    historyOf(`h:turn${at} a:g${at * 2} t:g${at * 2}(${LONG}) a:"${LONG}" a:done`),
  ).flat();
}

async function open(options: CompactorOptions = {}, history = turns(8)): Promise<Session> {
  const compactor = openCompactor({
    preset: 'specification',
    workspaceRoot: '/w',
    contextLimit: 10_000,
    ...options,
  });
  const session = await compactor.createSession({ history });
  await session.history.waitForTokenUpdates();
  return session;
}

/** Settings under which a compression is always due. */
function dueBy(
  strategy: CompressionStrategyName,
  settings: EphemeralSettings = {},
): EphemeralSettings {
  return { 'compression.strategy': strategy, 'compression.threshold': 0.01, ...settings };
}

async function compressionOf(session: Session): Promise<CompressedEvent | null> {
  return (await session.ensureCompressionBeforeSend('p')).compressed;
}

const overloaded = (): Summarizer =>
  scriptedSummarizer(() => Promise.reject(new Error('overloaded')));

describe('compression.strategy', () => {
  it('is high-density unless it is set', async () => {
    const session = await open({ settings: { 'compression.threshold': 0.01 } });
    expect(await compressionOf(session)).toMatchObject({ strategy: 'high-density' });
  });

  it('may be switched before every window', async () => {
    const summarizer = scriptedSummarizer(snapshot('so far so good'));
    const session = await open({ summarizer, settings: { 'compression.threshold': 0.01 } });
    for (const [at, strategy] of COMPRESSION_STRATEGIES.entries()) {
      session.history.addAll(turns(6));
      session.settings.set('compression.strategy', strategy);
      const compressed = await compressionOf(session);
      expect(compressed).toMatchObject({ strategy, outcome: 'applied' });
      expect(compressed?.llmCallMade).toBe(['middle-out', 'one-shot'].includes(strategy));
      expect(summarizer.requests).toHaveLength([1, 1, 2, 2][at] ?? 0);
    }
    session.settings.set('compression.strategy', undefined);
    session.history.addAll(turns(6));
    expect(await compressionOf(session)).toMatchObject({ strategy: 'high-density' });
  });

  it('prunes before each send only if the strategy prunes', async () => {
    const stale = 'a:r1 t:r1 a:w2 t:w2';
    const session = await open({ settings: { 'compression.strategy': 'one-shot' } });
    session.history.addAll(historyOf(stale));
    const { length } = session.history;
    expect((await session.ensureCompressionBeforeSend('p1')).pruned).toBeNull();
    expect(session.history.length).toBe(length);
    session.settings.set('compression.strategy', 'high-density');
    expect((await session.ensureCompressionBeforeSend('p2')).pruned).toMatchObject({
      metadata: { readWritePairsPruned: 1 },
    });
    expect(session.history.length).toBe(length - 2);
  });

  it('applies to one session', async () => {
    const compactor = openCompactor({ settings: dueBy('high-density') });
    const one = await compactor.createSession({ history: turns(30) });
    const other = await compactor.createSession({ history: turns(30) });
    one.settings.set('compression.strategy', 'top-down-truncation');
    expect(await compressionOf(one)).toMatchObject({ strategy: 'top-down-truncation' });
    expect(await compressionOf(other)).toMatchObject({ strategy: 'high-density' });
  });

  it('refuses an unknown name, and stays', async () => {
    const session = await open();
    const set = (): void => {
      session.settings.set('compression.strategy', 'best' as CompressionStrategyName);
    };
    expect(set).toThrow(/best/);
    expect(session.settings.get('compression.strategy')).toBeUndefined();
  });
});

describe('compression.threshold', () => {
  /** Some 2,200 tokens. */
  const isDueAt = async (contextLimit: number, options: CompactorOptions): Promise<boolean> =>
    (await open({ contextLimit, ...options })).shouldCompress();

  it.each([
    ['the strategy, when nothing is set', {}, 0.85],
    ['the profile, over the strategy', { profile: { 'compression.threshold': 0.5 } }, 0.5],
    [
      'the settings, over the profile',
      { profile: { 'compression.threshold': 0.5 }, settings: { 'compression.threshold': 0.2 } },
      0.2,
    ],
    ['the settings, by its alias', { settings: { 'compression-threshold': 0.3 } }, 0.3],
  ] as const)('comes from %s', async (_, options, threshold) => {
    const total = (await open()).history.getTotalTokens();
    expect(await isDueAt(Math.floor(total / threshold), options)).toBe(true);
    expect(await isDueAt(Math.ceil(total / threshold) + 1, options)).toBe(false);
  });

  it('may be changed and unset at run time', async () => {
    const session = await open({ profile: { 'compression.threshold': 0.9 } });
    const due = (): boolean => session.shouldCompress();
    expect(due()).toBe(false);
    session.settings.set('compression.threshold', 0.05);
    expect(due()).toBe(true);
    expect(await compressionOf(session)).toMatchObject({ outcome: 'applied' });
    session.settings.set('compression-threshold', undefined);
    expect(due()).toBe(false);
    expect(await compressionOf(session)).toBeNull();
  });

  it('counts pending tokens', async () => {
    const session = await open();
    const room = Math.ceil(8_500 - session.history.getTotalTokens());
    expect(session.shouldCompress(room - 1)).toBe(false);
    expect(session.shouldCompress(room)).toBe(true);
    const { compressed } = await session.ensureCompressionBeforeSend('p1', room - 1);
    expect(compressed).toBeNull();
    expect((await session.ensureCompressionBeforeSend('p2', room)).compressed).not.toBeNull();
  });
});

describe('compression.fallbackToTruncation', () => {
  const settings = { 'compression.fallbackToTruncation': true };

  it.each(['middle-out', 'one-shot'] as const)(
    'truncates instead of a failed summary, and reports it (%s)',
    async (strategy) => {
      const warn = vi.fn();
      const session = await open({
        summarizer: overloaded(),
        settings: dueBy(strategy, settings),
        logger: { debug: vi.fn(), warn, error: vi.fn() },
      });
      const onCompressed = vi.fn();
      session.on('compressed', onCompressed);
      const compressed = await compressionOf(session);
      expect(compressed).toMatchObject({
        strategy: 'top-down-truncation',
        outcome: 'applied',
        llmCallMade: false,
        fallbackFrom: { strategy, error: { code: 'SUMMARIZER_FAILED' } },
      });
      expect(compressed?.fallbackFrom?.error).toBeInstanceOf(CompressionExecutionError);
      expect(onCompressed).toHaveBeenCalledExactlyOnceWith(compressed);
      expect(warn).toHaveBeenCalledOnce();
      expect(session.history.getAll().at(-1)).toEqual(turns(8).at(-1));
    },
  );

  it('is not reported if there is a summary', async () => {
    const summarizer = scriptedSummarizer(snapshot('so'));
    const session = await open({ summarizer, settings: dueBy('one-shot', settings) });
    const compressed = await compressionOf(session);
    expect(compressed).toMatchObject({ strategy: 'one-shot', llmCallMade: true });
    expect(compressed).not.toHaveProperty('fallbackFrom');
  });

  it('stands in for a missing model, too', async () => {
    const session = await open({ settings: dueBy('middle-out', settings) });
    expect(await compressionOf(session)).toMatchObject({
      strategy: 'top-down-truncation',
      fallbackFrom: { strategy: 'middle-out', error: { code: 'SUMMARIZER_MISSING' } },
    });
  });

  it.each([
    ['middle-out', 'a summarizer that fails', overloaded(), 'SUMMARIZER_FAILED'],
    ['one-shot', 'no summarizer', undefined, 'SUMMARIZER_MISSING'],
  ] as const)('without it, %s rejects on %s', async (strategy, _, summarizer, code) => {
    const session = await open({ summarizer, settings: dueBy(strategy) });
    const before = session.history.getAll();
    const { revision } = session.history;
    const compressed = vi.fn();
    session.on('compressed', compressed);
    const sending = session.ensureCompressionBeforeSend('p1');
    expect(await outcomeOf(sending)).toBe(code);
    await expect(sending).rejects.toBeInstanceOf(CompressionExecutionError);
    expect(compressed).not.toHaveBeenCalled();
    expect(session.history.revision).toBe(revision);
    expect(session.history.getAll().every((entry, at) => entry === before[at])).toBe(true);
    expect(session.history.length).toBe(before.length);
    expect(session.history.isCompressing).toBe(false);
  });

  it('without it, an unusable summary fails no window whose history fits', async () => {
    const summarizer = scriptedSummarizer({ text: snapshot('half'), finishReason: 'length' });
    const session = await open({ summarizer, settings: dueBy('one-shot') });
    const before = session.history.getAll();
    const failed = vi.fn();
    session.on('compressionFailed', failed);
    expect(await compressionOf(session)).toBeNull();
    const error = expect.objectContaining({ code: 'SUMMARY_REJECTED', reason: 'cut-off' }) as Error;
    expect(failed).toHaveBeenCalledExactlyOnceWith({ error });
    expect(session.history.getAll()).toEqual(before);
    await expect(session.performCompression('p2')).rejects.toMatchObject({ reason: 'cut-off' });
  });

  it('is for summaries alone: other failures reject', async () => {
    const countTokens = (text: string): number => {
      if (text.includes('success')) throw new Error('no such token');
      return Math.ceil(text.length / 4);
    };
    const session = await open({
      tokenizer: { countTokens },
      settings: dueBy('high-density', settings),
    });
    await expect(session.ensureCompressionBeforeSend('p1')).rejects.toThrow('no such token');
    expect(session.history.getAll()).toEqual(turns(8));
  });

  it('may be switched on at run time', async () => {
    const session = await open({ summarizer: overloaded(), settings: dueBy('one-shot') });
    expect(await outcomeOf(compressionOf(session))).toBe('SUMMARIZER_FAILED');
    session.settings.set('compression.fallbackToTruncation', true);
    expect(await compressionOf(session)).toMatchObject({ strategy: 'top-down-truncation' });
  });
});

describe('a missing summarizer', () => {
  it('is reported with its name and what to do about it', async () => {
    const session = await open({ settings: dueBy('one-shot') });
    await expect(session.ensureCompressionBeforeSend('p1')).rejects.toThrow(
      /^one-shot: .*none is configured\. Pass a summarizer.*'high-density' or 'top-down-truncation'/,
    );
  });

  it('does not matter to strategies without a model', async () => {
    for (const strategy of ['high-density', 'top-down-truncation'] as const) {
      const session = await open({ settings: dueBy(strategy) });
      expect(await compressionOf(session)).toMatchObject({ strategy, outcome: 'applied' });
    }
  });
});

describe('compression.profile', () => {
  it('is passed to the function that returns summarizers, as set at that time', async () => {
    const cheap = scriptedSummarizer(snapshot('by the cheap one'));
    const usual = scriptedSummarizer(snapshot('by the usual one'));
    const summarizer = vi.fn((profile: string | undefined) =>
      profile === 'cheap' ? cheap : usual,
    );
    const session = await open({ summarizer, settings: dueBy('one-shot') });
    await compressionOf(session);
    expect(summarizer).toHaveBeenCalledExactlyOnceWith(undefined);
    expect([cheap.requests.length, usual.requests.length]).toEqual([0, 1]);

    session.settings.set('compression.profile', 'cheap');
    session.history.addAll(turns(6));
    await compressionOf(session);
    expect(summarizer).toHaveBeenLastCalledWith('cheap');
    expect([cheap.requests.length, usual.requests.length]).toEqual([1, 1]);
    expect(JSON.stringify(session.history.getAll())).toContain('by the cheap one');
  });

  it('comes from the saved profile when the session sets none', async () => {
    const summarizer = vi.fn(() => scriptedSummarizer(snapshot('so')));
    const profile = { 'compression.profile': 'saved' };
    const session = await open({ summarizer, profile, settings: dueBy('middle-out') });
    await compressionOf(session);
    expect(summarizer).toHaveBeenCalledExactlyOnceWith('saved');
  });

  it('truncates instead, too, if there is no summarizer with that name', async () => {
    const summarizer = (profile: string | undefined): Summarizer => {
      throw new Error(`no model by the name of ${profile ?? ''}`);
    };
    const settings = dueBy('one-shot', { 'compression.profile': 'gone' });
    const session = await open({ summarizer, settings });
    await expect(session.ensureCompressionBeforeSend('p1')).rejects.toThrow('name of gone');
    expect(session.history.getAll()).toEqual(turns(8));
    session.settings.set('compression.fallbackToTruncation', true);
    expect(await compressionOf(session)).toMatchObject({
      strategy: 'top-down-truncation',
      fallbackFrom: { strategy: 'one-shot', error: { code: 'SUMMARIZER_FAILED' } },
    });
  });
});
