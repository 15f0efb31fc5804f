// Lets through what a session's policy admits of a density edit now. Knows what was sent and what the
// policy is; makes no edits of its own and applies none.

import { NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import type { HistoryService } from '../history-service.js';
import { decideEdits } from './edit-policy.js';
import type { LandingReason } from './edit-policy.js';
import type { CompleteEditOptions } from './edit-options.js';
import type { FoundEdit } from './found-edit.js';
import { placeBehindReasoning } from './reasoning-policy.js';
import { worthwhileFrom } from './edit-price.js';
import { reclaimedTokens } from './reclaimed-tokens.js';
import type { CountedTokens } from './reclaimed-tokens.js';
import type { SentHistory } from './sent-history.js';
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
  readonly parts: Pick<SessionParts, 'logger'> & {
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
  admit(found: FoundEdit, window: EditWindow): Admission {
    const admission = this.#admit(found, window);
    if (!admission.isWhole) {
      const { removals, replacements } = admission.result;
      this.#options.parts.logger.debug('density edits are held', {
        found: found.size,
        landing: removals.length + replacements.size,
      });
    }
    return admission;
  }

  #admit(found: FoundEdit, { isForced, isBatchPoint }: EditWindow): Admission {
    const { edits, sent, minReclaimTokens, parts } = this.#options;
    const { history } = parts;
    const bound = this.#withoutBreakingReasoning(found);
    if (bound.firstEntry === Infinity) return HELD;
    const sentEntries = sent.intactEntries;
    const countedTokens: CountedTokens = (entry) => history.countedTokens(entry);
    const decision = decideEdits(edits, {
      isForced,
      isCacheCold: sent.isCacheCold,
      sentEntries,
      reclaimedTokens: () => reclaimedTokens(bound.result, history.getRawHistory(), countedTokens),
      minReclaimTokens: isBatchPoint ? minReclaimTokens : Infinity,
      worthwhileFrom: () => {
        const { result } = bound;
        return worthwhileFrom({
          ...{ result, sentEntries, countedTokens },
          history: history.getRawHistory(),
        });
      },
    });
    if (decision.verdict === 'hold') return HELD;
    const entry = decision.verdict === 'land-from' ? decision.entry : sentEntries;
    const landing = decision.verdict === 'land' ? bound : bound.limitedTo({ entry, block: 0 });
    if (landing.firstEntry === Infinity) return HELD;
    return { result: landing.result, reason: decision.reason, isWhole: landing === found };
  }

  #withoutBreakingReasoning(found: FoundEdit): FoundEdit {
    const { reasoning, parts } = this.#options;
    if (reasoning !== 'forbid-edits' || found.firstEntry === Infinity) return found;
    return found.limitedTo(placeBehindReasoning(parts.history.getRawHistory(), found.firstEntry));
  }
}
