// The one promise of the preflight: what is sent fits, or an error names what does not. It holds for every history, strategy and model, however often it is
// asked.

import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import { COMPRESSION_STRATEGIES } from '../../src/main/strategies/strategy.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import type { Summarizer, SummarizerResponse } from '../../src/main/summarizer/summarizer.js';
import type { Session } from '../../src/main/session.js';
import { humanText } from '../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import { CompressionExecutionError, ContextWindowExceededError } from '../../src/shared/errors.js';
import { outlineHistory } from '../../src/shared/summarize/history-outline.js';
import { summarizeEntry } from '../../src/shared/summarize/tool-summary.js';
import { newestUserEntry } from '../../src/shared/summarize/truncation.js';
import { fitToWindow } from '../../src/shared/summarize/window-fit.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { findViolations } from '../../src/shared/validity.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { openSession, strategyOf } from '../support/session-bench.js';
import { runs } from '../support/scale.js';
import { arbitraryRatio } from '../support/arbitrary-ratio.js';

const never = (): Promise<SummarizerResponse> => new Promise(() => {});

/** How models behave, by name. */
const MODELS: Readonly<Record<string, () => Summarizer>> = {
  works: () => scriptedSummarizer(snapshot('the user wants all of it')),
  fails: () => scriptedSummarizer(() => Promise.reject(new Error('overloaded'))),
  'hangs until its deadline': () => scriptedSummarizer(never, { timeoutMs: 1 }),
  'talks garbage': () => scriptedSummarizer('certainly! here you are'),
  'answers too much': () => scriptedSummarizer(snapshot('and so on '.repeat(20_000))),
  'is cut off': () => scriptedSummarizer({ text: snapshot('so'), finishReason: 'length' }),
  'has no room': () => scriptedSummarizer(snapshot('so'), { contextLimit: 10 }),
  'returns nothing': () => scriptedSummarizer(() => Promise.resolve(undefined as never)),
};

const sumOf = (contents: readonly IContent[]): number =>
  contents.reduce((sum, content) => sum + estimateEntryTokens(content), 0);

/** The same history with longer texts and results, so that something can be shortened. */
function padded(history: readonly IContent[], sizes: readonly number[]): IContent[] {
  // Random histories share blocks between entries; real ones do not.
  return history.map((shared, at) => {
    const entry = structuredClone(shared);
    const padding = 'pad '.repeat(sizes[at % sizes.length] ?? 0);
    const pad = (block: ContentBlock): ContentBlock => {
      if (block.type === 'text' && entry.speaker === 'human') {
        return { ...block, text: `${block.text}\n${padding}` };
      }
      return block.type === 'tool_response' && block.result !== PRUNED_POINTER
        ? { ...block, result: [block.result, padding] }
        : block;
    };
    return { ...entry, blocks: entry.blocks.map(pad) };
  });
}

const SITUATIONS = fc
  .record({
    history: arbitraryHistory({ maxEntries: 60 }),
    sizes: fc.array(fc.nat(400), { minLength: 1, maxLength: 20, size: 'max' }),
    /** The size of the history, in windows. */
    times: arbitraryRatio(1, 4),
    /** Pending tokens of the request, as a share of the window. */
    pendingShare: fc.constantFrom(0, 0, 0.1, 0.6, 1.1),
    strategy: fc.constantFrom(...COMPRESSION_STRATEGIES),
    model: fc.constantFrom(...Object.keys(MODELS)),
    fallbackToTruncation: fc.boolean(),
  })
  .map(({ history, sizes, times, pendingShare, ...rest }) => {
    const entries = padded(history, sizes);
    const contextLimit = Math.max(1, Math.floor(sumOf(entries) / times));
    return {
      ...rest,
      entries,
      contextLimit,
      pendingTokens: Math.ceil(contextLimit * pendingShare),
    };
  });

interface Situation {
  readonly entries: readonly IContent[];
  readonly contextLimit: number;
  readonly pendingTokens: number;
  readonly strategy: CompressionStrategyName;
  readonly model: string;
  readonly fallbackToTruncation: boolean;
}

async function open(situation: Situation): Promise<Session> {
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    workspaceRoot: '/work',
    contextLimit: situation.contextLimit,
    summarizer: MODELS[situation.model]?.(),
    settings: {
      'compression.strategy': situation.strategy,
      'compression.fallbackToTruncation': situation.fallbackToTruncation,
    },
  });
  return compactor.createSession({ history: situation.entries });
}

/** What is left of a history, with its tokens, when everything removable is removed. */
function leftovers(history: readonly IContent[]): ReadonlyMap<number, number> {
  const { outline, callOf } = outlineHistory(history);
  const tokens = history.map(estimateEntryTokens);
  const summarizedTokens = history.map((entry, at) =>
    estimateEntryTokens(summarizeEntry(entry, at, callOf, undefined, true)),
  );
  const gone = new Set(fitToWindow({ outline, tokens, summarizedTokens }, -1).dropped);
  const kept = [...history.keys()].filter((at) => !gone.has(at));
  return new Map(kept.map((at) => [at, Math.min(tokens[at] ?? 0, summarizedTokens[at] ?? 0)]));
}

/** An error about what does not fit must name its largest part, with its true size. */
function expectCulprit(
  error: ContextWindowExceededError,
  history: readonly IContent[],
  { pendingTokens, contextLimit }: Situation,
): void {
  const left = leftovers(history);
  const needed = [...left.values()].reduce((sum, tokens) => sum + tokens, pendingTokens);
  expect(error).toMatchObject({ projectedTokens: needed, contextLimit });
  expect(needed).toBeGreaterThan(contextLimit);
  const largest = Math.max(pendingTokens, ...left.values());
  const named =
    /largest part is (the newest human entry|an ai entry whose .+|a tool entry .+) \(entry (\d+), (\d+) tokens\): /.exec(
      error.message,
    );
  if (named === null) {
    expect(error.message).toContain(
      `is the ${pendingTokens} tokens that the request holds besides`,
    );
    expect(pendingTokens).toBe(largest);
    return;
  }
  const [, name, at, tokens] = named;
  expect(Number(tokens)).toBe(largest);
  expect(left.get(Number(at))).toBe(largest);
  const { speaker } = history[Number(at)] ?? humanText('');
  expect(name).toContain(speaker);
  if (speaker === 'human')
    expect(Number(at)).toBe(newestUserEntry(outlineHistory(history).outline));
}

/** Runs a window and checks everything that it promises. Returns its result, or what it threw. */
async function expectPromisesKept(
  situation: Situation,
  run: (session: Session) => Promise<unknown>,
): Promise<unknown> {
  const { entries, contextLimit, pendingTokens } = situation;
  const session = await open(situation);
  const { history } = session;
  const starts = vi.spyOn(history, 'startCompression');
  let events = 0;
  session.on('compressed', () => (events += 1));
  session.on('compressionFailed', () => (events += 1));
  const outcome = await run(session).catch((error: unknown) => error);

  const left = history.getAll();
  expect(findViolations(left, entries)).toEqual([]);
  expect(history.isCompressing).toBe(false);
  expect(history.getTotalTokens()).toBe(sumOf(left));
  expect(starts.mock.calls.length).toBeLessThanOrEqual(1);
  expect(events).toBeLessThanOrEqual(1);
  if (outcome instanceof ContextWindowExceededError) {
    expectCulprit(outcome, left, situation);
  } else {
    expect(sumOf(left) + pendingTokens).toBeLessThanOrEqual(contextLimit);
  }
  return outcome;
}

describe('Session', () => {
  describe('ensureCompressionBeforeSend', () => {
    it('ends in a window that fits or names what does not, with every strategy and model', async () => {
      const ends = new Set<string>();
      await fc.assert(
        fc.asyncProperty(SITUATIONS, async (situation) => {
          const outcome = await expectPromisesKept(situation, (session) =>
            session.ensureCompressionBeforeSend('p1', situation.pendingTokens),
          );
          // Below the hard limit, errors of a strategy are the caller's to handle.
          if (outcome instanceof Error && !(outcome instanceof ContextWindowExceededError)) {
            expect(outcome).toBeInstanceOf(CompressionExecutionError);
            expect(situation.fallbackToTruncation).toBe(false);
          }
          ends.add(outcome instanceof Error ? outcome.name : 'fits');
        }),
        { numRuns: runs(400) },
      );
      expect(ends).toContain('fits');
      expect(ends).toContain('ContextWindowExceededError');
    });

    it.each(COMPRESSION_STRATEGIES)('rejects with the reason when aborted (%s)', async (name) => {
      await fc.assert(
        fc.asyncProperty(SITUATIONS, fc.nat(12), async (situation, turns) => {
          const session = await open({ ...situation, strategy: name });
          const controller = new AbortController();
          const reason = new Error('enough');
          const window = session
            .ensureCompressionBeforeSend('p1', situation.pendingTokens, 'test', controller)
            .catch((error: unknown) => error);
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          controller.abort(reason);
          const outcome = await window;
          if (outcome instanceof Error && !(outcome instanceof CompressionExecutionError)) {
            expect(outcome).toSatisfy(
              (error) => error === reason || error instanceof ContextWindowExceededError,
            );
          }
          await session.close();
          expect(findViolations(session.history.getAll(), situation.entries)).toEqual([]);
          expect(session.history.isCompressing).toBe(false);
        }),
        { numRuns: runs(60) },
      );
    });

    it('fits even if entries are added while it compresses', async () => {
      const strategy = strategyOf(async ({ history }) => {
        session.history.addAll(historyOf('h:1 h:2 h:3 h:4'));
        return history.slice(-9);
      });
      const entries = Array.from({ length: 10 }, (_, at) => humanText(`e${at}`));
      const session = openSession({ strategy, entries, contextLimit: 100 });
      const { totalTokens } = await session.ensureCompressionBeforeSend('p1');
      expect(totalTokens).toBeLessThanOrEqual(100);
    });
  });

  describe('enforceContextWindow', () => {
    it('does the same when called by itself, and never passes on an error of a strategy', async () => {
      await fc.assert(
        fc.asyncProperty(SITUATIONS, async (situation) => {
          const outcome = await expectPromisesKept(situation, (session) =>
            session.enforceContextWindow('p1', situation.pendingTokens),
          );
          if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ContextWindowExceededError);
        }),
        { numRuns: runs(400) },
      );
    });

    it('uses counts, not estimates', async () => {
      const entries = historyOf('h:1 a h:2 a h:3');
      const countEntries = (contents: readonly IContent[]): Promise<readonly number[]> =>
        Promise.resolve(contents.map(() => 100));
      const session = openSession({ entries, countEntries, contextLimit: 300 });
      expect(session.history.getTotalTokens()).toBeLessThan(300);
      await session.enforceContextWindow('p1');
      await session.history.waitForTokenUpdates();
      expect(session.history.getTotalTokens()).toBeLessThanOrEqual(300);
    });
  });

  describe('the error', () => {
    const weigh = ({ speaker, blocks }: IContent): number => {
      if (speaker !== 'tool') return speaker === 'human' ? 50 : 200;
      return JSON.stringify(blocks).includes('success') ? 20 : 300;
    };

    it.each([
      ['h:1 a:r1 t:r1 h:2', 80, 40, 'is the newest human entry (entry 3, 50 tokens)', 90],
      ['h:1 a h:2', 1_000, 990, 'is the 990 tokens that the request holds besides', 1_040],
      ['', 10, 11, 'is the 11 tokens that the request holds besides', 11],
      ['h a:r1,r2', 255, 10, 'tool calls have no response yet (entry 1, 200 tokens)', 260],
      ['h a:r1,r2 t:r1', 260, 0, 'tool calls have no response yet (entry 1, 200 tokens)', 270],
      ['h a:r1 t:r1?', 400, 0, 'tool calls without a response (entry 2, 300 tokens)', 550],
    ])(
      'of %j in %i tokens with %i pending %s',
      async (notation, limit, pending, message, needed) => {
        const session = openSession({
          entries: historyOf(notation),
          countEntries: (contents) => Promise.resolve(contents.map(weigh)),
          contextLimit: limit,
          strategy: strategyOf(async ({ history }) => history, null),
        });
        const sending = session.ensureCompressionBeforeSend('p1', pending);
        await expect(sending).rejects.toThrow(message);
        await expect(sending).rejects.toMatchObject({
          projectedTokens: needed,
          contextLimit: limit,
        });
        expect(session.history.getAll()).toEqual(historyOf(notation));
      },
    );
  });

  describe('over 200 windows', () => {
    /** A session that grows by ten tokens before each window. */
    async function play(
      session: Session,
      onWindow: (at: number) => void = () => undefined,
    ): Promise<void> {
      for (let at = 0; at < 200; at += 1) {
        session.history.add(humanText(`turn ${at}`));
        onWindow(at);
        await session.ensureCompressionBeforeSend(`p${at}`);
        expect(session.history.getTotalTokens()).toBeLessThanOrEqual(1_000);
      }
    }

    it('asks a strategy that never helps once for each growth, even if each window is cut', async () => {
      const asked: number[] = [];
      let window = 0;
      const strategy = strategyOf(async ({ history }) => {
        asked.push(window);
        return history;
      });
      const entries = Array.from({ length: 80 }, (_, at) => humanText(`e${at}`));
      const session = openSession({ strategy, entries });
      await play(session, (at) => (window = at));
      // It grows by 2,000 tokens, and each 50 of them allow another attempt.
      expect(asked.length).toBeLessThanOrEqual(1 + 2_000 / 50);
      const gaps = asked.slice(1).map((at, before) => at - (asked[before] ?? 0));
      expect(gaps.every((gap) => gap >= 5 && gap <= 10)).toBe(true);
      expect(asked.at(-1)).toBeGreaterThanOrEqual(190);
    });

    it('asks a model that never helps three times, and once more after each minute', async () => {
      let nowMs = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
      onTestFinished(() => clock.mockRestore());
      const summarizer = scriptedSummarizer('');
      const compactor = createCompactor({
        offload: 'inline',
        tokenizer: 'estimate',
        contextLimit: 1_000,
        summarizer,
        settings: {
          'compression.strategy': 'one-shot',
          'compression.threshold': 0.1,
          'compression.ahead': 1,
          // No other strategy takes its place.
          'compression.fallback': 'one-shot',
        },
      });
      const history = Array.from({ length: 40 }, () => humanText('x'.repeat(100)));
      const session = await compactor.createSession({ history });
      const failures: unknown[] = [];
      session.on('compressionFailed', ({ error }) => failures.push(error));
      const send = (at: number): Promise<unknown> => session.ensureCompressionBeforeSend(`p${at}`);
      for (let at = 0; at < 200; at += 1) {
        session.history.add(humanText('x'.repeat(100)));
        await send(at);
      }
      expect(summarizer.requests).toHaveLength(3);
      for (let minute = 1; minute <= 5; minute += 1) {
        nowMs += 60_000;
        for (let at = 0; at < 10; at += 1) await send(at);
        expect(summarizer.requests).toHaveLength(3 + minute);
      }
      expect(failures).toHaveLength(8);
      for (const error of failures) expect(error).toMatchObject({ code: 'SUMMARY_REJECTED' });
    });

    it('compresses again when the history has grown after a fit', async () => {
      const tail = 80;
      const compress = vi.fn(async ({ history }: { readonly history: readonly IContent[] }) =>
        compress.mock.calls.length === 1 ? history : history.slice(-tail),
      );
      const entries = Array.from({ length: 110 }, (_, at) => humanText(`e${at}`));
      const session = openSession({ strategy: strategyOf(compress), entries });
      const first = await session.ensureCompressionBeforeSend('p1');
      expect(first).toMatchObject({
        compressed: { outcome: 'rejected' },
        fitted: { droppedEntries: 25 },
        totalTokens: 850,
      });
      session.history.addAll(entries.slice(0, 4).map((_, at) => humanText(`new ${at}`)));
      expect(await session.ensureCompressionBeforeSend('p2')).toMatchObject({
        compressed: { outcome: 'held', reason: 'no-growth' },
        fitted: null,
      });
      session.history.add(humanText('newest'));
      expect(await session.ensureCompressionBeforeSend('p3')).toMatchObject({
        compressed: { outcome: 'applied', tokensAfter: 800 },
        fitted: null,
      });
    });

    it('cuts rarely, not in each call, while a strategy fails', async () => {
      const strategy = strategyOf(() => Promise.reject(new Error('down')));
      const entries = Array.from({ length: 100 }, (_, at) => humanText(`e${at}`));
      const session = openSession({ strategy, entries });
      const cuts: number[] = [];
      for (let call = 0; call < 30; call += 1) {
        session.history.add(humanText(`new ${call}`));
        // Below the limit, its failure is the host's to handle.
        const sent = session.ensureCompressionBeforeSend('p').catch(() => null);
        if ((await sent)?.fitted) cuts.push(call);
        expect(session.history.getTotalTokens()).toBeLessThanOrEqual(1_000);
      }
      expect(cuts).toEqual([0, 16]);
    });

    it('cuts no further than necessary when it cannot reach the lower mark', async () => {
      const strategy = strategyOf(() => Promise.reject(new Error('down')));
      const entries = Array.from({ length: 9 }, (_, at) => humanText(`e${at}`));
      const session = openSession({ strategy, entries, contextLimit: 11 });
      const { fitted } = await session.ensureCompressionBeforeSend('p');
      expect(fitted).toMatchObject({ droppedEntries: 8, tokensAfter: 10 });
    });
  });
});
