// Meters the requests of a session: tokens, the part that a prompt cache cannot answer, and the price. Visits only entries after
// the first change.

import { estimateEntryTokens } from '../../src/index.js';
import type { IContent } from '../../src/index.js';

/** A change this near to the end is no rewrite, because little has to be read again. */
export const TAIL_TOKENS = 8_000;

/**
 * Input prices relative to uncached input, from Anthropic's API for the five-minute cache:
 * https://docs.claude.com/en/docs/build-with-claude/prompt-caching#pricing
 */
export const CACHE_READ_PRICE = 0.1;
export const CACHE_WRITE_PRICE = 1.25;

/** Anthropic's price of a cached token, and half and a quarter of it, for other providers. */
export const CACHE_READ_PRICES = [CACHE_READ_PRICE, 0.05, 0.025] as const;

/** Milliseconds without a request after which a cache is cold. */
export const CACHE_LIFETIME_MS = 300_000;

/** Sums over requests. Tokens are estimates. */
export interface RequestFigures {
  readonly modelCalls: number;
  /** Input tokens. */
  readonly tokens: number;
  /** Calls whose context differs from the previous one more than `TAIL_TOKENS` before the end of that. */
  readonly cacheRewrites: number;
  /** Calls whose context differs anywhere within the previous one. */
  readonly prefixChanges: number;
  /** Tokens of unchanged entries after the first change. */
  readonly rewrittenTokens: number;
  /** Price of the input, in uncached tokens. A cache answers the whole prefix shared with the previous call. */
  readonly inputCost: number;
  /** Tokens of the prefix shared with the previous call, where no gap had let the cache go cold. */
  readonly warmTokens: number;
  /** The same after a gap of more than `CACHE_LIFETIME_MS`. */
  readonly coldTokens: number;
}

/** Price of the input of some requests. With `isGapped`, shared prefixes are paid in full after a gap. */
export function inputCostAt(
  { tokens, warmTokens, coldTokens }: RequestFigures,
  readPrice: number,
  isGapped: boolean,
): number {
  const cached = isGapped ? warmTokens : warmTokens + coldTokens;
  return readPrice * cached + CACHE_WRITE_PRICE * (tokens - cached);
}

const TOKENS = new WeakMap<IContent, number>();

/** Estimated tokens of an entry, memoized. */
export function entryTokens(entry: IContent): number {
  let tokens = TOKENS.get(entry);
  if (tokens === undefined) {
    tokens = estimateEntryTokens(entry);
    TOKENS.set(entry, tokens);
  }
  return tokens;
}

/** Meters the contexts of one session. A replaced entry counts as changed from its start. */
export class ContextMeter {
  readonly #sent: IContent[] = [];
  /** Tokens before each entry; the last element is the total. */
  readonly #tokensBefore: number[] = [0];
  #figures: RequestFigures = {
    modelCalls: 0,
    tokens: 0,
    cacheRewrites: 0,
    prefixChanges: 0,
    rewrittenTokens: 0,
    inputCost: 0,
    warmTokens: 0,
    coldTokens: 0,
  };

  /** Sums over all requests so far. */
  get figures(): RequestFigures {
    return this.#figures;
  }

  /** Tokens of the last request. */
  get lastTokens(): number {
    return this.#tokensBefore.at(-1) ?? 0;
  }

  /** Takes the context of the next call, and the time since the previous one. */
  send(context: readonly IContent[], gapMs: number = 0): void {
    const sent = this.#sent;
    const before = this.#tokensBefore;
    let same = 0;
    while (same < sent.length && same < context.length && sent[same] === context[same]) same += 1;
    const cached = before[same] ?? 0;
    const changed = (before.at(-1) ?? 0) - cached;
    const sentBefore = new Set(sent.slice(same));

    sent.length = same;
    before.length = same + 1;
    let tokens = cached;
    let rewritten = 0;
    for (const entry of context.slice(same)) {
      tokens += entryTokens(entry);
      if (sentBefore.has(entry)) rewritten += entryTokens(entry);
      sent.push(entry);
      before.push(tokens);
    }

    const figures = this.#figures;
    const isCold = gapMs > CACHE_LIFETIME_MS;
    this.#figures = {
      modelCalls: figures.modelCalls + 1,
      tokens: figures.tokens + tokens,
      cacheRewrites: figures.cacheRewrites + (changed > TAIL_TOKENS ? 1 : 0),
      prefixChanges: figures.prefixChanges + (sentBefore.size > 0 ? 1 : 0),
      rewrittenTokens: figures.rewrittenTokens + rewritten,
      inputCost:
        figures.inputCost + CACHE_READ_PRICE * cached + CACHE_WRITE_PRICE * (tokens - cached),
      warmTokens: figures.warmTokens + (isCold ? 0 : cached),
      coldTokens: figures.coldTokens + (isCold ? cached : 0),
    };
  }
}
