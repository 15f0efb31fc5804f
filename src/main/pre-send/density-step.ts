// The first step of the pre-send window: one density pass, planned wherever the offload has it run.

import { NO_EDITS } from '../../shared/density.js';
import type { DensityBase, DensityResult } from '../../shared/density.js';
import { listRuleEdits } from '../../shared/density/plan/plan.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { abortable } from '../abortable.js';
import type { HistoryService } from '../history-service.js';
import { HighDensityStrategy } from '../strategies/high-density.js';
import type { CompressionStrategy } from '../strategies/strategy.js';
import { applyEdit } from './apply-edit.js';
import type { AppliedEdit } from './apply-edit.js';
import type { Admission } from './edit-gate.js';
import { PlannedEdit, ReturnedEdit } from './found-edit.js';
import type { FoundEdit } from './found-edit.js';
import type { OptimizedEvent } from './session-events.js';
import { currentDensityConfig } from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** After this many plans that came too late, the pass runs here, where nothing can come between. */
const MAX_STALE_PLANS = 2;

/** How a pass ended. */
export interface DensityStepOutcome {
  /** What changed, or `null` when nothing did. */
  readonly event: OptimizedEvent | null;
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
  tell: (event: OptimizedEvent) => void,
  signal: AbortSignal | undefined,
): Promise<DensityStepOutcome> {
  for (let attempt = 0; ; attempt += 1) {
    const edit = await findEdit(parts, strategy, attempt < MAX_STALE_PLANS, signal);
    signal?.throwIfAborted();
    if (edit !== null && parts.history.revision === edit.base.revision) {
      if (edit.found.firstEntry === Infinity) return { event: null, isSettled: true };
      const { result, reason, isWhole } = admit(edit.found);
      if (reason === undefined) return { event: null, isSettled: false };
      const eventOf = (applied: AppliedEdit): OptimizedEvent => {
        return { metadata: result.metadata, reason, edits: editsOf(result, applied), ...applied };
      };
      const tellEdit = (applied: AppliedEdit): void => {
        tell(eventOf(applied));
      };
      const applied = await applyEdit(parts, result, edit.base, tellEdit, signal);
      if (applied !== null) return { event: eventOf(applied), isSettled: isWhole };
    }
    parts.logger.debug('a density plan came too late', { attempt });
  }
}

interface BasedEdit {
  readonly found: FoundEdit;
  readonly base: DensityBase;
}

/** Which rule took what of the entries that changed. */
function editsOf({ rows }: DensityResult, { changes }: AppliedEdit): readonly RuleEdit[] {
  if (rows === undefined) return [];
  const before = new Map(changes.map((change) => [change.index, change.before.blocks]));
  return listRuleEdits(rows, (entry) => before.get(entry));
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
    const result = strategy.optimize?.(history.getRawHistory(), config) ?? NO_EDITS;
    return { found: new ReturnedEdit(result, history.getRawHistory(), config), base };
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
