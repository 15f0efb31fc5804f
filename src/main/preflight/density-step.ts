// The first step of a preflight: one density pass, when there is something new to look at. Keeps what the last pass
// has seen, and at which lengths of the history edits have landed. What may land of a pass, the gate decides.

import type { DensityBase, DensityConfig, DensityResult } from '../../shared/density.js';
import { EMPTY_PLAN, listRuleEdits } from '../../shared/density/plan/plan.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { abortable } from '../waiting/abortable.js';
import type { HistoryService } from '../history-service.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import { HighDensityStrategy } from '../strategies/high-density.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { applyEdit } from './apply-edit.js';
import type { AppliedEdit, StepOutcome } from './apply-edit.js';
import type { CostMeter } from './cost-meter.js';
import { BatchPoints, EditGate, isBatching } from './edit-policy.js';
import type { Admission, LandingPoint } from './edit-policy.js';
import { findHere, PlannedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';
import { replayEdits } from './replay-edits.js';
import type { PrunedEvent } from './session-events.js';
import type { HistoryTrace, JournalRecords } from '../state/journal.js';
import type { PassMemory } from '../state/session-state.js';
import {
  currentStrategy,
  currentDensityConfig,
  gateOptions,
  stepAbove,
  tokensToBeCached,
} from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** After this many plans that came too late, the pass runs here, where nothing can come between. */
const MAX_STALE_PLANS = 2;

/** How a pass ended: what changed, or `null`. */
interface PassOutcome extends StepOutcome<PrunedEvent | null> {
  /** Whether nothing that it found was held. */
  readonly isSettled: boolean;
}

/** Of a pass that was not made. */
const UNSEEN: PassOutcome = { event: null, isSettled: false };

/** Prunes one session's history when it is dirty. */
export class DensityPruner {
  readonly #parts: SessionParts;
  readonly #gate: EditGate;
  /** Whether it has to be found out what landed before. */
  #isTakenUp: boolean;
  #points: BatchPoints;
  /** Tells whether the history was cleared; keeps nothing of what it held, as its journal would. */
  #trace: HistoryTrace;
  /** The history's additions that the last pass has settled: more of them make it dirty. */
  #settledAdditions = -1;

  /** @param costs what the requests of the session have come to */
  constructor(parts: SessionParts, costs?: Pick<CostMeter, 'spendable'>) {
    const { edits, history, logger, sent, isTakenUp = false, former } = parts;
    this.#parts = parts;
    this.#gate = new EditGate({
      ...gateOptions(parts),
      ...{ history, logger, sent },
      spendable: costs && (() => costs.spendable),
    });
    // By the policy of every turn, what is taken up lands as everything does.
    this.#isTakenUp = isTakenUp && edits.edits !== 'every-turn';
    this.#points = new BatchPoints(former?.passes.nextPoint);
    this.#trace = history.journal.trace;
    if (former?.passes.isSettled === true) this.#settledAdditions = history.additions;
  }

  /** What the next session of the history has to know. */
  get memory(): PassMemory {
    return { nextPoint: this.#points.next, isSettled: !this.isDirty };
  }

  /** Whether there is content that no pass has settled. */
  get isDirty(): boolean {
    return this.#parts.history.additions !== this.#settledAdditions;
  }

  /** Begins a preflight: returns the strategy that has to look at the history now, or `null`. */
  begin(): CompressionStrategy | null {
    this.#startOverWhenCleared();
    if (!this.isDirty) return null;
    const strategy = currentStrategy(this.#parts);
    return strategy.optimize === undefined ? null : strategy;
  }

  /**
   * Runs a pass of the strategy that `begin` gave.
   *
   * @throws what the pass threw, `REMOVAL_LOG_WRITE_FAILED`, or the signal's reason; nothing has changed then.
   */
  async run(
    strategy: CompressionStrategy,
    pendingTokens: number,
    signal: AbortSignal | undefined,
  ): Promise<StepOutcome<PrunedEvent | null>> {
    // What is added from here on may not be seen by this pass, and leaves the history dirty.
    const seen = this.#parts.history.additions;
    const at = this.#trace.length;
    let isSettled = true;
    try {
      const { isSettled: isAll, ...outcome } =
        (await this.#takeUp(pendingTokens, signal)) ??
        (await this.#prune(strategy, at, pendingTokens, signal));
      isSettled = isAll;
      return outcome;
    } catch (thrown) {
      isSettled = !isWriteFailure(thrown);
      throw thrown;
    } finally {
      // A pass that was called off has settled nothing, nor one whose edits are held or could not be
      // recorded; any other way out counts as done.
      if (isSettled && signal?.aborted !== true) this.#settledAdditions = seen;
    }
  }

  async #prune(
    strategy: CompressionStrategy,
    at: number,
    pendingTokens: number,
    signal: AbortSignal | undefined,
  ): Promise<PassOutcome> {
    const { history, gauge, sent } = this.#parts;
    const isForced = history.getTotalTokens() >= gauge.thresholdTokens(pendingTokens);
    const isFree = isForced || sent.isCacheCold;
    const isBatchPoint = this.#points.reaches(at);
    // What it could only find to be held, nobody waits for: a fresh process has to index all of the history for it.
    if (!isFree && !isBatchPoint && this.#holdsAll(strategy)) return UNSEEN;
    const toBeCached = tokensToBeCached(this.#parts, pendingTokens);
    const point = { isForced, isBatchPoint, toBeCached };
    const limit = isBatchPoint && !isFree ? stepAbove(this.#parts, pendingTokens) : undefined;
    if (limit !== undefined) {
      const toStep = { ...point, tokensBelowStep: limit };
      const outcome = await this.#pass(strategy, true, toStep, signal);
      if (outcome.event !== null) return outcome;
    }
    return this.#pass(strategy, isFree, point, signal);
  }

  /** Whether what a pass finds between two batches is sure to be held: of results alone some that is new may land. */
  #holdsAll(strategy: CompressionStrategy): boolean {
    const { edits, history, sent } = this.#parts;
    if (!isBatching(edits.edits) || !isDocumented(strategy)) return false;
    const entries = history.getRawHistory();
    for (let at = sent.intactEntries; at < entries.length; at += 1) {
      if (entries[at]?.speaker === 'tool') return false;
    }
    return true;
  }

  /** @param isFree whether all may leave that is stale */
  async #pass(
    strategy: CompressionStrategy,
    isFree: boolean,
    point: LandingPoint,
    signal: AbortSignal | undefined,
  ): Promise<PassOutcome> {
    const { history, logger } = this.#parts;
    const config = currentDensityConfig(this.#parts, isFree);
    for (let attempt = 0; ; attempt += 1) {
      const edit = await findEdit(this.#parts, strategy, config, attempt < MAX_STALE_PLANS, signal);
      signal?.throwIfAborted();
      if (edit !== null && history.revision === edit.base.revision) {
        const { found, base } = edit;
        if (found.firstEntry === Infinity) return { event: null, isSettled: true };
        const admission = this.#gate.admit(found, point);
        const editsOf = rowsBy(admission.result);
        const outcome = await land(this.#parts, { ...admission, base, editsOf }, signal);
        if (outcome !== null) return outcome;
      }
      logger.debug('a density plan came too late', { attempt });
    }
  }

  /** Has the history of a session that was taken up edited as it was sent before; `null` when it need not be. */
  async #takeUp(
    pendingTokens: number,
    signal: AbortSignal | undefined,
  ): Promise<PassOutcome | null> {
    const parts = this.#parts;
    const { history, edits } = parts;
    // What somebody has edited already is not what was sent.
    if (!this.#isTakenUp || history.journal.length !== history.length) return null;
    const points = new BatchPoints();
    const replay = await replayEdits({ parts, pendingTokens, points, signal });
    // What the edits did to reasoning is part of the replay.
    const replayed = { ...parts, edits: { ...edits, reasoning: 'keep' } } as const;
    const outcome = await land(replayed, { ...replay, editsOf: () => replay.ruleEdits }, signal);
    if (outcome === null) return null;
    this.#isTakenUp = false;
    this.#points = points;
    return outcome;
  }

  #startOverWhenCleared(): void {
    const { trace } = this.#parts.history.journal;
    if (trace === this.#trace) return;
    this.#trace = trace;
    this.#points = new BatchPoints();
    this.#isTakenUp = false;
  }
}

/** What may land of an edit of a history. */
interface Landing extends Admission {
  readonly base: DensityBase;
  /** What it is made of, when all of that landed before. */
  readonly records?: JournalRecords;
  /** Which rule took what of the entries that changed. */
  readonly editsOf: (applied: AppliedEdit) => readonly RuleEdit[];
}

/** Returns `null` when the edit has to be found again. */
async function land(
  parts: SessionParts,
  { result, reason, isWhole, base, records, editsOf }: Landing,
  signal: AbortSignal | undefined,
): Promise<PassOutcome | null> {
  if (reason === undefined) return { event: null, isSettled: isWhole };
  const landed = await applyEdit(parts, result, base, signal, records);
  if (landed === null) return null;
  const { event: applied, failure } = landed;
  const event = { metadata: result.metadata, reason, edits: editsOf(applied), ...applied };
  return { event, failure, isSettled: isWhole };
}

/** Whether a strategy has the pass of this library, and none of its own. */
function isDocumented(strategy: CompressionStrategy): boolean {
  return strategy.optimize === HighDensityStrategy.prototype.optimize;
}

interface BasedEdit {
  readonly found: FoundEdit;
  readonly base: DensityBase;
}

function rowsBy({ rows }: DensityResult): Landing['editsOf'] {
  return ({ changes }) => {
    const before = new Map(changes.map((change) => [change.index, change.before.blocks]));
    return listRuleEdits(rows ?? EMPTY_PLAN, (entry) => before.get(entry));
  };
}

/** Returns `null` when the history was rewritten while the plan was made: its indices mean nothing then. */
async function findEdit(
  parts: SessionParts,
  strategy: CompressionStrategy,
  config: DensityConfig,
  mayOffload: boolean,
  signal: AbortSignal | undefined,
): Promise<BasedEdit | null> {
  const { history } = parts;
  const { base } = history;
  // Only the documented pass is known to workers; a strategy with one of its own runs here.
  if (!mayOffload || !isDocumented(strategy)) {
    return { found: findHere(strategy, history.getRawHistory(), config), base };
  }
  const { plan, texts, tokensAfter } = await abortable(
    parts.offload.optimize(history.getRawHistory(), base, config, signal),
    signal,
  );
  // What was only appended meanwhile does no harm.
  if (history.revision !== base.revision) return null;
  const found = new PlannedEdit(plan, history.getRawHistory(), config, texts, (result) => {
    if (tokensAfter !== undefined) weighReplacements(history, result, tokensAfter);
  });
  return { found, base };
}

/** What the worker foretold need not be counted: of an entry with new texts in it, these alone. */
function weighReplacements(
  history: HistoryService,
  { replacements }: DensityResult,
  tokensAfter: Int32Array,
): void {
  const entries = history.getRawHistory();
  for (let at = 0; at < tokensAfter.length; at += 3) {
    const index = tokensAfter[at] ?? -1;
    const replacement = replacements.get(index);
    const tokens = tokensAfter[at + 1] ?? -1;
    if (replacement === undefined || tokens < 0) continue;
    if (tokensAfter[at + 2] === 0) {
      history.weigh(replacement, tokens);
      continue;
    }
    const former = entries[index]?.blocks ?? [];
    // What a call loses with its reasoning is not told apart.
    if (former.some(({ type }) => type === 'thinking')) continue;
    const blocks = replacement.blocks.filter((block) => !former.includes(block));
    history.weigh(replacement, tokens, { ...replacement, blocks });
  }
}
