// Records what offloads did and how they failed: totals per session and compactor, telemetry, and one log warning per kind of
// failure. Decides nothing.

import { causesOf, CtxfoldError } from '../../shared/errors.js';
import type { Logger } from '../host/logger.js';
import { failureCode, innermostFailure, publish } from '../telemetry/channels.js';
import type { PassMessage, FailureCode } from '../telemetry/channels.js';
import type { FallbackEvent, OffloadStats } from './offload.js';

/** The running totals of one session, or of all sessions of a compactor. */
export class OffloadMeter {
  readonly #sessionId: string;
  readonly #all: OffloadMeter | undefined;
  readonly #onFallback: ((event: FallbackEvent) => void) | undefined;
  readonly #totals: { -readonly [Total in keyof OffloadStats]: number } = {
    residentPasses: 0,
    workerTasks: 0,
    inlineTasks: 0,
    fallbacks: 0,
    failures: 0,
    openings: 0,
    workerMs: 0,
    queueMs: 0,
    mainThreadMs: 0,
    bytesSent: 0,
  };

  /**
   * @param onFallback called with every fallback. Its errors are not caught.
   * @param all the compactor's meter, to which everything is added as well
   */
  constructor(
    sessionId: string = '',
    onFallback?: (event: FallbackEvent) => void,
    all?: OffloadMeter,
  ) {
    this.#sessionId = sessionId;
    this.#onFallback = onFallback;
    this.#all = all;
  }

  /** A snapshot of the totals. */
  get stats(): OffloadStats {
    return { ...this.#totals };
  }

  /** Adds a completed piece of work. */
  addPass(pass: Omit<PassMessage, 'sessionId'>): void {
    this.#add(pass);
    if (this.#all !== undefined) this.#all.#add(pass);
    publish('ctxfold:pass', () => ({ sessionId: this.#sessionId, ...pass }));
  }

  /**
   * Adds work that was posted to a worker and ends now.
   *
   * @param times start and end of posting, by `performance.now` (by default it took no time), and the time that the work waited for a
   *   thread (by default none) and ran, in milliseconds
   */
  addPosted(
    work: Pick<PassMessage, 'task' | 'ranOn' | 'entries' | 'bytesSent'>,
    times: {
      readonly startedAt: number;
      readonly postedAt?: number;
      readonly queueMs?: number;
      readonly runMs: number;
    },
  ): void {
    const { startedAt, postedAt = startedAt, queueMs = 0, runMs } = times;
    const transferMs = Math.max(0, performance.now() - startedAt - queueMs - runMs);
    this.addPass({ ...work, queueMs, runMs, transferMs, mainThreadMs: postedAt - startedAt });
  }

  /** Adds a fallback to the calling thread. */
  addFallback(fallback: FallbackEvent): void {
    const { task, error, attempts } = fallback;
    this.#totals.fallbacks += 1;
    if (this.#all !== undefined) this.#all.#totals.fallbacks += 1;
    publish('ctxfold:fallback', () => {
      const cause = innermostFailure(error);
      return {
        sessionId: this.#sessionId,
        task,
        code: failureCode(error),
        cause: cause instanceof CtxfoldError ? cause.message : cause.name,
        attempts,
      };
    });
    this.#onFallback?.(fallback);
  }

  /** Adds a failed attempt on a worker. */
  addFailure(): void {
    this.#totals.failures += 1;
    this.#all?.addFailure();
  }

  #add(pass: Omit<PassMessage, 'sessionId'>): void {
    const { task, ranOn, queueMs, runMs, mainThreadMs, bytesSent } = pass;
    const totals = this.#totals;
    if (task === 'open') totals.openings += 1;
    else if (ranOn === 'inline') totals.inlineTasks += 1;
    else totals.workerTasks += 1;
    if (task === 'optimize' && ranOn === 'resident') totals.residentPasses += 1;
    if (ranOn !== 'inline') totals.workerMs += runMs;
    totals.queueMs += queueMs;
    totals.mainThreadMs += mainThreadMs;
    totals.bytesSent += bytesSent;
  }
}

const INLINE = "or choose offload: 'inline'.";

/** What to do about a failure, by a pattern that matches any message or code in its chain of causes. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/ERR_ACCESS_DENIED|NotCapable/, `Start Node with --allow-worker, ${INLINE}`],
  [
    /Cannot find (?:module|package)|MODULE_NOT_FOUND/,
    `A file of the build is missing where it runs: deploy all of them, ${INLINE}`,
  ],
];

/** Logs that workers cannot be used, why, and what to do. Once per kind of failure, because a session then falls back in every turn. */
export class FallbackNotice {
  readonly #logger: Logger;
  readonly #warnedOf: Set<FailureCode> = new Set();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Whether it was logged that tokens are estimated because the encoding could not be loaded. */
  readonly hasWarnedOfEstimates = (): boolean => this.#warnedOf.has('TOKEN_COUNT_FAILED');

  /** Logs a failure, unless one with the same code of the innermost cause was logged before. */
  warn({ task, error }: FallbackEvent): void {
    const innermost = innermostFailure(error);
    const code = failureCode(innermost);
    if (this.#warnedOf.has(code)) return;
    this.#warnedOf.add(code);
    const message =
      code === 'TOKEN_COUNT_FAILED'
        ? `Tokens are estimated. ${firstLine(innermost.message)}`
        : [
            'Work for worker threads runs on the calling thread.',
            code === 'UNKNOWN' ? innermost.name : firstLine(innermost.message),
            REMEDIES.find(([pattern]) => pattern.test(chainOf(error)))?.[1],
          ]
            .filter((part) => part !== undefined)
            .join(' ');
    this.#logger.warn(message, { code, task });
  }
}

/** Returns the first line as a sentence. For a missing module, Node's further lines name the path that required it. */
function firstLine(text: string): string {
  return text.split('\n', 1).join('').replace(/\.?$/, '.');
}

function chainOf(error: Error): string {
  return Array.from(causesOf(error), (link) =>
    'code' in link ? `${link.message} ${String(link.code)}` : link.message,
  ).join(' ');
}
