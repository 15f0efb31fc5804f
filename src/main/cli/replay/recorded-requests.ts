// What each request of a session came to, with ctxfold and without, as the session itself says it: tokens sent, and read from
// a provider's cache, and dollars. What a session says are sums over all requests so far.

import type { IContent, RequestTokens } from '../../../index.js';
import type { InputSum } from './money.js';
import type { RecordedWindow } from './session-recorder.js';

/** One request. */
export interface RecordedRequest {
  /** When the model answered, in milliseconds; `null` where the recording does not tell. */
  readonly atMs: number | null;
  /** Whether an edit changed what the request before had begun with. */
  readonly isRewrite: boolean;
  /** Whether no cache held anything of it. */
  readonly isCold: boolean;
  readonly with: InputSum;
  readonly without: InputSum;
  /** Dollars that each rule has saved, and `other`. */
  readonly savedBy: Readonly<Record<string, number>>;
}

/** Returns what the requests of the model calls came to; the last window is none. */
export function requestsOf(
  windows: readonly RecordedWindow[],
  entries: readonly IContent[],
): readonly RecordedRequest[] {
  return windows.slice(0, -1).map(({ entry, tokens, costs }, at): RecordedRequest => {
    const former = windows[at - 1]?.costs;
    const read = (now: RequestTokens, then: RequestTokens | undefined): number =>
      now.cacheReadTokens - (then?.cacheReadTokens ?? 0);
    const cacheReadTokens = read(costs.uncompacted, former?.uncompacted);
    const [now, then] = [costs.dollars, former?.dollars];
    const savedBy = Object.entries(now?.savedBy ?? {});
    const before: Readonly<Record<string, number>> = then?.savedBy ?? {};
    return {
      atMs: entries[entry]?.metadata?.timestamp ?? null,
      isCold: cacheReadTokens === 0,
      isRewrite: costs.rewrites > (former?.rewrites ?? 0),
      with: {
        sentTokens: tokens.with,
        cacheReadTokens: read(costs, former),
        dollars: (now?.with ?? 0) - (then?.with ?? 0),
      },
      without: {
        sentTokens: tokens.without,
        cacheReadTokens: Math.min(tokens.without, cacheReadTokens),
        dollars: (now?.without ?? 0) - (then?.without ?? 0),
      },
      savedBy: Object.fromEntries(
        savedBy.map(([rule, dollars]) => [rule, dollars - (before[rule] ?? 0)]),
      ),
    };
  });
}
