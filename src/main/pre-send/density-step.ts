// The first step of the pre-send window: one density pass, planned wherever the offload has it run.

import type { DensityBase, DensityResult } from '../../shared/density.js';
import { EMPTY_PLAN, listRuleEdits } from '../../shared/density/plan/plan.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { abortable } from '../waiting/abortable.js';
import type { HistoryService } from '../history-service.js';
import { HighDensityStrategy } from '../strategies/high-density.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { applyEdit } from './apply-edit.js';
import type { AppliedEdit } from './apply-edit.js';
import type { Admission } from './edit-gate.js';
import { findHere, PlannedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';
import type { Replay } from './replay-edits.js';
import type { PrunedEvent } from './session-events.js';
import { currentDensityConfig } from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** After this many plans that came too late, the pass runs here, where nothing can come between. */
const MAX_STALE_PLANS = 2;

/** How a pass ended. */
export interface DensityStepOutcome {
  /** What changed, or `null` when nothing did. */
  readonly event: PrunedEvent | null;
  /** Whether nothing that it found was held. */
  readonly isSettled: boolean;
}

/**
 * Runs a density pass of a strategy and applies what may land of what it finds.
 *
 * @param admit decides that, told of an edit of the history as it stands
 * @param tell hears of what changed, also when counting its tokens fails
 * @throws what the pass threw, or the signal's reason; nothing has changed then.
 */
export async function runDensityStep(
  parts: SessionParts,
  strategy: CompressionStrategy,
  admit: (found: FoundEdit) => Admission,
  tell: (event: PrunedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<DensityStepOutcome> {
  for (let attempt = 0; ; attempt += 1) {
    const edit = await findEdit(parts, strategy, attempt < MAX_STALE_PLANS, signal);
    signal?.throwIfAborted();
    if (edit !== null && parts.history.revision === edit.base.revision) {
      const { found, base } = edit;
      if (found.firstEntry === Infinity) return { event: null, isSettled: true };
      const admission = admit(found);
      const editsOf = rowsBy(admission.result);
      const outcome = await land(parts, { ...admission, base, editsOf }, tell, signal);
      if (outcome !== null) return outcome;
    }
    parts.logger.debug('a density plan came too late', { attempt });
  }
}

/**
 * Applies what was landed in a history before it was taken up. What that did to reasoning is part of it.
 *
 * @returns `null` when the history was rewritten since it was replayed
 */
export function landReplay(
  parts: SessionParts,
  replay: Replay,
  tell: (event: PrunedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<DensityStepOutcome | null> {
  const landing = { ...replay, editsOf: () => replay.ruleEdits };
  return land({ ...parts, reasoning: 'keep' }, landing, tell, signal);
}

/** What may land of an edit of a history. */
interface Landing extends Admission {
  readonly base: DensityBase;
  /** Which rule took what of the entries that changed. */
  readonly editsOf: (applied: AppliedEdit) => readonly RuleEdit[];
}

/** Returns `null` when the edit has to be found again. */
async function land(
  parts: SessionParts,
  { result, reason, isWhole, base, editsOf }: Landing,
  tell: (event: PrunedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<DensityStepOutcome | null> {
  if (reason === undefined) return { event: null, isSettled: isWhole };
  const eventOf = (applied: AppliedEdit): PrunedEvent => {
    return { metadata: result.metadata, reason, edits: editsOf(applied), ...applied };
  };
  const tellEdit = (applied: AppliedEdit): void => {
    tell(eventOf(applied));
  };
  const applied = await applyEdit(parts, result, base, tellEdit, signal);
  return applied === null ? null : { event: eventOf(applied), isSettled: isWhole };
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
  mayOffload: boolean,
  signal: AbortSignal | undefined,
): Promise<BasedEdit | null> {
  const { history } = parts;
  const { base } = history;
  const config = currentDensityConfig(parts);
  // Only the documented pass is known to workers; a strategy with one of its own runs here.
  if (!mayOffload || strategy.optimize !== HighDensityStrategy.prototype.optimize) {
    return { found: findHere(strategy, history.getRawHistory(), config), base };
  }
  const { plan, tokensAfter } = await abortable(
    parts.offload.optimize(history.getRawHistory(), base, config, signal),
    signal,
  );
  // What was only appended meanwhile does no harm.
  if (history.revision !== base.revision) return null;
  const found = new PlannedEdit(plan, history.getRawHistory(), config, (result) => {
    if (tokensAfter !== undefined) weighReplacements(history, result, tokensAfter);
  });
  return { found, base };
}

/** What the worker foretold need not be counted. */
function weighReplacements(
  history: HistoryService,
  { replacements }: DensityResult,
  tokensAfter: Int32Array,
): void {
  for (let at = 0; at < tokensAfter.length; at += 2) {
    const replacement = replacements.get(tokensAfter[at] ?? -1);
    const tokens = tokensAfter[at + 1] ?? -1;
    if (replacement !== undefined && tokens >= 0) history.weigh(replacement, tokens);
  }
}
