// What requests and edits come to in tokens and in money, as far as counts and prices are known: an estimate from what the
// preflights made ready. Has no effect on what it measures, and counts nothing itself.

import type { HistoryService } from '../history-service.js';
import type { SummaryCounts } from './compression-ahead.js';
import type { CacheTerms } from '../models/cache-terms.js';
import { inputCost, priceAt } from '../models/model-prices.js';
import { RuleSavings } from './rule-savings.js';
import type { PrunedEvent } from './session-events.js';
import type { CostMemory, DollarMemory } from '../state/session-memory.js';
import type { SentHistory } from './sent-history.js';
import { spendable, TokenTally } from './token-tally.js';
import type { RequestTokens } from './token-tally.js';
import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import type { RuleName } from '../../shared/density/rules/density-rules.js';
import { estimateEntryTokens } from '../../shared/tokens/estimate.js';

/** What the input of a session's requests costs, in dollars, by the prices of the models that they went to. */
export interface InputDollars {
  readonly with: number;
  /** The same had no edit ever landed. */
  readonly without: number;
  /**
   * What each rule has saved, the rewrites taken off that its edits cost; below 0 where these were dearer. `other` is all else that was
   * saved: by compressing, by fitting, by staying below a step of the price. Together they are what lies between `without` and `with`.
   */
  readonly savedBy: Readonly<Partial<Record<RuleName | 'other', number>>>;
}

/** What a session's requests came to. Every preflight that ended counts as one request. */
export interface CostReport extends RequestTokens {
  readonly requests: number;
  /**
   * The same had no edit ever landed: everything that was added is sent each time, and what was sent
   * before is read from the cache while that is warm. A history that was cleared begins anew.
   */
  readonly uncompacted: RequestTokens;
  /** Requests that began otherwise than the one before, because an edit rewrote what had been sent. */
  readonly rewrites: number;
  /** What became of summaries by models; absent when there were none. */
  readonly summaries?: SummaryCounts;
  /** Absent unless the price of the model was known for each request. */
  readonly dollars?: InputDollars;
}

export interface CostMeterOptions {
  readonly history: Pick<
    HistoryService,
    'countedTokens' | 'getRawHistory' | 'getTotalTokens' | 'isCounted' | 'length'
  >;
  readonly sent: Pick<
    SentHistory,
    'intactEntries' | 'isRewritten' | 'isExpired' | 'reclaimedTokens'
  >;
  /** What requests cost to the model that the session talks to. */
  readonly cache: Pick<CacheTerms, 'price' | 'prices'>;
  /** What the requests of a former session of the history came to. @default nothing */
  readonly former?: CostMemory | undefined;
}

const NO_DOLLARS: DollarMemory = { with: 0, without: 0, rules: [] };

/** Adds up the preflights of one session. */
export class CostMeter {
  readonly #history: CostMeterOptions['history'];
  readonly #sent: CostMeterOptions['sent'];
  readonly #prefixes: PrefixTokens;
  readonly #compacted: TokenTally;
  readonly #uncompacted: TokenTally;
  readonly #cache: CostMeterOptions['cache'];
  readonly #ruleSavings: RuleSavings;
  #requests: number;
  #rewrites: number;
  #toBeCached = 0;
  #dollars: Omit<DollarMemory, 'rules'> | null;

  constructor({ history, sent, cache, former }: CostMeterOptions) {
    this.#history = history;
    this.#sent = sent;
    this.#cache = cache;
    const dollars = former?.dollars ?? (former === undefined ? NO_DOLLARS : null);
    this.#dollars = dollars && { with: dollars.with, without: dollars.without };
    this.#ruleSavings = new RuleSavings(dollars?.rules);
    this.#compacted = new TokenTally(former?.compacted);
    this.#uncompacted = new TokenTally(former?.uncompacted);
    this.#requests = former?.requests ?? 0;
    this.#rewrites = former?.rewrites ?? 0;
    this.#prefixes = new PrefixTokens((entry) => history.countedTokens(entry));
  }

  /** What was added up so far. */
  get report(): CostReport {
    return {
      requests: this.#requests,
      ...this.#compacted.tokens,
      uncompacted: this.#uncompacted.tokens,
      rewrites: this.#rewrites,
      ...this.#inputDollars,
    };
  }

  get #inputDollars(): Pick<CostReport, 'dollars'> {
    if (this.#dollars === null || this.#requests === 0) return {};
    const saved = this.#dollars.without - this.#dollars.with;
    return { dollars: { ...this.#dollars, savedBy: this.#ruleSavings.shares(saved) } };
  }

  /** Notes what rules took away in an edit that has landed. */
  noteEdits({ edits, changes }: Pick<PrunedEvent, 'edits' | 'changes'>): void {
    const tokens = (entry: IContent): number =>
      tokensOf(entry, (counted) => this.#history.countedTokens(counted));
    this.#ruleSavings.noteEdits(edits, changes, tokens);
  }

  /** What the next session of the history has to know. */
  get memory(): CostMemory {
    const dollars = this.#dollars && { ...this.#dollars, rules: this.#ruleSavings.memory };
    return {
      requests: this.#requests,
      rewrites: this.#rewrites,
      compacted: this.#compacted.memory,
      uncompacted: this.#uncompacted.memory,
      dollars,
    };
  }

  /** What an edit of what was sent may cost more than it saves in the request that is about to be made. See `spendable`. */
  get spendable(): number {
    const tokens = this.#history.getTotalTokens();
    const uncompacted = tokens + this.#sent.reclaimedTokens;
    const terms = { ...this.#cache.prices, toBeCached: this.#toBeCached };
    return spendable(this.#compacted, tokens, this.#uncompacted, uncompacted, terms);
  }

  /**
   * Adds the request that the history makes as it stands; to be told before what was sent last is forgotten.
   *
   * @param tokensBelowStep those that the history may have below a step of the price
   * @param toBeCached those that it has to have to be cached
   */
  preflightCloses(tokensBelowStep: number, toBeCached: number = 0): void {
    const { isRewritten, isExpired, intactEntries, reclaimedTokens } = this.#sent;
    this.#toBeCached = toBeCached;
    const totalTokens = this.#history.getTotalTokens();
    this.#requests += 1;
    if (isRewritten) this.#rewrites += 1;
    this.#prefixes.keep(intactEntries);
    const isRead = !isExpired;
    const readTokens =
      isRead && isRewritten
        ? this.#prefixes.sum(this.#history.getRawHistory(), intactEntries, totalTokens)
        : Infinity;
    const read = this.#compacted.add(totalTokens, isRead, readTokens, toBeCached);
    const fullTokens = totalTokens + reclaimedTokens;
    const addedTokens = fullTokens - this.#uncompacted.lastTokens;
    const fullRead = this.#uncompacted.add(fullTokens, isRead, Infinity, toBeCached);
    if (reclaimedTokens === 0) this.#ruleSavings.startOver();
    const { price: known } = this.#cache;
    if (known === undefined) {
      this.#dollars = null;
    } else if (this.#dollars !== null) {
      // What a request holds besides counts towards the step as well.
      const { above } = known;
      const price = {
        ...known,
        leastCachedTokens: toBeCached,
        ...(above && { above: { ...above, promptTokens: tokensBelowStep } }),
      };
      this.#dollars = {
        with: this.#dollars.with + inputCost(price, totalTokens, read),
        without: this.#dollars.without + inputCost(price, fullTokens, fullRead),
      };
      const unreadTokens = totalTokens - addedTokens - read;
      this.#ruleSavings.addRequest(priceAt(price, totalTokens), isRead, unreadTokens);
    }
    // What is estimated still will be something else once it is counted.
    if (this.#history.isCounted) this.#prefixes.mark(this.#history.length, totalTokens);
  }
}

/** Entries between two sums, so that few are kept and few entries have to be added up. */
const MARK_ENTRIES = 256;

interface Mark {
  readonly entries: number;
  readonly tokens: number;
}

/** Sums of one history. Rewrites are told by `keep`. */
export class PrefixTokens {
  readonly #countedTokens: CountedTokens;
  /** Ascending. */
  readonly #marks: Mark[] = [];

  constructor(countedTokens: CountedTokens) {
    this.#countedTokens = countedTokens;
  }

  /** Forgets all but the sums of these first entries: the others were rewritten. */
  keep(entries: number): void {
    while ((this.#marks.at(-1)?.entries ?? 0) > entries) this.#marks.pop();
  }

  /** Notes what the first entries hold. */
  mark(entries: number, tokens: number): void {
    const last = this.#marks.at(-1)?.entries ?? 0;
    if (entries - last >= MARK_ENTRIES) this.#marks.push({ entries, tokens });
  }

  /**
   * Adds up the first entries of a history, from the last sum before them or from the end.
   *
   * @param entries no less than the last sum that is kept
   * @param totalTokens of the whole history
   */
  sum(history: readonly IContent[], entries: number, totalTokens: number): number {
    const from = this.#marks.at(-1) ?? { entries: 0, tokens: 0 };
    if (history.length - entries < entries - from.entries) {
      const tokens = totalTokens - this.#add(history, entries, history.length);
      this.mark(entries, tokens);
      return tokens;
    }
    let { tokens } = from;
    for (let start = from.entries; start < entries; start += MARK_ENTRIES) {
      const end = Math.min(entries, start + MARK_ENTRIES);
      tokens += this.#add(history, start, end);
      this.mark(end, tokens);
    }
    return tokens;
  }

  #add(history: readonly IContent[], start: number, end: number): number {
    let tokens = 0;
    for (let index = start; index < end; index += 1) {
      const entry = history[index];
      if (entry !== undefined) tokens += tokensOf(entry, this.#countedTokens);
    }
    return tokens;
  }
}

/** Returns the tokens of an entry, or `undefined` when nobody has counted it. */
export type CountedTokens = (entry: IContent) => number | undefined;

/** By entry: until they are counted, edits that do not pay yet are weighed again and again. */
const ESTIMATES = new WeakMap<IContent, number>();

/** Tokens of an entry of a history, counted or else estimated. */
export function tokensOf(entry: IContent, countedTokens: CountedTokens): number {
  return countedTokens(entry) ?? estimated(entry);
}

function estimated(entry: IContent): number {
  let tokens = ESTIMATES.get(entry);
  if (tokens === undefined) {
    tokens = estimateEntryTokens(entry);
    ESTIMATES.set(entry, tokens);
  }
  return tokens;
}

/**
 * About how many tokens a history loses by an edit. An entry that is put in place and was not counted
 * is taken to have as many per character as the one that it replaces.
 */
export function reclaimedTokens(
  { removals, replacements }: DensityResult,
  history: readonly IContent[],
  countedTokens: CountedTokens,
): number {
  let reclaimed = 0;
  for (const index of removals) {
    const before = history[index];
    if (before !== undefined) reclaimed += tokensOf(before, countedTokens);
  }
  for (const [index, after] of replacements) {
    const before = history[index];
    if (before === undefined) continue;
    const tokens = tokensOf(before, countedTokens);
    reclaimed += tokens - (countedTokens(after) ?? tokens * shareOf(after, before));
  }
  return Math.round(reclaimed);
}

/** What an entry that takes the place of another has of its tokens, by characters: nobody has counted it. */
export function shareOf(after: IContent, before: IContent): number {
  return estimateEntryTokens(after) / Math.max(1, estimated(before));
}
