// Measures the requests to a summarizer per preflight, without changing them.

import { performance } from 'node:perf_hooks';
import type { Summarizer, SummarizerRequest, SummarizerResponse } from '../../index.js';
import { sumsOf } from '../measure/aggregate.js';

/** Requests to the model that writes summaries. Retries count as one request. */
export interface SummarizerUse {
  readonly requests: number;
  /** Requests without an answer. */
  readonly failedRequests: number;
  /** Tokens as reported by the provider. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Answers without reported tokens, which the token sums do not include. */
  readonly unmeteredRequests: number;
  /** Time until the answers arrived, in milliseconds. */
  readonly waitMs: number;
}

/** The figures if there were no requests. */
export const NO_USE: SummarizerUse = {
  requests: 0,
  failedRequests: 0,
  inputTokens: 0,
  outputTokens: 0,
  unmeteredRequests: 0,
  waitMs: 0,
};

/** A summarizer that counts its requests. */
export class SummarizerMeter implements Summarizer {
  readonly contextLimit: number;
  readonly timeoutMs?: number;
  readonly #summarizer: Summarizer;
  #use = NO_USE;

  constructor(summarizer: Summarizer) {
    this.contextLimit = summarizer.contextLimit;
    if (summarizer.timeoutMs !== undefined) this.timeoutMs = summarizer.timeoutMs;
    this.#summarizer = summarizer;
  }

  async generate(request: SummarizerRequest): Promise<SummarizerResponse> {
    const startMs = performance.now();
    let response: SummarizerResponse | undefined;
    try {
      response = await this.#summarizer.generate(request);
      return response;
    } finally {
      const { inputTokens, outputTokens } = response?.usage ?? {};
      const isMetered = inputTokens !== undefined && outputTokens !== undefined;
      this.#use = sumUse([
        this.#use,
        {
          requests: 1,
          failedRequests: response === undefined ? 1 : 0,
          inputTokens: inputTokens ?? 0,
          outputTokens: outputTokens ?? 0,
          unmeteredRequests: response === undefined || isMetered ? 0 : 1,
          waitMs: performance.now() - startMs,
        },
      ]);
    }
  }

  /** Returns and resets the figures. */
  take(): SummarizerUse {
    const use = this.#use;
    this.#use = NO_USE;
    return use;
  }
}

const FIGURES = Object.keys(NO_USE) as readonly (keyof SummarizerUse)[];

/** Sums up figures. */
export function sumUse(uses: readonly SummarizerUse[]): SummarizerUse {
  return sumsOf(uses, FIGURES);
}
