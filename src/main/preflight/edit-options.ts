// When the edits of a session may land, as its options say it, and their check.

import { assertTokens } from '../../shared/misuse.js';
import { shownText } from '../../shared/shown-text.js';
import type { EditPolicy } from './edit-policy.js';
import type { ReasoningPolicy } from './reasoning-policy.js';

/** When the edits of a session may land, and what they do to reasoning. */
export interface EditOptions {
  /**
   * When density edits land. An edit rewrites what was sent, and the provider's prompt cache with it.
   * Compressing at the threshold and making the history fit are not put off by this. A session that is taken
   * up with answers of a model has the edits of the sessions before it land once more, as far as its history tells
   * of them, so that it sends what they sent. @default 'auto'; 'every-turn' with the preset `specification`
   */
  readonly edits?: EditPolicy | undefined;
  /**
   * Counted tokens that an edit by `auto` has to take away while the cache is warm. @default by the price of the cache: what stands
   * behind the edit against what it saves in the calls to come
   */
  readonly minReclaimTokens?: number | undefined;
  /**
   * How long the provider's prompt cache lasts after a request, in milliseconds. @default as the marks of the request say, else as the
   * model has it; 300_000 where nobody knows
   */
  readonly cacheTtlMs?: number | undefined;
  /** What becomes of the reasoning that stands behind an edit. @default 'keep' */
  readonly reasoning?: ReasoningPolicy | undefined;
}

/** Without these, request and model decide. */
type Decided = 'minReclaimTokens' | 'cacheTtlMs';

/** The options with all defaults filled in. */
export type CompleteEditOptions = Pick<EditOptions, Decided> & {
  readonly [Key in Exclude<keyof EditOptions, Decided>]-?: Exclude<EditOptions[Key], undefined>;
};

const EDIT_POLICIES: readonly EditPolicy[] = [
  'every-turn',
  'auto',
  'batched',
  'append-only',
  'at-birth',
];
const REASONING_POLICIES: readonly ReasoningPolicy[] = [
  'keep',
  'strip-after-first-edit',
  'forbid-edits',
];

/**
 * Checks options and fills in the defaults; what else an object holds is left out.
 *
 * @throws TypeError for a value of another type; RangeError for one that is none of those there are.
 */
export function completeEditOptions(options: EditOptions): CompleteEditOptions {
  const { edits = 'every-turn', reasoning = 'keep' } = options;
  const { minReclaimTokens, cacheTtlMs } = options;
  assertOneOf('edits', edits, EDIT_POLICIES);
  assertOneOf('reasoning', reasoning, REASONING_POLICIES);
  if (minReclaimTokens !== undefined) assertTokens('minReclaimTokens', minReclaimTokens);
  if (cacheTtlMs !== undefined) assertTimeToLive(cacheTtlMs);
  return { edits, minReclaimTokens, cacheTtlMs, reasoning };
}

function assertOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (typeof value !== 'string') {
    throw new TypeError(`Expected ${name} to be a string, got ${typeof value}.`);
  }
  if (values.includes(value)) return;
  const known = values.map((each) => `'${each}'`).join(', ');
  throw new RangeError(`Expected ${name} to be one of ${known}, got ${shownText(value)}.`);
}

/** Endless is allowed: a cache that lasts as long as the session. @throws TypeError or RangeError for what is no time. */
export function assertTimeToLive(cacheTtlMs: number): void {
  if (typeof cacheTtlMs !== 'number') {
    throw new TypeError(`Expected cacheTtlMs to be a number, got ${typeof cacheTtlMs}.`);
  }
  if (cacheTtlMs >= 0) return;
  throw new RangeError(`Expected cacheTtlMs of at least 0, got ${cacheTtlMs}.`);
}
