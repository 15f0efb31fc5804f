// How long results stay in the working set, and when pruning the others pays.

import { shownText } from '../../shown-text.js';

/**
 * The parameters of a working set. Ages are in model calls: a result has age 1 once the model was
 * sent it.
 */
export interface WorkingSetRules {
  /** Maximum age of a file read, also by an unknown tool that takes a file, and of a short result of any other unknown tool. */
  readonly readCalls: number;
  /** Maximum age of a search result. */
  readonly searchCalls: number;
  /** Maximum age of the output of a command that shows no file. */
  readonly outputCalls: number;
  /** Maximum age of any other result: of a write, or a long one of an unknown tool. */
  readonly otherCalls: number;
  /**
   * Once an edit is due, it also prunes results past this share of their maximum age. At most 1.
   */
  readonly earlyShare: number;
  /**
   * Results are pruned when rewriting the prompt cache behind them once costs less than reading them
   * from it for this many calls at usual prices. If rewrites are dearer, more results must be stale.
   * With `Infinity`, all stale results are pruned at once.
   */
  readonly paybackCalls: number;
  /** Nothing is pruned while all results, and all spent arguments, have fewer estimated tokens than this. */
  readonly freeTokens: number;
}

/** Keeps nearly everything that an agent edits by. */
export const DEFAULT_WORKING_SET: WorkingSetRules = {
  readCalls: 60,
  searchCalls: 2,
  outputCalls: 2,
  otherCalls: 5,
  earlyShare: 0.34,
  paybackCalls: 8,
  freeTokens: 10_000,
};

/** Cheaper, but the agent has to read some files again. */
export const AGGRESSIVE_WORKING_SET: WorkingSetRules = {
  readCalls: 40,
  searchCalls: 1,
  outputCalls: 1,
  otherCalls: 4,
  earlyShare: 0.25,
  paybackCalls: 12,
  freeTokens: 5_000,
};

/** The rules while the prompt cache is cold: edits are free, so everything stale is pruned. */
export function withColdCache(rules: WorkingSetRules): WorkingSetRules {
  return { ...rules, paybackCalls: Infinity };
}

export const WORKING_SET_RULE_NAMES: readonly (keyof WorkingSetRules)[] = Object.keys(
  DEFAULT_WORKING_SET,
) as (keyof WorkingSetRules)[];

/**
 * Validates rules given by a user.
 *
 * @throws RangeError when a rule is missing, not a number or below 0, and for an unknown name.
 */
export function assertWorkingSetRules(rules: WorkingSetRules): void {
  for (const name of WORKING_SET_RULE_NAMES) {
    const rule: unknown = rules[name];
    if (typeof rule === 'number' && rule >= 0 && !(name === 'earlyShare' && rule > 1)) continue;
    throw new RangeError(
      `Expected a number of at least 0${name === 'earlyShare' ? ' and at most 1' : ''} for the working set's rule '${name}', got ${typeof rule === 'number' ? rule : typeof rule}; ` +
        'spread DEFAULT_WORKING_SET and change what should differ.',
    );
  }
  const unknown = Object.keys(rules).find((name) => !Object.hasOwn(DEFAULT_WORKING_SET, name));
  if (unknown === undefined) return;
  throw new RangeError(
    `The working set has no rule ${shownText(unknown)}; its rules are ${WORKING_SET_RULE_NAMES.join(', ')}.`,
  );
}
