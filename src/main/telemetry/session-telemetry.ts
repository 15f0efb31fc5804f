// Tells monitoring what one session does in its pre-send windows: measures them and their steps, and
// publishes how they ended. It has no effect on what it watches.

import type { HistoryService } from '../history-service.js';
import type { CompressedEvent, FittedEvent, PrunedEvent } from '../pre-send/session-events.js';
import { failureCode, publishCompaction, publishWindow } from './channels.js';
import type { CompactionMessage, WindowMessage } from './channels.js';

/** Whose telemetry it is. */
export interface SessionTelemetryOptions {
  readonly sessionId: string;
  readonly history: Pick<HistoryService, 'getTotalTokens' | 'modelName'>;
}

/** What a window is known by. */
export type WindowDetails = Pick<WindowMessage, 'promptId' | 'source' | 'pendingTokens'> & {
  readonly signal?: AbortSignal | undefined;
};

/** What a step is known by. */
export type StepDetails = Pick<CompactionMessage, 'step' | 'strategy'> & {
  readonly signal?: AbortSignal | undefined;
};

/** What a step tells of the edit that it made. */
export type StepEvent = PrunedEvent | CompressedEvent | FittedEvent;

/** Hears of an edit. */
export type Tell<Event extends StepEvent> = (event: Event) => void;

/** Watches one session. */
export class SessionTelemetry {
  readonly #sessionId: string;
  readonly #history: SessionTelemetryOptions['history'];

  constructor(options: SessionTelemetryOptions) {
    this.#sessionId = options.sessionId;
    this.#history = options.history;
  }

  /** Runs a window, and publishes that it has closed. Settles as `run` does. */
  async watchWindow<Result>(details: WindowDetails, run: () => Promise<Result>): Promise<Result> {
    const start = performance.now();
    try {
      const result = await run();
      this.#publishWindow(details, start, { outcome: 'done' });
      return result;
    } catch (thrown) {
      this.#publishWindow(details, start, endOf(thrown, details.signal));
      throw thrown;
    }
  }

  /**
   * Runs a step with a `tell` that publishes what the given one hears, before that hears it; a step that
   * throws without having told anything is published as well. Settles as `run` does.
   */
  async watchStep<Event extends StepEvent, Result>(
    details: StepDetails,
    tell: Tell<Event>,
    run: (tell: Tell<Event>) => Promise<Result>,
  ): Promise<Result> {
    const startTimeMs = Date.now();
    const start = performance.now();
    const publish = (ending: () => Ending): void => {
      publishCompaction(() => ({
        ...this.#common(details),
        ...ending(),
        startTimeMs,
        durationMs: performance.now() - start,
      }));
    };
    const edit = { isTold: false };
    try {
      return await run((event) => {
        edit.isTold = true;
        publish(() => endingOf(event));
        tell(event);
      });
    } catch (thrown) {
      // An edit that has landed stands, whatever failed after it.
      if (!edit.isTold) {
        publish(() => ({ ...this.#unchangedTokens(), ...endOf(thrown, details.signal) }));
      }
      throw thrown;
    }
  }

  /** Publishes a compression that was due and not even begun. */
  noteHeld(event: CompressedEvent): void {
    publishCompaction(() => ({
      ...this.#common({ step: 'compressed' }),
      ...endingOf(event),
      startTimeMs: Date.now(),
      durationMs: 0,
    }));
  }

  #common({
    step,
    strategy,
  }: StepDetails): Pick<CompactionMessage, 'sessionId' | 'step' | 'strategy' | 'modelName'> {
    const { modelName } = this.#history;
    return {
      sessionId: this.#sessionId,
      step,
      ...(strategy !== undefined && { strategy }),
      ...(modelName !== undefined && { modelName }),
    };
  }

  #unchangedTokens(): Pick<CompactionMessage, 'tokensBefore' | 'tokensAfter'> {
    const tokens = this.#history.getTotalTokens();
    return { tokensBefore: tokens, tokensAfter: tokens };
  }

  #publishWindow(
    { promptId, source, pendingTokens }: WindowDetails,
    start: number,
    end: Pick<WindowMessage, 'outcome' | 'code'>,
  ): void {
    publishWindow(() => ({
      sessionId: this.#sessionId,
      promptId,
      source,
      pendingTokens,
      totalTokens: this.#history.getTotalTokens(),
      durationMs: performance.now() - start,
      ...end,
    }));
  }
}

type Ending = Omit<
  CompactionMessage,
  'sessionId' | 'step' | 'modelName' | 'startTimeMs' | 'durationMs'
>;

function endingOf(event: StepEvent): Ending {
  const { tokensBefore, tokensAfter } = event;
  if ('changes' in event) {
    const changedEntries = event.changes.length;
    return { outcome: 'applied', tokensBefore, tokensAfter, changedEntries };
  }
  const { strategy, outcome, llmCallMade, entriesBefore, entriesAfter, fallbackFrom } = event;
  return {
    strategy,
    outcome,
    llmCallMade,
    tokensBefore,
    tokensAfter,
    entriesBefore,
    entriesAfter,
    ...(fallbackFrom !== undefined && {
      fallbackFrom: { strategy: fallbackFrom.strategy, code: failureCode(fallbackFrom.error) },
    }),
  };
}

/** An abort rejects with any reason the caller likes: the signal says whether it was one. */
function endOf(
  thrown: unknown,
  signal: AbortSignal | undefined,
):
  | { readonly outcome: 'aborted' }
  | (Pick<Required<WindowMessage>, 'code'> & { readonly outcome: 'failed' }) {
  return signal?.aborted === true
    ? { outcome: 'aborted' }
    : { outcome: 'failed', code: failureCode(thrown) };
}
