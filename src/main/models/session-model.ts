// The model that one session talks to, the terms of its prompt cache, and the policy for its reasoning. Lookups by name or price
// are cached until the name or price changes.

import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import type { ReasoningPolicy } from '../preflight/reasoning-policy.js';
import type { HistoryService } from '../history-service.js';
import { bindsReasoning, thinksWithBudget } from './model-limits.js';
import type { ModelLimits } from './model-limits.js';
import { atLifetime, cachePrices } from './model-prices.js';
import type { ModelPrice } from './price-table.js';

export interface SessionModelInit {
  /** @default none: the session gets its context limit elsewhere */
  readonly limits?: ModelLimits | undefined;
  /** Returns the prices of a model by its name. @default unknown */
  readonly priceOf?: ((modelName: string | undefined) => ModelPrice | undefined) | undefined;
  /** The host's option; see `CacheTerms`. */
  readonly cacheTtlMs?: number | undefined;
}

/** What is known about a model from its name. */
interface NamedModel {
  readonly name: string | undefined;
  readonly price: ModelPrice | undefined;
  readonly bindsReasoning: boolean;
  /** The cached context limit, and the value of `timesLearned` when it was looked up. */
  limit?: { readonly tokens: number; readonly learned: number } | undefined;
}

/** The model that a session's history named last. */
export class SessionModel {
  readonly cache: CacheTerms;
  readonly #init: SessionModelInit;
  #history: Pick<HistoryService, 'modelName'> | undefined;
  #named: NamedModel | undefined;

  constructor(init: SessionModelInit = {}) {
    this.#init = init;
    this.cache = new CacheTerms(init.cacheTtlMs, () => this.#present.price);
  }

  /** Sets the history that names the model. Until then, the model is unknown. */
  follow(history: Pick<HistoryService, 'modelName'>): void {
    this.#history = history;
  }

  /** Whether the model binds reasoning to the messages before it. */
  get bindsReasoning(): boolean {
    return this.#present.bindsReasoning;
  }

  /** Returns how many tokens the model accepts. If the limit comes from the host's function, it is asked on each call. */
  readonly contextLimit = (): number => {
    const { limits } = this.#init;
    if (limits === undefined) return Infinity;
    const model = this.#present;
    if (limits.isAsked || model.limit?.learned !== limits.timesLearned) {
      model.limit = { tokens: limits.limitOf(model.name), learned: limits.timesLearned };
    }
    return model.limit.tokens;
  };

  get #present(): NamedModel {
    const name = this.#history?.modelName;
    if (this.#named === undefined || this.#named.name !== name) {
      const price = this.#init.priceOf?.(name);
      this.#named = { name, price, bindsReasoning: bindsReasoning(name) };
    }
    return this.#named;
  }
}

/** The cache lifetime assumed for unknown models: the shortest of any provider. */
const UNKNOWN_TTL_MS = 300_000;

/**
 * Lifetime and price of the prompt cache for the requests of one session. The single place that decides them: by the host's
 * option, the request's cache marks, then the model.
 */
export class CacheTerms {
  readonly #givenMs: number | undefined;
  readonly #modelPrice: () => ModelPrice | undefined;
  /** The lifetime that the current request asks for, and the one that the last sent request asked for. */
  #askedMs: number | undefined;
  #sentMs: number | undefined;
  /** Cache: the price at a lifetime, with the model's price and the lifetime that it was computed from. */
  #priced: {
    readonly of?: ModelPrice | undefined;
    readonly ms?: number | undefined;
    readonly price?: ModelPrice | undefined;
    readonly prices: CachePrices;
  } = { prices: cachePrices(undefined) };

  /**
   * @param givenMs the host's option, for all requests @default none
   * @param price returns the prices of the session's model @default unknown
   */
  constructor(givenMs?: number, price: () => ModelPrice | undefined = () => undefined) {
    this.#givenMs = givenMs;
    this.#modelPrice = price;
  }

  /** Notes the cache lifetime that the request's cache marks ask for, in milliseconds; `undefined` without marks. */
  beginRequest(askedMs: number | undefined): void {
    this.#askedMs = askedMs;
  }

  endRequest(): void {
    this.#sentMs = this.#askedMs;
  }

  /** Cache lifetime of the last sent request, in milliseconds. */
  get ttlMs(): number {
    const asked = this.#givenMs ?? this.#sentMs ?? this.#askedMs;
    return asked ?? this.#modelPrice()?.lifetimes?.[0]?.ttlMs ?? UNKNOWN_TTL_MS;
  }

  /** Prices of the current request at its cache lifetime; `undefined` if unknown. */
  get price(): ModelPrice | undefined {
    return this.#present.price;
  }

  /** Cache prices of the current request: the same object until they change, so that callers can compare by identity. */
  get prices(): CachePrices {
    return this.#present.prices;
  }

  get #present(): { readonly price?: ModelPrice | undefined; readonly prices: CachePrices } {
    const [of, ms] = [this.#modelPrice(), this.#givenMs ?? this.#askedMs];
    if (this.#priced.of !== of || this.#priced.ms !== ms) {
      const price = of && atLifetime(of, ms);
      this.#priced = { of, ms, price, prices: cachePrices(price) };
    }
    return this.#priced;
  }
}

/**
 * The reasoning policy for the requests of one session: the host's option, else what the current request asks for, else
 * `strip-after-first-edit` for models whose provider has refused reasoning, and `keep` for others.
 */
export class ReasoningTerms {
  readonly #given: ReasoningPolicy | undefined;
  #asked: ReasoningPolicy | undefined;
  #usual: ReasoningPolicy = 'keep';
  #modelName: string | undefined;
  /** Cache: whether the model may think with a budget. */
  #hasBudget = false;
  /** Models whose provider has refused reasoning. By name, because other models may require the reasoning that these refuse. */
  readonly #refusing = new Set<string | undefined>();

  constructor(given: ReasoningPolicy | undefined) {
    this.#given = given;
  }

  /** @param isRefused whether the provider has refused reasoning: then the model binds it, even if its name does not tell */
  beginRequest(
    asked: ReasoningPolicy | undefined,
    isRefused: boolean = false,
    modelName?: string,
  ): void {
    this.#asked = asked;
    if (isRefused) this.#refusing.add(modelName);
    this.#usual = this.#refusing.has(modelName) ? 'strip-after-first-edit' : 'keep';
    if (modelName === this.#modelName) return;
    this.#modelName = modelName;
    this.#hasBudget = thinksWithBudget(modelName);
  }

  /** Adds models for which other processes were refused; see `memory`. */
  takeOver(refusing: readonly (string | null)[] = []): void {
    for (const name of refusing) this.#refusing.add(name ?? undefined);
  }

  /** The models whose provider refused reasoning, `null` for a model without a name; `undefined` if there are none. */
  get memory(): readonly (string | null)[] | undefined {
    return this.#refusing.size > 0 ? Array.from(this.#refusing, (name) => name ?? null) : undefined;
  }

  get policy(): ReasoningPolicy {
    return this.#given ?? this.#asked ?? this.#usual;
  }

  /**
   * Whether an edit removes the reasoning behind it. A model that may think with a budget requires reasoning and binds none, so its
   * reasoning stays under every policy, unless its provider has refused it.
   */
  get isStripping(): boolean {
    return this.policy !== 'keep' && (!this.#hasBudget || this.#usual !== 'keep');
  }

  /**
   * Whether the turn in progress must begin with reasoning: with a thinking budget Claude refuses other requests. So it is for models
   * that may have one, and where reasoning is kept on purpose.
   */
  get keepsTurnStart(): boolean {
    return !this.isStripping && (this.#hasBudget || !this.isUnset);
  }

  /** Whether neither the host nor the request has set the policy. */
  get isUnset(): boolean {
    return (this.#given ?? this.#asked) === undefined;
  }
}
