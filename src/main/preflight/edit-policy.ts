// When a density edit may land, and which part of it: landing one invalidates the provider's cache from there on. Decides by what
// was sent, by the session's policy and by what the cache costs; makes and applies no edits. The price is a function of the
// history alone, so that another process gets the same answer.

import type { IContent } from '../../shared/content.js';
import { NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import { paybackCallsAt, staleTokensNeeded } from '../../shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import type { HistoryService } from '../history-service.js';
import type { Logger } from '../host/logger.js';
import { cachePrices } from '../models/model-prices.js';
import type { CacheTerms, ReasoningTerms } from '../models/session-model.js';
import type { CompleteEditOptions, EditPolicy, LandingReason } from './edit-options.js';
import { startsOfLosses } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';
import type { SentHistory } from './prompt-cache.js';
import { placeBehindReasoning } from './reasoning-policy.js';
import { reclaimedTokens, shareOf, tokensOf } from './token-tally.js';
import type { CountedTokens } from './token-tally.js';

/** Whether edits wait until they are worth the cache they invalidate. */
export function isBatching(edits: EditPolicy): boolean {
  return edits === 'auto' || edits === 'batched' || edits === 'append-only';
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
  /** Whether the history is above a price step that no edit gets below. @default false */
  readonly isAboveStep?: boolean | undefined;
  /** Minimum counted tokens of a prefix to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

export interface EditGateOptions extends Omit<CompleteEditOptions, 'reasoning'> {
  readonly reasoning: Pick<ReasoningTerms, 'policy' | 'isUnset'>;
  readonly history: Pick<HistoryService, 'getRawHistory' | 'countedTokens'>;
  readonly logger: Logger;
  readonly sent: Pick<SentHistory, 'intactEntries' | 'isCacheCold'>;
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
  /** How much an edit may cost ahead of its savings; see `PricedEdit`. @default unlimited */
  readonly spendable?: (() => number) | undefined;
  /** Whether the model binds reasoning to its prefix. @default false */
  readonly bindsReasoning?: (() => boolean) | undefined;
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
    const { isForced, isBatchPoint, tokensBelowStep } = point;
    const { edits, sent, cache } = this.#options;
    const bound = (edit: FoundEdit): FoundEdit => this.#withoutBreakingReasoning(edit, isForced);
    if (tokensBelowStep !== undefined) {
      const above = cachePrices(cache.price?.above);
      const edit = bound(found);
      const entry = belowStepFrom(this.#priced(edit, point), tokensBelowStep, above);
      return admitted(found, edit.limitedTo({ entry, block: 0 }), 'price-step');
    }
    if (edits === 'every-turn') return admitted(found, bound(found), 'every-turn');
    if (isForced) return admitted(found, bound(found), 'threshold');
    const sentEntries = sent.intactEntries;
    if (edits === 'at-birth') {
      const unsent = found.limitedTo({ entry: sentEntries, block: 0 });
      return admitted(found, bound(unsent), 'unsent');
    }
    if (sent.isCacheCold) return admitted(found, bound(found), 'cache-cold');
    const shrinking = bound(found.shrinkingFrom(sentEntries));
    // Between batches most is held, which grows with the history: it must not be looked at.
    const worthwhile = isBatchPoint ? this.#worthwhile(bound(found), shrinking, point) : undefined;
    const landing = worthwhile ?? shrinking;
    const isUnsent = landing.firstEntry >= sentEntries;
    return admitted(found, landing, isUnsent ? 'unsent' : 'reclaims-enough');
  }

  /** The part of an edit that is worth the cache it invalidates; `undefined` if none is. */
  #worthwhile(edit: FoundEdit, shrinking: FoundEdit, point: LandingPoint): FoundEdit | undefined {
    const { minReclaimTokens, spendable, history } = this.#options;
    const priced = this.#priced(edit, point);
    if (minReclaimTokens === undefined) {
      const entry = worthwhileFrom({ ...priced, spendable: spendable?.() });
      return entry === Infinity ? undefined : edit.limitedTo({ entry, block: 0 });
    }
    const tokensOf = ({ result }: FoundEdit): number =>
      reclaimedTokens(result, history.getRawHistory(), priced.countedTokens);
    // Shrinking unsent results is free, so it must not help to pay for the rest.
    return tokensOf(edit) - tokensOf(shrinking) >= minReclaimTokens ? edit : undefined;
  }

  #priced({ result }: FoundEdit, { isAboveStep, toBeCached }: LandingPoint): PricedEdit {
    const { sent, history, cache } = this.#options;
    return {
      result,
      history: history.getRawHistory(),
      sentEntries: sent.intactEntries,
      countedTokens: (entry) => history.countedTokens(entry),
      prices: isAboveStep === true ? cachePrices(cache.price?.above) : cache.prices,
      toBeCached,
    };
  }

  #withoutBreakingReasoning(found: FoundEdit, isForced: boolean): FoundEdit {
    const { reasoning, history } = this.#options;
    const isForbidden =
      reasoning.policy === 'forbid-edits' || (!isForced && this.#holdsForReasoning);
    if (!isForbidden || found.firstEntry === Infinity) return found;
    return found.limitedTo(placeBehindReasoning(history.getRawHistory(), found.firstEntry));
  }

  /**
   * Whether an edit in front of reasoning would make the provider refuse the request, or drop reasoning that the host did not
   * give up.
   */
  get #holdsForReasoning(): boolean {
    const { reasoning } = this.#options;
    if (!isCareful(this.#options)) return false;
    return reasoning.policy === 'keep' ? reasoning.isUnset : isTurnOpen(this.#options);
  }
}

type TurnOptions = Pick<EditGateOptions, 'edits' | 'reasoning' | 'bindsReasoning'> & {
  readonly history: Pick<HistoryService, 'getRawHistory'>;
};

/** Whether taking reasoning away can wait: while a call is open, its turn should be sent with the thinking that led to it. */
export function needsOpenTurn(options: TurnOptions): boolean {
  return options.reasoning.policy !== 'keep' && isCareful(options) && isTurnOpen(options);
}

function isCareful({ edits, bindsReasoning }: TurnOptions): boolean {
  return edits === 'append-only' || (isBatching(edits) && bindsReasoning?.() === true);
}

function isTurnOpen({ history }: TurnOptions): boolean {
  return history.getRawHistory().at(-1)?.speaker === 'tool';
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

/** Calls of a typical recorded agent session, from a few dozen of them. */
const USUAL_CALLS = 40;

/** A session that outlasts most is expected to go on for this share of its calls so far. */
const SHARE_OF_CALLS = 0.25;

/** What an edit is judged by. */
export interface PricedEdit {
  readonly result: DensityResult;
  /** The history before the edit. */
  readonly history: readonly IContent[];
  /** Length of the prefix that a cache may hold. */
  readonly sentEntries: number;
  readonly countedTokens: CountedTokens;
  readonly prices: CachePrices;
  /** How much more than it saves it may cost in the next request, in price units per token. @default Infinity */
  readonly spendable?: number | undefined;
  /** Minimum tokens of a prefix to be cached. @default 0 */
  readonly toBeCached?: number | undefined;
}

/**
 * Returns the entry from which on an edit pays best, or `Infinity` if no part of it pays.
 *
 * Keeping stale content is like paying rent: each call reads it from the cache. Removing it is like buying: everything behind
 * it must be written to the cache once more. The number of future calls is unknown; a typical session length is assumed, and
 * more for a session that has gone on for longer. Of all entries the one with the highest gain wins: results near the end leave
 * early, since little follows them; those far ahead wait until enough has accumulated. If the best place costs more than
 * `spendable`, nothing lands: a smaller edit would only delay it.
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
 * Returns the entry from which on an edit pays best among those that bring the history below a price step, or `Infinity` if
 * none does. Above the step each call pays more for everything; below it, savings last until the history has grown back.
 *
 * @param tokensBelowStep counted tokens of the largest history below the step
 * @param above cache prices above the step
 */
export function belowStepFrom(
  edit: PricedEdit,
  tokensBelowStep: number,
  above: CachePrices,
): number {
  const { history, prices, countedTokens } = edit;
  const tokens = sum(history, countedTokens);
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

function sum(history: readonly IContent[], countedTokens: CountedTokens): number {
  return history.reduce((tokens, entry) => tokens + tokensOf(entry, countedTokens), 0);
}

/** The number of calls to expect of a session. */
function usualCalls(history: readonly IContent[]): number {
  return Math.max(USUAL_CALLS, SHARE_OF_CALLS * callsIn(history));
}

function callsIn(history: readonly IContent[]): number {
  return history.reduce((sum, { speaker }) => sum + (speaker === 'ai' ? 1 : 0), 0);
}

interface EditedPlace {
  /** An edited entry. */
  readonly at: number;
  /** Tokens removed from this entry on, and tokens that stay there and may be cached. */
  readonly reclaimed: number;
  readonly behind: number;
}

/** The edited entries to which the edit can be limited without keeping more than what is in front of them, from the end. */
function* placesOf({
  result,
  history,
  sentEntries,
  countedTokens,
  toBeCached = 0,
}: PricedEdit): Generator<EditedPlace> {
  const removed = new Set(result.removals);
  const starts = startsOfLosses(result, history);
  let [reclaimed, behind, start] = [0, 0, Infinity];
  // A prefix that is too short to be cached is written anew as well.
  let before = toBeCached > 0 ? sum(history, countedTokens) : 0;
  for (let at = history.length - 1; at >= 0; at -= 1) {
    const entry = history[at];
    if (entry === undefined) continue;
    const after = result.replacements.get(at);
    const tokens = tokensOf(entry, countedTokens);
    const kept = after === undefined ? tokens : tokens * shareOf(after, entry);
    const left = removed.has(at) ? 0 : kept;
    reclaimed += tokens - left;
    if (at < sentEntries) behind += left;
    before -= tokens;
    if (!removed.has(at) && after === undefined) continue;
    start = Math.min(start, starts.get(at) ?? at);
    if (start < at) continue;
    const isShort = toBeCached > 0 && at < sentEntries && before < toBeCached;
    yield { at, reclaimed, behind: isShort ? behind + before : behind };
  }
}
