// How many tokens the models of a compactor accept: what the user says, what a provider has said, what the table has, else
// a careful guess. Decides nothing about histories.

import type { Logger } from '../host/logger.js';
import { contextWindowOf, refusedLimit } from './context-windows.js';

/** What a model is taken to accept when nothing is known of it. */
export const UNKNOWN_CONTEXT_LIMIT = 128_000;

/** Models that are told apart: names may come from anywhere. */
const MAX_MODELS = 1_000;

/** The limits of one compactor's models. */
export class ModelLimits {
  readonly #given: number | undefined;
  readonly #logger: Logger;
  readonly #learned = new Map<string, number>();
  readonly #warned = new Set<string>();

  /** @param given what the user says, for all models @default by the model */
  constructor(given: number | undefined, logger: Logger) {
    this.#given = given;
    this.#logger = logger;
  }

  /** What providers have said, by model. */
  get learned(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#learned);
  }

  /** Tokens that a model accepts. Warns once for each that is not known. */
  limitOf(modelName: string | undefined): number {
    if (this.#given !== undefined) return this.#given;
    if (modelName === undefined) return UNKNOWN_CONTEXT_LIMIT;
    const known = this.#learned.get(modelName) ?? contextWindowOf(modelName);
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

  #warn(modelName: string): void {
    if (this.#warned.has(modelName) || this.#warned.size >= MAX_MODELS) return;
    this.#warned.add(modelName);
    this.#logger.warn(
      `the context limit of a model is not known; give contextLimit to createCompactor`,
      { modelName, contextLimit: UNKNOWN_CONTEXT_LIMIT },
    );
  }
}
