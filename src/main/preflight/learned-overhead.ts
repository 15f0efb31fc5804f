// Learns from reported usage how many tokens each request holds besides those that are known: system text and tool schemas, for
// hosts that do not give `overheadTokens`.

import type { UsageMemory } from '../state/session-state.js';
import type { ObservationOutcome, TokenCalibration } from '../tokens/token-calibration.js';

/** The usage reported for one request. */
export interface RequestUsage {
  readonly modelName: string | undefined;
  /** Reported input tokens without the pending tokens that the host named, in the model's own tokens. */
  readonly reportedTokens: number;
  /** Counted tokens of the history. */
  readonly countedTokens: number;
}

/** Minimum growth of the history between two requests, in counted tokens, to learn the ratio from them. */
const MIN_GROWTH_TOKENS = 2_000;

type Usage = UsageMemory['least'];

/** The overhead of one session's requests, as usage reports show it. */
export class LearnedOverhead {
  readonly #calibration: TokenCalibration;
  /**
   * The request with the shortest history, with which others are compared, and the one with the least overhead. The least is
   * used because a report that is too high, such as a sum over several requests, must not make the window look full.
   */
  #memory: UsageMemory | null;

  /** @param former the memory of an earlier session of the history */
  constructor(calibration: TokenCalibration, former: UsageMemory | null = null) {
    this.#calibration = calibration;
    this.#memory = former;
  }

  get memory(): UsageMemory | null {
    return this.#memory;
  }

  /** Overhead per request, in the model's own tokens; 0 until usage is reported. */
  get tokens(): number {
    if (this.#memory === null) return 0;
    const { modelName, least } = this.#memory;
    return Math.max(0, Math.floor(this.#overheadOf(modelName, least)));
  }

  /**
   * Learns from the usage of a request. The model's ratio is learned from the difference between two requests, in which the
   * overhead cancels out. The history must have doubled, so that no small difference decides the ratio of a large history.
   */
  observe({ modelName: name, reportedTokens, countedTokens }: RequestUsage): ObservationOutcome {
    const [modelName, usage] = [name ?? null, [reportedTokens, countedTokens] as const];
    const isSameModel = this.#memory?.modelName === modelName;
    const { shortest, least } = (isSameModel && this.#memory) || { shortest: usage, least: usage };
    const outcome = this.#compare(name, shortest, usage);
    const oneIsWrong = outcome === 'too-low' || outcome === 'too-high';
    const isLess = this.#overheadOf(modelName, usage) < this.#overheadOf(modelName, least);
    this.#memory = {
      modelName,
      shortest: oneIsWrong || countedTokens < shortest[1] ? usage : shortest,
      least: isLess ? usage : least,
    };
    return outcome;
  }

  #compare(modelName: string | undefined, one: Usage, other: Usage): ObservationOutcome {
    const [short, long] = other[1] > one[1] ? [one, other] : [other, one];
    const growth = long[1] - short[1];
    if (growth < Math.max(MIN_GROWTH_TOKENS, short[1])) return 'too-small';
    return this.#calibration.observe(modelName, long[0] - short[0], growth);
  }

  #overheadOf(modelName: string | null, [reported, counted]: Usage): number {
    return reported - this.#calibration.ratioOf(modelName ?? undefined) * counted;
  }
}
