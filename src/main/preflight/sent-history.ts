// Remembers what of a session's history was sent, when, and what of that still stands. Sees no entry:
// it is told of each rewrite, and takes one that it was not told of for another history.

import type { HistoryService } from '../history-service.js';
import type { SentMemory } from '../state/session-state.js';

/** A rewrite of a history by an edit of a preflight. */
export interface Rewrite {
  /** The history's revision before it. */
  readonly fromRevision: number;
  readonly toRevision: number;
  /** Entries from the start that stand as they stood before. */
  readonly intactEntries: number;
  /** Tokens that the history lost by it. */
  readonly reclaimedTokens: number;
}

export interface SentHistoryOptions {
  readonly history: Pick<HistoryService, 'revision' | 'length'>;
  /** How long a provider's cache lasts after a request, in milliseconds. */
  readonly cacheTtlMs: () => number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  /** Whether others have sent the history as it stands. @default false */
  readonly isTakenUp?: boolean | undefined;
  /** What a former session of the history remembered. @default nothing was sent */
  readonly former?: SentMemory | undefined;
}

/** What the last preflight made ready to be sent, as far as it stands. */
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

  constructor({ history, cacheTtlMs, now, isTakenUp = false, former }: SentHistoryOptions) {
    this.#history = history;
    this.#cacheTtlMs = cacheTtlMs;
    this.#now = now;
    this.#revision = history.revision;
    if (isTakenUp) this.preflightCloses();
    if (former === undefined) return;
    this.#sentEntries = former.entries;
    this.#intactEntries = Math.min(former.intactEntries, history.length);
    this.#reclaimedTokens = former.reclaimedTokens;
    if (former.idleMs !== null) this.#sentAtMs = now() - former.idleMs;
  }

  /** Entries from the start of the history that stand as they were sent last. */
  get intactEntries(): number {
    this.#catchUp(this.#history.revision);
    return this.#intactEntries;
  }

  /** Whether any entry that was sent has been edited since, or one before it. */
  get isRewritten(): boolean {
    return this.intactEntries < this.#sentEntries;
  }

  /** Whether a provider has forgotten what was sent last, or nothing was. */
  get isExpired(): boolean {
    return this.idleMs >= this.#cacheTtlMs();
  }

  /** The same, or whether that was too short to be cached. */
  get isCacheCold(): boolean {
    return !this.#isCached || this.isExpired;
  }

  /** Milliseconds since the history was sent last; `Infinity` when it never was. */
  get idleMs(): number {
    this.#catchUp(this.#history.revision);
    return this.#now() - this.#sentAtMs;
  }

  /** Tokens that the history would have besides, had no edit ever landed. */
  get reclaimedTokens(): number {
    this.#catchUp(this.#history.revision);
    return this.#reclaimedTokens;
  }

  /** What the next session of the history has to know. */
  get memory(): SentMemory {
    const { idleMs } = this;
    return {
      entries: this.#sentEntries,
      intactEntries: this.#intactEntries,
      // What was not cached is as good as never sent.
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

  /** Notes that the history is sent now as it stands. @param isCached whether the request is long enough for that */
  preflightCloses(isCached: boolean = true): void {
    this.#isCached = isCached;
    this.#catchUp(this.#history.revision);
    this.#sentEntries = this.#history.length;
    this.#intactEntries = this.#history.length;
    this.#sentAtMs = this.#now();
  }

  /** A history that somebody else rewrote (cleared, that is) was never sent. */
  #catchUp(revision: number): void {
    if (revision === this.#revision) return;
    this.#revision = revision;
    this.#sentEntries = 0;
    this.#intactEntries = 0;
    this.#sentAtMs = -Infinity;
    this.#reclaimedTokens = 0;
  }
}
