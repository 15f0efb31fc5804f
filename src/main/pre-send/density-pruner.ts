// Decides whether a density pass is due, and has it run: keeps what the last one has seen, and which windows
// edits have landed in. What a pass finds, and what may land of that, is decided elsewhere.

import type { HistoryTrace } from '../history-trace.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { SessionTelemetry } from '../telemetry/session-telemetry.js';
import { BatchPoints } from './batch-points.js';
import { landReplay, runDensityStep } from './density-step.js';
import type { DensityStepOutcome } from './density-step.js';
import { EditGate } from './edit-gate.js';
import type { Admission, EditGateOptions } from './edit-gate.js';
import type { CompleteEditOptions } from './edit-options.js';
import type { LandingReason } from './edit-policy.js';
import type { FoundEdit } from './found-edit.js';
import { replayEdits } from './replay-edits.js';
import type { FormerWindows } from './replay-edits.js';
import type { PrunedEvent } from './session-events.js';
import { currentStrategy } from './session-parts.js';
import type { AbortOptions, SessionParts } from './session-parts.js';

export interface DensityPrunerOptions {
  readonly parts: SessionParts;
  readonly edits: CompleteEditOptions;
  readonly sent: EditGateOptions['sent'];
  /** As of the session. */
  readonly takenUp: FormerWindows | null | undefined;
  readonly telemetry: Pick<SessionTelemetry, 'watchStep'>;
  /** Told of each pass that changed something. */
  readonly tell: (event: PrunedEvent) => void;
}

/** Windows with edits that are remembered. */
const MAX_LANDINGS = 1_024;

/** Prunes one session's history when it is dirty. */
export class DensityPruner {
  readonly #options: DensityPrunerOptions;
  readonly #gate: EditGate;
  #takenUp: FormerWindows | null | undefined;
  #points = new BatchPoints();
  #landings: Map<number, LandingReason>;
  #sentAt = 0;
  #trace: HistoryTrace;
  /** The history's additions that the last pass has settled: more of them make it dirty. */
  #settledAdditions = -1;

  constructor(options: DensityPrunerOptions) {
    this.#options = options;
    const { parts, edits, sent, takenUp } = options;
    this.#gate = new EditGate({ ...edits, parts, sent });
    // By the policy of every turn, what is taken up lands as everything does.
    this.#takenUp = edits.edits === 'every-turn' ? undefined : takenUp;
    this.#landings = new Map(this.#takenUp?.landings);
    this.#trace = parts.history.trace;
  }

  /** In which windows edits have landed since the history began, and when the last window was. */
  get windows(): FormerWindows {
    return { landings: this.#landings, sentAt: this.#sentAt };
  }

  /** Whether there is content that no pass has settled. */
  get isDirty(): boolean {
    return this.#options.parts.history.additions !== this.#settledAdditions;
  }

  /**
   * Runs a pass when the history is dirty and the strategy prunes at all.
   *
   * @param thresholdTokens tells at how many counted tokens the policy has to let land what a pass finds
   * @param fits asked when what was found cannot be recorded: whether the history can do without
   * @returns what changed, or `null`
   */
  async pruneWhenDirty(
    thresholdTokens: () => number,
    fits: () => boolean,
    options: AbortOptions,
  ): Promise<PrunedEvent | null> {
    const { parts, telemetry, tell } = this.#options;
    this.#startOverWhenCleared();
    this.#sentAt = Date.now();
    if (!this.isDirty) return null;
    const strategy = currentStrategy(parts);
    if (strategy.optimize === undefined) return null;
    // What is added from here on may not be seen by this pass, and leaves the history dirty.
    const seen = parts.history.additions;
    const window = this.#trace.length;
    let isSettled = true;
    try {
      const step = { step: 'pruned', strategy: strategy.name, ...options } as const;
      const outcome = await telemetry.watchStep(step, tell, (told) => {
        const run = (): Promise<DensityStepOutcome> => {
          const isBatchPoint = this.#points.reaches(window);
          let reason: LandingReason | undefined;
          const admit = (found: FoundEdit): Admission => {
            const isForced = parts.history.getTotalTokens() >= thresholdTokens();
            const admission = this.#gate.admit(found, { isForced, isBatchPoint });
            ({ reason } = admission);
            return admission;
          };
          // An edit that could not be recorded has not landed.
          const noteAndTell = (event: PrunedEvent): void => {
            if (reason !== undefined) this.#noteLanding(window, reason);
            told(event);
          };
          return runDensityStep(parts, strategy, admit, noteAndTell, options.signal);
        };
        if (this.#takenUp === undefined) return run();
        return this.#takeUp(thresholdTokens(), told, options).then((taken) => taken ?? run());
      });
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

  /** Has the history of a session that was taken up edited as it was sent before; `null` when it need not be. */
  async #takeUp(
    thresholdTokens: number,
    tell: (event: PrunedEvent) => void,
    { signal }: AbortOptions,
  ): Promise<DensityStepOutcome | null> {
    const { parts, edits } = this.#options;
    const { history } = parts;
    const former = this.#takenUp;
    // What somebody has edited already is not what was sent.
    if (former === undefined || history.trace.length !== history.length) return null;
    const points = new BatchPoints();
    const replay = await replayEdits({
      ...{ parts, edits, thresholdTokens, points, signal },
      former: former ?? undefined,
    });
    const outcome = await landReplay(parts, replay, tell, signal);
    if (outcome === null) return null;
    this.#takenUp = undefined;
    this.#points = points;
    for (const [at, reason] of replay.landings) this.#noteLanding(at, reason);
    return outcome;
  }

  /** Of sessions without end, the first landings are forgotten: their histories were compressed since. */
  #noteLanding(at: number, reason: LandingReason): void {
    if (reason === 'every-turn') return;
    this.#landings.set(at, reason);
    for (const oldest of this.#landings.keys()) {
      if (this.#landings.size <= MAX_LANDINGS) break;
      this.#landings.delete(oldest);
    }
  }

  #startOverWhenCleared(): void {
    const { trace } = this.#options.parts.history;
    if (trace === this.#trace) return;
    this.#trace = trace;
    this.#points = new BatchPoints();
    this.#landings = new Map();
    this.#takenUp = undefined;
  }
}
