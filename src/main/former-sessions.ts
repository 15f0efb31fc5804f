// What is kept of sessions that were let go, so that one which goes on with the same entries sends what they sent:
// a few numbers each, never an entry.

import type { IContent } from '../shared/content.js';
import { HistoryTrace } from './history-trace.js';
import type { FormerWindows } from './pre-send/replay-edits.js';

/** Sessions that are kept: some hundred bytes each. */
const MAX_FORMER_SESSIONS = 4_096;

/** The former sessions of a compactor. The one that was let go first makes way. */
export class FormerSessions {
  readonly #windows = new Map<string, FormerWindows>();

  /** Keeps a session that was let go. */
  keep(trace: HistoryTrace, windows: FormerWindows): void {
    this.#windows.delete(trace.key);
    this.#windows.set(trace.key, windows);
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= MAX_FORMER_SESSIONS) break;
      this.#windows.delete(oldest);
    }
  }

  /** Returns the one that goes furthest of those whose entries these begin with. */
  find(entries: readonly IContent[]): FormerWindows | undefined {
    if (this.#windows.size === 0) return undefined;
    const trace = new HistoryTrace();
    let found: FormerWindows | undefined;
    for (const entry of entries) {
      trace.add(entry);
      found = this.#windows.get(trace.key) ?? found;
    }
    return found;
  }
}
