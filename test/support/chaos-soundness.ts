// Invariants of every session in a chaos run, whatever fails and whenever edits land.

import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createCompactor } from '../../src/main/compactor.js';
import type { Session } from '../../src/main/session.js';
import type { SessionState } from '../../src/main/state/session-state.js';
import type { StateStore } from '../../src/main/state/state-store.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { findViolations } from '../../src/shared/validity.js';

/** Deadline for reporting an edit, generous for a machine that is busy with dying threads. */
const LATEST_MS = 10_000;

/** Follows a session from window to window. */
export class Soundness {
  readonly #session: Session;
  /** All entries added since the history was cleared. */
  #given: IContent[];
  #former: readonly IContent[] = [];
  #revision: number;
  #isTold = false;
  /** Whether new entries may be missing too. */
  #isCut = false;
  #checked = 0;

  constructor(session: Session, given: readonly IContent[]) {
    this.#session = session;
    this.#given = [...given];
    this.#revision = session.history.revision;
    const note = (): void => void (this.#isTold = true);
    session.on('pruned', note);
    session.on('fitted', () => {
      this.#isTold = this.#isCut = true;
    });
    session.on('compressed', ({ outcome, isAhead = false }) => {
      if (outcome !== 'applied') return;
      note();
      this.#isCut ||= !isAhead;
    });
  }

  add(entries: readonly IContent[]): void {
    this.#given.push(...entries);
  }

  clear(): void {
    this.#checked = 0;
    this.#given = [];
    this.#former = [];
    this.#revision = this.#session.history.revision;
  }

  /** Waits until the edit of an aborted call is reported: its preflight continues to its next step. */
  async whenTold(): Promise<void> {
    const endsAt = performance.now() + LATEST_MS;
    const { history } = this.#session;
    while (history.revision !== this.#revision && !this.#isTold && performance.now() < endsAt)
      await delay(5);
  }

  /** Yields what is wrong with the next request. */
  *findFaults(): Generator<string> {
    const { history } = this.#session;
    const sent = [...history.getRawHistory()];
    const isEdited = history.revision !== this.#revision;
    if (isEdited && !this.#isTold) yield 'nobody was told of an edit';
    if (!isEdited) {
      const at = this.#former.findIndex((entry, index) => entry !== sent[index]);
      if (at !== -1) yield `entry ${at} is another one, though no edit has landed`;
      const fresh = this.#given.slice(this.#given.length - (sent.length - this.#former.length));
      if (sent.slice(this.#former.length).some((entry, index) => entry !== fresh[index]))
        yield 'what was added is not what follows';
    }
    const places = new Map(this.#given.map((entry, at) => [entry, at]));
    let last = -1;
    for (const entry of sent) {
      const place = places.get(entry);
      if (place === undefined) continue;
      if (place <= last) yield `entry ${place} follows entry ${last}`;
      last = place;
    }
    const fresh = this.#given.slice(this.#checked).filter(({ blocks }) => blocks.every(isSaid));
    if (!this.#isCut && fresh.some((entry) => !sent.includes(entry)))
      yield 'what was said since the last request is gone';
    if (findViolations(sent).length > findViolations(this.#given).length)
      yield 'calls and results do not match';
    this.#former = sent;
    this.#revision = history.revision;
    this.#isTold = this.#isCut = false;
    this.#checked = this.#given.length;
  }

  /**
   * Yields what is wrong with the request of another process that resumes the session's state.
   *
   * @param store where the state was saved reliably, by the session's id; otherwise it is passed directly
   */
  async *findFaultsOfNext(store: StateStore | undefined): AsyncGenerator<string> {
    const { history, sessionId } = this.#session;
    const state = JSON.parse(JSON.stringify(this.#session.snapshot())) as SessionState;
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', store });
    const next = await compactor.createSession({
      history: structuredClone(this.#given),
      ...(store === undefined ? { state } : { sessionId }),
    });
    const [found, expected] = [next.history.getRawHistory(), history.getRawHistory()];
    const at = expected.findIndex((entry, index) => !isDeepStrictEqual(entry, found[index]));
    if (at !== -1 || found.length !== expected.length)
      yield `from its state, entry ${at} of ${found.length} (${expected.length}) is another one`;
    if (next.costs().requests !== this.#session.costs().requests)
      yield 'its state has another number of requests';
  }
}

/** Whether a block is text, which no edit touches. */
function isSaid(block: ContentBlock): boolean {
  return block.type === 'text' && !block.text.includes('@');
}
