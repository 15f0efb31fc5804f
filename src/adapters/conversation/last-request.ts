// The newest request of a conversation, and what its provider says of it: the usage of its answer, or that it was too long.

import type { Logger } from '../../main/host/logger.js';
import { refusedLength } from '../../main/models/model-limits.js';
import type { Session } from '../../main/session.js';
import { nextTurn } from '../../main/waiting/event-loop-turn.js';
import { asError } from '../../shared/errors.js';
import type { CompactCall } from '../request/adapter-options.js';
import { usageReportOf } from '../request/call-arguments.js';

/** Where a provider does not say how long a refused prompt was, the next one is to have this share of it. */
const UNNAMED_SHARE = 0.9;

/** If it was longer by more than this share of the window, no history would be left of it. */
const MOST_EXCESS = 0.9;

/** No provider counts more than this many times what is estimated: such a prompt was refused for the room of its answer. */
const MAX_RATIO = 4;

export class LastRequest {
  /** Estimated tokens of the whole request, in the model's own; `undefined` if another process has made it. */
  tokens: number | undefined;
  #call: CompactCall = {};
  #awaitsUsage = false;
  #isAnswered = false;
  #wasAnswered = false;
  #refusal: unknown;

  get call(): CompactCall {
    return this.#call;
  }

  /** What the provider has refused it with while it answered, for the next call to the same model. */
  refusalFor({ modelName = this.#call.modelName }: CompactCall): unknown {
    return modelName === this.#call.modelName ? this.#refusal : undefined;
  }

  /** Resolves once the usage of its answer is reported, if it will be: a copy may be read a turn later than the answer. */
  async settled(): Promise<void> {
    if (this.#awaitsUsage) await nextTurn();
  }

  /**
   * Begins the next one. From now on, the usage of an earlier one is ignored.
   *
   * @param session returns the session that is told the usage
   */
  begin(call: CompactCall, session: () => Session | undefined, logger: Logger): void {
    this.#call = call;
    this.#refusal = undefined;
    this.#awaitsUsage = call.answerUsage !== undefined;
    this.#wasAnswered = this.#isAnswered;
    this.#isAnswered = false;
    call.answerUsage?.((usage) => {
      if (this.#call !== call) return;
      this.#awaitsUsage = false;
      this.#refusal = usage.refusal ?? this.#refusal;
      this.#isAnswered = usage.refusal === undefined;
      try {
        reportUsage(session(), usage);
      } catch (thrown) {
        // Usage only helps, and the model has answered.
        logger.warn('the usage of an answer is ignored', { error: asError(thrown) });
      }
    });
  }

  /** Reports the usage of the request before it, as the call tells it, unless its answer has told that. */
  reportFormer(session: Session, call: CompactCall): void {
    if (!this.#wasAnswered) reportUsage(session, call);
  }

  /**
   * Returns how many tokens less than it seems the model takes, once it has refused it for its length; 0 if it has not, or for what
   * no edit changes: it was longer than it was taken for, or the limit is lower.
   *
   * @param contextLimit that the session goes by
   * @param present estimated tokens of the request as it is now, if another process has made the last one
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

/** Reports the usage in the arguments of a call, if there is any. */
function reportUsage(session: Session | undefined, call: CompactCall): void {
  const report = usageReportOf(call);
  if (report !== undefined) session?.reportUsage(report);
  if (call.oddUsage) session?.reportOddUsage(call.oddUsage);
}
