// Sums the times of the passes behind each compaction, for subscribers that receive passes and compactions on different channels.

import type { CompactionMessage, PassMessage } from './channels.js';

/** Time spent in passes, in milliseconds. */
export interface PassTimes {
  /** On workers; 0 if all ran on the calling thread. */
  readonly workerRunMs: number;
  readonly mainThreadMs: number;
}

/** The step that a task belongs to. Counting and opening belong to none. */
const STEP_OF_TASK: Readonly<Partial<Record<PassMessage['task'], CompactionMessage['step']>>> = {
  optimize: 'pruned',
  compress: 'compressed',
};

/** Bounds memory: the times of a pass that ends after its preflight are never taken. */
const MAX_SESSIONS = 1_000;

/** The passes of running preflights. */
export class PassLedger {
  readonly #sessions: Map<string, Map<CompactionMessage['step'], PassTimes>> = new Map();

  /** Adds a pass to its step. */
  add({ sessionId, task, ranOn, runMs, mainThreadMs }: PassMessage): void {
    const step = STEP_OF_TASK[task];
    if (step === undefined) return;
    const steps = this.#sessions.get(sessionId) ?? new Map<CompactionMessage['step'], PassTimes>();
    const soFar = steps.get(step);
    steps.set(step, {
      workerRunMs: (soFar?.workerRunMs ?? 0) + (ranOn === 'inline' ? 0 : runMs),
      mainThreadMs: (soFar?.mainThreadMs ?? 0) + mainThreadMs,
    });
    this.#sessions.set(sessionId, steps);
    const [oldest = sessionId] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest);
  }

  /** Removes and returns the times of a session's step, or `undefined`. */
  take(sessionId: string, step: CompactionMessage['step']): PassTimes | undefined {
    const steps = this.#sessions.get(sessionId);
    const times = steps?.get(step);
    steps?.delete(step);
    return times;
  }

  /** Forgets a session whose preflight has ended. */
  close(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }
}
