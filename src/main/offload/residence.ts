// One stay of a session's history in a worker: its line, what was posted on it, and what the worker
// knows by now. Ends as a whole when anything about it fails; whether there is another one is not its business.

import type { IContent } from '../../shared/content.js';
import { isSameBase } from '../../shared/density.js';
import type { DensityBase, PassSettings } from '../../shared/density.js';
import type { IndexedAgent } from '../../shared/density/index/index-scope.js';
import { isSamePass, passSettingsOf } from '../../shared/density/rules/density-rules.js';
import { shrinkSettingsOf } from '../../shared/density/rules/shrink.js';
import { asError, WorkerPoolError } from '../../shared/errors.js';
import type {
  CompressionRequest,
  PlannedCompression,
  PlannedPass,
  ResidentOptions,
} from '../../shared/resident-protocol.js';
import type { HistoryChange, HistoryState } from '../history-change.js';
import { clearImmediate, setImmediate } from '../waiting/immediate.js';
import { MAX_BATCH_CHARACTERS, MAX_BATCH_ENTRIES } from './count-batches.js';
import { DeltaQueue } from './delta-queue.js';
import { DrawnParcels } from './drawn-parcels.js';
import type { CountingThreads, DrawnParcel } from './drawn-parcels.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import type { OffloadMeter } from './offload-meter.js';
import { releasePacked } from './pack-entries.js';
import type { ResidentLine } from './resident-line.js';

/** A line as a session uses it. */
export type SessionLine = Pick<
  ResidentLine,
  'receive' | 'plan' | 'compress' | 'isBusy' | 'isClosed' | 'close'
>;

/** What a history is kept resident for. */
export interface ResidenceOptions {
  readonly agent: IndexedAgent;
  /** Whether the worker counts tokens, or the session does by a way of its own. */
  readonly countsTokens: boolean;
  /** The settings that the next pass will probably have. */
  readonly passSettings: () => PassSettings;
  readonly meter: OffloadMeter;
  /** Opens the line. */
  readonly open: (options: ResidentOptions) => Promise<SessionLine>;
  readonly counting: CountingThreads;
  /** Told whenever something is posted. */
  readonly onPost: () => void;
  /** Told whenever the worker has answered. */
  readonly onAnswer: () => void;
  /** Told of the counts of entries that came in. */
  readonly onArrival: (staged: readonly IContent[], tokens: Int32Array) => void;
  /** Told of a pass that is at hand now. */
  readonly onPass: (pass: PlannedPass, settings: PassSettings) => void;
  /** Told once when the residence has failed. */
  readonly onLoss: (error: Error) => void;
}

/** Text that is posted and not acknowledged: beyond it, the rest waits in the queue, where it costs no memory. */
const MAX_UNACKNOWLEDGED_CHARACTERS = 4 * MAX_BATCH_CHARACTERS;

interface StandingPass {
  readonly settings: PassSettings;
  readonly pass: PlannedPass;
}

/** A question for a pass that is under way. */
interface Question {
  readonly base: DensityBase;
  readonly pass: PassSettings;
  readonly answer: Promise<PlannedPass | undefined>;
}

/** A history's stay in a worker, from the opening of its line. */
export class Residence {
  readonly #options: ResidenceOptions;
  readonly #queue: DeltaQueue;
  #line: SessionLine | undefined;
  #hasEnded = false;
  #unacknowledgedCharacters = 0;
  readonly #drawn: DrawnParcels;
  /** Who wait for a plan. */
  #waiting = 0;
  /** Ends when the newest delta is answered, or everything is lost. Never rejects. */
  #newest: Promise<void>;
  #standing: StandingPass | undefined;
  /** Whether entries were added since a pass was asked for. */
  #isUnplanned = false;
  #asked: Question | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  /** What is more urgent for the threads than what waits here. */
  #holds = 0;

  /** @param length entries of the history that are told by the opening; others will be pushed */
  constructor(options: ResidenceOptions, state: HistoryState, length: number) {
    this.#options = options;
    const { countsTokens, passSettings, meter, counting, onArrival } = options;
    this.#queue = new DeltaQueue(
      state,
      length,
      countsTokens,
      () => shrinkSettingsOf(passSettings().shrink) !== undefined,
    );
    this.#drawn = new DrawnParcels({
      ...{ queue: this.#queue, meter, onArrival },
      threads: countsTokens ? counting : undefined,
      onChange: () => {
        this.#schedule();
      },
    });
    this.#newest = this.#open(state.base.length);
  }

  /** Whether nothing is under way, so that it could end now without loss. */
  get isIdle(): boolean {
    return this.#line !== undefined && !this.#line.isBusy && this.#isAllPosted;
  }

  /** Finds out whether the line died while nothing was under way, which nobody was told of then. */
  checkLine(): void {
    if (this.#line?.isClosed !== true) return;
    this.#lose(new WorkerPoolError('The thread of a resident history died.', 'WORKER_DIED'));
  }

  /** Queues a change, which leaves with all others of this macrotask. Returns the entries that come in. */
  push(change: HistoryChange, state: HistoryState): readonly IContent[] {
    const comingIn = this.#queue.push(change, state);
    this.#schedule();
    return comingIn;
  }

  /** Posts what waits, a message at a time with a turn of the event loop between. */
  postQueued(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#hasEnded) return;
    const isDrawn = this.#drawn.draw(this.#mayPost);
    const isPosted = this.#postNext();
    if ((isDrawn || isPosted) && !this.#isAllPosted) this.#schedule();
  }

  /**
   * Has threads do something first that a preflight waits for: an edit that is taken in meanwhile would have it wait for all rows
   * to be renumbered. Whoever asks for what is posted has it posted all the same.
   */
  async holdFor<Value>(run: () => Promise<Value>): Promise<Value> {
    this.#holds += 1;
    try {
      return await run();
    } finally {
      this.#holds -= 1;
      if (!this.#hasEnded && !this.#isAllPosted) this.#schedule();
    }
  }

  /** The pass on the state of a base, if it is here. */
  standingPass(base: DensityBase, settings: PassSettings): PlannedPass | undefined {
    const standing = this.#standing;
    if (standing === undefined || !isSameBase(standing.pass.base, base)) return undefined;
    return isSamePass(standing.settings, settings) ? standing.pass : undefined;
  }

  /**
   * Waits for the pass on the state of a base, which has been pushed; `undefined` when that would
   * take long, or the residence has ended.
   */
  async passOn(base: DensityBase, settings: PassSettings): Promise<PlannedPass | undefined> {
    this.postQueued();
    if (this.#hasEnded || this.#queue.length > MAX_BATCH_ENTRIES) return undefined;
    await this.#whenDrawnArePosted();
    await this.#newest;
    const found = this.standingPass(base, settings);
    if (found !== undefined) return found;
    // The history is the one that is meant, only the settings are others. One question at a time: who
    // asks the same as is being asked waits for the same answer, and anybody else for their turn.
    for (let asked = this.#asked; asked !== undefined; asked = this.#asked) {
      if (isSameBase(asked.base, base) && isSamePass(asked.pass, settings)) return asked.answer;
      await asked.answer;
    }
    const line = this.#lineAt(base);
    return line === undefined ? undefined : this.#askForPass(line, base, passSettingsOf(settings));
  }

  /** Has a compression planned on the state of a base; `undefined` when the worker cannot. */
  async compress(
    base: DensityBase,
    request: CompressionRequest,
  ): Promise<PlannedCompression | undefined> {
    this.postQueued();
    // With everything posted, the worker will be where the history is when it reads the question.
    if (this.#line === undefined || !this.#isAllPosted) return undefined;
    if (!this.#isPostedUpTo(base)) return undefined;
    const startedAt = performance.now();
    try {
      const { value, runMs } = await this.#line.compress(base, request);
      const work = { task: 'compress', ranOn: 'resident', entries: base.length } as const;
      const times = { startedAt, postedAt: startedAt, queueMs: 0, runMs };
      this.#options.meter.addPosted({ ...work, bytesSent: 0 }, times);
      return value ?? undefined;
    } catch (thrown) {
      this.#lose(thrown);
      return undefined;
    }
  }

  /** Ends the stay; the worker lets go of what it holds. */
  end(): void {
    this.#hasEnded = true;
    this.#drawn.end();
    clearImmediate(this.#scheduled);
    this.#line?.close();
    this.#line = undefined;
    this.#standing = undefined;
  }

  async #open(entries: number): Promise<void> {
    const { open, agent, countsTokens, meter } = this.#options;
    // The first opening starts threads, which takes some milliseconds; so has the change that led here.
    await nextTurn();
    const startedAt = performance.now();
    try {
      const line = await open({ agent, countsTokens });
      if (this.#hasEnded) {
        line.close();
        return;
      }
      this.#line = line;
      const work = { task: 'open', ranOn: 'resident', entries, bytesSent: 0 } as const;
      meter.addPosted(work, { startedAt, postedAt: startedAt, queueMs: 0, runMs: 0 });
    } catch (thrown) {
      this.#lose(thrown);
      return;
    }
    const opening = this.#newest;
    this.postQueued();
    // It is this promise itself until something was posted.
    if (this.#newest !== opening) await this.#newest;
  }

  /** The line, if what was posted on it leads to that state; asked for another one, the worker would fail. */
  #lineAt(base: DensityBase): SessionLine | undefined {
    return this.#drawn.first === undefined && this.#isPostedUpTo(base) ? this.#line : undefined;
  }

  #isPostedUpTo(base: DensityBase): boolean {
    const posted = this.#queue.base;
    return posted !== undefined && isSameBase(posted, base);
  }

  get #isAllPosted(): boolean {
    return this.#queue.isEmpty && this.#drawn.first === undefined;
  }

  get #mayPost(): boolean {
    const isFull = this.#unacknowledgedCharacters >= MAX_UNACKNOWLEDGED_CHARACTERS;
    return this.#line !== undefined && !isFull;
  }

  /** Posts the parcel whose turn it is. Returns whether it did. */
  #postNext(): boolean {
    if (this.#line === undefined || !this.#mayPost) return false;
    const next = this.#drawn.take(this.#waiting > 0);
    if (next === undefined) return false;
    this.#options.onPost();
    this.#newest = this.#post(this.#line, next);
    return true;
  }

  /** Ends once the line has all that was drawn, or the residence has ended. */
  async #whenDrawnArePosted(): Promise<void> {
    this.#waiting += 1;
    for (
      let { first } = this.#drawn;
      first !== undefined && !this.#hasEnded;
      { first } = this.#drawn
    ) {
      this.postQueued();
      if (this.#drawn.first === first) await (first.counting ?? this.#newest);
    }
    this.#waiting -= 1;
    this.postQueued();
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined;
      if (this.#holds === 0) this.postQueued();
    });
  }

  /** Posts before it returns its promise, which never rejects. */
  async #post(line: SessionLine, parcel: DrawnParcel): Promise<void> {
    const { staged, characters, isCounted, isFar } = parcel;
    const delta = isFar === true ? { ...parcel.delta, isFar } : parcel.delta;
    this.#unacknowledgedCharacters += characters;
    try {
      this.#isUnplanned ||= parcel.adds;
      // A plan is of use only when nothing follows that would change it, and when there is something new to look at.
      const isAsked = this.#isUnplanned && this.#isAllPosted;
      const pass = isAsked ? passSettingsOf(this.#options.passSettings()) : undefined;
      if (isAsked) this.#isUnplanned = false;
      const startedAt = performance.now();
      const receiving = line.receive(pass === undefined ? delta : { ...delta, pass });
      const postedAt = performance.now();
      const { value, runMs } = await receiving;
      for (const step of delta.steps) if (step.kind === 'stage-packed') releasePacked(step.packed);
      if (this.#hasEnded) return;
      const work = { task: 'count', ranOn: 'resident', entries: staged.length } as const;
      const times = { startedAt, postedAt, queueMs: 0, runMs };
      this.#options.meter.addPosted({ ...work, bytesSent: isCounted ? 0 : characters }, times);
      this.#unacknowledgedCharacters -= characters;
      this.#drawn.noteAnswer(parcel);
      this.#standing =
        pass === undefined || value.pass === undefined
          ? undefined
          : { settings: pass, pass: value.pass };
      this.#options.onAnswer();
      if (this.#standing !== undefined) {
        this.#options.onPass(this.#standing.pass, this.#standing.settings);
      }
      if (!isCounted) this.#options.onArrival(staged, value.tokens);
      // Several answers may be read in one turn of the event loop; what they make room for takes turns.
      if (!this.#isAllPosted) this.#schedule();
    } catch (thrown) {
      this.#lose(thrown);
    }
  }

  #askForPass(
    line: SessionLine,
    base: DensityBase,
    pass: PassSettings,
  ): Promise<PlannedPass | undefined> {
    const answer = line.plan(base, pass).then(
      ({ value }) => {
        if (!this.#hasEnded && this.#isPostedUpTo(base)) {
          this.#standing = { settings: pass, pass: value };
        }
        return value;
      },
      (thrown: unknown) => {
        this.#lose(thrown);
        return undefined;
      },
    );
    this.#asked = { base, pass, answer };
    // Heard before anybody who waits for the answer.
    void answer.then(() => {
      this.#asked = undefined;
    });
    return answer;
  }

  #lose(thrown: unknown): void {
    if (this.#hasEnded) return;
    this.end();
    this.#options.onLoss(asError(thrown));
  }
}
