// How long results stay in a working set, and when it is worth it to take the others away. Plain data.

/**
 * The rules of a working set. Ages are in model calls: a result is 1 old when the model was sent it once. Tokens are
 * estimates, characters over 4.
 */
export interface WorkingSetRules {
  /** Up to this age a read of a file stays, and a result of a tool that the catalog does not know. */
  readonly readLease: number;
  /**
   * So long a read stays when its file was touched again: read or written; for the read of a range of lines, written
   * or read in an overlapping range.
   */
  readonly touchLease: number;
  /** So long the read of a range stays when its file was named otherwise, as by a search. */
  readonly nameLease: number;
  /** Up to this age the result of a search stays whole. */
  readonly searchLease: number;
  /** Up to this age the result of a command stays whole, and that of a write stays. */
  readonly outputLease: number;
  /** Up to this age results of searches and commands stay: small ones whole, the others as an excerpt. */
  readonly excerptLease: number;
  /** Results of searches and commands that have fewer tokens are small. */
  readonly excerptTokens: number;
  /**
   * Past this age a read, a search or a command leaves with what is left of its result, whenever a batch of results
   * does. Never earlier than its file counts as touched by it.
   */
  readonly callLease: number;
  /** With fewer tokens than this in reads, their leases are longer in proportion. */
  readonly relaxedTokens: number;
  /** Leases become at most this many times as long. At least 1. */
  readonly maxRelaxation: number;
  /** Smaller results stay. */
  readonly minTokens: number;
  /** Smaller results are no reason for an edit; they leave with others. */
  readonly minCausingTokens: number;
  /** Results with no more than this behind them leave as soon as they are stale: little of a prompt cache is lost. */
  readonly tailTokens: number;
  /** What these have to give back together. */
  readonly minTailReclaim: number;
  /** And that much of what then stands behind the first of them: 0.5 is half of it. */
  readonly minTailShare: number;
  /** What all stale results have to give back for those further ahead to leave as well. */
  readonly minReclaimTokens: number;
  /** And that much of the tokens in results that stay: 0.5 is half of them. */
  readonly minReclaimShare: number;
}

/** Keeps nearly all that an agent edits by in view. */
export const DEFAULT_WORKING_SET: WorkingSetRules = {
  readLease: 10,
  touchLease: 4,
  nameLease: 4.5,
  searchLease: 1,
  outputLease: 0,
  excerptLease: 2,
  excerptTokens: 200,
  callLease: 12,
  relaxedTokens: 17_000,
  maxRelaxation: 2,
  minTokens: 16,
  minCausingTokens: 60,
  tailTokens: 5_000,
  minTailReclaim: 300,
  minTailShare: 0.1,
  minReclaimTokens: 7_000,
  minReclaimShare: 0.5,
};

/** Keeps less: an agent has to read some files again. */
export const AGGRESSIVE_WORKING_SET: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  readLease: 6,
  excerptLease: 0,
  relaxedTokens: 5_000,
  tailTokens: 8_000,
  minReclaimTokens: 3_000,
  minReclaimShare: 0.3,
};

/** The rules by which results leave as soon as they are stale: for who decides otherwise when it is worth an edit. */
export function withoutBatches(rules: WorkingSetRules): WorkingSetRules {
  return {
    ...rules,
    minCausingTokens: 0,
    tailTokens: Infinity,
    minTailReclaim: 0,
    minTailShare: 0,
    minReclaimTokens: 0,
    minReclaimShare: 0,
  };
}

/** The names of all rules. */
export const WORKING_SET_RULE_NAMES: readonly (keyof WorkingSetRules)[] = Object.keys(
  DEFAULT_WORKING_SET,
) as (keyof WorkingSetRules)[];

/**
 * Checks rules that come from outside.
 *
 * @throws RangeError when one is missing, is no number, or is below 0.
 */
export function assertWorkingSetRules(rules: WorkingSetRules): void {
  for (const name of WORKING_SET_RULE_NAMES) {
    const rule: unknown = rules[name];
    if (typeof rule === 'number' && rule >= 0) continue;
    throw new RangeError(
      `Expected a number of at least 0 for the working set's rule '${name}', got ${typeof rule === 'number' ? rule : typeof rule}; ` +
        'spread DEFAULT_WORKING_SET and change what should differ.',
    );
  }
}
