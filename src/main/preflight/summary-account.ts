// What became of a conversation's summaries, in whatever process: how many landed, how many were paid for in vain, and the one
// that another process has asked for.

import type { HistoryService } from '../history-service.js';
import type { AskedSummary, SummaryCounts, SummaryMemory } from '../state/session-state.js';
import { DEFAULT_SUMMARIZER_TIMEOUT_MS } from '../summarizer/summarizer.js';

/** After so long, a summary that another process has requested is not waited for. */
const LOST_AFTER_MS = DEFAULT_SUMMARIZER_TIMEOUT_MS;

/** The account of the summaries of one session. */
export class SummaryAccount {
  readonly #history: Pick<HistoryService, 'journal'>;
  #landed: number;
  /** Without the one that another process has asked for. */
  #thrownAway: number;
  /** What another process has asked for, and makes or made. */
  #asked: AskedSummary | undefined;

  constructor(
    history: Pick<HistoryService, 'journal'>,
    { landed = 0, thrownAway = 0, asked }: Partial<SummaryMemory> = {},
  ) {
    this.#history = history;
    this.#landed = landed;
    this.#thrownAway = Math.max(0, asked === undefined ? thrownAway : thrownAway - 1);
    this.#asked = asked;
  }

  get counts(): SummaryCounts {
    const isLost = this.#asked !== this.askedElsewhere;
    return { landed: this.#landed, thrownAway: this.#thrownAway + (isLost ? 1 : 0) };
  }

  /**
   * Returns what a later session of this history remembers.
   *
   * @param own what this process has asked for: a summary that is being made dies with the process
   */
  memory(own: AskedSummary | undefined): SummaryMemory {
    const asked = own ?? this.askedElsewhere;
    const { landed, thrownAway } = this.counts;
    return asked === undefined
      ? { landed, thrownAway }
      : { landed, thrownAway: thrownAway + 1, asked };
  }

  /** What another process has asked for, unless it is lost: after an edit it cannot land, and that process may have ended. */
  get askedElsewhere(): AskedSummary | undefined {
    const asked = this.#asked;
    if (asked?.edits !== this.#history.journal.count) return undefined;
    // A time to come was told by a clock that has been set back since, or by another host.
    return Math.abs(Date.now() - asked.at) < LOST_AFTER_MS ? asked : undefined;
  }

  /** Whether what this process has asked for is what the other one waits for. */
  isAwaited({ entries, edits, at }: AskedSummary): boolean {
    const isSame = this.#asked?.entries === entries && this.#asked.at === at;
    return isSame && edits === this.#history.journal.count;
  }

  /** This process makes, or has, what the other one has asked for. */
  takeOver(): void {
    this.#asked = undefined;
  }

  /** Another summary takes the place of the one that was asked for elsewhere, which counts as thrown away if it is lost. */
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
