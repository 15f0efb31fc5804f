// The options that say when edits land, their policies, the reasons for landing, and the validation of the options.

import { assertNumber, assertString, assertTokens } from '../../shared/misuse.js';
import type { Check, Checks } from '../../shared/misuse.js';
import { shownText } from '../../shared/shown-text.js';
import type { ReasoningPolicy } from './reasoning-policy.js';

/**
 * When density edits land. `every-turn`: as soon as there are any. `auto`: once their savings are worth the cache they
 * invalidate, by the model's prices; when the cache is cold anyway; or when the history would be compressed. `batched`: an
 * alias of `auto`. `append-only`: treats every model like those that bind reasoning to its prefix, which `auto` recognizes by name.
 * Nothing in front of reasoning is edited until the current turn is over or the history must be compressed; then the reasoning
 * behind the edit is removed too, if `reasoning` says so. `at-birth`: only in entries that were never sent, and elsewhere when
 * the history would be compressed. Under every policy, results are shrunk before they are first sent, which costs no cache.
 */
export type EditPolicy = 'every-turn' | 'auto' | 'batched' | 'append-only' | 'at-birth';

/**
 * Why a density edit landed. `every-turn`: the policy requires nothing else. `reclaims-enough`: it removes `minReclaimTokens`,
 * or enough by cache prices. `cache-cold`: the provider's cache had expired, or nothing was sent. `threshold`: the history was
 * over the threshold or the limit. `unsent`: it changes nothing that was sent. `sent-before`: an earlier session had already
 * sent the history with this edit. `price-step`: it brings the request below a step of the model's price. `reasoning`: it
 * removes reasoning that edits for another model have left behind, and that the present model may refuse.
 */
export type LandingReason =
  | 'every-turn'
  | 'reclaims-enough'
  | 'cache-cold'
  | 'threshold'
  | 'unsent'
  | 'sent-before'
  | 'price-step'
  | 'reasoning';

/** When edits of a session land, and what they do to reasoning. */
export interface EditOptions {
  /**
   * When density edits land. An edit rewrites what was sent, and thereby invalidates the provider's prompt cache. Does not
   * delay compressing at the threshold and fitting the window. When a session starts with a history that has answers of the
   * model, edits of earlier sessions are replayed as far as the history shows them, so that it sends what they sent.
   * @default 'auto'; 'every-turn' with the preset `specification`
   */
  readonly edits?: EditPolicy | undefined;
  /**
   * Counted tokens that an edit under `auto` must remove while the cache is warm. @default by cache prices: the cost of
   * rewriting what follows the edit against the savings in future calls
   */
  readonly minReclaimTokens?: number | undefined;
  /**
   * Lifetime of the provider's prompt cache after a request, in milliseconds. @default from the request's cache marks, else the
   * model's; 300_000 if unknown
   */
  readonly cacheTtlMs?: number | undefined;
  /** What happens to the reasoning behind an edit. @default what the request asks for, else 'keep' */
  readonly reasoning?: ReasoningPolicy | undefined;
}

/** The options with their defaults. The others are decided per request and model. */
export interface CompleteEditOptions extends EditOptions {
  readonly edits: EditPolicy;
}

/** The check of each option, wherever it is given: TypeError for a value of a wrong type, RangeError for an unknown value. */
export const EDIT_CHECKS: Checks<EditOptions> = {
  edits: oneOf('every-turn', 'auto', 'batched', 'append-only', 'at-birth'),
  minReclaimTokens: assertTokens,
  // Infinity means a cache that outlives the session.
  cacheTtlMs: (name, value) => {
    assertNumber(name, value);
    if (!(value >= 0)) throw new RangeError(`Expected ${name} of at least 0, got ${value}.`);
  },
  reasoning: oneOf('keep', 'strip-after-first-edit', 'forbid-edits'),
};

/** Returns the check of an option that has to be one of these values. */
export function oneOf(...values: readonly string[]): Check {
  return (name, value) => {
    assertString(name, value);
    if (values.includes(value)) return;
    const known = values.map((each) => `'${each}'`).join(', ');
    throw new RangeError(`Expected ${name} to be one of ${known}, got ${shownText(value)}.`);
  };
}

/** Fills in the defaults of options that were checked; other properties are dropped. */
export function completeEditOptions(options: EditOptions): CompleteEditOptions {
  const { edits = 'every-turn', minReclaimTokens, cacheTtlMs, reasoning } = options;
  return { edits, minReclaimTokens, cacheTtlMs, reasoning };
}
