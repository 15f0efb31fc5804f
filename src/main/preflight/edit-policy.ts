// Decides when a density edit may land, and which part of it, because an edit invalidates the provider's prompt cache from the first
// changed entry on. The decision depends on what was sent, the session's policy and cache prices. Makes and applies no edits. The cost
// of an edit is computed from the history alone, so that every process gets the same answer.

import type { IContent } from '../../shared/content.js';
import { NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import { paybackCallsAt, staleTokensNeeded } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import { EMPTY_PLAN } from '../../shared/density/plan/plan.js';
import type { HistoryService } from '../history-service.js';
import { cachePrices } from '../models/model-prices.js';
import type { CacheTerms, ReasoningTerms, SessionModel } from '../models/session-model.js';
import type { CompleteEditOptions, EditPolicy, LandingReason } from './edit-options.js';
import { startsOfLosses } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';
import type { SentHistory } from './prompt-cache.js';
import { placeBehindReasoning } from './reasoning-policy.js';
import { shareOf, sumTokens, tokensOf } from './token-tally.js';
import type { TokenCounts } from './token-tally.js';

/** Whether edits are held until their savings are worth the cache that they invalidate. */
export function isBatching(edits: EditPolicy): boolean {
  return edits === 'auto' || edits === 'batched' || edits === 'append-only';
}

/** What may land of an edit. */
export interface Admission {
  readonly result: DensityResult;
  /** `undefined` if nothing may land. */
  readonly reason?: LandingReason;
  /** Whether `result` is the whole edit. */
  readonly isWhole: boolean;
}

const NOTHING_FOUND: Admission = { result: NO_EDITS, isWhole: true };
const HELD: Admission = { result: NO_EDITS, isWhole: false };

function admitted(found: FoundEdit, landing: FoundEdit, reason: LandingReason): Admission {
  if (landing.firstEntry === Infinity) return HELD;
  return { result: landing.result, reason, isWhole: landing === found };
}

/** The circumstances of a preflight in which an edit may land. */
export interface LandingPoint {
  /** Whether the history is over the limit, or is about to be compressed. */
  readonly isForced: boolean;
  /** Whether a batch may land here. */
  readonly isBatchPoint: boolean;
  /** Counted tokens of the largest history below a price step, if only edits that get below it may land. */
  readonly tokensBelowStep?: number | undefined;
  /** Whether the history is above a price step, and no edit brings it below. @default false */
  readonly isAboveStep?: boolean | undefined;
  /** Minimum counted tokens for the provider to cache a prefix. @default 0 */
  readonly minCachedTokens?: number | undefined;
}

/** The parts of a session that decide when its edits land. */
export interface GateParts {
  readonly config: {
    readonly edits: Pick<CompleteEditOptions, 'edits' | 'minReclaimTokens'>;
    readonly model: Pick<SessionModel, 'bindsReasoning'>;
  };
  readonly reasoningTerms: Pick<
    ReasoningTerms,
    'policy' | 'isStripping' | 'isUnset' | 'keepsTurnStart'
  >;
  readonly history: Pick<HistoryService, 'getRawHistory' | 'countedTokens'>;
  readonly sent: Pick<SentHistory, 'intactEntries' | 'isCacheCold'>;
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
}

/** Decides which density edits of one session land. */
export class EditGate {
  readonly #parts: GateParts;
  readonly #spendable: (() => number) | undefined;

  /** @param spendable returns by how much the cost of an edit may run ahead of its savings; see `PricedEdit` @default unlimited */
  constructor(parts: GateParts, spendable?: () => number) {
    this.#parts = parts;
    this.#spendable = spendable;
  }

  /** Returns the part of an edit that may land now. */
  admit(found: FoundEdit, point: LandingPoint): Admission {
    if (found.firstEntry === Infinity) return NOTHING_FOUND;
    const { isForced, isBatchPoint, tokensBelowStep } = point;
    const { config, sent, cache } = this.#parts;
    const { edits } = config.edits;
    const sparingReasoning = (edit: FoundEdit): FoundEdit =>
      this.#withoutBreakingReasoning(edit, isForced);
    if (tokensBelowStep !== undefined) {
      const above = cachePrices(cache.price?.above);
      const edit = sparingReasoning(found);
      const entry = belowStepFrom(this.#priced(edit.result, point), tokensBelowStep, above);
      return admitted(found, edit.limitedTo({ entry, block: 0 }), 'price-step');
    }
    if (edits === 'every-turn') return admitted(found, sparingReasoning(found), 'every-turn');
    if (isForced) return admitted(found, sparingReasoning(found), 'threshold');
    const sentEntries = sent.intactEntries;
    if (edits === 'at-birth') {
      const unsent = found.limitedTo({ entry: sentEntries, block: 0 });
      return admitted(found, sparingReasoning(unsent), 'unsent');
    }
    if (sent.isCacheCold) return admitted(found, sparingReasoning(found), 'cache-cold');
    const shrinking = sparingReasoning(found.shrinkingFrom(sentEntries));
    // Between batch points, do not look at the held edits: their number grows with the history.
    const worthwhile = isBatchPoint
      ? this.#worthwhile(sparingReasoning(found), shrinking, point)
      : undefined;
    const landing = worthwhile ?? shrinking;
    const isUnsent = landing.firstEntry >= sentEntries;
    return admitted(found, landing, isUnsent ? 'unsent' : 'reclaims-enough');
  }

  /** The part of an edit that is worth the cache it invalidates; `undefined` if none is. */
  #worthwhile(edit: FoundEdit, shrinking: FoundEdit, point: LandingPoint): FoundEdit | undefined {
    const { minReclaimTokens } = this.#parts.config.edits;
    if (minReclaimTokens === undefined) {
      // Most edits are held, and would be even if they left nothing of their entries: for those, make no replacements.
      const most = this.#priced(edit.withNothingLeft, point);
      if (worthwhileFrom(most) === Infinity) return undefined;
      const priced = this.#priced(edit.result, point);
      const entry = worthwhileFrom({ ...priced, spendable: this.#spendable?.() });
      return entry === Infinity ? undefined : edit.limitedTo({ entry, block: 0 });
    }
    // Shrinking unsent results costs no cache, so its savings must not pay for the other edits.
    const reclaimed =
      reclaimedTokens(this.#priced(edit.result, point)) -
      reclaimedTokens(this.#priced(shrinking.result, point));
    return Math.round(reclaimed) >= minReclaimTokens ? edit : undefined;
  }

  #priced(
    result: PricedEdit['result'],
    { isAboveStep, minCachedTokens }: LandingPoint,
  ): PricedEdit {
    const { sent, history, cache } = this.#parts;
    return {
      result,
      history: history.getRawHistory(),
      sentEntries: sent.intactEntries,
      countedTokens: (entry) => history.countedTokens(entry),
      prices: isAboveStep === true ? cachePrices(cache.price?.above) : cache.prices,
      minCachedTokens,
    };
  }

  #withoutBreakingReasoning(found: FoundEdit, isForced: boolean): FoundEdit {
    const { reasoningTerms, history } = this.#parts;
    const isForbidden = isForced
      ? reasoningTerms.policy === 'forbid-edits'
      : this.isHeldForReasoning;
    const left = isForbidden
      ? found.limitedTo(placeBehindReasoning(history.getRawHistory(), found.firstEntry))
      : found;
    return reasoningTerms.keepsTurnStart ? left.keepingTurnStart : left;
  }

  /**
   * Whether edits in front of reasoning are held, unless they are forced: they are forbidden, the provider would refuse the request or
   * ignore reasoning that the host has not agreed to lose, or, under a stripping policy, the open turn would lose its reasoning.
   */
  get isHeldForReasoning(): boolean {
    const { policy, isStripping, isUnset } = this.#parts.reasoningTerms;
    if (policy === 'forbid-edits') return true;
    if (!protectsReasoning(this.#parts)) return false;
    return isStripping ? isTurnOpen(this.#parts) : isUnset;
  }
}

/** Whether stripping reasoning should wait for the end of the turn: until then, calls are sent with the reasoning that led to them. */
export function needsOpenTurn(parts: GateParts): boolean {
  return parts.reasoningTerms.isStripping && protectsReasoning(parts) && isTurnOpen(parts);
}

function protectsReasoning({ config: { edits, model } }: GateParts): boolean {
  return edits.edits === 'append-only' || (isBatching(edits.edits) && model.bindsReasoning);
}

function isTurnOpen({ history }: GateParts): boolean {
  return history.getRawHistory().at(-1)?.speaker === 'tool';
}

/** The history grows by this share between batch points, so their number is logarithmic in its length. */
const GROWTH_PER_POINT = 1 / 64;

/**
 * The history lengths at which a batch of edits may land. They depend on the history alone, so that another process that gets the
 * history later finds the same lengths.
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
   * Whether a preflight at this length is a batch point. Must be called for every preflight, in order. Below 64 entries, every
   * preflight is one.
   *
   * @param entries number of entries ever added to the history
   */
  reaches(entries: number): boolean {
    if (entries < this.#next) return false;
    this.#next = entries + Math.floor(entries * GROWTH_PER_POINT);
    return true;
  }
}

/** Model calls of a typical agent session, measured on a few dozen recorded sessions. */
const USUAL_CALLS = 40;

/** A session longer than usual is expected to make this share of its calls so far in addition. */
const SHARE_OF_CALLS = 0.25;

/** What an edit is judged by. */
export interface PricedEdit extends TokenCounts {
  readonly result: Pick<DensityResult, 'removals' | 'replacements' | 'rows'>;
  /** The history before the edit. */
  readonly history: readonly IContent[];
  /** Length of the prefix that a cache may hold. */
  readonly sentEntries: number;
  readonly prices: CachePrices;
  /** Maximum of what the edit costs minus what it saves in the next request, in tokens times `prices`. @default Infinity */
  readonly spendable?: number | undefined;
  /** Minimum counted tokens for the provider to cache a prefix. @default 0 */
  readonly minCachedTokens?: number | undefined;
}

/**
 * Returns the index of the entry from which on an edit saves most, or `Infinity` if no part of it is worth its cost.
 *
 * This is a rent-or-buy problem. Keeping stale content is rent: each call reads it from the cache. Removing it is buying: everything
 * behind it must be written to the cache once more. The number of future calls is unknown, so a typical session length is assumed,
 * and a quarter of the calls so far once that is more. The entry with the highest gain wins. Results near the end leave early, since
 * little follows them; results near the start wait until enough stale content has accumulated. If the best edit costs more than
 * `spendable`, nothing lands: a smaller edit would only delay the best one.
 */
export function worthwhileFrom(edit: PricedEdit): number {
  const { prices, spendable = Infinity } = edit;
  const expectedCalls = paybackCallsAt(usualCalls(edit.history), prices);
  let [gain, from, cost] = [0, Infinity, 0];
  for (const { at, reclaimed, behind } of placesOf(edit)) {
    const net = reclaimed - (behind === 0 ? 0 : staleTokensNeeded(behind, expectedCalls));
    if (net <= gain) continue;
    [gain, from] = [net, at];
    cost = (prices.write - prices.read) * behind - prices.read * reclaimed;
  }
  return cost > spendable ? Infinity : from;
}

/**
 * Returns the index of the entry from which on an edit saves most and brings the history below a price step, or `Infinity` if
 * there is none. Above the step, a higher price applies to all tokens of a call. The savings last until the history has grown back
 * to the step.
 *
 * @param tokensBelowStep counted tokens of the largest history below the step
 * @param above cache prices above the step
 */
export function belowStepFrom(
  edit: PricedEdit,
  tokensBelowStep: number,
  above: CachePrices,
): number {
  const { history, prices } = edit;
  const tokens = sumTokens(history, edit);
  const growth = Math.max(1, tokens / Math.max(1, callsIn(history)));
  let [gain, from] = [0, Infinity];
  for (const { at, reclaimed, behind } of placesOf(edit)) {
    const left = tokens - reclaimed;
    if (left > tokensBelowStep) continue;
    const calls = Math.min(usualCalls(history), 1 + (tokensBelowStep - left) / growth);
    const saved = calls * (above.read * tokens - prices.read * left);
    const net = saved - (prices.write - prices.read) * behind;
    if (net > gain) [gain, from] = [net, at];
  }
  return from;
}

/** The number of model calls to expect of a session. */
function usualCalls(history: readonly IContent[]): number {
  return Math.max(USUAL_CALLS, SHARE_OF_CALLS * callsIn(history));
}

function callsIn(history: readonly IContent[]): number {
  return history.reduce((sum, { speaker }) => sum + (speaker === 'ai' ? 1 : 0), 0);
}

interface EditedPlace {
  /** Index of an edited entry. */
  readonly at: number;
  /** Tokens that the edit removes from this entry on. */
  readonly reclaimed: number;
  /** Sent tokens that stay from this entry on: an edit from here on has them written to the cache again. */
  readonly behind: number;
}

/**
 * The tokens that an edit removes. Replacements count by their share of what they replace, even if they are counted: whether they are
 * depends on where passes run, and every process must decide alike.
 */
function reclaimedTokens(edit: PricedEdit): number {
  let tokens = 0;
  for (const { reclaimed } of placesOf(edit)) tokens = reclaimed;
  return tokens;
}

/** Yields, from the end, the edited entries at which the edit can be cut without also holding back an entry behind the cut. */
function* placesOf(edit: PricedEdit): Generator<EditedPlace> {
  const { result, history, sentEntries, minCachedTokens = 0 } = edit;
  const removed = new Set(result.removals);
  const starts = startsOfLosses(result.rows ?? EMPTY_PLAN, history);
  let [reclaimed, behind, start] = [0, 0, Infinity];
  // Tokens in front of the entry. If they are too few to be cached as a prefix, they are written again as well.
  let before = minCachedTokens > 0 ? sumTokens(history, edit) : 0;
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const entry = history[at] as IContent;
    const after = result.replacements.get(at);
    const tokens = tokensOf(entry, edit);
    const kept = after === undefined ? tokens : tokens * shareOf(after, entry);
    const left = removed.has(at) ? 0 : kept;
    reclaimed += tokens - left;
    if (at < sentEntries) behind += left;
    before -= tokens;
    if (!removed.has(at) && after === undefined) continue;
    start = Math.min(start, starts.get(at) ?? at);
    if (start < at) continue;
    const isShort = minCachedTokens > 0 && at < sentEntries && before < minCachedTokens;
    yield { at, reclaimed, behind: isShort ? behind + before : behind };
  }
}
