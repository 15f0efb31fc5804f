// A chaos run: several slots, each with one session after another, on threads with every kind of fault. Compares each
// session with the same one without threads.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateHistory } from '../../bench/support/generate-history.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import type { OffloadStats } from '../../src/main/offload/offload.js';
import { ResidentHost } from '../../src/main/offload/resident-host.js';
import type { ResidentHostStats } from '../../src/main/offload/resident-host.js';
import { MIN_RESIDENT_ENTRIES } from '../../src/main/offload/resident.js';
import { WorkerPool } from '../../src/main/offload/worker-pool.js';
import type { WorkerPoolStats } from '../../src/main/offload/worker-pool.js';
import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import type { IContent } from '../../src/shared/content.js';
import { ChaosDial, LINE_PLACES, TASK_PLACES } from '../support/chaos-dial.js';
import type { DialReport, Fault } from '../support/chaos-dial.js';
import { playLife } from '../support/chaos-life.js';
import type { LifeBook, LifePlan } from '../support/chaos-life.js';
import { Soundness } from '../support/chaos-soundness.js';
import { drawWay, isTimed } from '../support/chaos-way.js';
import { seededRandom } from '../../bench/support/seeded-random.js';
import { openInline, openThreaded } from '../support/chaos-session.js';
import type { ChaosSessionOptions, SessionHouse } from '../support/chaos-session.js';
import { HangError, Watchdog } from '../support/chaos-watchdog.js';
import { MemoryTrack } from './memory-track.js';
import type { MemoryReport } from './memory-track.js';
import * as plan from './storm-plan.js';
import { StormTally } from './storm-tally.js';
import type { StormFigures } from './storm-tally.js';
import { ThreadKiller } from './thread-killer.js';
import { WatchedPool } from './watched-pool.js';

export interface StormOptions {
  /** Number of density passes over all sessions. */
  readonly passes: number;
  readonly seed: number;
  /** Maximum number of initial entries. */
  readonly longest: number;
  /** Faults that must occur, whether by chance or forced. */
  readonly faults: readonly Fault[];
  /** The worker's module. */
  readonly workerUrl: URL;
}

/** The result of a run, which passes if there are no violations. */
export interface StormReport extends StormFigures, DialReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly seconds: number;
  readonly taskTimeoutMs: number;
  readonly terminations: number;
  readonly threadsStarted: number;
  readonly host: ResidentHostStats;
  readonly pool: WorkerPoolStats;
  readonly memory: MemoryReport;
  readonly closeMs: number;
}

const THREADS = 2;
const ALL_SHARES = plan.SLOTS.reduce((sum, { share }) => sum + share, 0);

/** Resolves when all passes were played, everything is closed and memory was checked. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const coldStartMs = await measureColdStart(options.workerUrl);
  return new Storm(options, coldStartMs).run();
}

/** Milliseconds until a first thread has loaded and counted its first tokens, under the machine's current load. */
async function measureColdStart(workerUrl: URL): Promise<number> {
  const pool = new WorkerPool({ threads: THREADS, taskTimeoutMs: 60_000, workerUrl });
  const startedAt = performance.now();
  await pool.run({ kind: 'count', contents: generateHistory({ entries: 100 }) });
  const coldStartMs = performance.now() - startedAt;
  await pool.close();
  return coldStartMs;
}

class Storm {
  readonly #options: StormOptions;
  readonly #history: readonly IContent[];
  readonly #random: () => number;
  readonly #taskTimeoutMs: number;
  readonly #watchdog: Watchdog;
  readonly #memory: MemoryTrack = new MemoryTrack();
  readonly #tally: StormTally = new StormTally();
  readonly #dial: ChaosDial;
  readonly #killer: ThreadKiller;
  readonly #pool: WorkerPool;
  readonly #host: ResidentHost;
  readonly #house: SessionHouse;
  readonly #countInline: CountEntries = rememberingCounter();
  readonly #directory: string = mkdtempSync(join(tmpdir(), 'ctxfold-chaos-'));

  constructor(options: StormOptions, coldStartMs: number) {
    const { seed, workerUrl } = options;
    this.#options = options;
    const entries = options.longest + plan.ENTRIES_PER_LIFE;
    this.#history = generateHistory({ entries, seed });
    this.#taskTimeoutMs = Math.ceil(
      Math.max(plan.MIN_TASK_TIMEOUT_MS, plan.COLD_STARTS_PER_TIMEOUT * coldStartMs),
    );
    this.#watchdog = new Watchdog(plan.TIMEOUTS_PER_PROMISE * this.#taskTimeoutMs);
    this.#random = seededRandom(seed);
    this.#dial = new ChaosDial(plan.FAULT_PERIODS, this.#random);
    this.#killer = new ThreadKiller(this.#random, coldStartMs);
    this.#pool = new WatchedPool(
      {
        threads: THREADS,
        taskTimeoutMs: this.#taskTimeoutMs,
        closeTimeoutMs: 500,
        maxHeapMb: 160,
        coolDownMs: 50,
        workerUrl,
        lossToleranceMs: Math.max(1_000, 3 * coldStartMs),
      },
      (kind, thrown) => {
        this.#tally.noteFailedTask(kind, thrown);
      },
    );
    // Too few for all, so that sessions are sometimes evicted.
    this.#host = new ResidentHost(this.#pool, 2);
    this.#house = {
      pool: this.#pool,
      host: this.#host,
      onFallback: (event) => {
        this.#tally.noteFallback(event);
      },
    };
  }

  async run(): Promise<StormReport> {
    const startedAt = performance.now();
    const stopListening = this.#listen();
    let closingAt: number;
    let endedAt: number;
    try {
      this.#dial.isOn = true;
      this.#killer.begin();
      await Promise.all(plan.SLOTS.map((slot) => this.#occupy(slot)));
      this.#dial.isOn = false;
      this.#killer.end();
      await this.#notingErrors('what had not come', () => this.#playMissing());
      await this.#notingErrors('the calm after the storm', () => this.#calmDown());
      closingAt = performance.now();
      await this.#notingErrors('closing', () => this.#close());
      endedAt = performance.now();
    } finally {
      // An error of the run itself must end the process, not be mistaken for a session's.
      this.#killer.leave();
      stopListening();
      rmSync(this.#directory, { recursive: true, force: true });
    }
    this.#judge();
    return {
      seed: this.#options.seed,
      violations: this.#watchdog.violations,
      seconds: (endedAt - startedAt) / 1_000,
      taskTimeoutMs: this.#taskTimeoutMs,
      ...this.#tally.figures,
      ...this.#dial.report,
      terminations: this.#killer.kills,
      threadsStarted: this.#killer.started,
      host: this.#host.stats,
      pool: this.#pool.stats,
      memory: this.#memory.report,
      closeMs: endedAt - closingAt,
    };
  }

  /** Detects unhandled errors and warnings. */
  #listen(): () => void {
    const listeners = ['uncaughtException', 'unhandledRejection', 'warning'].map((event) => {
      const note = (thrown: unknown): void => {
        this.#watchdog.report(`${event}: ${describe(thrown)}`);
      };
      process.on(event, note);
      return () => void process.off(event, note);
    });
    return () => {
      for (const stop of listeners) stop();
    };
  }

  /** Plays a slot's share of all passes. */
  async #occupy(slot: plan.Slot): Promise<void> {
    const share = Math.ceil((this.#options.passes * slot.share) / ALL_SHARES);
    for (let played = 0; played < share && !this.#watchdog.hasSeenEnough;) {
      const passes = Math.min(share - played, plan.PASSES_PER_LIFE);
      await this.#notingErrors(`a session in mode ${slot.mode}`, () =>
        this.#live(slot, passes, true),
      );
      played += passes;
    }
  }

  /** Forces the faults that have not occurred by chance, while no other fault can preempt them. */
  async #playMissing(): Promise<void> {
    const request = { kind: 'count', contents: this.#history.slice(0, 10) } as const;
    const askPool = (): Promise<unknown> =>
      this.#watchdog
        .watch('a task that goes wrong', this.#pool.run(request))
        .catch(() => delay(50));
    const live = (): Promise<unknown> =>
      this.#live(plan.SLOT_OF_MISSING, plan.PASSES_IN_CALM, true);
    for (const { of, places, place, play } of [
      { of: 'task', places: TASK_PLACES, place: 'count', play: askPool },
      { of: 'line', places: LINE_PLACES, place: 'plan', play: live },
    ] as const) {
      for (const fault of this.#options.faults) {
        const hasCome = (): boolean =>
          this.#dial.hasTaken(places, fault) &&
          (fault !== 'never' || this.#tally.hasSeenDeadline(of));
        for (let tries = 0; !hasCome() && tries < plan.MAX_TRIES_OF_MISSING; tries += 1) {
          this.#dial.force(place, fault);
          await play();
          this.#dial.force(place, undefined);
          await this.#watchdog.watch(`the first answers after ${fault}`, this.#untilServed());
        }
      }
    }
    if (this.#killer.kills === 0) this.#killer.kill();
  }

  /**
   * Plays a life, next to an inline session where possible. Resolves to its offload statistics, and how many lines were open
   * at its end.
   */
  async #live(slot: plan.Slot, passes: number, isStormy: boolean): Promise<LifeEnd> {
    const { mode, contextLimit } = slot;
    const restored = Math.min(slot.restored, this.#options.longest);
    const isLimited = contextLimit !== plan.UNLIMITED;
    const way = isStormy ? drawWay(this.#random, this.#directory) : plan.WAY_IN_CALM;
    const number = this.#tally.noteLife(way.strategy);
    let nowMs = 0;
    const options: ChaosSessionOptions = {
      contextLimit,
      restored: this.#history.slice(0, restored),
      isWeighed: !isLimited,
      sessionId: `life ${number}`,
      way,
      now: () => nowMs,
    };
    const real = openThreaded(this.#house, mode, options);
    const oracle = isTimed(way) ? undefined : openInline(options, this.#countInline);
    real.on('compressed', ({ outcome, isAhead = false }) => {
      this.#tally.noteCompression(isAhead ? `${mode} ahead` : mode, outcome);
    });
    const { strategy, edits, ahead } = way;
    const life: LifePlan = {
      name: `${mode} ${restored}, ${strategy} ${edits} ${ahead}, ${isStormy ? options.sessionId : 'in calm'}`,
      passes,
      entries: this.#history.slice(restored),
      // After an aborted window it is unknown what an edit cost.
      hasAborts: isStormy && !isLimited && (oracle === undefined || edits === 'every-turn'),
      hasClears: isStormy && restored < 1_000 && !isLimited,
      passesPerRestart: restored < 1_000 ? 5 : Infinity,
      store: way.isStored ? way.store : undefined,
      tick: () => {
        nowMs += this.#random() < 0.05 ? 600_000 : 5_000;
      },
    };
    const soundness = new Soundness(real, options.restored);
    try {
      await playLife({ real, oracle, soundness }, life, this.#book);
      return { ...real.stats(), lines: this.#host.stats.residentSessions };
    } finally {
      await this.#watchdog.watch(`${life.name} close`, real.close());
      await oracle?.close();
      this.#tally.noteEnd(real.stats());
    }
  }

  get #book(): LifeBook {
    return {
      watchdog: this.#watchdog,
      random: this.#random,
      noteWindow: (waitMs, wasAborted) => {
        this.#tally.noteWindow(waitMs, wasAborted);
        const { passes } = this.#tally;
        if (passes % plan.PASSES_PER_MEMORY_SAMPLE === 0) this.#memory.sample(passes);
      },
      isOver: () => this.#watchdog.hasSeenEnough,
    };
  }

  /** Once the faults have stopped, everything must work normally again. */
  async #calmDown(): Promise<void> {
    if (this.#watchdog.violations.length > 0) return;
    for (const slot of plan.SLOTS) {
      let problem: string | undefined;
      for (let attempt = 0; attempt < plan.CALM_ATTEMPTS; attempt += 1) {
        await this.#watchdog.watch('the first answers after the storm', this.#untilServed());
        const { fallbacks } = this.#tally;
        const end = await this.#live(slot, plan.PASSES_IN_CALM, false);
        problem = problemInCalm(slot, end, this.#tally.fallbacks - fallbacks);
        if (problem === undefined) break;
      }
      if (problem !== undefined) this.#watchdog.report(problem);
    }
  }

  /** Resolves when all threads have answered at the same time, so none is in an endless loop any more. */
  async #untilServed(): Promise<void> {
    const probes = Array.from({ length: THREADS }, () => ({ kind: 'probe' }) as const);
    for (;;) {
      try {
        await Promise.all(probes.map((probe) => this.#pool.run(probe)));
        return;
      } catch {
        await delay(50);
      }
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#watchdog.watch('closing the pool', this.#pool.close());
    } finally {
      this.#killer.leave();
    }
    const { residentSessions } = this.#host.stats;
    if (residentSessions > 0) this.#watchdog.report(`${residentSessions} lines are left`);
  }

  /** Hangs have already been recorded by the watchdog. */
  async #notingErrors(name: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (thrown) {
      if (thrown instanceof HangError) return;
      this.#watchdog.report(`${name} rejected: ${describe(thrown)}`);
    }
  }

  /** A fault that never occurred proves nothing, and growing memory is a violation too. */
  #judge(): void {
    for (const places of [TASK_PLACES, LINE_PLACES]) {
      for (const fault of this.#options.faults.filter((one) => !this.#dial.hasTaken(places, one)))
        this.#watchdog.report(`${fault} in ${places.join(', ')} never came`);
    }
    if (this.#killer.kills === 0) this.#watchdog.report('no thread was terminated');
    for (const of of ['task', 'line'] as const)
      if (this.#options.faults.includes('never') && !this.#tally.hasSeenDeadline(of))
        this.#watchdog.report(`deadlines ended no ${of}`);
    if (globalThis.gc === undefined || this.#tally.passes < plan.MIN_PASSES_FOR_MEMORY) return;
    const { growthMb, heapGrowthMb } = this.#memory.report;
    if (growthMb > plan.MAX_GROWTH_MB) this.#watchdog.report(`memory grew by ${growthMb} MB`);
    if (heapGrowthMb > plan.MAX_HEAP_GROWTH_MB) {
      this.#watchdog.report(`the heap of the main thread grew by ${heapGrowthMb} MB`);
    }
  }
}

interface LifeEnd extends Pick<OffloadStats, 'openings' | 'residentPasses'> {
  readonly lines: number;
}

/** What is wrong with a life in the calm phase, in which no pass shortens a history enough to stop it being resident. */
function problemInCalm(slot: plan.Slot, end: LifeEnd, fallbacks: number): string | undefined {
  const { mode, restored } = slot;
  const name = `${mode} ${restored} in calm`;
  if (fallbacks > 0) return `${name}: ${fallbacks} fallbacks`;
  const isResident = mode === 'resident' || (mode === 'auto' && restored >= MIN_RESIDENT_ENTRIES);
  const expected = isResident ? 1 : 0;
  if (end.lines !== expected) return `${name}: ${end.lines} lines are open`;
  // A long history may still be moving in.
  if (isResident && restored < 1_000 && end.residentPasses === 0)
    return `${name}: no resident pass`;
  return undefined;
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? String(thrown.stack) : String(thrown);
}

/** Counts inline, with a cache over all lives, because restored and replaced entries recur. */
function rememberingCounter(): CountEntries {
  const inline = new InlineOffload();
  const known = new WeakMap<IContent, number>();
  return async (contents) => {
    const unknown = contents.filter((entry) => !known.has(entry));
    const counts = await inline.countTokens(unknown);
    for (const [at, entry] of unknown.entries()) known.set(entry, counts[at] ?? 0);
    return contents.map((entry) => known.get(entry) ?? 0);
  };
}
