// What each request of a session came to, with ctxfold and without: tokens sent, and read from a provider's cache.
// Whether that was cold, the recorded times tell; the clock of the replay does not.

import type { IContent, RequestTokens } from '../../../index.js';
import type { RecordedWindow } from './session-recorder.js';

/** One request, in tokens. */
export interface RecordedRequest {
  /** When the model answered, in milliseconds; `null` where the recording does not tell. */
  readonly atMs: number | null;
  /** Whether an edit changed what the request before had begun with. */
  readonly isRewrite: boolean;
  /** Whether so long had passed since the request before that the cache was cold. */
  readonly isCold: boolean;
  readonly with: RequestSize;
  readonly without: RequestSize;
}

/** Tokens of one request. */
export interface RequestSize {
  readonly sentTokens: number;
  readonly cacheReadTokens: number;
}

/** How long the shortest of providers' caches lasts. */
const CACHE_TTL_MS = 300_000;

/** Returns what the requests of the model calls came to; the last window is none. */
export function requestsOf(
  windows: readonly RecordedWindow[],
  entries: readonly IContent[],
): readonly RecordedRequest[] {
  let lastMs: number | null = null;
  return windows.slice(0, -1).map(({ entry, tokens, costs }, at): RecordedRequest => {
    const former = windows[at - 1]?.costs;
    const atMs = entries[entry]?.metadata?.timestamp ?? null;
    const isCold: boolean = at === 0 || (atMs ?? 0) - (lastMs ?? Infinity) >= CACHE_TTL_MS;
    lastMs = atMs ?? lastMs;
    const read = (now: RequestTokens, then: RequestTokens | undefined): number =>
      isCold ? 0 : now.cacheReadTokens - (then?.cacheReadTokens ?? 0);
    return {
      ...{ atMs, isCold },
      isRewrite: costs.rewrites > (former?.rewrites ?? 0),
      with: { sentTokens: tokens.with, cacheReadTokens: read(costs, former) },
      without: {
        sentTokens: tokens.without,
        cacheReadTokens: Math.min(tokens.without, read(costs.uncompacted, former?.uncompacted)),
      },
    };
  });
}
