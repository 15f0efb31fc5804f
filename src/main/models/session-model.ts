// The model that one session talks to, the terms of its prompt cache, and the policy on its reasoning. What a name or a price says
// is looked up when it changes, not in every turn.

import type { CachePrices } from '../../shared/density/rules/rewrite-price.js';
import type { ReasoningPolicy } from '../preflight/reasoning-policy.js';
import type { HistoryService } from '../history-service.js';
import { bindsReasoning } from './model-limits.js';
import type { ModelLimits } from './model-limits.js';
import { atLifetime, cachePrices } from './model-prices.js';
import type { ModelPrice } from './price-table.js';

export interface SessionModelInit {
  /** @default none: the session knows its context limit otherwise */
  readonly limits?: ModelLimits | undefined;
  /** Returns the prices of a model by its name. @default unknown */
  readonly priceOf?: ((modelName: string | undefined) => ModelPrice | undefined) | undefined;
  /** The host's option; see `CacheTerms`. */
  readonly cacheTtlMs?: number | undefined;
}

/** What is known of a model by its name. */
interface NamedModel {
  readonly name: string | undefined;
  readonly price: ModelPrice | undefined;
  readonly bindsReasoning: boolean;
  /** The context limit, and how much had been learned of limits when it was looked up. */
  limit?: { readonly tokens: number; readonly learned: number } | undefined;
}

/** The model that was named last in a session's history. */
export class SessionModel {
  readonly cache: CacheTerms;
  readonly #init: SessionModelInit;
  #history: Pick<HistoryService, 'modelName'> | undefined;
  #named: NamedModel | undefined;

  constructor(init: SessionModelInit = {}) {
    this.#init = init;
    this.cache = new CacheTerms(init.cacheTtlMs, () => this.#present.price);
  }

  /** Sets the history that names it; before that, no model is named. */
  follow(history: Pick<HistoryService, 'modelName'>): void {
    this.#history = history;
  }

  /** Whether it binds reasoning to its prefix. */
  get bindsReasoning(): boolean {
    return this.#present.bindsReasoning;
  }

  /** Tokens that it accepts. A function of the host is asked each time. */
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

/** The shortest lifetime among providers, for unknown models. */
const UNKNOWN_TTL_MS = 300_000;

/**
 * Lifetime and price of the prompt cache for the requests of one session. The single place that decides them: by the host's
 * option, the request's cache marks, then the model.
 */
export class CacheTerms {
  readonly #givenMs: number | undefined;
  readonly #modelPrice: () => ModelPrice | undefined;
  /** The lifetime that the present request asks for, and that of the last one sent. */
  #askedMs: number | undefined;
  #sentMs: number | undefined;
  /** The price at a lifetime, and the price that it was made of. */
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

  /** Takes the cache lifetime that the request's marks ask for; `undefined` if it has none. */
  beginRequest(askedMs: number | undefined): void {
    this.#askedMs = askedMs;
  }

  endRequest(): void {
    this.#sentMs = this.#askedMs;
  }

  /** Lifetime of what was sent last, in milliseconds. */
  get ttlMs(): number {
    const asked = this.#givenMs ?? this.#sentMs ?? this.#askedMs;
    return asked ?? this.#modelPrice()?.lifetimes?.[0]?.ttlMs ?? UNKNOWN_TTL_MS;
  }

  /** Prices of the present request at its cache lifetime; `undefined` if unknown. */
  get price(): ModelPrice | undefined {
    return this.#present.price;
  }

  /** Its cache prices: the same object until they change. */
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
 * The policy for the requests of one session: the host's option, else what the present request asks for, else what its model has
 * refused.
 */
export class ReasoningTerms {
  readonly #given: ReasoningPolicy | undefined;
  #asked: ReasoningPolicy | undefined;
  #usual: ReasoningPolicy = 'keep';
  /** Names of models; others may require what these refuse. */
  readonly #refusing = new Set<string | undefined>();

  constructor(given: ReasoningPolicy | undefined) {
    this.#given = given;
  }

  /** @param isRefused whether the provider has refused reasoning: its model binds it, which the name need not tell */
  beginRequest(
    asked: ReasoningPolicy | undefined,
    isRefused: boolean = false,
    modelName?: string,
  ): void {
    this.#asked = asked;
    if (isRefused) this.#refusing.add(modelName);
    this.#usual = this.#refusing.has(modelName) ? 'strip-after-first-edit' : 'keep';
  }

  /** Takes over what other processes were refused; see `memory`. */
  takeOver(refusing: readonly (string | null)[] = []): void {
    for (const name of refusing) this.#refusing.add(name ?? undefined);
  }

  /** The models that have refused reasoning, `null` for one without a name; `undefined` if there are none. */
  get memory(): readonly (string | null)[] | undefined {
    return this.#refusing.size > 0 ? Array.from(this.#refusing, (name) => name ?? null) : undefined;
  }

  get policy(): ReasoningPolicy {
    return this.#given ?? this.#asked ?? this.#usual;
  }

  /** Whether nobody has decided it. */
  get isUnset(): boolean {
    return (this.#given ?? this.#asked) === undefined;
  }
}
