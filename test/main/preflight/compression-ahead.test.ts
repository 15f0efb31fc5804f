// Summaries that are asked for before they are due: no turn waits for a model, nothing is lost, nothing leaks.

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { SessionOptions } from '../../../src/main/session-options.js';
import { RemovalLog } from '../../../src/main/removal-log/removal-log.js';
import { writeFailed } from '../../../src/main/removal-log/removal-log-errors.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import type { Session } from '../../../src/main/session.js';
import type { SessionState } from '../../../src/main/state/session-state.js';
import { fromLanguageModel } from '../../../src/main/summarizer/language-model.js';
import type { CompactByProvider } from '../../../src/main/strategies/provider-compaction.js';
import type {
  SummarizerRequest,
  SummarizerResponse,
} from '../../../src/main/summarizer/summarizer.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { isWorkNote } from '../../../src/shared/work/work-note.js';
import { findViolations } from '../../../src/shared/validity.js';
import { historyOf } from '../../support/notation.js';
import { temporaryPath } from '../removal-log/recording.js';
import { runs } from '../../support/scale.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import type { ScriptedSummarizer } from '../../support/scripted-summarizer.js';

const LONG = 'lorem ipsum dolor '.repeat(60);
const LIMIT = 20_000;
const COMPACTOR = {
  offload: 'inline',
  tokenizer: 'estimate',
  workspaceRoot: '/w',
  contextLimit: LIMIT,
  settings: {
    'compression.strategy': 'middle-out',
    'compression.density.workingSet': 'off',
    'compression.density.shrink': 'off',
  },
} as const;

let turnCount = 0;
/** Some 700 tokens. */
function turn(): IContent[] {
  const at = (turnCount += 1);
  return historyOf(
    `h:"turn ${at}" a:"${LONG}",s${at}(step${at}) t:s${at}("${LONG}") a:"done ${at}"`,
  );
}

interface Request extends SummarizerRequest {
  readonly answer: (text?: string) => void;
  readonly fail: (error: Error) => void;
}

interface Opened {
  readonly session: Session;
  /** Requests that the model has not answered yet. */
  readonly open: Request[];
  readonly summarizer: ScriptedSummarizer;
  readonly failures: Error[];
  readonly preflight: () => Promise<CompressedEvent | null>;
  /** Adds turns until the history fills that share of the window. */
  readonly growTo: (share: number) => Promise<void>;
}

async function open(
  options: CompactorOptions = {},
  given: Pick<SessionOptions, 'compactByProvider' | 'removalLogPath'> = {},
): Promise<Opened> {
  const open: Request[] = [];
  const summarizer = scriptedSummarizer(
    (request) =>
      new Promise<SummarizerResponse>((resolve, reject) => {
        const end = (act: () => void): void => {
          open.splice(open.indexOf(entry), 1);
          act();
        };
        const entry: Request = {
          ...request,
          answer: (text = 'on we go') => {
            end(() => {
              resolve({ text: snapshot(text), finishReason: 'stop' });
            });
          },
          fail: (error) => {
            end(() => {
              reject(error);
            });
          },
        };
        open.push(entry);
      }),
  );
  const compactor = createCompactor({ ...COMPACTOR, summarizer, ...options });
  onTestFinished(() => compactor.close());
  const session = await compactor.createSession({ edits: 'every-turn', ...given });
  const failures: Error[] = [];
  session.on('compressionFailed', ({ error }) => failures.push(error));
  let prompts = 0;
  return {
    session,
    open,
    summarizer,
    failures,
    preflight: async () => {
      const { compressed } = await session.ensureCompressionBeforeSend(`p${(prompts += 1)}`);
      return compressed;
    },
    growTo: async (share) => {
      while (session.contextUsage().tokens < share * LIMIT) {
        session.history.addAll(turn());
        await session.history.waitForTokenUpdates();
      }
    },
  };
}

/** Lets background work continue as far as it can. */
async function settle(): Promise<void> {
  for (let at = 0; at < 20; at += 1) await nextTurn();
}

/** Counts the timers of a minute and more that keep the process alive, from now on. */
function countingHolders(): () => number {
  const [made, cleared] = [
    vi.spyOn(globalThis, 'setTimeout'),
    vi.spyOn(globalThis, 'clearTimeout'),
  ];
  onTestFinished(() => {
    made.mockRestore();
    cleared.mockRestore();
  });
  return () => {
    const over = new Set(cleared.mock.calls.map(([timer]) => timer));
    const isHolding = (timer: NodeJS.Timeout, ms: number): boolean =>
      ms >= 60_000 && timer.hasRef() && !over.has(timer);
    const timers = made.mock.results.map(({ value }) => value as NodeJS.Timeout);
    return timers.filter((timer, at) => isHolding(timer, made.mock.calls[at]![1] ?? 0)).length;
  };
}

const saidIn = (history: readonly IContent[]): string => JSON.stringify(history);

describe('compression.ahead', () => {
  it('has a summary land in a later window, followed by what was added meanwhile', async () => {
    const { session, open: requests, preflight, growTo } = await open();
    await growTo(0.5);
    expect(await preflight()).toBeNull();
    await settle();
    expect(requests).toHaveLength(0);
    await growTo(0.7);
    expect(await preflight()).toBeNull();
    await settle();
    expect(requests).toHaveLength(1);
    const meanwhile = turn();
    session.history.addAll(meanwhile);
    expect(await preflight()).toBeNull();
    requests[0]!.answer('the middle');
    await settle();
    const former = session.history.getAll();
    const compressed = await preflight();
    expect(compressed).toMatchObject({ outcome: 'applied', strategy: 'middle-out', isAhead: true });
    const history = session.history.getAll();
    expect(history.slice(-4)).toEqual(meanwhile);
    expect(saidIn(history)).toContain('the middle');
    expect(findViolations(history, former)).toEqual([]);
    expect(session.costs().summaries).toEqual({ landed: 1, thrownAway: 0 });
    expect(requests).toHaveLength(0);
  });

  it('lets no turn at the threshold wait for the model', async () => {
    const { session, open: requests, preflight, growTo } = await open();
    await growTo(0.9);
    expect(await preflight()).toMatchObject({ outcome: 'held', reason: 'under-way' });
    await settle();
    expect(requests).toHaveLength(1);
    expect(await preflight()).toMatchObject({ outcome: 'held', reason: 'under-way' });
    requests[0]!.answer();
    await settle();
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
    expect(session.contextUsage().tokens).toBeLessThan(0.85 * LIMIT);
  });

  it('has a turn over the limit wait for the summary under way', async () => {
    const { open: requests, preflight, growTo, summarizer } = await open();
    await growTo(0.8);
    await preflight();
    await settle();
    await growTo(1.05);
    let isReady = false;
    const waiting = preflight().finally(() => (isReady = true));
    await settle();
    expect(isReady).toBe(false);
    requests[0]!.answer();
    expect(await waiting).toMatchObject({ outcome: 'applied', isAhead: true });
    expect(summarizer.requests).toHaveLength(1);
  });

  it('lets a model that hangs keep the process alive only while a turn waits for it', async () => {
    let asked = 0;
    const model = {
      specificationVersion: 'v2',
      modelId: 'm',
      doGenerate: () => {
        asked += 1;
        return new Promise<never>(() => undefined);
      },
    } as const;
    const summarizer = fromLanguageModel(model, { contextLimit: 100_000 });
    const { preflight, growTo, session } = await open({ summarizer });
    await growTo(0.8);
    const holders = countingHolders();
    await preflight();
    await settle();
    expect(asked).toBe(1);
    expect(holders()).toBe(0);
    await growTo(1.05);
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = session.ensureCompressionBeforeSend('waits', 0, 'test', { signal });
    await settle();
    expect(holders()).toBe(1);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await settle();
    expect(holders()).toBe(0);
  });

  it('reports that a summary has landed, even if the history is still too long', async () => {
    const { session, open: requests, preflight, growTo } = await open();
    await growTo(0.75);
    await preflight();
    await settle();
    requests[0]!.answer();
    await settle();
    const outcomes: unknown[] = [];
    session.on('compressed', ({ outcome }) => outcomes.push(outcome));
    session.history.addAll(historyOf(`a:s0(step0) t:s0("${LONG.repeat(100)}")`));
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
    expect(outcomes).toEqual(['applied', 'held']);
  });

  it.each<[string, CompactorOptions]>([
    [
      'the setting is 1',
      { settings: { 'compression.strategy': 'one-shot', 'compression.ahead': 1 } },
    ],
    ['the preset is the documented one', { preset: 'specification' }],
  ])('asks for none, and turns wait, where %s', async (_, options) => {
    const { session, open: requests, preflight, growTo } = await open(options);
    session.settings.set('compression.strategy', 'one-shot');
    await growTo(0.8);
    await preflight();
    await settle();
    expect(requests).toHaveLength(0);
    await growTo(0.9);
    const waiting = preflight();
    await settle();
    requests[0]!.answer();
    expect(await waiting).toMatchObject({ outcome: 'applied' });
  });

  it('applies edits that land meanwhile, to what is summarized and to what stays', async () => {
    const { session, open: requests, preflight, growTo } = await open();
    session.history.addAll(historyOf('h:start a:r900001(old.ts) t:r900001'));
    await growTo(0.65);
    session.history.addAll(historyOf('a:r900002(new.ts) t:r900002 a:"read both" h:go a:ok'));
    await growTo(0.7);
    await preflight();
    await settle();
    expect(requests).toHaveLength(1);
    session.history.addAll(
      historyOf('a:w900003(old.ts),w900004(new.ts) t:w900003 t:w900004 a:written h:on a:fine'),
    );
    session.settings.set('compression.strategy', 'high-density');
    const { pruned } = await session.ensureCompressionBeforeSend('edits');
    session.settings.set('compression.strategy', 'middle-out');
    expect(pruned?.metadata.readWritePairsPruned).toBe(2);
    requests[0]!.answer();
    await settle();
    const former = session.history.getAll();
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
    const text = saidIn(session.history.getAll());
    expect(text).not.toContain('r900001');
    expect(text).not.toContain('r900002');
    expect(text).toContain('read both');
    expect(findViolations(session.history.getAll(), former)).toEqual([]);
  });

  it.each<[string, (session: Session) => unknown]>([
    [
      'cleared',
      (session) => {
        session.history.clear();
      },
    ],
    ['closed', (session) => session.close()],
  ])('cancels the model call when the session is %s, and lands nothing', async (_, act) => {
    const { session, open: requests, preflight, growTo, failures } = await open();
    await growTo(0.8);
    await preflight();
    await settle();
    const [request] = requests;
    expect(request?.signal.aborted).toBe(false);
    await act(session);
    expect(request?.signal.aborted).toBe(true);
    const { revision } = session.history;
    request?.answer();
    await settle();
    expect(session.history.revision).toBe(revision);
    expect(session.costs().summaries).toEqual({ landed: 0, thrownAway: 1 });
    expect(failures).toEqual([]);
  });

  it('throws away the summary of a strategy that is no longer used', async () => {
    const { session, open: requests, preflight, growTo, summarizer } = await open();
    await growTo(0.8);
    await preflight();
    await settle();
    requests[0]!.answer();
    await settle();
    session.settings.set('compression.strategy', 'one-shot');
    expect(await preflight()).toBeNull();
    expect(session.costs().summaries).toEqual({ landed: 0, thrownAway: 1 });
    await growTo(1.05);
    const waiting = preflight();
    await settle();
    requests[0]!.answer();
    expect(await waiting).toMatchObject({ outcome: 'applied', strategy: 'one-shot' });
    expect(summarizer.requests).toHaveLength(2);
  });

  it('has turns wait once more summaries were thrown away than have landed', async () => {
    const { session, open: requests, preflight, growTo, summarizer } = await open();
    await growTo(0.8);
    await preflight();
    await settle();
    session.history.clear();
    await growTo(0.8);
    await preflight();
    await settle();
    expect(summarizer.requests).toHaveLength(1);
    await growTo(0.9);
    requests.length = 0;
    const waiting = preflight();
    await settle();
    requests[0]!.answer();
    expect(await waiting).toMatchObject({ outcome: 'applied' });
    expect(session.costs().summaries).toEqual({ landed: 1, thrownAway: 1 });
    await growTo(0.8);
    await preflight();
    await settle();
    expect(requests).toHaveLength(1);
  });

  it('asks a provider ahead again once a turn that waited for it was answered', async () => {
    let asked = 0;
    const compact: CompactByProvider = ({ tailStart }) => {
      asked += 1;
      if (asked === 1) return Promise.reject(new Error('down'));
      return Promise.resolve({
        length: tailStart,
        items: [{ kind: 'compaction', data: {}, tokens: 9 }],
        keepsReasoning: false,
      });
    };
    const settings = { ...COMPACTOR.settings, 'compression.strategy': 'provider' } as const;
    const { preflight, growTo } = await open({ settings }, { compactByProvider: compact });
    await growTo(0.7);
    for (let at = 0; at < 2; at += 1) {
      expect(await preflight()).toBeNull();
      await settle();
      expect(asked).toBe(1);
    }
    await growTo(0.9);
    expect(await preflight()).toMatchObject({ outcome: 'applied', strategy: 'provider' });
    expect(asked).toBe(2);
    await growTo(0.7);
    expect(await preflight()).toBeNull();
    await settle();
    expect(asked).toBe(3);
  });

  it.each([
    ['all later entries, where reasoning behind the compaction stays valid', false],
    ['the compacted history, where reasoning is bound to an entry that was edited since', true],
  ])("puts the note of a provider's compaction behind %s", async (_, isEdited) => {
    const items = [{ kind: 'compaction', data: {}, tokens: 9 }];
    const settings = { ...COMPACTOR.settings, 'compression.strategy': 'provider' } as const;
    const { session, preflight, growTo } = await open(
      { settings },
      {
        compactByProvider: ({ tailStart }) =>
          Promise.resolve({ length: tailStart, items, keepsReasoning: true }),
      },
    );
    const { history } = session;
    await growTo(0.7);
    expect(await preflight()).toBeNull();
    await settle();
    const replacements = new Map([[0, humanText('another one')]]);
    if (isEdited) await history.applyDensityResult({ ...NO_EDITS, replacements });
    const meanwhile = turn();
    history.addAll(meanwhile);
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
    const entries = history.getAll();
    const behind = isEdited ? meanwhile : [];
    expect(entries.slice(entries.findLastIndex(isWorkNote) + 1)).toEqual(behind);
    expect(entries).toEqual(expect.arrayContaining(meanwhile));
  });

  it('counts a summary that makes the history no shorter as thrown away', async () => {
    const items = [{ kind: 'compaction', data: {}, tokens: LIMIT }];
    const settings = { ...COMPACTOR.settings, 'compression.strategy': 'provider' } as const;
    const { session, preflight, growTo } = await open(
      { settings },
      {
        compactByProvider: ({ tailStart }) =>
          Promise.resolve({ length: tailStart, items, keepsReasoning: false }),
      },
    );
    await growTo(0.7);
    expect(await preflight()).toBeNull();
    await settle();
    expect(await preflight()).toBeNull();
    expect(session.costs().summaries).toEqual({ landed: 0, thrownAway: 1 });
  });

  it('asks a model no more often when each request has its own process', async () => {
    const answer = { text: snapshot('on we go'), finishReason: 'stop' } as const;
    const summarizer = scriptedSummarizer(async () => {
      await settle();
      return answer;
    });
    const history: IContent[] = [];
    let state: SessionState | undefined;
    let landed = 0;
    for (let request = 0; request < 50; request += 1) {
      history.push(...turn(), ...turn());
      await using compactor = createCompactor({ ...COMPACTOR, summarizer });
      const options = { edits: 'every-turn', history: structuredClone(history), state } as const;
      const session = await compactor.createSession(options);
      const { compressed } = await session.ensureCompressionBeforeSend('p');
      if (compressed?.outcome === 'applied') landed += 1;
      state = session.snapshot();
      await nextTurn();
      const { thrownAway = 0 } = session.costs().summaries ?? {};
      expect(thrownAway).toBeLessThanOrEqual(landed + 1);
      expect(session.costs().summaries?.landed ?? 0).toBe(landed);
    }
    expect(landed).toBeGreaterThan(1);
    expect(summarizer.requests.length).toBeLessThanOrEqual(2 * landed + 1);
  });

  it('reports a failing model, and asks it again until it has failed three times', async () => {
    const logger = { debug: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const { open: requests, preflight, growTo, failures, summarizer } = await open({ logger });
    await growTo(0.8);
    for (let at = 1; at <= 6; at += 1) {
      await preflight();
      await settle();
      requests[0]?.fail(new Error('overloaded'));
      await settle();
    }
    expect(summarizer.requests).toHaveLength(3);
    const warned = logger.warn.mock.calls.map(([, details]) => details as unknown);
    expect(warned).toEqual(failures.map((error) => ({ error })));
    expect(failures.map(({ message }) => message)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('summarizer failed') as string),
    );
  });

  it('lands a summary later when its turn was cancelled', async () => {
    const { session, open: requests, preflight, growTo } = await open();
    await growTo(0.8);
    await preflight();
    await settle();
    requests[0]!.answer();
    await settle();
    const controller = new AbortController();
    controller.abort(new Error('gone'));
    const { signal } = controller;
    await expect(session.ensureCompressionBeforeSend('p', 0, 'send', { signal })).rejects.toThrow(
      'gone',
    );
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
  });

  it('lands a summary later when the removal could not be recorded, and asks for no other', async () => {
    const removalLogPath = temporaryPath();
    const opened = await open({}, { removalLogPath });
    const { session, open: requests, summarizer, failures, preflight, growTo } = opened;
    await growTo(0.8);
    await preflight();
    await settle();
    requests[0]!.answer('the middle');
    await settle();
    const former = session.history.getAll();
    const append = vi.spyOn(RemovalLog.prototype, 'append');
    onTestFinished(() => {
      append.mockRestore();
    });
    append.mockRejectedValueOnce(writeFailed(removalLogPath, new Error('no space')));
    expect(await preflight()).toBeNull();
    expect(session.history.getAll()).toEqual(former);
    expect(await preflight()).toMatchObject({ outcome: 'applied', isAhead: true });
    expect(saidIn(session.history.getAll())).toContain('the middle');
    expect(summarizer.requests).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  it('survives any order of turns, answers, failures, clears and compressions', async () => {
    const act = fc.constantFrom(
      ...([
        'turn',
        'turn',
        'turn',
        'big',
        'send',
        'send',
        'answer',
        'answer',
        'fail',
        'clear',
      ] as const),
      ...(['compress', 'settle', 'settle', 'stale', 'abort', 'switch'] as const),
    );
    let landed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 10, maxLength: 60 }), async (acts) => {
        const { session, open: requests, growTo } = await open({ contextLimit: LIMIT });
        await growTo(0.6);
        const running: Promise<unknown>[] = [];
        for (const [at, name] of acts.entries()) {
          if (name === 'turn') session.history.addAll(turn());
          else if (name === 'big')
            session.history.addAll([...turn(), ...turn(), ...turn(), ...turn()]);
          else if (name === 'send') running.push(session.ensureCompressionBeforeSend(`p${at}`));
          else if (name === 'answer') requests[0]?.answer();
          else if (name === 'fail') requests[0]?.fail(new Error('no'));
          else if (name === 'clear') session.history.clear();
          else if (name === 'settle') await settle();
          else if (name === 'switch') {
            const isOut = session.settings.get('compression.strategy') === 'middle-out';
            session.settings.set('compression.strategy', isOut ? 'one-shot' : 'middle-out');
          } else if (name === 'stale') {
            const id = 500_000 + 2 * at;
            session.history.addAll(
              historyOf(`a:r${id}(x.ts) t:r${id} a:w${id + 1}(x.ts) t:w${id + 1} a:ok`),
            );
          } else if (name === 'abort') {
            const controller = new AbortController();
            const { signal } = controller;
            running.push(
              session
                .ensureCompressionBeforeSend(`p${at}`, 0, 'send', { signal })
                .catch(() => undefined),
            );
            await nextTurn();
            controller.abort();
          } else if (!session.history.isCompressing && running.length === 0) {
            running.push(session.performCompression(`c${at}`).catch(() => undefined));
          }
        }
        const left = new Set(running);
        // A preflight beside an explicit compression may be refused.
        for (const run of running) void run.catch(() => undefined).then(() => left.delete(run));
        const ended = Promise.allSettled(running);
        for (let at = 0; at < 200 && left.size > 0; at += 1) {
          await nextTurn();
          requests[0]?.answer();
        }
        await ended;
        session.history.add(humanText('the last word'));
        const last = session.ensureCompressionBeforeSend('last');
        for (let at = 0; at < 40; at += 1) {
          await nextTurn();
          requests[0]?.answer();
        }
        await last;
        const history = session.history.getAll();
        expect(findViolations(history)).toEqual([]);
        expect(saidIn(history)).toContain('the last word');
        const { summaries = { landed: 0, thrownAway: 0 } } = session.costs();
        expect(summaries.thrownAway).toBeLessThanOrEqual(summaries.landed + 1);
        landed += summaries.landed;
        await session.close();
        for (const request of requests) expect(request.signal.aborted).toBe(true);
      }),
      { numRuns: runs(500) },
    );
    expect(landed).toBeGreaterThan(0);
  });
});
