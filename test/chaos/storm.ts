// A chaos run: several sessions live one life after another on threads in which everything goes wrong
// that can, and each is held against the same session without threads.

import { setTimeout as delay } from 'node:timers/promises';
import { generateHistory } from '../../bench/support/generate-history.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { ResidentHost } from '../../src/main/offload/resident-host.js';
import type { ResidentHostStats } from '../../src/main/offload/resident-host.js';
import { WorkerPool } from '../../src/main/offload/worker-pool.js';
import { MIN_RESIDENT_ENTRIES } from '../../src/main/offload/resident.js';
import type { WorkerPoolStats } from '../../src/main/offload/worker-pool.js';
import type { CountEntries } from '../../src/main/token-ledger.js';
import type { IContent } from '../../src/shared/content.js';
import { ChaosDial, FAULTS, LINE_PLACES, PLACES, TASK_PLACES } from '../support/chaos-dial.js';
import type { Fault, FaultPeriods, Place } from '../support/chaos-dial.js';
import { playLife } from '../support/chaos-life.js';
import type { LifeBook, LifePlan } from '../support/chaos-life.js';
import { seededRandom } from '../support/chaos-random.js';
import { openInline, openThreaded } from '../support/chaos-session.js';
import type { ChaosSessionOptions, SessionHouse, ThreadedMode } from '../support/chaos-session.js';
import { HangError, Watchdog } from '../support/chaos-watchdog.js';
import { MemoryTrack } from './memory-track.js';
import type { MemoryReport } from './memory-track.js';
import { ThreadKiller } from './thread-killer.js';

export interface StormOptions {
  /** Density passes to play, over all sessions. */
  readonly passes: number;
  readonly seed: number;
  /** The module that threads run. */
  readonly workerUrl: URL;
}

/** What a run found. It is good when there are no violations. */
export interface StormReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly seconds: number;
  readonly taskTimeoutMs: number;
  readonly passes: number;
  readonly lives: number;
  readonly aborts: number;
  readonly waitMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** By place and fault, how often it was taken. */
  readonly faults: Readonly<Record<Place, Readonly<Record<Fault, number>>>>;
  readonly calls: Readonly<Record<Place, number>>;
  readonly terminations: number;
  readonly threadsStarted: number;
  readonly fallbacks: number;
  /** By task and code of the error. */
  readonly fallbackReasons: Readonly<Record<string, number>>;
  /** Lines that were opened in place of a lost one. */
  readonly reopenings: number;
  /** Passes that a resident history planned; the others ran from snapshots or inline. */
  readonly residentPasses: number;
  /** By mode and outcome. */
  readonly compressions: Readonly<Record<string, number>>;
  readonly host: ResidentHostStats;
  readonly pool: WorkerPoolStats;
  readonly memory: MemoryReport;
  readonly closeMs: number;
}

/** One place in the run at which a session lives, and after it the next one. */
interface Slot {
  readonly mode: ThreadedMode;
  readonly restored: number;
  readonly contextLimit: number;
  /** Its share of all passes, relative to others. */
  readonly share: number;
}

const UNLIMITED = 1_000_000_000;

/** Long histories mostly move in, short ones are mostly there: so faults meet both. */
const SLOTS: readonly Slot[] = [
  { mode: 'resident', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'auto', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  { mode: 'snapshot', restored: 10_000, contextLimit: UNLIMITED, share: 1 },
  // Grows into being resident.
  { mode: 'auto', restored: 200, contextLimit: UNLIMITED, share: 3 },
  { mode: 'resident', restored: 300, contextLimit: UNLIMITED, share: 3 },
  // Compresses every few passes.
  { mode: 'resident', restored: 60, contextLimit: 16_000, share: 3 },
  { mode: 'snapshot', restored: 60, contextLimit: 16_000, share: 1 },
];

const LONGEST_RESTORED = Math.max(...SLOTS.map(({ restored }) => restored));
const ALL_SHARES = SLOTS.reduce((sum, { share }) => sum + share, 0);

const PASSES_PER_LIFE = 40;
const ENTRIES_PER_LIFE = PASSES_PER_LIFE * 8;

/** A call in so many goes wrong. */
const FAULT_PERIODS: FaultPeriods = {
  optimize: 5,
  count: 17,
  open: 5,
  receive: 9,
  moveIn: 97,
  plan: 2,
  compress: 2,
};

/** Deadline of a task, in cold starts of a thread: shorter, and a busy machine would only see its own load. */
const COLD_STARTS_PER_TIMEOUT = 3;
const MIN_TASK_TIMEOUT_MS = 400;

/**
 * What a window may take, in deadlines of a task: a line gets twelve while its thread answers others,
 * and what follows waits for threads again.
 */
const TIMEOUTS_PER_PROMISE = 40;

/** Memory may grow by so much over the second half of a run, in megabytes: threads come and go. */
const MAX_GROWTH_MB = 128;
const MAX_HEAP_GROWTH_MB = 24;

const PASSES_PER_MEMORY_SAMPLE = 20;

/** Resolves when all passes were played, everything is closed and the memory was looked at. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const coldStartMs = await measureColdStart(options.workerUrl);
  return new Storm(options, coldStartMs).run();
}

/** Milliseconds until a first thread has loaded and counted its first tokens, on this machine as it is now. */
async function measureColdStart(workerUrl: URL): Promise<number> {
  const pool = new WorkerPool({ threads: 2, taskTimeoutMs: 60_000 }, { workerUrl });
  const startedAt = performance.now();
  await pool.run({ kind: 'count', contents: generateHistory({ entries: 100 }) });
  const coldStartMs = performance.now() - startedAt;
  await pool.close();
  return coldStartMs;
}

class Storm {
  readonly #options: StormOptions;
  readonly #random: () => number;
  readonly #taskTimeoutMs: number;
  readonly #watchdog: Watchdog;
  readonly #memory: MemoryTrack = new MemoryTrack();
  readonly #dial: ChaosDial;
  readonly #killer: ThreadKiller;
  readonly #pool: WorkerPool;
  readonly #host: ResidentHost;
  readonly #house: SessionHouse;
  readonly #countInline: CountEntries = rememberingCounter();
  readonly #waitsMs: number[] = [];
  #passes = 0;
  #aborts = 0;
  #lives = 0;
  #reopenings = 0;
  #residentPasses = 0;
  readonly #compressions: Record<string, number> = {};
  #fallbacks = 0;
  readonly #fallbackReasons: Record<string, number> = {};

  constructor(options: StormOptions, coldStartMs: number) {
    this.#options = options;
    this.#taskTimeoutMs = Math.max(MIN_TASK_TIMEOUT_MS, COLD_STARTS_PER_TIMEOUT * coldStartMs);
    this.#watchdog = new Watchdog(TIMEOUTS_PER_PROMISE * this.#taskTimeoutMs);
    this.#random = seededRandom(options.seed);
    this.#dial = new ChaosDial(FAULT_PERIODS, this.#random);
    this.#killer = new ThreadKiller(this.#random, coldStartMs);
    this.#pool = new WorkerPool(
      {
        threads: 2,
        taskTimeoutMs: Math.round(this.#taskTimeoutMs),
        closeTimeoutMs: 500,
        maxHeapMb: 160,
        coolDownMs: 50,
      },
      { workerUrl: options.workerUrl, lossToleranceMs: Math.max(1_000, 3 * coldStartMs) },
    );
    // Too few: now and then a session has to make way.
    this.#host = new ResidentHost(this.#pool, 2);
    this.#house = {
      pool: this.#pool,
      host: this.#host,
      onFallback: ({ task, error }) => {
        this.#fallbacks += 1;
        const reason = `${task} ${codeOf(error)}`;
        this.#fallbackReasons[reason] = (this.#fallbackReasons[reason] ?? 0) + 1;
      },
    };
  }

  async run(): Promise<StormReport> {
    const startedAt = performance.now();
    const stopListening = this.#listen();
    const { seed } = this.#options;
    const history = generateHistory({ entries: LONGEST_RESTORED + ENTRIES_PER_LIFE, seed });
    this.#dial.isOn = true;
    this.#killer.begin();
    await Promise.all(SLOTS.map((slot) => this.#occupy(slot, history)));
    this.#dial.isOn = false;
    this.#killer.end();
    await this.#calmDown(history);
    const closeMs = await this.#close();
    stopListening();
    this.#judge();
    return this.#report(closeMs, (performance.now() - startedAt) / 1_000);
  }

  /** Nothing may reach the host from the side. */
  #listen(): () => void {
    const noteOf =
      (event: string) =>
      (thrown: unknown): void => {
        this.#watchdog.report(
          `${event}: ${thrown instanceof Error ? String(thrown.stack) : String(thrown)}`,
        );
      };
    const listeners = ['uncaughtException', 'unhandledRejection', 'warning'].map(
      (event) => [event, noteOf(event)] as const,
    );
    for (const [event, listener] of listeners) process.on(event, listener);
    return () => {
      for (const [event, listener] of listeners) process.off(event, listener);
    };
  }

  async #occupy(slot: Slot, history: readonly IContent[]): Promise<void> {
    let left = Math.ceil((this.#options.passes * slot.share) / ALL_SHARES);
    for (; left > 0 && !this.#watchdog.hasSeenEnough; left -= PASSES_PER_LIFE) {
      try {
        await this.#live(slot, history, Math.min(left, PASSES_PER_LIFE));
      } catch (error) {
        if (!(error instanceof HangError)) {
          const problem = error instanceof Error ? String(error.stack) : String(error);
          this.#watchdog.report(`a session in mode ${slot.mode} rejected: ${problem}`);
        }
      }
    }
  }

  async #live(slot: Slot, history: readonly IContent[], passes: number): Promise<void> {
    const { mode, restored, contextLimit } = slot;
    this.#lives += 1;
    const isLimited = contextLimit !== UNLIMITED;
    const options: ChaosSessionOptions = {
      contextLimit,
      restored: history.slice(0, restored),
      isWeighed: !isLimited,
    };
    const real = openThreaded(this.#house, mode, options);
    const oracle = openInline(options, this.#countInline);
    real.on('compressed', ({ outcome }) => {
      this.#compressions[`${mode} ${outcome}`] =
        (this.#compressions[`${mode} ${outcome}`] ?? 0) + 1;
    });
    const plan: LifePlan = {
      name: `${mode} ${restored} life ${this.#lives}`,
      passes,
      entries: history.slice(restored),
      hasAborts: !isLimited,
      hasClears: restored < 1_000 && !isLimited,
    };
    try {
      await playLife(real, oracle, plan, this.#book);
    } finally {
      await this.#watchdog.watch(`${plan.name} close`, real.close());
      await oracle.close();
      const { openings, residentPasses } = real.stats();
      this.#reopenings += Math.max(0, openings - 1);
      this.#residentPasses += residentPasses;
    }
  }

  get #book(): LifeBook {
    return {
      watchdog: this.#watchdog,
      random: this.#random,
      noteWindow: (waitMs, wasAborted) => {
        this.#passes += 1;
        if (wasAborted) this.#aborts += 1;
        else this.#waitsMs.push(waitMs);
        if (this.#passes % PASSES_PER_MEMORY_SAMPLE === 0) this.#memory.sample(this.#passes);
      },
      isOver: () => this.#watchdog.hasSeenEnough,
    };
  }

  /** Once the faults have stopped, everything has to work again as if nothing had been. */
  async #calmDown(history: readonly IContent[]): Promise<void> {
    if (this.#watchdog.violations.length > 0) return;
    await this.#watchdog.watch('the first answer after the storm', this.#untilServed());
    const fallbacks = this.#fallbacks;
    for (const slot of SLOTS) {
      const options = {
        contextLimit: UNLIMITED,
        restored: history.slice(0, slot.restored),
        isWeighed: true,
      };
      const real = openThreaded(this.#house, slot.mode, options);
      const oracle = openInline(options, this.#countInline);
      const plan = {
        name: `${slot.mode} ${slot.restored} in calm`,
        passes: 10,
        entries: history.slice(slot.restored),
        hasAborts: false,
        hasClears: false,
      };
      await playLife(real, oracle, plan, this.#book);
      // The histories of lives in calm are at most as long as they began, and no pass makes them short.
      const isResident =
        slot.mode === 'resident' || (slot.mode === 'auto' && slot.restored >= MIN_RESIDENT_ENTRIES);
      if (this.#host.stats.residentSessions !== (isResident ? 1 : 0)) {
        this.#watchdog.report(`${plan.name}: ${this.#host.stats.residentSessions} lines are open`);
      }
      await Promise.all([real.close(), oracle.close()]);
    }
    if (this.#fallbacks > fallbacks) {
      this.#watchdog.report(`${this.#fallbacks - fallbacks} fallbacks in calm`);
    }
  }

  async #untilServed(): Promise<void> {
    for (;;) {
      try {
        await this.#pool.run({ kind: 'probe' });
        return;
      } catch {
        await delay(50);
      }
    }
  }

  async #close(): Promise<number> {
    const startedAt = performance.now();
    await this.#watchdog.watch('closing the pool', this.#pool.close());
    this.#killer.leave();
    const { residentSessions } = this.#host.stats;
    if (residentSessions > 0) this.#watchdog.report(`${residentSessions} lines are left`);
    return performance.now() - startedAt;
  }

  /** A run proves nothing about a fault that never came, and memory that grows is a violation as well. */
  #judge(): void {
    for (const places of [TASK_PLACES, LINE_PLACES]) {
      for (const fault of FAULTS) {
        const taken = places.reduce((sum, place) => sum + this.#dial.taken(place, fault), 0);
        if (taken === 0) this.#watchdog.report(`${fault} never came in ${places.join(', ')}`);
      }
    }
    const { growthMb, heapGrowthMb } = this.#memory.report;
    if (growthMb > MAX_GROWTH_MB) this.#watchdog.report(`memory grew by ${growthMb} MB`);
    if (heapGrowthMb > MAX_HEAP_GROWTH_MB) {
      this.#watchdog.report(`the heap of the main thread grew by ${heapGrowthMb} MB`);
    }
  }

  #report(closeMs: number, seconds: number): StormReport {
    const waits = this.#waitsMs.sort((a, b) => a - b);
    const waitAt = (share: number): number => waits[Math.ceil(share * waits.length) - 1] ?? 0;
    return {
      seed: this.#options.seed,
      violations: this.#watchdog.violations,
      seconds,
      taskTimeoutMs: this.#taskTimeoutMs,
      passes: this.#passes,
      lives: this.#lives,
      aborts: this.#aborts,
      waitMs: { p50: waitAt(0.5), p99: waitAt(0.99), max: waitAt(1) },
      faults: byName(PLACES, (place) => byName(FAULTS, (fault) => this.#dial.taken(place, fault))),
      calls: byName(PLACES, (place) => this.#dial.calls(place)),
      terminations: this.#killer.kills,
      threadsStarted: this.#killer.started,
      fallbacks: this.#fallbacks,
      fallbackReasons: this.#fallbackReasons,
      reopenings: this.#reopenings,
      residentPasses: this.#residentPasses,
      compressions: this.#compressions,
      host: this.#host.stats,
      pool: this.#pool.stats,
      memory: this.#memory.report,
      closeMs,
    };
  }
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}

/** Counts inline, each entry once in all lives: restored and replaced ones come again and again. */
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

function byName<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, valueOf(name)])) as Record<Name, Value>;
}
