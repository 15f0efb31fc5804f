// The newest request of a conversation, and what the provider says about it: the usage with its answer, or that it was too long.

import { tellHost } from '../../main/host/ask-host.js';
import type { Logger } from '../../main/host/logger.js';
import { refusedLength } from '../../main/models/model-limits.js';
import type { Session } from '../../main/session.js';
import { nextTurn } from '../../main/waiting/event-loop-turn.js';
import { asError } from '../../shared/errors.js';
import type { CompactCall } from '../request/adapter-options.js';
import { usageReportOf } from '../request/call-arguments.js';

/** If a provider does not say how long a refused prompt was, the next one gets at most this share of its estimated tokens. */
const UNNAMED_SHARE = 0.9;

/**
 * Share of the limit. A larger excess cannot be text that the estimate lacks: the model counts more tokens in all of the prompt. Then the
 * estimated tokens are scaled, because subtracting would take the newest results, too.
 */
const MOST_EXCESS = 0.5;

/** Share of the limit. Subtracting a larger excess would leave no history. */
const MAX_SUBTRACTED = 0.9;

/**
 * No provider counts more than this multiple of the estimated tokens. With a larger excess than can be subtracted, such a prompt was
 * refused for the room of its answer.
 */
const MAX_RATIO = 4;

export class LastRequest {
  /** Estimated size of the whole request, in the model's own tokens; `undefined` if another process made the request. */
  tokens: number | undefined;
  #call: CompactCall = {};
  #awaitsUsage = false;
  #isAnswered = false;
  #wasAnswered = false;
  #refusal: unknown;
  /** Number of messages in the last request, without a transient one. */
  #length = 0;
  /** How many of the first messages are as in the last answered request, if an edit has changed one behind them. */
  #unchanged = Infinity;
  /** Reports what a callback of the call threw or rejected with. */
  #warn: (thrown: unknown) => void = () => undefined;

  get call(): CompactCall {
    return this.#call;
  }

  /** Returns the refusal that came once the answer had begun, for the next call to the same model. */
  refusalFor({ modelName = this.#call.modelName }: CompactCall): unknown {
    return modelName === this.#call.modelName ? this.#refusal : undefined;
  }

  /** Gives pending usage one event-loop turn: it may be read from a copy of the answer, one turn later than the answer itself. */
  async settled(): Promise<void> {
    if (this.#awaitsUsage) await nextTurn();
  }

  /**
   * Begins the next request. From now on, usage of an earlier request is ignored.
   *
   * @param session returns the session that the usage is reported to
   * @param learn takes each refusal at once: the caller may go on with other messages, as when a failed run is started over
   */
  begin(
    call: CompactCall,
    session: () => Session | undefined,
    learn: (refusal: unknown) => void,
    logger: Logger,
  ): void {
    if (call.refusal !== undefined) learn(call.refusal);
    this.#call = call;
    this.#refusal = undefined;
    this.#awaitsUsage = call.answerUsage !== undefined;
    this.#wasAnswered = this.#isAnswered;
    this.#isAnswered = false;
    this.#warn = (thrown) => {
      logger.warn('a callback of a call failed', { error: asError(thrown) });
    };
    const take = (usage: CompactCall): void => {
      if (usage.refusal !== undefined) learn(usage.refusal);
      if (this.#call !== call) return;
      this.#awaitsUsage = false;
      this.#refusal = usage.refusal ?? this.#refusal;
      this.#isAnswered = usage.refusal === undefined;
      try {
        reportUsage(session(), usage);
      } catch (thrown) {
        // Usage is optional and the answer is there, so a failure to report usage must not fail the call.
        logger.warn('the usage of an answer is ignored', { error: asError(thrown) });
      }
    };
    tellHost(() => call.answerUsage?.(take), this.#warn);
  }

  /**
   * Reports the usage of the previous request, which was answered, from the call's arguments, unless that request's own answer has
   * reported it.
   */
  reportFormer(session: Session, call: CompactCall): void {
    this.#unchanged = Infinity;
    if (!this.#wasAnswered) reportUsage(session, call);
  }

  /** Notes where an edit begins in the messages of the last request. */
  noteEdit(before: readonly unknown[], after: readonly unknown[]): void {
    let unchanged = 0;
    while (unchanged < this.#length && before[unchanged] === after[unchanged]) unchanged += 1;
    // A request that was not answered may be repeated, so its edits count as well.
    if (unchanged < this.#length) this.#unchanged = Math.min(unchanged, this.#unchanged);
  }

  /**
   * Tells the call where edits begin in the messages that it returns.
   *
   * @param current the messages after edits
   * @param returned the same, with a turn completed
   */
  returns<Message>(current: readonly Message[], returned: Message[]): Message[] {
    this.#length = current.length;
    const last = current[this.#unchanged - 1];
    if (last === undefined) return returned;
    const isInPlace = returned[this.#unchanged - 1] === last;
    const index = isInPlace ? this.#unchanged : returned.lastIndexOf(last) + 1;
    if (index > 0) tellHost(() => this.#call.keepsCacheBefore?.(index), this.#warn);
    return returned;
  }

  /**
   * Returns by how many tokens the model's window is smaller than it seems, after it refused a request as too long: the request was
   * longer than estimated, or the limit is lower. Returns 0 without such a refusal, or if no edit could help.
   *
   * @param contextLimit the session's limit, in tokens
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
    const isScaled = excess > MOST_EXCESS * limit && tokens <= MAX_RATIO * taken;
    if (isScaled) return Math.ceil(limit * (1 - taken / tokens)) + above;
    return excess <= MAX_SUBTRACTED * limit ? excess + above : 0;
  }
}

/** Reports the usage in the arguments of a call, if there is any. */
function reportUsage(session: Session | undefined, call: CompactCall): void {
  const report = usageReportOf(call);
  if (report !== undefined) session?.reportUsage(report);
  if (call.oddUsage) session?.reportOddUsage(call.oddUsage);
}
