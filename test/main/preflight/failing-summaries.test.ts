// Sessions whose summaries fail or are late: how often a model is asked, what compresses instead, and how often the prompt cache is rewritten.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import type { Session } from '../../../src/main/session.js';
import type { SessionState } from '../../../src/main/state/session-state.js';
import type { SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { historyOf } from '../../support/notation.js';
import { scriptedSummarizer } from '../../support/scripted-summarizer.js';
import { openCompactor } from '../../support/open-compactor.js';

const LIMIT = 20_000;
const LONG = 'lorem ipsum dolor '.repeat(60);

let turnCount = 0;
/** Some 700 tokens. */
function turn(): IContent[] {
  const at = (turnCount += 1);
  return historyOf(
    `h:"turn ${at}" a:"${LONG}",s${at}(step${at}) t:s${at}("${LONG}") a:"done ${at}"`,
  );
}

/** Reads of some 280 tokens each, then writes that supersede them one by one. */
function read(at: number): IContent[] {
  return historyOf(`a:r9${at}(f${at}.ts) t:r9${at}("${LONG}")`);
}
function write(at: number): IContent[] {
  return historyOf(`a:w8${at}(f${at}.ts) t:w8${at}`);
}

const down = (): Promise<never> => Promise.reject(new Error('down'));
const never = (): Promise<SummarizerResponse> => new Promise(() => {});

function options(given: CompactorOptions, settings: EphemeralSettings = {}): CompactorOptions {
  return {
    offload: 'inline',
    tokenizer: 'estimate',
    workspaceRoot: '/w',
    contextLimit: LIMIT,
    settings: {
      'compression.strategy': 'one-shot',
      'compression.density.workingSet': 'off',
      'compression.density.shrink': 'off',
      ...settings,
    },
    ...given,
  };
}

async function open(given: CompactorOptions, settings?: EphemeralSettings): Promise<Session> {
  return openCompactor(options(given, settings)).createSession();
}

async function growTo(session: Session, share: number): Promise<void> {
  while (session.contextUsage().tokens < share * LIMIT) {
    session.history.addAll(turn());
    await session.history.waitForTokenUpdates();
  }
}

async function settle(): Promise<void> {
  for (let at = 0; at < 20; at += 1) await nextTurn();
}

describe('a history that does not fit without a summary, with a failing model', () => {
  it('is compressed by the fallback, which makes room for many turns', async () => {
    const session = await open({ summarizer: scriptedSummarizer(down) });
    await growTo(session, 1.02);
    const { compressed, fitted } = await session.ensureCompressionBeforeSend('p');
    expect(compressed).toMatchObject({
      strategy: 'high-density',
      outcome: 'applied',
      fallbackFrom: { strategy: 'one-shot', error: { code: 'SUMMARIZER_FAILED' } },
    });
    expect(fitted).toBeNull();
    expect(session.contextUsage().tokens).toBeLessThan(0.6 * LIMIT);
    expect(findViolations(session.history.getAll())).toEqual([]);
  });

  it('asks three times, then not at all in a pause, and rewrites rarely', async () => {
    const summarizer = scriptedSummarizer(down);
    const session = await open({ summarizer });
    const rewrites: number[] = [];
    for (let at = 0; at < 80; at += 1) {
      session.history.addAll(turn());
      const { revision } = session.history;
      await session.ensureCompressionBeforeSend(`p${at}`);
      await settle();
      if (session.history.revision !== revision) rewrites.push(at);
    }
    expect(summarizer.requests).toHaveLength(3);
    const gaps = rewrites.slice(1).map((at, before) => at - (rewrites[before] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(10);
  });

  it('waits once for a model that hangs', async () => {
    const summarizer = scriptedSummarizer(never, { timeoutMs: 20 });
    const session = await open({ summarizer });
    await growTo(session, 0.8);
    await session.ensureCompressionBeforeSend('p1');
    await settle();
    await growTo(session, 1.02);
    const { compressed } = await session.ensureCompressionBeforeSend('p2');
    expect(compressed).toMatchObject({ strategy: 'high-density', outcome: 'applied' });
    expect(summarizer.requests).toHaveLength(1);
  });

  it.each<[string, CompactorOptions, EphemeralSettings, string | undefined]>([
    ['the setting', {}, { 'compression.fallback': 'top-down-truncation' }, 'top-down-truncation'],
    ['the documented system', { preset: 'specification' }, {}, undefined],
    ['a fallback that equals the strategy', {}, { 'compression.fallback': 'one-shot' }, undefined],
  ])('follows %s', async (_, given, settings, strategy) => {
    const session = await open({ ...given, summarizer: scriptedSummarizer(down) }, settings);
    await growTo(session, 1.02);
    const { compressed, fitted } = await session.ensureCompressionBeforeSend('p');
    expect(compressed?.strategy).toBe(strategy);
    expect(fitted === null).toBe(strategy !== undefined);
  });

  it('asks no more often when each request has its own process', async () => {
    const summarizer = scriptedSummarizer(down);
    const history: IContent[] = [];
    let state: SessionState | undefined;
    for (let request = 0; request < 60; request += 1) {
      history.push(...turn());
      await using compactor = createCompactor(options({ summarizer }, { 'compression.ahead': 1 }));
      const session = await compactor.createSession({ history: structuredClone(history), state });
      await session.ensureCompressionBeforeSend('p').catch(() => undefined);
      state = session.snapshot();
    }
    expect(summarizer.requests).toHaveLength(3);
  });
});

describe('a history at the threshold whose compression is held', () => {
  it('is pruned when the summary lands, and not before each send', async () => {
    let answer: (text: SummarizerResponse) => void = () => undefined;
    const summarizer = scriptedSummarizer(() => new Promise((resolve) => (answer = resolve)));
    const session = await open({ summarizer });
    session.history.addAll([1, 2, 3].flatMap(read));
    await growTo(session, 0.86);
    const prunings: string[] = [];
    session.on('pruned', ({ reason }) => prunings.push(reason));
    await session.ensureCompressionBeforeSend('p');
    await settle();
    for (const at of [1, 2, 3]) {
      session.history.addAll(write(at));
      const { compressed } = await session.ensureCompressionBeforeSend(`p${at}`);
      expect(compressed).toMatchObject({ outcome: 'held', reason: 'under-way' });
    }
    expect(prunings).toEqual([]);
    answer({ text: '<state_snapshot>on we go</state_snapshot>', finishReason: 'stop' });
    await settle();
    const { compressed, pruned } = await session.ensureCompressionBeforeSend('last');
    expect(compressed).toMatchObject({ outcome: 'applied', isAhead: true });
    expect(pruned?.reason).toBe('threshold');
    expect(prunings).toHaveLength(1);
  });

  it('lands the summary in an open turn, too, if pruning removes the reasoning of that turn', async () => {
    const answer = {
      text: '<state_snapshot>on we go</state_snapshot>',
      finishReason: 'stop',
    } as const;
    const compactor = openCompactor(options({ summarizer: scriptedSummarizer(answer) }));
    const session = await compactor.createSession({ reasoning: 'strip-after-first-edit' });
    session.history.nameModel('claude-opus-5-5');
    session.history.addAll([1, 2, 3].flatMap(read));
    await growTo(session, 0.8);
    await session.ensureCompressionBeforeSend('p');
    await settle();
    session.history.addAll([1, 2, 3].flatMap(write));
    for (let at = 4; session.contextUsage().tokens < 0.86 * LIMIT; at += 1) {
      session.history.addAll(read(at));
      await session.history.waitForTokenUpdates();
    }
    const { pruned, compressed } = await session.ensureCompressionBeforeSend('p');
    expect(pruned?.tokensAfter).toBeLessThan(0.85 * LIMIT);
    expect(compressed).toMatchObject({ outcome: 'applied', isAhead: true });
  });
});
