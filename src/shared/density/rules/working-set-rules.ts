// How long results stay in a working set, and when it pays to take the others away. Plain data.

import { shownText } from '../../shown-text.js';
import { paybackCallsAt } from './rewrite-price.js';
import type { CachePrices } from './rewrite-price.js';

/** The rules of a working set. Ages are in model calls: a result is 1 old when the model was sent it once. */
export interface WorkingSetRules {
  /** So old a read of a file may get. */
  readonly readCalls: number;
  /** So old the result of a search may get. */
  readonly searchCalls: number;
  /** So old the output of a command may get that shows no file. */
  readonly outputCalls: number;
  /** So old any other result may get: that of a write, or of a tool that the catalog does not know. */
  readonly otherCalls: number;
  /** When results leave, those leave with them that are past this share of their time. At most 1. */
  readonly earlyShare: number;
  /**
   * Results leave when it costs less to read anew, once, what stands behind them than to go on reading them from the prompt
   * cache for so many calls, at the prices of most models; where a rewrite costs more reads than there, they wait for more. With
   * `Infinity` all leave at once that may.
   */
  readonly paybackCalls: number;
  /** While all results together have fewer tokens than this, by estimate, they stay. */
  readonly freeTokens: number;
}

/** Keeps nearly all that an agent edits by in view. */
export const DEFAULT_WORKING_SET: WorkingSetRules = {
  readCalls: 80,
  searchCalls: 2,
  outputCalls: 2,
  otherCalls: 5,
  earlyShare: 0.25,
  paybackCalls: 8,
  freeTokens: 10_000,
};

/** Keeps less, for less: an agent has to read some files again. */
export const AGGRESSIVE_WORKING_SET: WorkingSetRules = {
  readCalls: 40,
  searchCalls: 1,
  outputCalls: 1,
  otherCalls: 4,
  earlyShare: 0.25,
  paybackCalls: 12,
  freeTokens: 5_000,
};

/** The rules where caching costs something else than at most models. */
export function atPrices(rules: WorkingSetRules, prices: CachePrices): WorkingSetRules {
  return { ...rules, paybackCalls: paybackCallsAt(rules.paybackCalls, prices) };
}

/** The rules while no prompt cache holds what was sent: all leaves that may, as nothing has to be paid for it. */
export function withColdCache(rules: WorkingSetRules): WorkingSetRules {
  return { ...rules, paybackCalls: Infinity };
}

/** The names of all rules. */
export const WORKING_SET_RULE_NAMES: readonly (keyof WorkingSetRules)[] = Object.keys(
  DEFAULT_WORKING_SET,
) as (keyof WorkingSetRules)[];

/**
 * Checks rules that come from outside.
 *
 * @throws RangeError when one is missing, is no number, or is below 0, and for a name that is none of theirs.
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
  const unknown = Object.keys(rules).find((name) => !isRuleName(name));
  if (unknown === undefined) return;
  throw new RangeError(
    `The working set has no rule ${shownText(unknown)}; its rules are ${WORKING_SET_RULE_NAMES.join(', ')}.`,
  );
}

function isRuleName(name: string): boolean {
  return (WORKING_SET_RULE_NAMES as readonly string[]).includes(name);
}
