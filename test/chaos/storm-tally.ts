// Statistics about the sessions of a chaos run. Judges nothing.

import type { FallbackEvent, OffloadStats } from '../../src/main/offload/offload.js';

/** Totals over all sessions of a run. */
export interface StormFigures {
  /** Number of windows, including aborted ones. */
  readonly passes: number;
  readonly lives: number;
  readonly aborts: number;
  /** Durations of windows that were not aborted. */
  readonly waitMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly fallbacks: number;
  /** By task and error code. */
  readonly fallbackReasons: Readonly<Record<string, number>>;
  /** Failed pool tasks by task and error code, including retried ones. */
  readonly failedTasks: Readonly<Record<string, number>>;
  /** Lines opened to replace a lost one. */
  readonly reopenings: number;
  /** Passes planned by a resident history; the others ran on snapshots or inline. */
  readonly residentPasses: number;
  /** Lives by strategy. */
  readonly strategies: Readonly<Record<string, number>>;
  /** By mode and outcome. */
  readonly compressions: Readonly<Record<string, number>>;
}

const TIMEOUT = 'WORKER_TIMEOUT';

export class StormTally {
  passes = 0;
  fallbacks = 0;
  residentPasses = 0;
  #lives = 0;
  #aborts = 0;
  #reopenings = 0;
  readonly #waitsMs: number[] = [];
  readonly #fallbackReasons: Record<string, number> = {};
  readonly #failedTasks: Record<string, number> = {};
  readonly #strategies: Record<string, number> = {};
  readonly #compressions: Record<string, number> = {};

  /** Returns the number of the new life. */
  noteLife(strategy: string): number {
    this.#lives += 1;
    countIn(this.#strategies, strategy);
    return this.#lives;
  }

  noteEnd({ openings, residentPasses }: OffloadStats): void {
    this.#reopenings += Math.max(0, openings - 1);
    this.residentPasses += residentPasses;
  }

  noteWindow(waitMs: number, wasAborted: boolean): void {
    this.passes += 1;
    if (wasAborted) this.#aborts += 1;
    else this.#waitsMs.push(waitMs);
  }

  noteFallback({ task, error }: FallbackEvent): void {
    this.fallbacks += 1;
    countIn(this.#fallbackReasons, `${task} ${codeOf(error)}`);
  }

  noteFailedTask(kind: string, thrown: unknown): void {
    countIn(this.#failedTasks, `${kind} ${codeOf(thrown)}`);
  }

  /** Whether a deadline has ended a task or a call on a line. Other errors may be due to killed threads. */
  hasSeenDeadline(of: 'task' | 'line'): boolean {
    if (of === 'task')
      return Object.keys(this.#failedTasks).some((reason) => reason.endsWith(TIMEOUT));
    const lost = this.#fallbackReasons[`open ${TIMEOUT}`] ?? 0;
    return lost > (this.#failedTasks[`open ${TIMEOUT}`] ?? 0);
  }

  noteCompression(mode: string, outcome: string): void {
    countIn(this.#compressions, `${mode} ${outcome}`);
  }

  get figures(): StormFigures {
    const waits = this.#waitsMs.toSorted((a, b) => a - b);
    const waitAt = (share: number): number => waits[Math.ceil(share * waits.length) - 1] ?? 0;
    return {
      passes: this.passes,
      lives: this.#lives,
      aborts: this.#aborts,
      waitMs: { p50: waitAt(0.5), p99: waitAt(0.99), max: waitAt(1) },
      fallbacks: this.fallbacks,
      fallbackReasons: this.#fallbackReasons,
      failedTasks: this.#failedTasks,
      reopenings: this.#reopenings,
      residentPasses: this.residentPasses,
      strategies: this.#strategies,
      compressions: this.#compressions,
    };
  }
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return 'code' in thrown ? String(thrown.code) : thrown.name;
}

function countIn(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
