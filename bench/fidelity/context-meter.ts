// What the requests of a session come to: their tokens, what of them a prompt cache cannot answer, and
// what that costs. Walks a context from the first entry that changed only.

import { estimateEntryTokens } from '../../src/index.js';
import type { IContent } from '../../src/index.js';

/** A change this near to the end of what was sent is no rewrite: little has to be read anew. */
export const TAIL_TOKENS = 8_000;

/**
 * Prices of input relative to input that is not cached, as of Anthropic's API for a cache of five minutes:
 * https://docs.claude.com/en/docs/build-with-claude/prompt-caching#pricing
 */
export const CACHE_READ_PRICE = 0.1;
export const CACHE_WRITE_PRICE = 1.25;

/** What a cached token may cost elsewhere: half and a quarter of it. */
export const CACHE_READ_PRICES = [CACHE_READ_PRICE, 0.05, 0.025] as const;

/** A cache that nobody has asked for so long is cold. Milliseconds. */
export const CACHE_LIFETIME_MS = 300_000;

/** Requests, added up. Tokens are estimates. */
export interface RequestFigures {
  readonly modelCalls: number;
  /** Input tokens. */
  readonly tokens: number;
  /** Calls before which the context changed more than `TAIL_TOKENS` before the end of what the previous call was sent. */
  readonly cacheRewrites: number;
  /** Calls before which the context changed anywhere in what the previous call was sent. */
  readonly prefixChanges: number;
  /** Tokens of entries that stand as the previous call was sent them, behind the first change. */
  readonly rewrittenTokens: number;
  /** Price of the input, in tokens that are not cached; a cache answers all that the previous call began with, too. */
  readonly inputCost: number;
  /** Tokens that the previous call began with, too, while no gap had let the cache go cold. */
  readonly warmTokens: number;
  /** The same behind a gap of more than `CACHE_LIFETIME_MS`. */
  readonly coldTokens: number;
}

/** Price of the input of some requests. With `isGapped` what was cached is paid anew behind a gap. */
export function inputCostAt(
  { tokens, warmTokens, coldTokens }: RequestFigures,
  readPrice: number,
  isGapped: boolean,
): number {
  const cached = isGapped ? warmTokens : warmTokens + coldTokens;
  return readPrice * cached + CACHE_WRITE_PRICE * (tokens - cached);
}

const TOKENS = new WeakMap<IContent, number>();

/** Estimated tokens of an entry, which is measured once. */
export function entryTokens(entry: IContent): number {
  let tokens = TOKENS.get(entry);
  if (tokens === undefined) {
    tokens = estimateEntryTokens(entry);
    TOKENS.set(entry, tokens);
  }
  return tokens;
}

/** Meters the contexts of one session. An entry that was replaced counts as changed from its beginning. */
export class ContextMeter {
  readonly #sent: IContent[] = [];
  /** Tokens before the entry of that index, and of all at the end. */
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

  /** All requests so far. */
  get figures(): RequestFigures {
    return this.#figures;
  }

  /** Tokens of the last request. */
  get lastTokens(): number {
    return this.#tokensBefore.at(-1) ?? 0;
  }

  /** Takes the context of the next call, which came so long after the one before. */
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
