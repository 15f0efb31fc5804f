// The newest request of a conversation, and what the provider says about it: the usage with its answer, or that it was too long.

import type { Logger } from '../../main/host/logger.js';
import { refusedLength } from '../../main/models/model-limits.js';
import type { Session } from '../../main/session.js';
import { nextTurn } from '../../main/waiting/event-loop-turn.js';
import { asError } from '../../shared/errors.js';
import type { CompactCall } from '../request/adapter-options.js';
import { usageReportOf } from '../request/call-arguments.js';

/** If a provider does not state the length of the prompt that it refused, the next prompt gets this share of its estimated length. */
const UNNAMED_SHARE = 0.9;

/** If a prompt was longer than estimated by more than this share of the window, subtracting the excess would leave no history. */
const MOST_EXCESS = 0.9;

/** No provider counts more than this many times the estimate. A prompt beyond it was refused for the room that its answer needs. */
const MAX_RATIO = 4;

export class LastRequest {
  /** Estimate for the whole request, in the model's own tokens; `undefined` if another process made the request. */
  tokens: number | undefined;
  #call: CompactCall = {};
  #awaitsUsage = false;
  #refusal: unknown;

  get call(): CompactCall {
    return this.#call;
  }

  /** The refusal that was reported with the usage of the answer, for the next call to the same model. */
  refusalFor({ modelName = this.#call.modelName }: CompactCall): unknown {
    return modelName === this.#call.modelName ? this.#refusal : undefined;
  }

  /** If usage will be reported, waits one turn of the event loop for it: the copy that it is read from may lag a turn behind the answer. */
  async settled(): Promise<void> {
    if (this.#awaitsUsage) await nextTurn();
  }

  /**
   * Begins the next request. From now on, the usage of an earlier one is ignored.
   *
   * @param session returns the session to report the usage to
   */
  begin(call: CompactCall, session: () => Session | undefined, logger: Logger): void {
    this.#call = call;
    this.#refusal = undefined;
    this.#awaitsUsage = call.answerUsage !== undefined;
    call.answerUsage?.((usage) => {
      if (this.#call !== call) return;
      this.#awaitsUsage = false;
      this.#refusal = usage.refusal ?? this.#refusal;
      try {
        reportUsage(session(), usage);
      } catch (thrown) {
        // Usage only improves estimates, and the model has answered, so the call must not fail.
        logger.warn('the usage of an answer is ignored', { error: asError(thrown) });
      }
    });
  }

  /**
   * Returns by how many tokens the model takes less than the session assumes, after it refused the request for its length: because
   * the request was longer than estimated, or because the limit is lower. 0 if the refusal was not for its length, or if no edit
   * would help.
   *
   * @param contextLimit the limit that the session assumes, in tokens
   * @param present estimated tokens of the request as it is now, used if another process made the last one
   */
  excessTokens(refusal: unknown, contextLimit: number, present: number): number {
    const refused = refusedLength(refusal);
    if (refused === undefined) return 0;
    const { limit = contextLimit, tokens } = refused;
    const taken = this.tokens ?? present;
    if (tokens === undefined)
      return Math.max(0, contextLimit - Math.min(limit, Math.floor(UNNAMED_SHARE * taken)));
    const above = Math.max(0, contextLimit - limit);
    const excess = Math.max(0, Math.ceil(tokens - taken));
    if (excess <= MOST_EXCESS * limit) return excess + above;
    return tokens > MAX_RATIO * taken ? 0 : Math.ceil(limit * (1 - taken / tokens)) + above;
  }
}

/** Reports the usage in the arguments of a call, if there is any, to a session. */
export function reportUsage(session: Session | undefined, call: CompactCall): void {
  const report = usageReportOf(call);
  if (report !== undefined) session?.reportUsage(report);
  if (call.oddUsage) session?.reportOddUsage(call.oddUsage);
}
