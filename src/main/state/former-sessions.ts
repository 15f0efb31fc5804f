// The states of sessions that were let go, so that one which goes on with the same entries sends what they sent, where no
// store keeps them. Bounded; never holds an entry.

import type { IContent } from '../../shared/content.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { elementAt } from '../../shared/misuse.js';
import { HistoryTrace } from './history-trace.js';
import type { SessionState } from './session-state.js';

/** Characters of states that are kept: of some ten thousands of short sessions, of some hundreds of long ones. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** The former sessions of a compactor. The one that was let go first makes way. */
export class FormerSessions {
  /** As JSON, a third of what the objects take. */
  readonly #states = new Map<number, string>();
  #characters = 0;

  /** Keeps a session that was let go. */
  keep({ key }: HistoryTrace, state: SessionState): void {
    this.#delete(key);
    const json = JSON.stringify(state);
    // Has V8 put the pieces that it came in into one.
    json.charCodeAt(0);
    this.#states.set(key, json);
    this.#characters += json.length;
    for (const oldest of this.#states.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#delete(oldest);
    }
  }

  /**
   * Returns the one that goes furthest of those whose entries these begin with.
   *
   * @throws TypeError for an entry that a history cannot hold.
   */
  find(entries: readonly IContent[]): SessionState | undefined {
    if (this.#states.size === 0) return undefined;
    const trace = new HistoryTrace();
    let found: string | undefined;
    for (let at = 0; at < entries.length; at += 1) {
      const entry = elementAt('history', entries, at);
      assertIngestible(entry, at);
      trace.add(entry);
      found = this.#states.get(trace.key) ?? found;
    }
    return found === undefined ? undefined : (JSON.parse(found) as SessionState);
  }

  #delete(key: number): void {
    const state = this.#states.get(key);
    if (state !== undefined) this.#characters -= state.length;
    this.#states.delete(key);
  }
}
