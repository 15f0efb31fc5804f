// Turns as agents have them: entries arrive one after another, then the history is made ready to be sent.

import { setTimeout as delay } from 'node:timers/promises';
import { createCompactor } from '../../src/index.js';
import type { Compactor, IContent, Session } from '../../src/index.js';
import { check } from './check.js';
import { timeThread } from './main-thread.js';
import type { ThreadTime } from './main-thread.js';
import { ENDLESS_CONTEXT } from './sessions.js';

export const ENTRIES_PER_TURN = 5;

/** Options of sessions whose windows are measured: each makes its edit, and leaves nothing for a later one. */
export const EDITS_EVERY_TURN = { edits: 'every-turn' } as const;

/** Between two entries: each of them is alone in its macrotask, and in the message that tells of it. */
const BETWEEN_ENTRIES_MS = 2;

/** After a window: long enough for the edit that it made to be told, and for the answer to be read. */
const AFTERMATH_MS = 10;

/** Plays turns on a session. */
export class TurnPlayer {
  readonly #session: Session;
  readonly #following: readonly IContent[];
  #next = 0;
  /** For each window, how many entries were added before it. */
  readonly #windows: number[] = [];

  /** @param following what the turns add */
  constructor(session: Session, following: readonly IContent[]) {
    this.#session = session;
    this.#following = following;
  }

  /** What was added so far. */
  get added(): readonly IContent[] {
    return this.#following.slice(0, this.#next);
  }

  /** Adds the entries of a turn, each in a macrotask of its own. */
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
    check(!this.#session.densityDirty, 'the window left something unseen');
    return wallMs;
  }

  /** A turn with its window right behind the last entry. */
  async turn(): Promise<number> {
    await this.arrive();
    return this.window();
  }

  /**
   * Plays the same turns on a session inline, and returns it. A single pass over all entries would not do: what is left of
   * a result depends on what the history was when it was edited.
   *
   * @param compactor one with `offload: 'inline'`
   * @param history what was there before the first turn
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

/** A compactor for `TurnPlayer.replay`. It estimates tokens, on which no edit depends. */
export function inlineCompactor(): Compactor {
  const options = { offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/w' } as const;
  return createCompactor({ ...options, contextLimit: ENDLESS_CONTEXT });
}

/** Waits as long and as often as the entries of a turn do. */
export async function waitAsInTurn(): Promise<void> {
  for (let entry = 1; entry < ENTRIES_PER_TURN; entry += 1) await delay(BETWEEN_ENTRIES_MS);
}

/** Times a turn with all that it sets off, also after its window. The wall time has little to say. */
export function timeTurn(turn: () => Promise<unknown>): Promise<ThreadTime> {
  return timeThread(async () => {
    await turn();
    await delay(AFTERMATH_MS);
  });
}

/** Checks that workers did what they were meant to do. */
export function checkNoFailures(compactor: Compactor): void {
  const { fallbacks, failures } = compactor.stats();
  check(fallbacks === 0 && failures === 0, `workers failed ${failures} times`);
}
