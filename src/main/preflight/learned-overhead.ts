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

/** The overhead of one session's requests, as usage reports show it. */
export class LearnedOverhead {
  readonly #calibration: TokenCalibration;
  /** The request with the shortest history, with which others are compared. */
  #shortest: RequestUsage | undefined;
  /**
   * The request with the lowest overhead. The minimum is used because a report that is too high, such as a sum over several
   * requests, must not make the window look full.
   */
  #lowest: RequestUsage | undefined;

  /** @param former the memory of an earlier session of the history */
  constructor(calibration: TokenCalibration, former?: UsageMemory | null) {
    this.#calibration = calibration;
    if (!former) return;
    const modelName = former.modelName ?? undefined;
    const usageOf = ([reportedTokens, countedTokens]: UsageMemory['least']): RequestUsage => {
      return { modelName, reportedTokens, countedTokens };
    };
    this.#shortest = usageOf(former.shortest);
    this.#lowest = usageOf(former.least);
  }

  get memory(): UsageMemory | null {
    const [shortest, least] = [this.#shortest, this.#lowest];
    if (shortest === undefined || least === undefined) return null;
    return {
      modelName: least.modelName ?? null,
      shortest: [shortest.reportedTokens, shortest.countedTokens],
      least: [least.reportedTokens, least.countedTokens],
    };
  }

  /** Overhead per request, in the model's own tokens; 0 until usage is reported. */
  get tokens(): number {
    return this.#lowest === undefined ? 0 : Math.max(0, Math.floor(this.#overheadOf(this.#lowest)));
  }

  /**
   * Learns from the usage of a request. The model's ratio is learned from the difference between two requests, in which the
   * overhead cancels out. The history must have doubled, so that no small difference decides the ratio of a large history.
   */
  observe(usage: RequestUsage): ObservationOutcome {
    if (this.#lowest?.modelName !== usage.modelName) this.#shortest = this.#lowest = undefined;
    const shortest = (this.#shortest ??= usage);
    const least = (this.#lowest ??= usage);
    const outcome = this.#compare(shortest, usage);
    const oneIsWrong = outcome === 'too-low' || outcome === 'too-high';
    if (oneIsWrong || usage.countedTokens < shortest.countedTokens) this.#shortest = usage;
    if (this.#overheadOf(usage) < this.#overheadOf(least)) this.#lowest = usage;
    return outcome;
  }

  #compare(one: RequestUsage, other: RequestUsage): ObservationOutcome {
    const isLonger = other.countedTokens > one.countedTokens;
    const [short, long] = isLonger ? [one, other] : [other, one];
    const growth = long.countedTokens - short.countedTokens;
    if (growth < Math.max(MIN_GROWTH_TOKENS, short.countedTokens)) return 'too-small';
    const reportedGrowth = long.reportedTokens - short.reportedTokens;
    return this.#calibration.observe(other.modelName, reportedGrowth, growth);
  }

  #overheadOf({ modelName, reportedTokens, countedTokens }: RequestUsage): number {
    return reportedTokens - this.#calibration.ratioOf(modelName) * countedTokens;
  }
}
