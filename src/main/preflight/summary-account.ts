// What became of a conversation's summaries across processes: how many landed, how many were paid for in vain, and the one that
// another process has requested.

import type { HistoryService } from '../history-service.js';
import type { Journal } from '../state/journal.js';
import type { AskedSummary, SummaryCounts, SummaryMemory } from '../state/session-state.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS } from '../summarizer/summarizer.js';

/** A summary that another process has requested counts as lost after this time. */
const LOST_AFTER_MS = DEFAULT_SUMMARIZER_TIMEOUT_MS;

/** Counts the summaries of one conversation. */
export class SummaryAccount {
  readonly #history: Pick<HistoryService, 'journal'>;
  /** Replaced when the history is cleared, which voids what was requested for it. */
  readonly #journal: Journal;
  #landed: number;
  /** Does not include the summary in `#asked`. */
  #thrownAway: number;
  /** The summary that another process has requested, finished or not. */
  #asked: AskedSummary | undefined;

  constructor(
    history: Pick<HistoryService, 'journal'>,
    { landed = 0, thrownAway = 0, asked }: Partial<SummaryMemory> = {},
  ) {
    this.#history = history;
    this.#journal = history.journal;
    this.#landed = landed;
    this.#thrownAway = Math.max(0, asked === undefined ? thrownAway : thrownAway - 1);
    this.#asked = asked;
  }

  get counts(): SummaryCounts {
    const isLost = this.#asked !== this.askedElsewhere;
    return { landed: this.#landed, thrownAway: this.#thrownAway + (isLost ? 1 : 0) };
  }

  /**
   * Returns the state for a later session of this history. A requested summary already counts as thrown away in it, because an
   * unfinished summary is lost if its process ends.
   *
   * @param own the summary that this process has requested
   */
  memory(own: AskedSummary | undefined): SummaryMemory {
    const asked = own ?? this.askedElsewhere;
    const { landed, thrownAway } = this.counts;
    return asked === undefined
      ? { landed, thrownAway }
      : { landed, thrownAway: thrownAway + 1, asked };
  }

  /** The summary that another process has requested, unless lost: an edit voids it, and after a timeout that process may have ended. */
  get askedElsewhere(): AskedSummary | undefined {
    const asked = this.#asked;
    const { journal } = this.#history;
    if (journal !== this.#journal || asked?.edits !== journal.count) return undefined;
    // `Math.abs`: a time in the future comes from a clock that was set back since, or from another host's clock.
    return Math.abs(Date.now() - asked.at) < LOST_AFTER_MS ? asked : undefined;
  }

  /** Whether a summary that this process has requested is the one that the other process's state waits for. */
  isAwaited({ entries, edits, at }: AskedSummary): boolean {
    const isSame = this.#asked?.entries === entries && this.#asked.at === at;
    return isSame && edits === this.#history.journal.count;
  }

  /** Notes that this process makes, or has, the summary that the other one requested. */
  takeOver(): void {
    this.#asked = undefined;
  }

  /** Notes that this process leaves the summary that it has requested to the next one. */
  leave(asked: AskedSummary): void {
    this.replaceAsked();
    this.#asked = asked;
  }

  /** Notes that another summary replaces the one requested elsewhere, which counts as thrown away if it is lost. */
  replaceAsked(): void {
    this.#thrownAway = this.counts.thrownAway;
    this.#asked = undefined;
  }

  noteLanded(): void {
    this.#landed += 1;
  }

  noteThrownAway(): void {
    this.#thrownAway += 1;
  }
}
