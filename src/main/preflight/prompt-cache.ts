// Tracks what the provider's prompt cache should hold (which prefix of the history was sent, when, and how much of it is unchanged),
// and detects requests that read less than that from the cache. Retains no entries and emits nothing.

import { assertString, assertTokens, readOptions } from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import type { HistoryService } from '../history-service.js';
import type { ModelPrice } from '../models/price-table.js';
import type { CacheTerms } from '../models/session-model.js';
import type { SentMemory, SessionMemory } from '../state/session-state.js';
import { answersSince, beginsAnswer } from './context-gauge.js';
import type { ContextGauge, UsageReport } from './context-gauge.js';
import type { CacheMissCause, CacheMissedEvent } from './session-events.js';

interface SentHistoryInit {
  readonly history: HistoryService;
  /** Whether the history was sent before, by an unknown session. @default false */
  readonly wasSentBefore?: boolean | undefined;
  /** The state of an earlier session of this history. @default none */
  readonly former?: SessionMemory | undefined;
}

/** Bound on the models that a session remembers; sessions use few. */
const MAX_MODELS = 32;

/** The part of the last sent history that is unchanged. The caller must note edits and clears. */
export class SentHistory {
  readonly #history: HistoryService;
  readonly #cache: CacheTerms;
  readonly #now: () => number;
  #sentEntries = 0;
  #intactEntries = 0;
  /** When the history was last sent, by model name, because each model has its own cache. `undefined` until the model is named. */
  readonly #sentAtMsByModel = new Map<string | undefined, number>();
  #isCached = true;
  #reclaimedTokens = 0;
  #staleReasoningFrom = Infinity;
  #lostEntries = 0;

  /** @param now a monotonic clock in milliseconds */
  constructor(
    { history, wasSentBefore = false, former }: SentHistoryInit,
    cache: CacheTerms,
    now: () => number,
  ) {
    this.#history = history;
    this.#cache = cache;
    this.#now = now;
    if (wasSentBefore) this.endPreflight();
    if (former === undefined) return;
    const { entries, intactEntries, reclaimedTokens, idleMs, staleReasoningFrom, isCached } =
      former.sent;
    this.#isCached = isCached ?? true;
    this.#lostEntries = former.sent.lostEntries ?? 0;
    this.#sentEntries = entries;
    this.#intactEntries = Math.min(intactEntries, history.length);
    this.#reclaimedTokens = reclaimedTokens;
    this.#staleReasoningFrom = staleReasoningFrom ?? Infinity;
    if (idleMs !== null) this.#sentAtMsByModel.set(undefined, now() - idleMs);
  }

  /** Length of the prefix that is unchanged since it was last sent. */
  get intactEntries(): number {
    return this.#intactEntries;
  }

  /** Whether any sent entry was edited since. */
  get isRewritten(): boolean {
    return this.intactEntries < this.#sentEntries;
  }

  /** Whether the host has changed an entry, so that those behind it are in no cache, though answers may follow them. */
  get isLost(): boolean {
    return this.#lostEntries > this.#intactEntries;
  }

  /** Whether the prompt cache of the present model has expired, or nothing was sent to that model yet. */
  get isExpired(): boolean {
    const { modelName } = this.#history;
    const sentAtMs = this.#sentAtMsByModel.get(modelName) ?? this.#sentAtMsByModel.get(undefined);
    return this.#now() - (sentAtMs ?? -Infinity) >= this.#cache.ttlMs;
  }

  /**
   * Whether no model's cache holds the history: nothing was sent to any model within the cache lifetime, or the last request was
   * too short to be cached. While another model stands in for a failed one, the cache of the first still counts, because most
   * failures of a provider are short.
   */
  get isCacheCold(): boolean {
    return !this.#isCached || this.idleMs >= this.#cache.ttlMs;
  }

  /** Milliseconds since the history was last sent; `Infinity` if it never was. */
  get idleMs(): number {
    return this.#now() - Math.max(-Infinity, ...this.#sentAtMsByModel.values());
  }

  /** Counted tokens that edits have removed so far. */
  get reclaimedTokens(): number {
    return this.#reclaimedTokens;
  }

  /** Index of the first entry whose reasoning may be stale (left behind an edit), which not every model accepts; else `Infinity`. */
  get staleReasoningFrom(): number {
    return this.#staleReasoningFrom;
  }

  /** Notes that reasoning may be stale from an entry on. */
  noteStaleReasoning(fromEntry: number): void {
    this.#staleReasoningFrom = Math.min(this.#staleReasoningFrom, fromEntry);
  }

  /** Notes that all stale reasoning is removed. */
  noteStrippedReasoning(): void {
    this.#staleReasoningFrom = Infinity;
  }

  /** The state for a later session of this history. */
  get memory(): SentMemory {
    const { idleMs, staleReasoningFrom } = this;
    const lostEntries = this.#lostEntries;
    return {
      entries: this.#sentEntries,
      intactEntries: this.#intactEntries,
      idleMs: Number.isFinite(idleMs) ? idleMs : null,
      reclaimedTokens: this.#reclaimedTokens,
      ...(!this.#isCached && { isCached: false }),
      ...(staleReasoningFrom < Infinity && { staleReasoningFrom }),
      ...(lostEntries > 0 && { lostEntries }),
    };
  }

  /**
   * Notes an edit that has just landed.
   *
   * @param intactEntries length of the prefix that the edit has not changed
   * @param leavesReasoning whether reasoning behind that prefix stays, although its own prefix has changed
   */
  noteEdit(intactEntries: number, leavesReasoning: boolean): void {
    const isLeft = leavesReasoning && intactEntries < this.#intactEntries;
    // Stale reasoning that an earlier edit has left may have moved to lower indices.
    if (isLeft || this.#staleReasoningFrom < Infinity)
      this.#staleReasoningFrom = Math.min(this.#staleReasoningFrom, intactEntries);
    this.#intactEntries = Math.min(this.#intactEntries, intactEntries);
  }

  /**
   * Notes how many tokens an edit has removed, once they are counted.
   *
   * @param revision that of the history after the edit: ignored if the history was rewritten or cleared since
   */
  noteReclaimed(tokens: number, revision: number): void {
    if (revision === this.#history.revision) this.#reclaimedTokens += tokens;
  }

  /** Notes that the present history is being sent. @param isCached whether the request is long enough to be cached */
  endPreflight(isCached: boolean = true): void {
    this.#isCached = isCached;
    this.#lostEntries = 0;
    this.#sentEntries = this.#history.length;
    this.#intactEntries = this.#history.length;
    // If the model was named only now, earlier requests went to the same model.
    if (this.#history.modelName !== undefined) this.#sentAtMsByModel.delete(undefined);
    if (this.#sentAtMsByModel.size >= MAX_MODELS) this.#sentAtMsByModel.clear();
    this.#sentAtMsByModel.set(this.#history.modelName, this.#now());
  }

  /**
   * Notes the calls that the host has made since without a preflight, as those of a turn that it shows only when it is over: whatever
   * an answer follows was sent. They were made at the last answer's `timestamp`, or if it has none, at once.
   */
  noteOtherCalls(): void {
    if (this.idleMs === Infinity || this.isRewritten || this.isLost) return;
    const entries = this.#history.getRawHistory();
    let answer = entries.length - 1;
    while (answer > this.#sentEntries && !beginsAnswer(entries, answer)) answer -= 1;
    if (answer <= this.#sentEntries) return;
    this.#sentEntries = answer;
    this.#intactEntries = answer;
    const { timestamp = 0 } = entries[answer]?.metadata ?? {};
    const idleMs = Math.max(0, Date.now() - timestamp);
    if (idleMs < this.idleMs)
      this.#sentAtMsByModel.set(this.#history.modelName, this.#now() - idleMs);
  }

  /** Forgets what was sent: the history was cleared, or no cache holds anything of it. */
  startOver(): void {
    this.#sentEntries = 0;
    this.#intactEntries = 0;
    this.#lostEntries = 0;
    this.#sentAtMsByModel.clear();
    this.#reclaimedTokens = 0;
    this.#staleReasoningFrom = Infinity;
  }
}

/** A request compared with the previously reported one. */
export interface CacheRead {
  /** All input tokens of the previous request. */
  readonly formerTokens: number;
  /** All input tokens of this request. */
  readonly inputTokens: number;
  readonly readTokens: number;
  /** Milliseconds between the two requests. */
  readonly elapsedMs: number;
  readonly ttlMs: number;
  /** Whether an edit has rewritten what the previous request held. */
  readonly isRewritten: boolean;
  readonly price: ModelPrice | undefined;
  readonly reason?: string | undefined;
}

/**
 * Reading less than this share of the expected tokens is a miss. The tokens after a request's last cache mark are never read.
 */
const MIN_READ_SHARE = 0.5;

/** The highest minimum prompt length for caching among known models; assumed for the others. */
const HIGHEST_MIN_CACHED_TOKENS = 4_096;

/** Maximum length of a reported miss reason, in characters. */
export const MAX_REASON_LENGTH = 200;

/** Returns the cache miss of a request, or `null` if it read about what was expected, or nothing can have been cached. */
export function judgeCacheRead(read: CacheRead): CacheMissedEvent | null {
  const { formerTokens, inputTokens, readTokens, price, ttlMs, reason } = read;
  if (ttlMs === 0) return null;
  const expectedTokens = Math.min(formerTokens, inputTokens);
  if (expectedTokens < (price?.leastCachedTokens ?? HIGHEST_MIN_CACHED_TOKENS)) return null;
  if (readTokens >= expectedTokens * MIN_READ_SHARE) return null;
  const miss = { expectedTokens, readTokens, cause: causeOf(read) };
  return reason === undefined ? miss : { ...miss, reason };
}

/** Expiry comes first: once the cache has expired, an edit invalidates nothing. */
function causeOf({ elapsedMs, ttlMs, isRewritten }: CacheRead): CacheMissCause {
  if (elapsedMs >= ttlMs) return 'expired';
  return isRewritten ? 'edit' : 'changed-request';
}

/** Whether a model caches implicitly, without guarantees: cache writes cost no extra, or its price is unknown. */
export function isCacheImplicit(price: ModelPrice | undefined): boolean {
  return price === undefined || price.cacheWrite <= price.input;
}

const REPORT_CHECKS: Checks<UsageReport> = {
  // Required, so it is checked below.
  inputTokens: null,
  modelName: null,
  cacheReadTokens: assertTokens,
  cacheMissReason: (name, value) => {
    assertString(name, value);
    if (value.length > MAX_REASON_LENGTH)
      throw new RangeError(`Expected ${name} of at most ${MAX_REASON_LENGTH} characters.`);
  },
};

/**
 * Returns a validated copy of a usage report. Reads each field once.
 *
 * @throws TypeError or RangeError for a field that is unknown or cannot be read, invalid token counts, more cache reads than
 *   input, or a reason that is too long.
 */
export function checkedReport(given: UsageReport): UsageReport {
  const report = readOptions('report of usage', given, REPORT_CHECKS);
  const { inputTokens, cacheReadTokens = 0 } = report;
  assertTokens('inputTokens', inputTokens);
  if (cacheReadTokens <= inputTokens) return report;
  throw new RangeError(
    `Expected cacheReadTokens of at most the ${inputTokens} of the input, got ${cacheReadTokens}.`,
  );
}

interface FormerRequest {
  readonly inputTokens: number;
  readonly sentTo: string | undefined;
  readonly answeredBy: string | undefined;
  /** If no usage was reported for this request, the value of `history.additions` when it was sent: it may not have been answered. */
  readonly additions?: number;
}

type SinceFormer = Pick<CacheRead, 'elapsedMs' | 'ttlMs' | 'isRewritten'>;

const JUST_REPORTED: SinceFormer = { elapsedMs: 0, ttlMs: Infinity, isRewritten: false };

interface CachedSession {
  readonly history: HistoryService;
  readonly sent: SentHistory;
  readonly cache: CacheTerms;
}

/** Detects cache misses by comparing each reported request of a session with the previous one. */
export class CacheMisses {
  readonly #session: CachedSession;
  #former: FormerRequest | undefined;
  /** Accumulated since the last reported request. */
  #since: SinceFormer = JUST_REPORTED;
  /** The request that is still waiting for its report. */
  #unreported: { readonly sentTo: string | undefined } | undefined;
  #missesInARow = 0;
  /** Whether the present model has ever read from a cache. */
  #hasRead = false;

  /** @param former the last request if another process made it, with its estimated input tokens */
  constructor(session: CachedSession, former?: ContextGauge['sentRequest']) {
    this.#session = session;
    if (former === undefined) return;
    const { modelName, ...request } = former;
    this.#former = { ...request, sentTo: modelName, answeredBy: modelName };
  }

  /** Must be called before `SentHistory.endPreflight`, which resets the facts about the previous request. */
  endPreflight(): void {
    const { sent, history, cache } = this.#session;
    const { idleMs, isRewritten } = sent;
    // The history was never sent: it is new or was cleared.
    if (idleMs === Infinity) this.#former = undefined;
    // A request without an answer is in no cache.
    const { additions } = this.#former ?? {};
    if (additions !== undefined && answersSince({ additions }, history) === 0)
      this.#former = undefined;
    this.#since = {
      elapsedMs: this.#since.elapsedMs + idleMs,
      ttlMs: cache.ttlMs,
      isRewritten: this.#since.isRewritten || isRewritten,
    };
    this.#unreported = { sentTo: history.modelName };
  }

  /** Takes a validated report of the request that the gauge remembers. Returns its cache miss if it should be emitted, else `null`. */
  report(usage: UsageReport): CacheMissedEvent | null {
    const { inputTokens, modelName, cacheReadTokens, cacheMissReason } = usage;
    if (this.#unreported === undefined) return null;
    const [former, since] = [this.#former, this.#since];
    const sentTo = this.#unreported.sentTo ?? modelName;
    const request = { inputTokens, sentTo, answeredBy: modelName ?? sentTo };
    this.#former = request;
    this.#unreported = undefined;
    this.#since = JUST_REPORTED;
    const isComparable = former !== undefined && isSameModel(former, request);
    if (!isComparable) this.#hasRead = false;
    this.#hasRead ||= (cacheReadTokens ?? 0) > 0;
    if (!isComparable || cacheReadTokens === undefined) {
      this.#missesInARow = 0;
      return null;
    }
    const { price } = this.#session.cache;
    // A read of 0 tokens is a miss only if there is a cache at all: many local servers have none.
    const isCached = this.#hasRead || (price !== undefined && price.cacheRead < price.input);
    const missed = judgeCacheRead({
      ...since,
      formerTokens: former.inputTokens,
      inputTokens,
      price,
      readTokens: cacheReadTokens,
      reason: cacheMissReason,
    });
    this.#missesInARow = missed === null ? 0 : this.#missesInARow + 1;
    const isSure = isCached && (!isCacheImplicit(price) || this.#missesInARow > 1);
    return isSure || cacheMissReason !== undefined ? missed : null;
  }
}

function isSameModel(one: FormerRequest, other: FormerRequest): boolean {
  return one.sentTo === other.sentTo && one.answeredBy === other.answeredBy;
}
