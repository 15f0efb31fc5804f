// Tracks which prefix of the history was sent, when, and how much of it is still unchanged. Holds no entries: rewrites must be
// reported. An unreported revision change means that the history was replaced, which resets everything.

import type { HistoryService } from '../history-service.js';
import type { SentMemory } from '../state/session-state.js';

/** A rewrite of the history by an edit. */
export interface Rewrite {
  /** The revision before it. */
  readonly fromRevision: number;
  readonly toRevision: number;
  /** Length of the unchanged prefix. */
  readonly intactEntries: number;
  /** Tokens that the history lost. */
  readonly reclaimedTokens: number;
}

export interface SentHistoryOptions {
  readonly history: Pick<HistoryService, 'revision' | 'length'>;
  /** Lifetime of the provider's cache after a request, in milliseconds. */
  readonly cacheTtlMs: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Whether the initial history was already sent by someone else. @default false */
  readonly wasSentBefore?: boolean | undefined;
  /** The state of an earlier session of this history. @default nothing was sent */
  readonly former?: SentMemory | undefined;
}

/** What the last preflight prepared, as far as it is unchanged. */
export class SentHistory {
  readonly #history: SentHistoryOptions['history'];
  readonly #cacheTtlMs: () => number;
  readonly #now: () => number;
  #revision: number;
  #sentEntries = 0;
  #intactEntries = 0;
  #sentAtMs = -Infinity;
  #isCached = true;
  #reclaimedTokens = 0;

  constructor({ history, cacheTtlMs, now, wasSentBefore = false, former }: SentHistoryOptions) {
    this.#history = history;
    this.#cacheTtlMs = cacheTtlMs;
    this.#now = now;
    this.#revision = history.revision;
    if (wasSentBefore) this.preflightCloses();
    if (former === undefined) return;
    this.#sentEntries = former.entries;
    this.#intactEntries = Math.min(former.intactEntries, history.length);
    this.#reclaimedTokens = former.reclaimedTokens;
    if (former.idleMs !== null) this.#sentAtMs = now() - former.idleMs;
  }

  /** Length of the prefix that is unchanged since it was last sent. */
  get intactEntries(): number {
    this.#catchUp(this.#history.revision);
    return this.#intactEntries;
  }

  /** Whether any sent entry was edited since. */
  get isRewritten(): boolean {
    return this.intactEntries < this.#sentEntries;
  }

  /** Whether the provider's prompt cache has expired, or nothing was sent yet. */
  get isExpired(): boolean {
    return this.idleMs >= this.#cacheTtlMs();
  }

  /** Whether the cache holds nothing: it has expired, or the last request was too short to be cached. */
  get isCacheCold(): boolean {
    return !this.#isCached || this.isExpired;
  }

  /** Milliseconds since the history was last sent; `Infinity` if it never was. */
  get idleMs(): number {
    this.#catchUp(this.#history.revision);
    return this.#now() - this.#sentAtMs;
  }

  /** Tokens that edits have removed so far. */
  get reclaimedTokens(): number {
    this.#catchUp(this.#history.revision);
    return this.#reclaimedTokens;
  }

  /** The state for a later session of this history. */
  get memory(): SentMemory {
    const { idleMs } = this;
    return {
      entries: this.#sentEntries,
      intactEntries: this.#intactEntries,
      // What was not cached counts as never sent.
      idleMs: Number.isFinite(idleMs) && this.#isCached ? idleMs : null,
      reclaimedTokens: this.#reclaimedTokens,
    };
  }

  noteRewrite({ fromRevision, toRevision, intactEntries, reclaimedTokens }: Rewrite): void {
    this.#catchUp(fromRevision);
    this.#revision = toRevision;
    this.#intactEntries = Math.min(this.#intactEntries, intactEntries);
    this.#reclaimedTokens += reclaimedTokens;
  }

  /** Notes that the present history is being sent. @param isCached whether the request is long enough to be cached */
  preflightCloses(isCached: boolean = true): void {
    this.#isCached = isCached;
    this.#catchUp(this.#history.revision);
    this.#sentEntries = this.#history.length;
    this.#intactEntries = this.#history.length;
    this.#sentAtMs = this.#now();
  }

  /** After an unreported rewrite (`clear`), nothing of the history was ever sent. */
  #catchUp(revision: number): void {
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#sentEntries = 0;
    this.#intactEntries = 0;
    this.#sentAtMs = -Infinity;
    this.#reclaimedTokens = 0;
  }
}
