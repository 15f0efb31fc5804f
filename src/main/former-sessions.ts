// What is kept of sessions that were let go, so that one which goes on with the same entries sends what they sent:
// a few numbers each, never an entry.

import type { IContent } from '../shared/content.js';
import { HistoryTrace } from './history-trace.js';
import type { FormerPreflights } from './preflight/replay-edits.js';

/** Sessions that are kept: some hundred bytes each. */
const MAX_FORMER_SESSIONS = 4_096;

/** The former sessions of a compactor. The one that was let go first makes way. */
export class FormerSessions {
  readonly #preflights = new Map<string, FormerPreflights>();

  /** Keeps a session that was let go. */
  keep(trace: HistoryTrace, preflights: FormerPreflights): void {
    this.#preflights.delete(trace.key);
    this.#preflights.set(trace.key, preflights);
    for (const oldest of this.#preflights.keys()) {
      if (this.#preflights.size <= MAX_FORMER_SESSIONS) break;
      this.#preflights.delete(oldest);
    }
  }

  /** Returns the one that goes furthest of those whose entries these begin with. */
  find(entries: readonly IContent[]): FormerPreflights | undefined {
    if (this.#preflights.size === 0) return undefined;
    const trace = new HistoryTrace();
    let found: FormerPreflights | undefined;
    for (const entry of entries) {
      trace.add(entry);
      found = this.#preflights.get(trace.key) ?? found;
    }
    return found;
  }
}
