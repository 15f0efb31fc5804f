// When a density edit may land, and what of it: an edit rewrites what was sent, and the provider's cache with it. Goes
// by what was sent and by the session's policy; makes no edits of its own and applies none.

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
import type { SentHistory } from './sent-history.js';

/**
 * When density edits land. `every-turn`: as soon as there are any. `auto`: once they are worth the
 * cache that they cost by the prices of the model, when that is cold anyway, or when the history would be compressed. `batched`: another
 * name for that. `append-only`: the same, as for a model that binds reasoning to what stands before it, which `auto` tells by the model's name:
 * nothing ahead of reasoning is edited until the present turn is over or the history has to be compressed, and then the reasoning behind goes
 * along where `reasoning` says that. `at-birth`: in entries that were never sent, and elsewhere only when the history would be compressed. Each of them
 * has results shrunk before they are sent: that costs no cache.
 */
export type EditPolicy = 'every-turn' | 'auto' | 'batched' | 'append-only' | 'at-birth';

/** Whether edits wait until they are worth the cache that they cost. */
export function isBatching(edits: EditPolicy): boolean {
  return edits === 'auto' || edits === 'batched' || edits === 'append-only';
}

/**
 * Why a density edit landed when it did. `every-turn`: the policy asks for nothing else.
 * `reclaims-enough`: it takes away `minReclaimTokens`, or what the price of the cache asks for. `cache-cold`: the provider
 * had forgotten what was sent, or nothing was. `threshold`: the history was over the threshold or the limit. `unsent`: it
 * touches nothing that was sent. `sent-before`: the history was taken up, and had been sent with it. `price-step`: the request would
 * have been above a step of the model's price, and is not.
 */
export type LandingReason =
  | 'every-turn'
  | 'reclaims-enough'
  | 'cache-cold'
  | 'threshold'
  | 'unsent'
  | 'sent-before'
  | 'price-step';

/** What a decision goes by. */
export interface EditFacts {
  /** Whether history, overhead and pending tokens reach the threshold; what does not fit the window does. */
  readonly isForced: boolean;
  /** Whether no request is so recent that the provider still has it in its cache. */
  readonly isCacheCold: boolean;
  /** Entries from the start of the history that stand as they were sent. */
  readonly sentEntries: number;
  /** About how many tokens the edit takes away; asked only when that decides. */
  readonly reclaimedTokens: () => number;
  /** What it has to take away; `undefined` when the price of the cache decides. */
  readonly minReclaimTokens: number | undefined;
  /** From which entry on the edit is worth its price, `Infinity` for nowhere; asked only when that decides. */
  readonly worthwhileFrom: () => number;
}

/**
 * What may land now: all of an edit, what touches nothing before an entry, or, where it is to be held, of what was never sent
 * only what makes results smaller.
 */
export type EditDecision =
  | { readonly verdict: 'land' | 'unsent-only'; readonly reason: LandingReason }
  | { readonly verdict: 'land-from'; readonly entry: number; readonly reason: LandingReason }
  | { readonly verdict: 'hold' };

/** Decides what of a density edit may land. */
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
  /** `undefined` when nothing may land. */
  readonly reason?: LandingReason;
  /** Whether that is the edit as it was found. */
  readonly isWhole: boolean;
}

const HELD: Admission = { result: NO_EDITS, isWhole: false };

/** The part of an edit that lands. */
function admitted(found: FoundEdit, landing: FoundEdit, reason: LandingReason): Admission {
  if (landing.firstEntry === Infinity) return HELD;
  return { result: landing.result, reason, isWhole: landing === found };
}

/** The preflight in which an edit may land. */
export interface LandingPoint {
  /** Whether the history would be compressed, or has to be. */
  readonly isForced: boolean;
  /** Whether a batch may land here. */
  readonly isBatchPoint: boolean;
  /** Counted tokens of the largest history below a step of the price, where nothing else is to land than what leads there. */
  readonly tokensBelowStep?: number | undefined;
  /** Counted tokens that a prefix has to have to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

export interface EditGateOptions extends CompleteEditOptions {
  readonly history: Pick<HistoryService, 'getRawHistory' | 'countedTokens'>;
  readonly logger: Logger;
  readonly sent: Pick<SentHistory, 'intactEntries' | 'isCacheCold'>;
  /** What requests to the model cost. */
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
  /** What an edit may cost ahead of what it saves; see `PricedEdit`. @default anything */
  readonly spendable?: (() => number) | undefined;
  /** Whether the model binds reasoning to all that stands before it. @default it does not */
  readonly bindsReasoning?: (() => boolean) | undefined;
  /** Whether nobody has said what is to become of reasoning. @default false */
  readonly isReasoningUnsaid?: boolean | undefined;
}

/** Admits the density edits of one session. */
export class EditGate {
  readonly #options: EditGateOptions;

  constructor(options: EditGateOptions) {
    this.#options = options;
  }

  /** Returns what may land of an edit of the history as it stands. */
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
      // What is free is no reason to pay for the rest.
      reclaimedTokens: () =>
        // Where no batch may land, nobody need know: the entries of a held edit are not made.
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

  /** Whether an edit ahead of reasoning would have the provider refuse the request, or drop what nobody has given up. */
  get #holdsForReasoning(): boolean {
    const { edits, reasoning, history, bindsReasoning, isReasoningUnsaid = false } = this.#options;
    if (edits !== 'append-only' && !(isBatching(edits) && bindsReasoning?.() === true))
      return false;
    if (reasoning === 'keep') return isReasoningUnsaid;
    // While a call is open, its turn has to be sent with the thinking that led to it.
    return history.getRawHistory().at(-1)?.speaker === 'tool';
  }
}

/** A point comes once the history has grown by this share, so that there are few of them however long it gets. */
const GROWTH_PER_POINT = 1 / 64;

/**
 * The lengths of one history at which a batch of edits may land: told by content alone, so that a process which finds the
 * history later comes to the same ones.
 */
export class BatchPoints {
  #next: number;

  /** @param next the length at which there is the next one */
  constructor(next: number = 0) {
    this.#next = next;
  }

  /** The length from which on there is the next one. */
  get next(): number {
    return this.#next;
  }

  /**
   * Whether a preflight on so many entries is at a point. To be asked at each preflight, in their order; the first ones all
   * are.
   *
   * @param entries that were ever added to the history
   */
  reaches(entries: number): boolean {
    if (entries < this.#next) return false;
    this.#next = entries + Math.floor(entries * GROWTH_PER_POINT);
    return true;
  }
}
