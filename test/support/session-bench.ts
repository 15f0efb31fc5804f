// A session with replaceable parts: strategy, settings, offload, counts.

import { HistoryService } from '../../src/main/history-service.js';
import type { Logger } from '../../src/main/host/logger.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import type { Offload } from '../../src/main/offload/offload.js';
import type { EphemeralSettings } from '../../src/main/settings/ephemeral-settings.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../src/main/settings/session-config.js';
import { Settings } from '../../src/main/settings/settings.js';
import { HighDensityStrategy } from '../../src/main/strategies/high-density.js';
import type {
  CompressionContext,
  CompressionResult,
  CompressionStrategy,
} from '../../src/main/strategies/strategy.js';
import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import type { SessionInit } from '../../src/main/preflight/session-parts.js';
import type { DensityOptions } from '../../src/main/settings/session-config.js';
import { Session } from '../../src/main/session.js';
import { SessionModel } from '../../src/main/models/session-model.js';
import type { ModelPrice } from '../../src/main/models/price-table.js';
import type { ContextGaugeOptions } from '../../src/main/preflight/context-gauge.js';
import { completeEditOptions } from '../../src/main/preflight/edit-options.js';
import type { EditOptions } from '../../src/main/preflight/edit-options.js';
import { TokenCalibration } from '../../src/main/tokens/token-calibration.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { describeHistory, historyOf } from './notation.js';

/** A promise with exposed resolve and reject. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<Value>(): Deferred<Value> {
  const { promise, ...settle } = withResolvers<Value>();
  return { promise, ...settle };
}

function withResolvers<Value>(): Deferred<Value> {
  const settlers: Omit<Deferred<Value>, 'promise'>[] = [];
  const promise = new Promise<Value>((resolve, reject) => {
    settlers.push({ resolve, reject });
  });
  const [settle] = settlers;
  if (settle === undefined) throw new Error('A promise runs its executor at once.');
  return { promise, ...settle };
}

/** The parts of a session; omitted ones are real, but without threads. */
export interface BenchParts {
  readonly contextLimit?: number;
  readonly settings?: EphemeralSettings;
  readonly offload?: Offload;
  readonly strategy?: CompressionStrategy;
  readonly countEntries?: CountEntries;
  readonly density?: DensityOptions;
  readonly logger?: Logger;
  readonly entries?: readonly IContent[];
  /** What it knows about the model's own token counts. */
  readonly gauge?: Partial<Omit<ContextGaugeOptions, 'history' | 'runtimeContext'>>;
  /** When and where its edits land, the clock, and the model's prices. */
  readonly timing?: EditOptions &
    Pick<SessionInit, 'now' | 'removalLog'> & { readonly price?: () => ModelPrice | undefined };
}

const countTens: CountEntries = (contents) => Promise.resolve(contents.map(() => 10));

/** Makes a session with entries of 10 tokens each, by default in a window of 1,000. */
export function openSession(parts: BenchParts = {}): Session {
  const {
    contextLimit = 1_000,
    offload = new InlineOffload(),
    strategy = new HighDensityStrategy(),
    countEntries = countTens,
    density = { workspaceRoot: '/w' },
    logger = SILENT_LOGGER,
    entries = [],
  } = parts;
  const history = new HistoryService({ countEntries, logger });
  history.addAll(entries);
  const settings = new Settings(parts.settings);
  const edits = completeEditOptions({ ...parts.timing });
  return new Session({
    sessionId: 'session',
    config: new SessionConfig({
      settings,
      runtimeContext: createAgentRuntimeContext(settings, contextLimit),
      densityOptions: density,
      edits,
      model: new SessionModel({ priceOf: parts.timing?.price, cacheTtlMs: edits.cacheTtlMs }),
      resolveStrategy: () => strategy,
    }),
    history,
    offload,
    meter: new OffloadMeter(),
    logger,
    calibration: new TokenCalibration(),
    ...parts.gauge,
    now: parts.timing?.now,
    removalLog: parts.timing?.removalLog,
  });
}

/** A strategy that compresses with the given function, and by default prunes like high-density. */
export function strategyOf(
  compress: (context: CompressionContext) => Promise<readonly IContent[]>,
  optimize: CompressionStrategy['optimize'] | null = HighDensityStrategy.prototype.optimize,
): CompressionStrategy {
  return {
    name: 'high-density',
    requiresLLM: false,
    trigger: { mode: 'continuous', defaultThreshold: 0.85 },
    ...(optimize !== null && { optimize }),
    compress: async (context): Promise<CompressionResult> => {
      const newHistory = [...(await compress(context))];
      return {
        newHistory,
        metadata: {
          originalMessageCount: context.history.length,
          compressedMessageCount: newHistory.length,
          strategyUsed: 'high-density',
          llmCallMade: false,
        },
      };
    },
  };
}

/** The code that a promise rejects with, or its other outcome. */
export function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error as { readonly code?: unknown } | null)?.code ?? error,
  );
}

/** Makes a session with a history in the notation. */
export function openNoted(notation: string, parts: BenchParts = {}): Session {
  return openSession({ entries: historyOf(notation), ...parts });
}

/** The history of a session in the notation. */
export function entriesOf(session: Session): string {
  return describeHistory(session.history.getRawHistory());
}

/** That many distinct human entries. */
export function entries(length: number): IContent[] {
  return Array.from({ length }, (_, at) => humanText(`e${at}`));
}

/** A strategy that compresses a history to its last entries. */
export function keepLast(length: number): CompressionStrategy {
  return strategyOf(async ({ history }) => history.slice(-length));
}
