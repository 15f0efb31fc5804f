// Reconstructs the edits that landed in a history before this session had it, when no saved state tells: it was sent with them,
// and a provider's cache holds it so. Decides by content; applies nothing.

import { isEmptyDensityResult } from '../../shared/density.js';
import type { DensityBase, DensityConfig, DensityResult } from '../../shared/density.js';
import type { IContent } from '../../shared/content.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { SILENT_LOGGER } from '../host/logger.js';
import { nextTurn } from '../waiting/event-loop-turn.js';
import type { JournalRecords } from '../state/journal.js';
import type { BatchPoints, Admission, LandingPoint } from './edit-policy.js';
import { EditGate, isBatching } from './edit-policy.js';
import { HighDensityStrategy } from '../strategies/high-density.js';
import { EditedCopy } from './edited-copy.js';
import { findHere, PlannedEdit } from './found-edit.js';
import {
  currentDensityConfig,
  currentStrategy,
  gateOptions,
  stepAbove,
  tokensToBeCached,
} from './session-parts.js';
import type { SessionParts } from './session-parts.js';
import { spendable, TokenTally } from './token-tally.js';
import { stretchesOfEdit } from '../../shared/density/index/edit-stretches.js';
import { HistoryIndex } from '../../shared/density/index/history-index.js';
import { scopeOfSession } from '../../shared/density/index/index-scope.js';
import type { IndexScope } from '../../shared/density/index/index-scope.js';
import { planIndexed, withTexts } from '../../shared/density/plan/optimize.js';
import type { PlanWithTexts } from '../../shared/density/plan/optimize.js';
import { WorkerPoolError } from '../../shared/errors.js';
import type { FoundEdit } from './found-edit.js';

export interface ReplayOptions {
  readonly parts: SessionParts;
  readonly pendingTokens: number;
  /** New ones: they must see every preflight from the start. */
  readonly points: BatchPoints;
  readonly signal: AbortSignal | undefined;
}

/** One edit that combines what landed before and what may land now. */
export interface Replay extends Admission {
  /** The state that the edit applies to. */
  readonly base: DensityBase;
  /** Which rule removed what. */
  readonly ruleEdits: readonly RuleEdit[];
  /** The journal records of the single edits. */
  readonly records: JournalRecords;
}

/** A preflight: before an answer of the model, or the present one. */
interface FormerPreflight {
  /** Number of entries added by then. */
  readonly at: number;
  readonly isNow: boolean;
  /** Milliseconds since the history was last sent, as far as timestamps tell. */
  readonly idleMs: number;
}

/** Entries that passes may look at between turns of the event loop. */
const ENTRIES_PER_TURN = 4_096;
/** Weight of a pass that looks at new results only. */
const ENTRIES_PER_SHRINKING = 32;

/**
 * Replays the preflights of a history on a copy: one before each answer of the model, and the present one. If an earlier one
 * could not get below the threshold, a compression followed, with an unknown result: after that, only the present one is
 * played.
 *
 * @throws the signal's reason.
 */
export async function replayEdits(options: ReplayOptions): Promise<Replay> {
  const { parts, pendingTokens, points, signal } = options;
  const { edits } = parts;
  /** Counted tokens at which a history would have been compressed. */
  const thresholdTokens = parts.gauge.thresholdTokens(pendingTokens);
  const { base } = parts.history;
  const strategy = currentStrategy(parts);
  const given = parts.history.getRawHistory().slice(0, base.length);
  const copy = new EditedCopy(given, parts.history);
  const isDocumented = strategy.optimize === HighDensityStrategy.prototype.optimize;
  const passes = isDocumented ? new ReplayedPasses(currentDensityConfig(parts), copy) : undefined;
  const sent = { intactEntries: 0, isCacheCold: false };
  const [tally, unedited] = [new TokenTally(), new TokenTally()];
  const fullTokens = (): number => copy.tokens + copy.reclaimedTokens;
  const toBeCached = tokensToBeCached(parts, pendingTokens);
  const terms = { ...parts.cache.prices, toBeCached };
  const gate = new EditGate({
    ...gateOptions(parts),
    sent,
    history: copy,
    logger: SILENT_LOGGER,
    spendable: () => spendable(tally, copy.tokens, unedited, fullTokens(), terms),
  });
  /** `at-birth` treats entries that come in together as already sent, unedited. */
  const isAllSent = edits.edits === 'at-birth';
  const admit = (isFree: boolean, point: LandingPoint): Admission => {
    const config = currentDensityConfig(parts, isFree);
    const found = passes?.find(config) ?? findHere(strategy, copy.getRawHistory(), config);
    return found.firstEntry === Infinity
      ? { result: found.result, isWhole: true }
      : gate.admit(found, point);
  };
  let isCompressed = false;
  let scanned = 0;
  let admission: Admission | undefined;
  for (const { at, isNow, idleMs } of preflightsOf(given)) {
    copy.extend(at);
    if (isAllSent) sent.intactEntries = copy.length;
    const isExpired = idleMs >= parts.cache.ttlMs;
    sent.isCacheCold = isExpired || tally.lastTokens < toBeCached;
    const isBatchPoint = points.reaches(at);
    const isForced = copy.tokens >= thresholdTokens;
    const mayLand = !isAllSent && !isCompressed && (isForced || sent.isCacheCold || isBatchPoint);
    const isShrinking = isBatching(edits.edits) && !isCompressed && !mayLand;
    if (!isNow && isShrinking && passes !== undefined) {
      const found = passes.findShrinks(currentDensityConfig(parts));
      const shrinking = found && gate.admit(found, { isForced: false, isBatchPoint: false });
      if (shrinking?.reason !== undefined) {
        passes.noteLanding(await copy.land(shrinking, edits.reasoning), true);
      }
      scanned += ENTRIES_PER_SHRINKING;
    } else if (isNow || mayLand) {
      const isFree = isForced || sent.isCacheCold;
      const point = { isForced, isBatchPoint, toBeCached };
      const limit =
        isBatchPoint && !isFree ? stepAbove(parts, pendingTokens, copy.tokens) : undefined;
      admission =
        limit === undefined ? undefined : admit(true, { ...point, tokensBelowStep: limit });
      if (admission?.reason === undefined) admission = admit(isFree, point);
      if (admission.reason !== undefined) {
        const landed = await copy.land(admission, edits.reasoning);
        passes?.noteLanding(landed, false);
      }
      isCompressed = copy.tokens >= thresholdTokens;
      scanned += copy.length;
    }
    tally.add(copy.tokens, !isExpired, copy.takeIntactTokens(), toBeCached);
    unedited.add(fullTokens(), !isExpired, Infinity, toBeCached);
    sent.intactEntries = copy.length;
    if (scanned > ENTRIES_PER_TURN) {
      scanned = 0;
      await nextTurn(signal);
    }
  }
  const { edit: result, ruleEdits, records } = copy;
  const reason = isEmptyDensityResult(result) ? undefined : (admission?.reason ?? 'sent-before');
  const isWhole = admission?.isWhole ?? true;
  return { result, ruleEdits, isWhole, base, records, ...(reason !== undefined && { reason }) };
}

function* preflightsOf(given: readonly IContent[]): Generator<FormerPreflight, void, undefined> {
  /** The last answer, and the entry before the present one. */
  let answer: IContent | undefined;
  let last: IContent | undefined;
  // The present time differs between processes, so only timestamps in entries are used: every process decides alike.
  const idleMs = (): number =>
    answer === undefined ? Infinity : (timeOf(last) ?? 0) - (timeOf(answer) ?? Infinity);
  for (const [at, entry] of given.entries()) {
    const isAnswer = entry.speaker === 'ai' && last !== undefined && last.speaker !== 'ai';
    if (isAnswer) yield { at, isNow: false, idleMs: idleMs() };
    if (entry.speaker === 'ai') answer = entry;
    last = entry;
  }
  yield { at: given.length, isNow: true, idleMs: idleMs() };
}

function timeOf(entry: IContent | undefined): number | undefined {
  return entry?.metadata?.timestamp;
}

/**
 * This library's passes over one replayed history. They share an index that grows with the history and follows its edits, like a
 * worker's, so that no pass scans the whole history.
 */
export class ReplayedPasses {
  readonly #copy: Pick<EditedCopy, 'getRawHistory'>;
  readonly #scope: IndexScope;
  #index: HistoryIndex;

  /** @param config its agent-related part must not change later */
  constructor(config: DensityConfig, copy: Pick<EditedCopy, 'getRawHistory'>) {
    this.#copy = copy;
    this.#scope = scopeOfSession(config);
    this.#index = new HistoryIndex(this.#scope);
  }

  /** Returns what a pass finds in the present copy. */
  find(config: DensityConfig): FoundEdit {
    const { plan, texts } = this.#planned(config);
    return new PlannedEdit(plan, this.#copy.getRawHistory(), config, texts, () => undefined);
  }

  #planned(config: DensityConfig): PlanWithTexts {
    const index = this.#caughtUp();
    try {
      return withTexts(planIndexed(index, config), index);
    } catch (error) {
      if (!(error instanceof WorkerPoolError) || error.code !== 'RESIDENT_OUT_OF_STEP') throw error;
      // So many results were removed that this index lacks what preceded them; a new one has it.
      this.#index = new HistoryIndex(this.#scope);
      return withTexts(planIndexed(this.#caughtUp(), config), this.#index);
    }
  }

  /** Returns the edit that shrinks results behind the last answer; `undefined` if there is none. */
  findShrinks(config: DensityConfig): FoundEdit | undefined {
    if (this.#caughtUp().unsentResults().size === 0) return undefined;
    const { workingSet: _, ...rest } = config;
    const found = this.find({ ...rest, readWritePruning: false, fileDedupe: false });
    return found.firstEntry === Infinity ? undefined : found;
  }

  /**
   * Follows an edit that landed in the copy.
   *
   * @param isShrinking whether it only shrinks unsent results, and changes no other calls or results
   */
  noteLanding({ removals, replacements }: DensityResult, isShrinking: boolean): void {
    if (isShrinking && removals.length === 0) {
      for (const [entry, content] of replacements) this.#index.noteShrunk(entry, content);
      return;
    }
    const replaced = [...replacements].toSorted(([a], [b]) => a - b);
    const { length } = this.#index;
    const edited = replaced.map(([entry]) => entry);
    const placeOf = this.#index.placesOf(new Set([...removals, ...edited]));
    for (const [entry, content] of replaced) this.#index.append(content, placeOf(entry));
    const left = stretchesOfEdit(length, Int32Array.from(removals), Int32Array.from(edited));
    this.#index = this.#index.chosen(left).index;
  }

  #caughtUp(): HistoryIndex {
    const history = this.#copy.getRawHistory();
    const index = this.#index;
    for (let at = index.length; at < history.length; at += 1) {
      const entry = history[at];
      if (entry !== undefined) index.append(entry);
    }
    return index;
  }
}
