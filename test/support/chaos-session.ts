// Sessions of a chaos run: set up like a compactor's, over a pool with the run's worker and deadlines; and an inline session
// as the oracle.

import { HistoryService } from '../../src/main/history-service.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import type { FallbackEvent, Offload } from '../../src/main/offload/offload.js';
import type { ResidentHost } from '../../src/main/offload/resident-host.js';
import { MIN_RESIDENT_ENTRIES, ResidentOffload } from '../../src/main/offload/resident.js';
import { SnapshotOffload } from '../../src/main/offload/snapshot.js';
import type { WorkerPool } from '../../src/main/offload/worker-pool.js';
import { SessionModel } from '../../src/main/models/session-model.js';
import { completeEditOptions } from '../../src/main/preflight/edit-options.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../src/main/settings/session-config.js';
import { Settings } from '../../src/main/settings/settings.js';
import { getCompressionStrategy } from '../../src/main/strategies/registry.js';
import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import { sessionDefaults } from '../../src/main/session-options.js';
import { Session } from '../../src/main/session.js';
import { StateKeeper } from '../../src/main/state/state-keeper.js';
import { TokenCalibration } from '../../src/main/tokens/token-calibration.js';
import type { IContent } from '../../src/shared/content.js';
import type { DensityConfig } from '../../src/shared/density.js';
import { indexedAgentOf } from '../../src/shared/density/index/index-scope.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { CHAOTIC_SUMMARIZER } from './chaos-way.js';
import type { Way } from './chaos-way.js';

/** The modes that use threads. */
export type ThreadedMode = 'resident' | 'auto' | 'snapshot';

/** Shared by all sessions of a run. */
export interface SessionHouse {
  readonly pool: WorkerPool;
  readonly host: ResidentHost;
  /** Called for each task that workers failed at. */
  readonly onFallback: (event: FallbackEvent) => void;
}

export interface ChaosSessionOptions {
  readonly contextLimit: number;
  /** Initial entries. */
  readonly restored: readonly IContent[];
  /** Whether their tokens are known. Counting ten thousand entries in every life would dominate the run. */
  readonly isWeighed: boolean;
  readonly sessionId: string;
  readonly way: Way;
  /** A clock that only advances between windows, so that a cache goes cold for all sessions at once. */
  readonly now: () => number;
}

const { density, isForAgents } = sessionDefaults(undefined);
const densityOptions = { workspaceRoot: '/w', ...density };

/** Opens a session in a mode with threads. */
export function openThreaded(
  { pool, host, onFallback }: SessionHouse,
  mode: ThreadedMode,
  options: ChaosSessionOptions,
): Session {
  const meter = new OffloadMeter('', onFallback);
  const pooled = new SnapshotOffload(pool, meter);
  return openSession(options, meter, (densityConfig) => {
    if (mode === 'snapshot') return pooled;
    return new ResidentOffload({
      host,
      pooled,
      meter,
      agent: indexedAgentOf(densityConfig()),
      countsTokens: true,
      passSettings: densityConfig,
      minEntries: mode === 'resident' ? 1 : MIN_RESIDENT_ENTRIES,
    });
  });
}

/** Opens an inline session without a store; `countEntries` replaces its counter. */
export function openInline(
  { way, ...options }: ChaosSessionOptions,
  countEntries: CountEntries,
): Session {
  const alone = { ...way, store: undefined };
  const meter = new OffloadMeter();
  const createOffload = (): Offload => new InlineOffload(meter);
  return openSession({ ...options, way: alone }, meter, createOffload, countEntries);
}

function openSession(
  { contextLimit, restored, isWeighed, sessionId, way, now }: ChaosSessionOptions,
  meter: OffloadMeter,
  createOffload: (densityConfig: () => DensityConfig) => Offload,
  countEntries?: CountEntries,
): Session {
  const settings = new Settings({
    'compression.strategy': way.strategy,
    'compression.ahead': way.ahead,
  });
  const config = new SessionConfig({
    settings,
    runtimeContext: createAgentRuntimeContext(settings, contextLimit),
    densityOptions,
    edits: completeEditOptions({ edits: way.edits }),
    model: new SessionModel(),
    resolveStrategy: getCompressionStrategy,
    isForAgents,
  });
  const offload = createOffload(() => config.density());
  const history = new HistoryService({
    countEntries: countEntries ?? ((contents) => offload.countTokens(contents)),
    keepsAdded: way.store !== undefined,
  });
  if (offload instanceof ResidentOffload) history.watch(offload.noteChange);
  if (isWeighed) for (const entry of restored) history.weigh(entry, estimateEntryTokens(entry));
  history.addAll(restored);
  return new Session({
    ...{ config, sessionId, history, offload, meter, now },
    logger: SILENT_LOGGER,
    calibration: new TokenCalibration(),
    compressionInputs: () => ({ summarizer: CHAOTIC_SUMMARIZER, compressionPrompt: 'Sum up.' }),
    keeper:
      way.store &&
      new StateKeeper({ store: way.store, conversationId: sessionId, logger: SILENT_LOGGER }),
    onClose: () => Promise.resolve(offload.close?.()),
  });
}
