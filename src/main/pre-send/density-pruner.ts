// Decides whether a density pass is due, and has it run: keeps what the last one has seen. What it
// finds, and what may land of that, is decided elsewhere.

import { isWriteFailure } from '../transcript/transcript-errors.js';
import type { SessionTelemetry } from '../telemetry/session-telemetry.js';
import { runDensityStep } from './density-step.js';
import type { EditGate } from './edit-gate.js';
import type { OptimizedEvent } from './session-events.js';
import { currentStrategy } from './session-parts.js';
import type { AbortOptions, SessionParts } from './session-parts.js';

export interface DensityPrunerOptions {
  readonly parts: SessionParts;
  readonly gate: Pick<EditGate, 'admit'>;
  readonly telemetry: Pick<SessionTelemetry, 'watchStep'>;
  /** Told of each pass that changed something. */
  readonly tell: (event: OptimizedEvent) => void;
}

/** Prunes one session's history when it is dirty. */
export class DensityPruner {
  readonly #options: DensityPrunerOptions;
  /** The history's additions that the last pass has settled: more of them make it dirty. */
  #settledAdditions = -1;

  constructor(options: DensityPrunerOptions) {
    this.#options = options;
  }

  /** Whether there is content that no pass has settled. */
  get isDirty(): boolean {
    return this.#options.parts.history.additions !== this.#settledAdditions;
  }

  /**
   * Runs a pass when the history is dirty and the strategy prunes at all.
   *
   * @param isForced asked when a pass has found something: whether the policy has to let it land
   * @param fits asked when what was found cannot be recorded: whether the history can do without
   * @returns what changed, or `null`
   */
  async pruneWhenDirty(
    isForced: () => boolean,
    fits: () => boolean,
    options: AbortOptions,
  ): Promise<OptimizedEvent | null> {
    const { parts, gate, telemetry, tell } = this.#options;
    if (!this.isDirty) return null;
    const strategy = currentStrategy(parts);
    if (strategy.optimize === undefined) return null;
    // What is added from here on may not be seen by this pass, and leaves the history dirty.
    const seen = parts.history.additions;
    let isSettled = true;
    try {
      const step = { step: 'optimized', strategy: strategy.name, ...options } as const;
      const outcome = await telemetry.watchStep(step, tell, (told) =>
        runDensityStep(
          parts,
          strategy,
          (found) => gate.admit(found, isForced()),
          told,
          options.signal,
        ),
      );
      isSettled = outcome.isSettled;
      return outcome.event;
    } catch (thrown) {
      if (!isWriteFailure(thrown)) throw thrown;
      isSettled = false;
      if (fits()) return null;
      throw thrown;
    } finally {
      // A pass that was called off has settled nothing, nor one whose edits are held or could not be
      // recorded; any other way out counts as done.
      if (isSettled && options.signal?.aborted !== true) this.#settledAdditions = seen;
    }
  }
}
