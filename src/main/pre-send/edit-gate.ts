// Lets through what a session's policy admits of a density edit now. Knows what was sent and what the
// policy is; makes no edits of its own and applies none.

import { isEmptyDensityResult, NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import type { HistoryService } from '../history-service.js';
import { decideEdits } from './edit-policy.js';
import type { LandingReason } from './edit-policy.js';
import type { CompleteEditOptions } from './edit-options.js';
import { limitEdits } from './limit-edits.js';
import type { Place } from './limit-edits.js';
import { firstEditedIndex, placeBehindReasoning } from './reasoning-policy.js';
import { reclaimedTokens } from './reclaimed-tokens.js';
import type { SentHistory } from './sent-history.js';
import { currentDensityConfig } from './session-parts.js';
import type { SessionParts } from './session-parts.js';

/** What may land of an edit. */
export interface Admission {
  readonly result: DensityResult;
  /** `undefined` when nothing may land. */
  readonly reason?: LandingReason;
  /** Whether that is the edit as it was found. */
  readonly isWhole: boolean;
}

const HELD: Admission = { result: NO_EDITS, isWhole: false };

/** The window in which an edit may land. */
export interface EditWindow {
  /** Whether the history would be compressed, or has to be. */
  readonly isForced: boolean;
  /** Whether a batch may land here. */
  readonly isBatchPoint: boolean;
}

export interface EditGateOptions extends CompleteEditOptions {
  readonly parts: Pick<SessionParts, 'densityOptions' | 'runtimeContext' | 'logger'> & {
    readonly history: Pick<HistoryService, 'getRawHistory' | 'countedTokens'>;
  };
  readonly sent: Pick<SentHistory, 'intactEntries' | 'isCacheCold'>;
}

/** Admits the density edits of one session. */
export class EditGate {
  readonly #options: EditGateOptions;

  constructor(options: EditGateOptions) {
    this.#options = options;
  }

  /** Returns what may land of an edit of the history as it stands. */
  admit(found: DensityResult, window: EditWindow): Admission {
    const admission = this.#admit(found, window);
    if (!admission.isWhole) {
      const { logger } = this.#options.parts;
      logger.debug('density edits are held', {
        found: sizeOf(found),
        landing: sizeOf(admission.result),
      });
    }
    return admission;
  }

  #admit(found: DensityResult, { isForced, isBatchPoint }: EditWindow): Admission {
    const { edits, sent, minReclaimTokens, parts } = this.#options;
    const { history } = parts;
    const bound = this.#withoutBreakingReasoning(found);
    if (isEmptyDensityResult(bound)) return HELD;
    const decision = decideEdits(edits, {
      isForced,
      isCacheCold: sent.isCacheCold,
      sentEntries: sent.intactEntries,
      reclaimedTokens: () =>
        reclaimedTokens(bound, history.getRawHistory(), (entry) => history.countedTokens(entry)),
      minReclaimTokens: isBatchPoint ? minReclaimTokens : Infinity,
    });
    if (decision.verdict === 'hold') return HELD;
    const unsent = { entry: sent.intactEntries, block: 0 };
    const result = decision.verdict === 'land' ? bound : this.#limit(bound, unsent);
    if (isEmptyDensityResult(result)) return HELD;
    return { result, reason: decision.reason, isWhole: result === found };
  }

  #withoutBreakingReasoning(found: DensityResult): DensityResult {
    const { reasoning, parts } = this.#options;
    if (reasoning !== 'forbid-edits') return found;
    const entries = parts.history.getRawHistory();
    return this.#limit(found, placeBehindReasoning(entries, firstEditedIndex(found)));
  }

  #limit(result: DensityResult, place: Place): DensityResult {
    const { parts } = this.#options;
    return limitEdits(result, parts.history.getRawHistory(), place, currentDensityConfig(parts));
  }
}

function sizeOf({ removals, replacements }: DensityResult): number {
  return removals.length + replacements.size;
}
