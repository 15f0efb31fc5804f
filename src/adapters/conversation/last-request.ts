// The newest request of a conversation, and what the provider says about it: the usage with its answer, or that it was too long.

import { tellHost } from '../../main/host/ask-host.js';
import type { Logger } from '../../main/host/logger.js';
import { refusedLength } from '../../main/models/model-limits.js';
import type { RefusedLength } from '../../main/models/model-limits.js';
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

/** The size of a request. */
interface RequestSize {
  /** Estimated tokens of the whole request, in the model's own tokens. */
  readonly tokens: number;
  /** Counted tokens of its history. Unlike the estimate, they do not change with what is learned of the model. */
  readonly countedTokens: number;
}

/** Returns the size of the request that a session would make now. @param pendingTokens its tokens besides history and overhead */
export function sizeOf(session: Session, pendingTokens: number): RequestSize {
  const tokens = session.contextUsage().tokens + pendingTokens;
  return { tokens, countedTokens: session.history.getTotalTokens() };
}

/** What a model refused a request with for its length. */
interface RefusedRequest extends Pick<RequestSize, 'countedTokens'> {
  readonly refusal: unknown;
  readonly modelName: string | undefined;
}

export class LastRequest {
  /** `undefined` if another process made the request. */
  size: RequestSize | undefined;
  /** The shortest request that was refused. A run that fails of it may start over, and comes to the same length again. */
  refused: RefusedRequest | undefined;
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
    if (call.refusal !== undefined) {
      learn(call.refusal);
      this.#noteEnd(call.refusal);
    }
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
      this.#noteEnd(usage.refusal);
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

  /** Notes that the request was answered, or what it was refused with. */
  #noteEnd(refusal: unknown): void {
    const { countedTokens } = this.size ?? {};
    const { modelName } = this.#call;
    if (countedTokens === undefined) return;
    const known = this.refused?.modelName === modelName ? this.refused : undefined;
    const isAsLong = known !== undefined && countedTokens >= known.countedTokens;
    if (refusal === undefined && isAsLong) this.refused = undefined;
    if (refusedLength(refusal) !== undefined && !isAsLong)
      this.refused = { refusal, modelName, countedTokens };
  }

  /**
   * Reports the usage of the previous request from the call's arguments, unless that request's own answer has reported it. Names the
   * call's model after that, because the usage belongs to the previous request and its model.
   *
   * @param isAnswered whether the call has a new answer: else the previous request failed, and the usage is that of an earlier one
   */
  reportFormer(session: Session, call: CompactCall, isAnswered: boolean): void {
    const { history } = session;
    const { modelName } = call;
    if (history.modelName === undefined && modelName !== undefined) history.nameModel(modelName);
    if (isAnswered) {
      this.#unchanged = Infinity;
      if (!this.#wasAnswered) reportUsage(session, call);
    }
    if (modelName !== undefined) history.nameModel(modelName);
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
   * longer than estimated, or the limit is lower. An earlier refusal counts for a request that would be as long again. Returns 0 without
   * a refusal, or if no edit could help.
   *
   * @param pendingTokens as in `sizeOf`
   */
  excessTokens(
    { refusal, modelName }: Pick<CompactCall, 'refusal' | 'modelName'>,
    session: Session,
    pendingTokens: number,
  ): number {
    const { contextLimit } = session;
    const present = sizeOf(session, pendingTokens);
    const now = refusedLength(refusal);
    if (now !== undefined) return excessOf(now, contextLimit, this.size?.tokens ?? present.tokens);
    const { refused } = this;
    if (refused === undefined || (modelName ?? refused.modelName) !== refused.modelName) return 0;
    const taken = (present.tokens * refused.countedTokens) / Math.max(1, present.countedTokens);
    const said = excessOf(refusedLength(refused.refusal) ?? {}, contextLimit, taken);
    // The model may count another text of that length differently, so no number leaves it more than a refusal without one.
    const excess = said === 0 ? 0 : Math.max(said, excessOf({}, contextLimit, taken));
    return present.tokens > contextLimit - excess ? excess : 0;
  }
}

/** @param taken estimated tokens of the refused request */
function excessOf(
  { limit: named, tokens }: RefusedLength,
  contextLimit: number,
  taken: number,
): number {
  const limit = named ?? contextLimit;
  if (tokens === undefined)
    return Math.max(0, contextLimit - Math.min(limit, Math.floor(UNNAMED_SHARE * taken)));
  const above = Math.max(0, contextLimit - limit);
  const excess = Math.max(0, Math.ceil(tokens - taken));
  const isScaled = excess > MOST_EXCESS * limit && tokens <= MAX_RATIO * taken;
  if (isScaled) return Math.ceil(limit * (1 - taken / tokens)) + above;
  return excess <= MAX_SUBTRACTED * limit ? excess + above : 0;
}

/** Reports the usage in the arguments of a call, if there is any. */
function reportUsage(session: Session | undefined, call: CompactCall): void {
  const report = usageReportOf(call);
  if (report !== undefined) session?.reportUsage(report);
  if (call.oddUsage) session?.reportOddUsage(call.oddUsage);
}
