// Turns as agents have them: entries arrive one after another, then the history is prepared for sending.

import { setTimeout as delay } from 'node:timers/promises';
import { createCompactor } from '../../src/index.js';
import type { Compactor, IContent, Session } from '../../src/index.js';
import { check } from './check.js';
import { timeThread } from './main-thread.js';
import type { ThreadTime } from './main-thread.js';
import { ENDLESS_CONTEXT } from './sessions.js';

export const ENTRIES_PER_TURN = 5;

/** Options for measured preflights: each makes its edit and leaves nothing for a later one. */
export const EDITS_EVERY_TURN = { edits: 'every-turn' } as const;

/** Between two entries, so that each has its own macrotask and its own message to the worker. */
const BETWEEN_ENTRIES_MS = 2;

/** After a preflight: long enough to send its edit and to read the reply. */
const AFTERMATH_MS = 10;

/** Plays turns on a session. */
export class TurnPlayer {
  readonly #session: Session;
  readonly #following: readonly IContent[];
  #next = 0;
  /** For each preflight, how many entries were added before it. */
  readonly #windows: number[] = [];

  /** @param following the entries that the turns add */
  constructor(session: Session, following: readonly IContent[]) {
    this.#session = session;
    this.#following = following;
  }

  /** The entries added so far. */
  get added(): readonly IContent[] {
    return this.#following.slice(0, this.#next);
  }

  /** Adds the entries of a turn, each in its own macrotask. */
  async arrive(): Promise<void> {
    for (let entry = 0; entry < ENTRIES_PER_TURN; entry += 1) {
      if (entry > 0) await delay(BETWEEN_ENTRIES_MS);
      this.#session.history.addAll(this.#take(1));
    }
  }

  /** Adds the entries of a turn at once. */
  arriveTogether(): void {
    this.#session.history.addAll(this.#take(ENTRIES_PER_TURN));
  }

  /** Opens the preflight. Returns the milliseconds until it has answered. */
  async window(): Promise<number> {
    this.#windows.push(this.#next);
    const startedAt = performance.now();
    await this.#session.ensureCompressionBeforeSend(`turn ${this.#next}`);
    const wallMs = performance.now() - startedAt;
    check(!this.#session.densityDirty, 'the window left the history dirty');
    return wallMs;
  }

  /** A turn whose preflight directly follows the last entry. */
  async turn(): Promise<number> {
    await this.arrive();
    return this.window();
  }

  /**
   * Plays the same turns on an inline session, and returns it. One pass over all entries would give another result, because what
   * is left of a result depends on the history at the time of its edit.
   *
   * @param compactor one with `offload: 'inline'`
   * @param history the entries before the first turn
   */
  async replay(compactor: Compactor, history: readonly IContent[]): Promise<Session> {
    const session = await compactor.createSession({ history, ...EDITS_EVERY_TURN });
    let next = 0;
    for (const end of this.#windows) {
      session.history.addAll(this.#following.slice(next, end));
      next = end;
      await session.ensureCompressionBeforeSend(`turn ${end}`);
    }
    return session;
  }

  #take(entries: number): readonly IContent[] {
    const taken = this.#following.slice(this.#next, this.#next + entries);
    check(taken.length === entries, 'there are too few entries for the turns');
    this.#next += entries;
    return taken;
  }
}

/** A compactor for `TurnPlayer.replay`. Estimates tokens, since no edit depends on them. */
export function inlineCompactor(): Compactor {
  const options = { offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/w' } as const;
  return createCompactor({ ...options, contextLimit: ENDLESS_CONTEXT });
}

/** Waits like the entries of a turn do. */
export async function waitAsInTurn(): Promise<void> {
  for (let entry = 1; entry < ENTRIES_PER_TURN; entry += 1) await delay(BETWEEN_ENTRIES_MS);
}

/** Times a turn including the work that it triggers after its preflight. Ignore the wall time. */
export function timeTurn(turn: () => Promise<unknown>): Promise<ThreadTime> {
  return timeThread(async () => {
    await turn();
    await delay(AFTERMATH_MS);
  });
}

/** Checks that no work of the workers failed. */
export function checkNoFailures(compactor: Compactor): void {
  const { fallbacks, failures } = compactor.stats();
  check(fallbacks === 0 && failures === 0, `workers failed ${failures} times`);
}
