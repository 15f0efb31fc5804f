// Estimates what a session's requests and edits cost in tokens and dollars, as far as counts and prices are known, from what its
// preflights prepared. Counts no tokens itself. Its only effect on the session is `spendable`, the limit on the cost of edits.

import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { RuleName } from '../../shared/density/rules/density-rules.js';
import type { EntryChange } from '../history-change.js';
import { inputCost, priceAt } from '../models/model-prices.js';
import type { TokenPrice } from '../models/price-table.js';
import type { CostMemory, DollarMemory, SummaryCounts } from '../state/session-state.js';
import type { PrunedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';
import { cachingTerms, PrefixTokens, spendable, tokensOf, TokenTally } from './token-tally.js';
import type { CachingTerms, RequestTokens, TokenCounts } from './token-tally.js';

/** What saves input: the rules, and compressing. */
type Saver = RuleName | 'compression';

/** The input cost of a session's requests, in dollars, at the prices of their models. */
export interface InputDollars {
  readonly with: number;
  /** The cost had no edit ever landed. */
  readonly without: number;
  /**
   * Dollars saved by each rule, and by `compression`, minus the cost of the cache rewrites that the edits caused; negative if the
   * rewrites cost more. `other` is what staying below a price step saved, or below the shortest prompt that is cached cost, and what
   * fitting saved where nothing was compressed. The sum is `without` minus `with`.
   */
  readonly savedBy: Readonly<Partial<Record<Saver | 'other', number>>>;
}

/** What a session's requests cost. Each completed preflight counts as one request. */
export interface CostReport extends RequestTokens {
  readonly requests: number;
  /**
   * The totals had no edit ever landed: everything added is sent each time, and what was sent before is read from the cache
   * while it is warm. Clearing the history starts over.
   */
  readonly uncompacted: RequestTokens;
  /** Requests whose prefix changed because an edit rewrote what had been sent. */
  readonly rewrites: number;
  /** Outcomes of model summaries; absent if there were none. */
  readonly summaries?: SummaryCounts;
  /** Absent unless the model's price was known for every request. */
  readonly dollars?: InputDollars;
}

const SAVERS: readonly Saver[] = [...DENSITY_RULES.map(({ name }) => name), 'compression'];

/** Less than any token costs. */
const ROUNDING_DOLLARS = 1e-9;

const NO_DOLLARS: DollarMemory = { with: 0, without: 0, rules: [] };

/** Adds up the requests of one session. */
export class CostMeter {
  readonly #parts: SessionParts;
  readonly #prefixes: PrefixTokens;
  readonly #compacted: TokenTally;
  readonly #uncompacted: TokenTally;
  readonly #savings: RuleSavings;
  #requests: number;
  #rewrites: number;
  /** The part of `spendable` from requests that are not in the totals: those of earlier sessions, found by a replay. */
  #earlierSpendable: number;
  /** `spendable` after all requests up to the present one, as a replay found it. */
  #replayed: number | undefined;
  #dollars: Omit<DollarMemory, 'rules'> | null;

  constructor(parts: SessionParts) {
    const former = parts.former?.costs;
    this.#parts = parts;
    const dollars = former?.dollars ?? (former === undefined ? NO_DOLLARS : null);
    this.#dollars = dollars && { with: dollars.with, without: dollars.without };
    this.#savings = new RuleSavings(dollars?.rules);
    this.#compacted = new TokenTally(former?.compacted);
    this.#uncompacted = new TokenTally(former?.uncompacted);
    this.#requests = former?.requests ?? 0;
    this.#rewrites = former?.rewrites ?? 0;
    this.#earlierSpendable = former?.carried ?? 0;
    this.#prefixes = new PrefixTokens(parts.history);
  }

  /** The totals so far. */
  get report(): CostReport {
    const dollars = this.#requests === 0 ? null : this.#dollars;
    const saved = dollars === null ? 0 : dollars.without - dollars.with;
    return {
      requests: this.#requests,
      ...this.#compacted.tokens,
      uncompacted: this.#uncompacted.tokens,
      rewrites: this.#rewrites,
      ...(dollars && { dollars: { ...dollars, savedBy: this.#savings.shares(saved) } }),
    };
  }

  /** Notes what rules removed in an edit that landed. */
  noteEdits({ edits, changes }: Pick<PrunedEvent, 'edits' | 'changes'>): void {
    this.#savings.noteEdits(edits, changes, this.#parts.history);
  }

  /** Notes that a compression has landed. What it removed is known at the next request. */
  noteCompression(): void {
    this.#savings.noteCompression();
  }

  /** Notes that the history was cleared: nothing is removed from it any more. */
  noteClear(): void {
    this.#savings.startOver();
  }

  /** The state for a later session of this history. */
  get memory(): CostMemory {
    const dollars = this.#dollars && { ...this.#dollars, rules: this.#savings.memory };
    return {
      requests: this.#requests,
      rewrites: this.#rewrites,
      carried: this.#earlierSpendable,
      compacted: this.#compacted.memory,
      uncompacted: this.#uncompacted.memory,
      dollars,
    };
  }

  /** Maximum of what an edit of sent entries costs minus what it saves in the next request. See `spendable`. */
  get spendable(): number {
    const { history, sent } = this.#parts;
    const tokens = history.getTotalTokens();
    const uncompacted = tokens + sent.reclaimedTokens;
    const terms = cachingTerms(this.#parts);
    const left = spendable(this.#compacted, tokens, this.#uncompacted, uncompacted, terms);
    return this.#earlierSpendable + left;
  }

  /** Notes `spendable` after all requests up to the present one, as a replay found it. The totals lack the present request so far. */
  noteReplay(spendable: number): void {
    this.#replayed = spendable;
  }

  /** Adds the request that the present history makes. Call before `SentHistory.endPreflight`. @param terms of this request */
  endPreflight(terms: CachingTerms): void {
    const { history, sent, cache } = this.#parts;
    const { isRewritten, isExpired, intactEntries, reclaimedTokens } = sent;
    const totalTokens = history.getTotalTokens();
    this.#requests += 1;
    if (isRewritten) this.#rewrites += 1;
    this.#prefixes.keep(intactEntries);
    const isRead = !isExpired;
    const readTokens =
      isRead && isRewritten
        ? this.#prefixes.sum(history.getRawHistory(), intactEntries, totalTokens)
        : Infinity;
    const read = this.#compacted.add(totalTokens, isRead, readTokens, terms);
    const fullTokens = totalTokens + reclaimedTokens;
    const addedTokens = fullTokens - this.#uncompacted.lastTokens;
    const fullRead = this.#uncompacted.add(fullTokens, isRead, Infinity, terms);
    if (reclaimedTokens === 0) this.#savings.startOver();
    else this.#savings.noteReclaimed(reclaimedTokens);
    const { price: known } = cache;
    if (known === undefined) {
      this.#dollars = null;
    } else if (this.#dollars !== null) {
      // Overhead and pending tokens count towards the step as well.
      const { above } = known;
      const price = {
        ...known,
        leastCachedTokens: terms.minCachedTokens,
        ...(above && { above: { ...above, promptTokens: terms.above?.tokens ?? Infinity } }),
      };
      this.#dollars = {
        with: this.#dollars.with + inputCost(price, totalTokens, read),
        without: this.#dollars.without + inputCost(price, fullTokens, fullRead),
      };
      const unreadTokens = totalTokens - addedTokens - read;
      this.#savings.addRequest(priceAt(price, totalTokens), isRead, unreadTokens);
    }
    if (this.#replayed !== undefined) {
      this.#earlierSpendable =
        this.#replayed - spendable(this.#compacted, 0, this.#uncompacted, 0, terms);
      this.#replayed = undefined;
    }
    // Estimates change once entries are counted, so only counted sums are remembered.
    if (history.isCounted) this.#prefixes.mark(history.length, totalTokens);
  }
}

/**
 * What each rule, and compressing, has saved, in dollars. Later requests do not read the removed tokens, but the entries behind an edit had to be
 * written to the cache again. Keeps sums and retains no entries.
 */
class RuleSavings {
  /** Tokens removed by each since the history began. */
  readonly #taken = new Map<Saver, number>();
  /** Tokens of sent entries that each has removed since the last request. */
  readonly #landing = new Map<Saver, number>();
  /** Tokens of unsent results that each rule has removed since the last request: these would have been written to the cache, not read. */
  readonly #unsent = new Map<RuleName, number>();
  readonly #dollars = new Map<Saver, number>();

  /** @param former the sums of an earlier session */
  constructor(former: DollarMemory['rules'] = []) {
    for (const [name, tokens, dollars] of former) {
      const saver = SAVERS.find((each) => each === name);
      if (saver === undefined) continue;
      this.#taken.set(saver, tokens);
      this.#dollars.set(saver, dollars);
    }
  }

  /** The state for a later session of this history. */
  get memory(): DollarMemory['rules'] {
    const savers = new Set([...this.#taken.keys(), ...this.#dollars.keys()]);
    return Array.from(savers, (saver) => [
      saver,
      this.#taken.get(saver) ?? 0,
      this.#dollars.get(saver) ?? 0,
    ]);
  }

  /** Notes an edit; the tokens of an entry edited by several rules are split evenly among them. Both lists ascend by entry. */
  noteEdits(
    edits: readonly RuleEdit[],
    changes: readonly EntryChange[],
    counts: TokenCounts,
  ): void {
    let at = 0;
    for (const { index, before, after } of changes) {
      const rules: RuleEdit[] = [];
      for (let edit = edits[at]; edit !== undefined && edit.entry <= index; edit = edits[++at]) {
        if (edit.entry === index && edit.action !== 'superseded') rules.push(edit);
      }
      const left = after === null ? 0 : tokensOf(after, counts);
      const tokens = tokensOf(before, counts) - left;
      for (const { rule, action } of rules) {
        add(this.#taken, rule, tokens / rules.length);
        // Results are shrunk before they are first sent.
        const since = action === 'shrink' ? this.#unsent : this.#landing;
        add(since, rule, tokens / rules.length);
      }
    }
  }

  /** Notes that a compression has landed: from now on, what no rule has removed was removed by compressing. */
  noteCompression(): void {
    add(this.#taken, 'compression', 0);
  }

  /** Notes how many tokens all edits together have removed by now. */
  noteReclaimed(tokens: number): void {
    const compressed = tokens - sumOf(this.#taken);
    if (compressed <= 0 || !this.#taken.has('compression')) return;
    add(this.#taken, 'compression', compressed);
    add(this.#landing, 'compression', compressed);
  }

  /** Forgets the removed tokens: the history was cleared, or nothing is removed from it any more. Savings stay. */
  startOver(): void {
    this.#taken.clear();
    this.#landing.clear();
    this.#unsent.clear();
  }

  /**
   * Adds a request.
   *
   * @param prices dollars per million tokens read from, and written to, the cache
   * @param isWarm whether the cache still held the previous request
   * @param unreadTokens tokens of the previous request that were not read from the cache, including those shrunk before sending
   */
  addRequest({ cacheRead, cacheWrite }: TokenPrice, isWarm: boolean, unreadTokens: number): void {
    const price = isWarm ? cacheRead : cacheWrite;
    const more = isWarm ? cacheWrite - cacheRead : 0;
    const unsent = sumOf(this.#unsent);
    const rewrite = more * Math.max(0, unreadTokens + unsent);
    for (const [saver, tokens] of this.#taken) add(this.#dollars, saver, (tokens * price) / 1e6);
    for (const [rule, tokens] of this.#unsent) add(this.#dollars, rule, (tokens * more) / 1e6);
    this.#unsent.clear();
    const all = sumOf(this.#landing);
    for (const [saver, tokens] of this.#landing) {
      if (all > 0) add(this.#dollars, saver, -((tokens / all) * rewrite) / 1e6);
    }
    this.#landing.clear();
  }

  /** Savings by rule and by compressing, with the rest of `saved` under `other`. */
  shares(saved: number): InputDollars['savedBy'] {
    const rest = saved - sumOf(this.#dollars);
    const other = Math.abs(rest) < ROUNDING_DOLLARS ? 0 : rest;
    return { ...Object.fromEntries(this.#dollars), other };
  }
}

function sumOf(sums: ReadonlyMap<Saver, number>): number {
  return [...sums.values()].reduce((sum, amount) => sum + amount, 0);
}

function add<By extends Saver>(sums: Map<By, number>, by: By, amount: number): void {
  sums.set(by, (sums.get(by) ?? 0) + amount);
}
