// How many tokens the models of a compactor accept: what the user says, what a provider has said, what the host knows, what the table has, else
// a careful guess. Decides nothing about histories.

import type { CompactorOptions } from '../compactor-options.js';
import type { Logger } from '../host/logger.js';
import { withoutContent } from '../host/without-content.js';
import { contextWindowOf, refusedLimit } from './context-windows.js';

/** What a model is taken to accept when nothing is known of it. */
export const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** Models that are told apart: names may come from anywhere. */
const MAX_MODELS = 1_000;

/** The limits of one compactor's models. */
export class ModelLimits {
  readonly #given: CompactorOptions['contextLimit'];
  readonly #logger: Logger;
  readonly #learned = new Map<string, number>();
  readonly #warned = new Set<string>();

  /** @param given what the user says, for all models, or what a host knows of some @default by the model */
  constructor(given: CompactorOptions['contextLimit'], logger: Logger) {
    this.#given = given;
    this.#logger = logger;
  }

  /** What providers have said, by model. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#learned);
  }

  /** Tokens that a model accepts. Warns once for each that is not known. */
  limitOf(modelName: string | undefined): number {
    if (typeof this.#given === 'number') return this.#given;
    if (modelName === undefined) return UNKNOWN_CONTEXT_LIMIT;
    const known =
      this.#learned.get(modelName) ?? this.#askHost(modelName) ?? contextWindowOf(modelName);
    if (known === undefined) this.#warn(modelName);
    return known ?? UNKNOWN_CONTEXT_LIMIT;
  }

  /**
   * Learns from what a call of a model has thrown.
   *
   * @returns the limit that the provider has named, or `undefined` when that was something else
   */
  learn(thrown: unknown, modelName: string | undefined): number | undefined {
    const limit = refusedLimit(thrown);
    if (limit === undefined || modelName === undefined) return limit;
    if (this.#learned.size >= MAX_MODELS) this.#learned.clear();
    this.#learned.set(modelName, limit);
    this.#logger.warn('the provider has named the context limit of a model', { modelName, limit });
    return limit;
  }

  /** A host that fails knows nothing: its turn goes on by what else is known. */
  #askHost(modelName: string): number | undefined {
    const ask = this.#given;
    if (typeof ask !== 'function') return undefined;
    try {
      const tokens: unknown = ask(modelName);
      return Number.isSafeInteger(tokens) && Number(tokens) > 0 ? Number(tokens) : undefined;
    } catch (thrown) {
      this.#logger.warn('contextLimit threw', { error: withoutContent(thrown) });
      return undefined;
    }
  }

  #warn(modelName: string): void {
    if (this.#warned.has(modelName) || this.#warned.size >= MAX_MODELS) return;
    this.#warned.add(modelName);
    this.#logger.warn(
      `the context limit of a model is not known; give contextLimit to createCompactor`,
      { modelName, contextLimit: UNKNOWN_CONTEXT_LIMIT },
    );
  }
}
