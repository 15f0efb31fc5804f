// Adds up the passes behind each compaction, for whoever hears of the two on different channels.

import type { CompactionMessage, PassMessage } from './channels.js';

/** Time that passes took, in milliseconds. */
export interface PassTimes {
  /** On workers; 0 when all ran on the calling thread. */
  readonly workerRunMs: number;
  readonly mainThreadMs: number;
}

/** The step that a task works for. Counting and opening work for none in particular. */
const STEP_OF_TASK: Readonly<Partial<Record<PassMessage['task'], CompactionMessage['step']>>> = {
  optimize: 'pruned',
  compress: 'compressed',
};

/** Sessions that may be in a preflight at the same time; a pass that ends after its preflight could stay otherwise. */
const MAX_SESSIONS = 1_000;

/** The passes of the preflights that are under way. */
export class PassLedger {
  readonly #sessions: Map<string, Map<CompactionMessage['step'], PassTimes>> = new Map();

  /** Books a pass to the step that it is part of. */
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
    if (this.#sessions.size > MAX_SESSIONS) this.#dropOldest();
  }

  /** Takes out what was booked to a step of the session since it was last asked for, or `undefined`. */
  take(sessionId: string, step: CompactionMessage['step']): PassTimes | undefined {
    const steps = this.#sessions.get(sessionId);
    const times = steps?.get(step);
    steps?.delete(step);
    return times;
  }

  /** Forgets a session whose preflight has ended: what its passes were for has been told. */
  close(sessionId: string): void {
    this.#sessions.delete(sessionId);
  }

  #dropOldest(): void {
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }
}
