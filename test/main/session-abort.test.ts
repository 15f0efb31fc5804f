// Aborts every wait of a preflight once: when it begins, when it ends, and while it hangs. The history is always that of a completed step, and the next window
// catches up.

import { describe, expect, it, onTestFinished } from 'vitest';

import { HistoryService } from '../../src/main/history-service.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import type { Offload } from '../../src/main/offload/offload.js';
import type { EphemeralSettings } from '../../src/main/settings/ephemeral-settings.js';
import { SessionModel } from '../../src/main/models/session-model.js';
import { completeEditOptions } from '../../src/main/preflight/edit-options.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../src/main/settings/session-config.js';
import { Settings } from '../../src/main/settings/settings.js';
import { TokenCalibration } from '../../src/main/tokens/token-calibration.js';
import { getCompressionStrategy } from '../../src/main/strategies/registry.js';
import type {
  CompressionStrategy,
  CompressionStrategyName,
} from '../../src/main/strategies/strategy.js';
import type { Summarizer } from '../../src/main/summarizer/summarizer.js';
import { RemovalLog } from '../../src/main/removal-log/removal-log.js';
import { SessionLog } from '../../src/main/removal-log/session-log.js';
import { Session } from '../../src/main/session.js';
import { humanText } from '../../src/shared/content.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { findViolations } from '../../src/shared/validity.js';
import { describeHistory, historyOf } from '../support/notation.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import type { ScriptedAnswer } from '../support/scripted-summarizer.js';
import { deferred, openSession, strategyOf } from '../support/session-bench.js';
import { FULL_WINDOW_LIMIT, fullHistory } from './preflight/full-window.js';
import { recover, temporaryPath } from './removal-log/recording.js';
import { PLAYS_ALL } from '../support/scale.js';

const ENOUGH = new Error('the turn was called off');

/** What a window waits for: `weigh` is a count of entries that are not in the history yet. */
type Wait = 'count' | 'weigh' | 'plan' | 'append' | 'compress' | 'generate';

const WHENS = ['as it begins', 'as it ends', 'while it hangs'] as const;
type When = (typeof WHENS)[number];

/** Every wait goes through here; one of them is aborted. */
class Tripwire {
  readonly #controller = new AbortController();
  readonly #when: When;
  readonly #at: number;
  readonly #released = deferred<undefined>();
  #waits = 0;
  /** The aborted wait. */
  tripped: Wait | undefined;
  /** Waits that began after the signal had aborted, until the release. */
  readonly begunLater: Wait[] = [];
  #isReleased = false;

  /** @param at which wait to abort, from 1 */
  constructor(at: number, when: When) {
    this.#at = at;
    this.#when = when;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Releases a count that hangs: entries in the history are counted late, but they are. */
  release(): void {
    this.#isReleased = true;
    this.#released.resolve(undefined);
  }

  through<Value>(wait: Wait, work: () => Promise<Value>): Promise<Value> {
    this.#waits += 1;
    if (this.signal.aborted && !this.#isReleased) this.begunLater.push(wait);
    if (this.#waits !== this.#at) return work();
    this.tripped = wait;
    const trip = (): void => this.#controller.abort(ENOUGH);
    switch (this.#when) {
      case 'as it begins':
        trip();
        return work();
      case 'as it ends':
        return work().finally(trip);
      case 'while it hangs':
        queueMicrotask(trip);
        return wait === 'count' ? this.#released.promise.then(work) : new Promise(() => {});
    }
  }
}

function guardedStrategy(name: CompressionStrategyName, wire: Tripwire): CompressionStrategy {
  const strategy = getCompressionStrategy(name);
  const { optimize } = strategy;
  return {
    name,
    requiresLLM: strategy.requiresLLM,
    trigger: strategy.trigger,
    ...(optimize !== undefined && { optimize }),
    compress: (context) => wire.through('compress', () => strategy.compress(context)),
  };
}

function guardedOffload(wire: Tripwire): Offload {
  const inline = new InlineOffload();
  return {
    optimize: (...args) => wire.through('plan', () => inline.optimize(...args)),
    countTokens: (...args) => inline.countTokens(...args),
  };
}

interface Scenario {
  readonly name: string;
  readonly settings: EphemeralSettings;
  readonly answer: ScriptedAnswer;
  /** All kinds of waits that occur. */
  readonly waits: readonly Wait[];
}

const fails = (): Promise<never> => Promise.reject(new Error('overloaded'));

const WITH_MODEL: readonly Wait[] = ['append', 'compress', 'count', 'generate', 'weigh'];

const HIGH_DENSITY: Scenario = {
  name: 'high-density',
  settings: {},
  answer: '',
  waits: ['append', 'compress', 'count', 'plan', 'weigh'],
};

const SCENARIOS: readonly Scenario[] = [
  HIGH_DENSITY,
  {
    name: 'top-down-truncation',
    settings: { 'compression.strategy': 'top-down-truncation' },
    answer: '',
    waits: ['append', 'compress', 'count'],
  },
  {
    name: 'one-shot',
    settings: { 'compression.strategy': 'one-shot' },
    answer: snapshot('so'),
    waits: WITH_MODEL,
  },
  {
    name: 'middle-out',
    settings: { 'compression.strategy': 'middle-out' },
    answer: snapshot('so'),
    waits: WITH_MODEL,
  },
  {
    name: 'one-shot, which fails and truncates instead',
    settings: { 'compression.strategy': 'one-shot', 'compression.fallbackToTruncation': true },
    answer: fails,
    waits: WITH_MODEL,
  },
  {
    name: 'middle-out, which fails and leaves it to the last resort',
    settings: { 'compression.strategy': 'middle-out' },
    answer: fails,
    waits: WITH_MODEL,
  },
];

interface Watched {
  readonly session: Session;
  /** The present history, to the byte. */
  readonly state: () => string;
  /** The history after each reported edit, from the start. */
  readonly states: readonly string[];
  /** By turn, the history when its window opened, and after the last edit reported by then. */
  readonly openings: ReadonlyMap<string, { readonly is: string; readonly reported: string }>;
  /** Entries that are neither in the history nor recorded. */
  readonly lost: () => Promise<readonly string[]>;
}

async function open({ settings: given, answer }: Scenario, wire: Tripwire): Promise<Watched> {
  const entries = fullHistory();
  const history = new HistoryService({
    countEntries: (contents) => {
      const isHeld = contents.some((content) => history.getRawHistory().includes(content));
      return wire.through(isHeld ? 'count' : 'weigh', () =>
        Promise.resolve(contents.map(estimateEntryTokens)),
      );
    },
  });
  history.addAll(entries);
  const state = (): string => JSON.stringify(history.getAll());
  const openings = new Map<string, { readonly is: string; readonly reported: string }>();
  const states = [state()];
  const removalLog = await RemovalLog.open(temporaryPath());
  onTestFinished(() => removalLog.close());
  const append = removalLog.append.bind(removalLog);
  removalLog.append = (...args) => wire.through('append', () => append(...args));
  const scripted = scriptedSummarizer(answer);
  const summarizer: Summarizer = {
    ...scripted,
    generate: (request) => wire.through('generate', () => scripted.generate(request)),
  };
  const settings = new Settings(given);
  const session = new Session({
    sessionId: 's',
    history,
    config: new SessionConfig({
      settings,
      runtimeContext: createAgentRuntimeContext(settings, FULL_WINDOW_LIMIT),
      densityOptions: { workspaceRoot: '/w' },
      edits: completeEditOptions({}),
      model: new SessionModel(),
      resolveStrategy: (name) => guardedStrategy(name, wire),
    }),
    offload: guardedOffload(wire),
    meter: new OffloadMeter(),
    calibration: new TokenCalibration(),
    compressionInputs: () => ({ summarizer }),
    removalLog: new SessionLog(
      { path: removalLog.path, sessionId: 's', logger: SILENT_LOGGER },
      removalLog,
    ),
    logger: {
      ...SILENT_LOGGER,
      debug: (message, details) => {
        if (message !== 'a preflight begins') return;
        const { promptId } = details as { readonly promptId?: unknown };
        openings.set(String(promptId), { is: state(), reported: states.at(-1) ?? '' });
      },
    },
  });
  const note = (): void => {
    if (states.at(-1) !== state()) states.push(state());
  };
  session.on('pruned', note);
  session.on('compressed', note);
  session.on('fitted', note);
  const lost = async (): Promise<readonly string[]> => {
    const { records } = await recover(removalLog.path);
    const found = new Set([...records.map(({ entry }) => entry), ...history.getAll()].map(asJson));
    return entries.map(asJson).filter((entry) => !found.has(entry));
  };
  return { session, state, states, openings, lost };
}

const asJson = (value: unknown): string => JSON.stringify(value);

/** A wait that no window reaches. */
const NEVER = Infinity;

describe('Session.ensureCompressionBeforeSend', () => {
  describe.each(SCENARIOS)('by $name', (scenario) => {
    const one = SCENARIOS.indexOf(scenario) % WHENS.length;
    it.each(PLAYS_ALL ? WHENS : WHENS.slice(one, one + 1))(
      'can be aborted at every wait, %s',
      async (when) => {
        const undisturbed = await open(scenario, new Tripwire(NEVER, when));
        const { totalTokens } = await undisturbed.session.ensureCompressionBeforeSend('p1');
        const finalState = undisturbed.state();
        expect(undisturbed.states.length).toBeGreaterThan(1);
        expect(undisturbed.states.at(-1)).toBe(finalState);

        const tripped = new Set<Wait>();
        for (let at = 1; ; at += 1) {
          const wire = new Tripwire(at, when);
          const { session, state, states, openings, lost } = await open(scenario, wire);
          const outcome = await session
            .ensureCompressionBeforeSend('p1', 0, 'test', { signal: wire.signal })
            .catch((error: unknown) => error);
          if (wire.tripped === undefined) {
            expect(outcome).toMatchObject({ totalTokens });
            break;
          }
          tripped.add(wire.tripped);
          expect(outcome).toBe(ENOUGH);
          // An edit that has landed may not have been reported yet.
          expect(undisturbed.states).toContain(state());
          expect(findViolations(session.history.getAll())).toEqual([]);
          expect(await lost()).toEqual([]);

          // What landed is counted, and a strategy may still be running; nothing else begins.
          for (const wait of wire.begunLater) expect(['count', 'weigh']).toContain(wait);
          wire.release();
          const next = await session.ensureCompressionBeforeSend('p2');
          expect(undisturbed.states.slice(0, states.length)).toEqual(states);
          const opening = openings.get('p2');
          expect(opening?.is).toBe(opening?.reported);
          expect(next).toMatchObject({ totalTokens });
          expect(state()).toBe(finalState);
          expect(await lost()).toEqual([]);
          expect(session.history.isCompressing).toBe(false);
        }

        expect([...tripped].sort()).toEqual(scenario.waits);
      },
    );
  });

  it('leaves behind a result that is never counted', async () => {
    const asked = deferred<undefined>();
    const results = [[humanText('never counted')]];
    const session = openSession({
      entries: historyOf('h:1 h:2 h:3 h:4 h:5'),
      contextLimit: 50,
      strategy: strategyOf(async ({ history }) => results.shift() ?? history.slice(-1)),
      countEntries: (contents) => {
        if (!describeHistory(contents).includes('never')) {
          return Promise.resolve(contents.map(() => 10));
        }
        asked.resolve(undefined);
        return new Promise(() => {});
      },
    });
    const controller = new AbortController();
    const window = session.ensureCompressionBeforeSend('p1', 0, 'test', controller);
    await asked.promise;
    controller.abort(ENOUGH);
    await expect(window).rejects.toBe(ENOUGH);
    await session.ensureCompressionBeforeSend('p2');
    expect(describeHistory(session.history.getAll())).toBe('h:5');
  });

  it('rejects with any reason, and with a DOMException when there is none', async () => {
    const { session } = await open(HIGH_DENSITY, new Tripwire(NEVER, WHENS[0]));
    for (const reason of ['enough', null, 0]) {
      const controller = new AbortController();
      const window = session.ensureCompressionBeforeSend('p', 0, 'test', controller);
      controller.abort(reason);
      await expect(window).rejects.toBe(reason);
    }
    const window = session.ensureCompressionBeforeSend('p', 0, 'test', {
      signal: AbortSignal.abort(),
    });
    await expect(window).rejects.toMatchObject({ name: 'AbortError' });
  });
});
