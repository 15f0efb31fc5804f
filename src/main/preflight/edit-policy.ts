// When a density edit may land, and which part of it: landing one invalidates the provider's cache from there on. Decides by
// what was sent and by the session's policy; makes and applies no edits.

import { NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import type { HistoryService } from '../history-service.js';
import type { Logger } from '../host/logger.js';
import type { CompleteEditOptions } from './edit-options.js';
import type { FoundEdit } from './found-edit.js';
import { placeBehindReasoning } from './reasoning-policy.js';
import type { CacheTerms } from '../models/model-prices.js';
import { cachePrices } from '../models/model-prices.js';
import { belowStepFrom, worthwhileFrom } from './edit-price.js';
import type { PricedEdit } from './edit-price.js';
import { reclaimedTokens } from './token-tally.js';
import type { CountedTokens } from './token-tally.js';
import type { SentHistory } from './prompt-cache.js';

/**
 * When density edits land. `every-turn`: as soon as there are any. `auto`: once their savings are worth the cache they
 * invalidate, by the model's prices; when the cache is cold anyway; or when the history would be compressed. `batched`: an
 * alias of that. `append-only`: the same for models that bind reasoning to its prefix, which `auto` recognizes by name: nothing
 * in front of reasoning is edited until the current turn is over or the history must be compressed, and then the reasoning
 * behind it goes too if `reasoning` says so. `at-birth`: only in entries that were never sent, and elsewhere when the history
 * would be compressed. Under every policy results are shrunk before they are first sent: that costs no cache.
 */
export type EditPolicy = 'every-turn' | 'auto' | 'batched' | 'append-only' | 'at-birth';

/** Whether edits wait until they are worth the cache they invalidate. */
export function isBatching(edits: EditPolicy): boolean {
  return edits === 'auto' || edits === 'batched' || edits === 'append-only';
}

/**
 * Why a density edit landed. `every-turn`: the policy requires nothing else. `reclaims-enough`: it removes `minReclaimTokens`,
 * or enough by cache prices. `cache-cold`: the provider's cache had expired, or nothing was sent. `threshold`: the history was
 * over the threshold or the limit. `unsent`: it changes nothing that was sent. `sent-before`: an earlier session had already
 * sent the history with it. `price-step`: it brings the request below a step of the model's price.
 */
export type LandingReason =
  | 'every-turn'
  | 'reclaims-enough'
  | 'cache-cold'
  | 'threshold'
  | 'unsent'
  | 'sent-before'
  | 'price-step';

/** The facts that a decision is based on. */
export interface EditFacts {
  /** Whether history, overhead and pending tokens reach the threshold, or do not fit the window. */
  readonly isForced: boolean;
  /** Whether no request is recent enough to be in the provider's cache. */
  readonly isCacheCold: boolean;
  /** Length of the history's prefix that is unchanged since it was sent. */
  readonly sentEntries: number;
  /** Estimates the tokens that the edit removes; called only if that decides. */
  readonly reclaimedTokens: () => number;
  /** Tokens that it must remove; `undefined` if cache prices decide. */
  readonly minReclaimTokens: number | undefined;
  /** The entry from which on the edit pays, `Infinity` for none; called only if that decides. */
  readonly worthwhileFrom: () => number;
}

/**
 * What may land now: the whole edit, the part from an entry on, or, for an edit that is held otherwise, only shrunk results in
 * unsent entries.
 */
export type EditDecision =
  | { readonly verdict: 'land' | 'unsent-only'; readonly reason: LandingReason }
  | { readonly verdict: 'land-from'; readonly entry: number; readonly reason: LandingReason }
  | { readonly verdict: 'hold' };

/** Decides which part of a density edit may land. */
export function decideEdits(policy: EditPolicy, facts: EditFacts): EditDecision {
  if (policy === 'every-turn') return { verdict: 'land', reason: 'every-turn' };
  if (facts.isForced) return { verdict: 'land', reason: 'threshold' };
  if (policy === 'at-birth') {
    return { verdict: facts.sentEntries === 0 ? 'land' : 'unsent-only', reason: 'unsent' };
  }
  if (facts.isCacheCold) return { verdict: 'land', reason: 'cache-cold' };
  if (facts.minReclaimTokens !== undefined) {
    return facts.reclaimedTokens() >= facts.minReclaimTokens
      ? { verdict: 'land', reason: 'reclaims-enough' }
      : { verdict: 'hold' };
  }
  const entry = facts.worthwhileFrom();
  return entry === Infinity
    ? { verdict: 'hold' }
    : { verdict: 'land-from', entry, reason: 'reclaims-enough' };
}

/** What may land of an edit. */
export interface Admission {
  readonly result: DensityResult;
  /** `undefined` if nothing may land. */
  readonly reason?: LandingReason;
  /** Whether it is the whole edit. */
  readonly isWhole: boolean;
}

const HELD: Admission = { result: NO_EDITS, isWhole: false };

function admitted(found: FoundEdit, landing: FoundEdit, reason: LandingReason): Admission {
  if (landing.firstEntry === Infinity) return HELD;
  return { result: landing.result, reason, isWhole: landing === found };
}

/** The circumstances of a preflight in which an edit may land. */
export interface LandingPoint {
  /** Whether the history has reached the compression threshold. */
  readonly isForced: boolean;
  /** Whether a batch may land here. */
  readonly isBatchPoint: boolean;
  /** Counted tokens of the largest history below a price step, if only edits that get below it may land. */
  readonly tokensBelowStep?: number | undefined;
  /** Minimum counted tokens of a prefix to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

export interface EditGateOptions extends CompleteEditOptions {
  readonly history: Pick<HistoryService, 'getRawHistory' | 'countedTokens'>;
  readonly logger: Logger;
  readonly sent: Pick<SentHistory, 'intactEntries' | 'isCacheCold'>;
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
  /** How much an edit may cost ahead of its savings; see `PricedEdit`. @default unlimited */
  readonly spendable?: (() => number) | undefined;
  /** Whether the model binds reasoning to its prefix. @default false */
  readonly bindsReasoning?: (() => boolean) | undefined;
  /** Whether the host left the `reasoning` option unset. @default false */
  readonly isReasoningUnset?: boolean | undefined;
}

/** Decides which density edits of one session land. */
export class EditGate {
  readonly #options: EditGateOptions;

  constructor(options: EditGateOptions) {
    this.#options = options;
  }

  /** Returns the part of an edit that may land now. */
  admit(found: FoundEdit, point: LandingPoint): Admission {
    const admission = this.#admit(found, point);
    if (!admission.isWhole) {
      const { removals, replacements } = admission.result;
      this.#options.logger.debug('density edits are held', {
        found: found.size,
        landing: removals.length + replacements.size,
      });
    }
    return admission;
  }

  #admit(found: FoundEdit, point: LandingPoint): Admission {
    const { isForced, isBatchPoint, tokensBelowStep, toBeCached } = point;
    const { edits, sent, minReclaimTokens, history, cache } = this.#options;
    const bound = this.#withoutBreakingReasoning(found, isForced);
    if (bound.firstEntry === Infinity) return HELD;
    const sentEntries = sent.intactEntries;
    const countedTokens: CountedTokens = (entry) => history.countedTokens(entry);
    const shrinking = bound.shrinkingFrom(sentEntries);
    const priced = (): PricedEdit => ({
      ...{ result: bound.result, history: history.getRawHistory() },
      ...{ sentEntries, countedTokens, prices: cache.prices, toBeCached },
    });
    if (tokensBelowStep !== undefined) {
      const above = cachePrices(cache.price?.above);
      const entry = belowStepFrom(priced(), tokensBelowStep, above);
      return admitted(found, bound.limitedTo({ entry, block: 0 }), 'price-step');
    }
    const tokensOf = (edit: DensityResult): number =>
      reclaimedTokens(edit, history.getRawHistory(), countedTokens);
    const decision = decideEdits(edits, {
      isForced,
      isCacheCold: sent.isCacheCold,
      sentEntries,
      // Shrinking unsent results is free, so it must not help to pay for the rest.
      reclaimedTokens: () =>
        // Between batches the sum is not needed, and held edits are not materialized.
        isBatchPoint ? tokensOf(bound.result) - tokensOf(shrinking.result) : 0,
      minReclaimTokens: isBatchPoint ? minReclaimTokens : Infinity,
      worthwhileFrom: () => worthwhileFrom({ ...priced(), spendable: this.#options.spendable?.() }),
    });
    if (decision.verdict === 'hold') return admitted(found, shrinking, 'unsent');
    const entry = decision.verdict === 'land-from' ? decision.entry : sentEntries;
    const landing = decision.verdict === 'land' ? bound : bound.limitedTo({ entry, block: 0 });
    return admitted(found, landing, decision.reason);
  }

  #withoutBreakingReasoning(found: FoundEdit, isForced: boolean): FoundEdit {
    const { reasoning, history } = this.#options;
    const isForbidden = reasoning === 'forbid-edits' || (!isForced && this.#holdsForReasoning);
    if (!isForbidden || found.firstEntry === Infinity) return found;
    return found.limitedTo(placeBehindReasoning(history.getRawHistory(), found.firstEntry));
  }

  /**
   * Whether an edit in front of reasoning would make the provider refuse the request, or drop reasoning that the host did not
   * give up.
   */
  get #holdsForReasoning(): boolean {
    const { edits, reasoning, history, bindsReasoning, isReasoningUnset = false } = this.#options;
    if (edits !== 'append-only' && !(isBatching(edits) && bindsReasoning?.() === true))
      return false;
    if (reasoning === 'keep') return isReasoningUnset;
    // While a call is open, its turn must be sent with the thinking that led to it.
    return history.getRawHistory().at(-1)?.speaker === 'tool';
  }
}

/** The history grows by this share between batch points, so that there are few of them however long it gets. */
const GROWTH_PER_POINT = 1 / 64;

/**
 * The history lengths at which a batch of edits may land. They depend on content only, so that another process that gets the
 * history later finds the same ones.
 */
export class BatchPoints {
  #next: number;

  /** @param next the length of the next batch point */
  constructor(next: number = 0) {
    this.#next = next;
  }

  /** The length of the next batch point. */
  get next(): number {
    return this.#next;
  }

  /**
   * Whether a preflight at this length is a batch point. Must be called for every preflight, in order; the first ones all are.
   *
   * @param entries number of entries ever added to the history
   */
  reaches(entries: number): boolean {
    if (entries < this.#next) return false;
    this.#next = entries + Math.floor(entries * GROWTH_PER_POINT);
    return true;
  }
}
