// The first step of a preflight: a density pass if there is new content. Tracks what the last pass has seen, and at which history
// lengths batches may land. `EditGate` decides what lands.

import type { IContent } from '../../shared/content.js';
import { shrinkSettingsOf } from '../../shared/density.js';
import type { DensityConfig, DensityResult } from '../../shared/density.js';
import { planWithTexts } from '../../shared/density/plan/optimize.js';
import { EMPTY_PLAN, listRuleEdits } from '../../shared/density/plan/plan.js';
import type { HistoryService } from '../history-service.js';
import type { OffloadedPlan } from '../offload/offload.js';
import { isWriteFailure } from '../removal-log/removal-log-errors.js';
import type { PassMemory } from '../state/session-state.js';
import { abortable } from '../waiting/abortable.js';
import { applyEdit } from './apply-edit.js';
import type { StepOutcome } from './apply-edit.js';
import type { CostMeter } from './cost-meter.js';
import { duePasses } from './due-passes.js';
import type { DuePass } from './due-passes.js';
import { BatchPoints, EditGate, isBatching } from './edit-policy.js';
import type { Admission } from './edit-policy.js';
import { FoundEdit } from './found-edit.js';
import { holdsReasoning, placeBehindReasoning } from './reasoning-policy.js';
import { replayEdits, shrinkLost } from './replay-edits.js';
import type { Replay } from './replay-edits.js';
import type { PrunedEvent } from './session-events.js';
import type { SessionParts } from './session-parts.js';

/** After this many stale plans the pass runs on this thread, where the history cannot change while it runs. */
const MAX_STALE_PLANS = 2;

/** The outcome of a pass: what changed, or `null`. */
interface PassOutcome extends StepOutcome<PrunedEvent | null> {
  /** Whether none of the found edits was held. */
  readonly isSettled: boolean;
}

/** The outcome of a pass that was skipped. */
const SKIPPED: PassOutcome = { event: null, isSettled: false };

/** Prunes one session's history when it is dirty. */
export class DensityPruner {
  readonly #parts: SessionParts;
  readonly #costs: CostMeter;
  readonly #gate: EditGate;
  /** Whether earlier edits of this history have to be replayed first. */
  #needsReplay: boolean;
  #points: BatchPoints;
  /** The value of `history.additions` that the last pass covered: more make the history dirty. */
  #settledAdditions = -1;

  /** @param costs the session's costs so far */
  constructor(parts: SessionParts, costs: CostMeter) {
    const { config, history, wasSentBefore = false, former } = parts;
    this.#parts = parts;
    this.#costs = costs;
    this.#gate = new EditGate(parts, () => costs.spendable);
    // Under `every-turn` all edits land at once, so there is nothing to replay.
    this.#needsReplay = wasSentBefore && config.edits.edits !== 'every-turn';
    this.#points = new BatchPoints(former?.passes.nextPoint);
    if (former?.passes.isSettled === true) this.#settledAdditions = history.additions;
  }

  /** The state for a later session of this history. */
  get memory(): PassMemory {
    return { nextPoint: this.#points.next, isSettled: !this.isDirty };
  }

  /** Whether entries were added that no pass has covered. */
  get isDirty(): boolean {
    return this.#parts.history.additions !== this.#settledAdditions;
  }

  /** Whether a pass is due. */
  get isDue(): boolean {
    return this.isDirty && this.#parts.config.pruning.optimize !== undefined;
  }

  /**
   * Runs a pass.
   *
   * @param isForced whether the history is about to be rewritten anyway
   * @throws what the pass threw, `REMOVAL_LOG_WRITE_FAILED`, or the signal's reason; nothing has changed then.
   */
  async run(
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<StepOutcome<PrunedEvent | null>> {
    // The pass may miss entries added from here on; they leave the history dirty.
    const seen = this.#parts.history.additions;
    const at = this.#parts.history.journal.length;
    const points = this.#points;
    const { next } = points;
    let isSettled = true;
    try {
      const { isSettled: isAll, ...outcome } =
        (await this.#replay(signal)) ?? (await this.#prune(at, isForced, signal));
      isSettled = isAll;
      return outcome;
    } catch (thrown) {
      isSettled = !isWriteFailure(thrown);
      // Nothing has landed, so the batch is still due: after an abort it must not wait for the next batch point.
      if (this.#points === points) this.#points = new BatchPoints(next);
      throw thrown;
    } finally {
      // Not settled: an aborted pass, and one whose edits are held or could not be recorded. A pass that failed otherwise is not retried.
      if (isSettled && signal?.aborted !== true) this.#settledAdditions = seen;
    }
  }

  async #prune(
    at: number,
    isForced: boolean,
    signal: AbortSignal | undefined,
  ): Promise<PassOutcome> {
    const { history, sent } = this.#parts;
    const ignoresCacheCost = isForced || sent.isCacheCold;
    const isBatchPoint = this.#points.reaches(at);
    // If every edit would be held, skip the pass: it would make a fresh process index the whole history.
    if (!ignoresCacheCost && !isBatchPoint && this.#wouldHoldAll) return SKIPPED;
    const point = { isForced, isBatchPoint };
    const tokens = history.getTotalTokens();
    let outcome = SKIPPED;
    for (const due of duePasses(this.#parts, point, ignoresCacheCost, tokens)) {
      outcome = await this.#pass(due, signal);
      if (outcome.event !== null) break;
    }
    return outcome;
  }

  /** Whether every edit would be held between two batch points, where only unsent tool results may be edited: there are none. */
  get #wouldHoldAll(): boolean {
    const { config, history, sent } = this.#parts;
    if (!isBatching(config.edits.edits)) return false;
    const entries = history.getRawHistory();
    for (let at = sent.intactEntries; at < entries.length; at += 1) {
      if (entries[at]?.speaker === 'tool') return false;
    }
    return true;
  }

  async #pass(
    { ignoresCacheCost, point }: DuePass,
    signal: AbortSignal | undefined,
  ): Promise<PassOutcome> {
    const { config, history, logger, offload } = this.#parts;
    const settings = config.density(ignoresCacheCost);
    for (let attempt = 0; ; attempt += 1) {
      const { base } = history;
      const entries = history.getRawHistory();
      const planned: OffloadedPlan =
        attempt < MAX_STALE_PLANS
          ? await abortable(offload.optimize(entries, base, settings, signal), signal)
          : planWithTexts(entries, settings);
      signal?.throwIfAborted();
      // Entries appended meanwhile leave the plan's indices valid; a rewrite does not.
      if (history.revision === base.revision) {
        const found = this.#foundBy(planned, settings);
        const admission = this.#gate.admit(found, point);
        if (!admission.isWhole) {
          const { removals, replacements } = admission.result;
          const landing = removals.length + replacements.size;
          logger.debug('density edits are held', { found: found.size, landing });
        }
        const outcome = await land(this.#parts, { ...admission, base }, signal);
        if (outcome !== null) return outcome;
      }
      logger.debug('a density plan came too late', { attempt });
    }
  }

  /** Returns the edit that a plan of the present history describes. */
  #foundBy({ plan, texts, tokensAfter }: OffloadedPlan, settings: DensityConfig): FoundEdit {
    const { history } = this.#parts;
    const onMade = (result: DensityResult): void => {
      if (tokensAfter !== undefined) weighReplacements(history, result, tokensAfter);
    };
    return new FoundEdit(plan, { history: history.getRawHistory(), settings, texts, onMade });
  }

  /** Whether the next run replays the edits that landed before this session had the history. */
  get needsReplay(): boolean {
    const { journal, length } = this.#parts.history;
    // A history that this session has already edited is not what was sent.
    return this.#needsReplay && journal.length === length;
  }

  /** Replays the edits that landed before this session had the history; `null` if not needed, or if the history was rewritten. */
  async #replay(signal: AbortSignal | undefined): Promise<PassOutcome | null> {
    const parts = this.#parts;
    if (!this.needsReplay) return null;
    const points = new BatchPoints();
    const replay = await replayEdits(parts, points, signal);
    const outcome = await land(parts, replay, signal);
    if (outcome === null) return null;
    this.#needsReplay = false;
    this.#points = points;
    this.#costs.noteReplay(replay.spendable);
    return outcome;
  }

  /** Whether there are results in no cache that no pass takes for unsent, because answers follow them. */
  get hasLostResults(): boolean {
    const { config, history, sent } = this.#parts;
    if (!this.isDue || !sent.isLost) return false;
    if (shrinkSettingsOf(config.density().shrink) === undefined) return false;
    const entries = history.getRawHistory();
    let isAnswered = false;
    for (let at = entries.length - 1; at >= sent.intactEntries; at -= 1) {
      const { speaker } = entries[at] as IContent;
      if (isAnswered && speaker === 'tool') return true;
      isAnswered ||= speaker === 'ai';
    }
    return false;
  }

  /** Shrinks these results. Reasoning behind them becomes stale, unless that must not be yet. @throws as `run` does. */
  async shrinkLost(signal: AbortSignal | undefined): Promise<StepOutcome<PrunedEvent | null>> {
    const { history, sent } = this.#parts;
    const { intactEntries, staleReasoningFrom } = sent;
    const isHeld = staleReasoningFrom > intactEntries && this.#gate.isHeldForReasoning;
    const { entry: from } = isHeld
      ? placeBehindReasoning(history.getRawHistory(), intactEntries)
      : { entry: intactEntries };
    const shrunk = await shrinkLost(this.#parts, from, signal);
    const { event, failure } = (await land(this.#parts, shrunk, signal)) ?? SKIPPED;
    const first = event?.changes[0]?.index ?? Infinity;
    if (holdsReasoning(history.getRawHistory(), first)) sent.noteStaleReasoning(first);
    return { event, failure };
  }

  /** Notes that the history was cleared: nothing that was sent is left. */
  noteClear(): void {
    this.#points = new BatchPoints();
    this.#needsReplay = false;
  }
}

/** What may land of a pass's edit, or of the one that combines those of a replay. */
type Landing = Admission & Pick<Replay, 'base'> & Partial<Pick<Replay, 'replayed' | 'ruleEdits'>>;

/** Applies what may land of an edit. Returns `null` if the edit must be recomputed. */
async function land(
  parts: SessionParts,
  { result, reason, isWhole, base, replayed, ruleEdits }: Landing,
  signal: AbortSignal | undefined,
): Promise<PassOutcome | null> {
  if (reason === undefined) return { event: null, isSettled: isWhole };
  const { metadata, rows = EMPTY_PLAN } = result;
  const before = parts.history.getRawHistory();
  const edits = ruleEdits ?? listRuleEdits(rows, (entry) => before[entry]?.blocks);
  const landed = await applyEdit(parts, result, base, signal, replayed);
  if (landed === null) return null;
  const event = { metadata, reason, edits, ...landed.event };
  return { event, failure: landed.failure, isSettled: isWhole };
}

/** Books the token counts that the worker predicted. If an entry has replacement texts, only these remain to be counted. */
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
    // The prediction does not cover the reasoning that may leave together with a call, so such an entry is counted as a whole.
    if (former.some(({ type }) => type === 'thinking')) continue;
    const blocks = replacement.blocks.filter((block) => !former.includes(block));
    history.weigh(replacement, tokens, { ...replacement, blocks });
  }
}
