// Reconstructs the edits that landed in a history before this session had it, if there is no saved state. The history was sent with
// these edits, so a provider's cache holds the edited version. Decides by content alone; applies nothing.

import type { IContent } from '../../shared/content.js';
import { isEmptyDensityResult } from '../../shared/density.js';
import type { DensityBase, DensityConfig, DensityResult } from '../../shared/density.js';
import { scopeOfSession } from '../../shared/density/index/index-scope.js';
import { EMPTY_PLAN, PlanCursor } from '../../shared/density/plan/plan.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { ACTION } from '../../shared/density/rules/marks.js';
import { SLICE_MS } from '../../shared/slices.js';
import { GrowingIndex } from '../offload/growing-index.js';
import type { Journal } from '../state/journal.js';
import { beginWork } from '../waiting/event-loop-turn.js';
import { EditGate, isBatching } from './edit-policy.js';
import type { BatchPoints, Admission } from './edit-policy.js';
import { duePasses } from './due-passes.js';
import { EditedCopy } from './edited-copy.js';
import { FoundEdit } from './found-edit.js';
import { stripReasoning } from './reasoning-policy.js';
import type { SessionParts } from './session-parts.js';
import { cachingTerms, spendable, TokenTally } from './token-tally.js';
import type { CachingTerms } from './token-tally.js';

/** One edit that combines what landed before and what may land now. */
export interface Replay extends Admission {
  /** The state that the edit applies to. */
  readonly base: DensityBase;
  /** Which rule removed what. */
  readonly ruleEdits: readonly RuleEdit[];
  /** The journal of the individual edits. */
  readonly replayed: Journal;
  /** See `spendable`; after the requests up to and including the present one. */
  readonly spendable: number;
}

/** A former preflight, before an answer of the model, or the present one. */
interface FormerPreflight {
  /** Number of entries added by then. */
  readonly at: number;
  readonly isNow: boolean;
  /** Milliseconds since the history was last sent, by the timestamps of entries. */
  readonly idleMs: number;
}

/**
 * Replays the preflights of a history on a copy: one before each answer of the model, and the present one. If an earlier preflight
 * could not get below the threshold, a compression followed whose result is unknown: after that, only the present one may edit.
 *
 * @param points a new instance, because it must see every preflight from the start
 * @throws the signal's reason.
 */
export async function replayEdits(
  parts: SessionParts,
  points: BatchPoints,
  signal: AbortSignal | undefined,
): Promise<Replay> {
  const replay = new PreflightReplay(parts, { intactEntries: 0, countsTokens: true });
  await replay.each(signal, (preflight) => replay.play(preflight, points.reaches(preflight.at)));
  return replay.outcome;
}

/**
 * Shrinks the results from an entry on that are in no cache, though answers follow them, as the preflights before these answers would
 * have. Everything else is left to the present preflight.
 *
 * @throws the signal's reason.
 */
export async function shrinkLost(
  parts: SessionParts,
  from: number,
  signal: AbortSignal | undefined,
): Promise<Replay> {
  const replay = new PreflightReplay(parts, { intactEntries: from, countsTokens: false });
  await replay.each(signal, ({ at, isNow }) =>
    at > from && !isNow ? replay.shrink(at) : undefined,
  );
  const { outcome } = replay;
  return { ...outcome, ...(outcome.reason !== undefined && { reason: 'unsent' }) };
}

/** The preflights of one history, played in order. */
class PreflightReplay {
  readonly #parts: SessionParts;
  readonly #base: DensityBase;
  readonly #given: readonly IContent[];
  readonly #countsTokens: boolean;
  readonly #copy: EditedCopy;
  /** The index of the copy. */
  readonly #index: GrowingIndex;
  readonly #gate: EditGate;
  readonly #sent: { intactEntries: number; isCacheCold: boolean };
  /** Tokens of the requests as they were sent; `#unedited` has them as they would have been without edits. */
  readonly #tally = new TokenTally();
  readonly #unedited = new TokenTally();
  readonly #terms: CachingTerms;
  /** Counted tokens at which a history would have been compressed. */
  readonly #thresholdTokens: number;
  /** The same after edits at the threshold. */
  readonly #lowWaterTokens: number;
  #isCompressed = false;
  #admission: Admission | undefined;

  /**
   * @param start `intactEntries`: length of the prefix that a cache holds before the first preflight; `countsTokens`: whether edits
   *   are priced, so that each result has to be counted before the next preflight
   */
  constructor(
    parts: SessionParts,
    { intactEntries, countsTokens }: Readonly<{ intactEntries: number; countsTokens: boolean }>,
  ) {
    const { history } = parts;
    this.#parts = parts;
    this.#base = history.base;
    this.#given = history.getRawHistory().slice(0, this.#base.length);
    this.#countsTokens = countsTokens;
    this.#sent = { intactEntries, isCacheCold: false };
    const { journal } = history;
    const [gone, lastAt] = [journal.length - history.length, journal.lastAt];
    // Records ascend, also behind those of the pass before.
    const addedAt = (taken: number): number => Math.max(lastAt, gone + taken);
    this.#copy = new EditedCopy(this.#given, history, addedAt);
    this.#index = new GrowingIndex(scopeOfSession(parts.config.density()));
    this.#terms = cachingTerms(parts);
    this.#thresholdTokens = parts.gauge.thresholdTokens();
    this.#lowWaterTokens = parts.gauge.lowWaterTokens();
    this.#gate = new EditGate({ ...parts, sent: this.#sent, history: this.#copy }, () =>
      spendable(this.#tally, this.#copy.tokens, this.#unedited, this.#fullTokens, this.#terms),
    );
  }

  /** Plays all preflights in turns of the event loop. @throws the signal's reason. */
  async each(
    signal: AbortSignal | undefined,
    play: (preflight: FormerPreflight) => Promise<void> | undefined,
  ): Promise<void> {
    const nextTurn = beginWork(this.#given.length, signal);
    let start = performance.now();
    for (const preflight of preflightsOf(this.#given)) {
      await play(preflight);
      if (performance.now() - start < SLICE_MS) continue;
      await nextTurn();
      start = performance.now();
    }
  }

  /** One edit that combines all that landed; without a reason if none has landed. */
  get outcome(): Replay {
    const { edit: result, ruleEdits, journal: replayed } = this.#copy;
    const isWhole = this.#admission?.isWhole ?? true;
    const left = spendable(this.#tally, 0, this.#unedited, 0, this.#terms);
    const base = this.#base;
    const outcome = { result, base, ruleEdits, isWhole, replayed, spendable: left };
    if (isEmptyDensityResult(result)) return outcome;
    return { ...outcome, reason: this.#admission?.reason ?? 'sent-before' };
  }

  /** Plays one preflight. */
  async play({ at, isNow, idleMs }: FormerPreflight, isBatchPoint: boolean): Promise<void> {
    const copy = this.#copy;
    const sent = this.#sent;
    const { config, cache } = this.#parts;
    const { edits } = config.edits;
    const { minCachedTokens = 0 } = this.#terms;
    // Under `at-birth`, entries that come in together count as already sent, without edits.
    const isAllSent = edits === 'at-birth';
    copy.extend(at);
    if (isAllSent) sent.intactEntries = copy.length;
    const isExpired = idleMs >= cache.ttlMs;
    sent.isCacheCold = isExpired || this.#tally.lastTokens < minCachedTokens;
    const isForced = copy.tokens >= this.#thresholdTokens;
    const ignoresCacheCost = isForced || sent.isCacheCold;
    const mayLand = !isAllSent && !this.#isCompressed && (ignoresCacheCost || isBatchPoint);
    if (isNow || mayLand) await this.#prune(isForced, isBatchPoint);
    else if (isBatching(edits) && !this.#isCompressed) await this.shrink(at);
    this.#tally.add(copy.tokens, !isExpired, copy.takeIntactTokens(), this.#terms);
    this.#unedited.add(this.#fullTokens, !isExpired, Infinity, this.#terms);
    sent.intactEntries = copy.length;
  }

  /** Plays a preflight in which only results behind the last answer may be shrunk. */
  async shrink(at: number): Promise<void> {
    const index = this.#index;
    this.#copy.extend(at);
    index.extend(this.#copy.getRawHistory());
    if (!index.hasUnsentResults) return;
    const { workingSet: _, ...config } = this.#parts.config.density();
    const found = this.#find({ ...config, readWritePruning: false, fileDedupe: false });
    await this.#land(this.#gate.admit(found, { isForced: false, isBatchPoint: false }));
  }

  async #prune(isForced: boolean, isBatchPoint: boolean): Promise<void> {
    const copy = this.#copy;
    const point = { isForced, isBatchPoint };
    const ignoresCacheCost = isForced || this.#sent.isCacheCold;
    let admission: Admission | undefined;
    for (const due of duePasses(this.#parts, point, ignoresCacheCost, copy.tokens)) {
      const found = this.#find(this.#parts.config.density(due.ignoresCacheCost));
      admission = this.#gate.admit(found, due.point);
      if (admission.reason !== undefined) break;
    }
    if (admission !== undefined) await this.#land(admission);
    this.#admission = admission;
    const isRoomWanted = admission?.reason === 'threshold';
    this.#isCompressed =
      copy.tokens >= (isRoomWanted ? this.#lowWaterTokens : this.#thresholdTokens);
  }

  /** Returns what a pass finds in the copy as it is now. */
  #find(config: DensityConfig): FoundEdit {
    const history = this.#copy.getRawHistory();
    const { plan, texts } = this.#index.plan(history, config);
    return new FoundEdit(plan, { history, settings: config, texts });
  }

  /** Applies an edit and its effect on reasoning. */
  async #land(admission: Admission): Promise<void> {
    if (admission.reason === undefined) return;
    const { history, reasoningTerms } = this.#parts;
    const landed = reasoningTerms.isStripping
      ? stripReasoning(admission.result, this.#copy.getRawHistory())
      : admission.result;
    if (this.#countsTokens) await history.countEach([...landed.replacements.values()]);
    this.#copy.land(landed);
    // Reasoning that leaves with an edit may take whole entries with it.
    const isWhole = landed.removals.length === 0;
    if (isWhole && onlyShrinks(landed)) this.#index.noteShrinks(landed.replacements);
    else this.#index.noteEdit(landed);
  }

  get #fullTokens(): number {
    return this.#copy.tokens + this.#copy.reclaimedTokens;
  }
}

/** Whether no row of an edit does anything but shrink a result. */
function onlyShrinks({ rows = EMPTY_PLAN }: DensityResult): boolean {
  for (const row = new PlanCursor(rows); !row.isAtEnd; row.next()) {
    if (row.action !== ACTION.shrink) return false;
  }
  return true;
}

function* preflightsOf(given: readonly IContent[]): Generator<FormerPreflight, void, undefined> {
  /** The last answer, and the entry before the present one. */
  let answer: IContent | undefined;
  let last: IContent | undefined;
  // Use only the timestamps of entries, never the present time, so that every process decides alike.
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
