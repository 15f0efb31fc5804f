// Sessions of a chaos run: put together as a compactor does it, over a pool whose worker and deadlines
// the run chooses; and the session beside it that runs inline and tells what is right.

import { HistoryService } from '../../src/main/history-service.js';
import { SILENT_LOGGER } from '../../src/main/host/logger.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { OffloadMeter } from '../../src/main/offload/offload-meter.js';
import type { FallbackEvent, Offload } from '../../src/main/offload/offload.js';
import type { ResidentHost } from '../../src/main/offload/resident-host.js';
import { MIN_RESIDENT_ENTRIES, ResidentOffload } from '../../src/main/offload/resident.js';
import { SnapshotOffload } from '../../src/main/offload/snapshot.js';
import type { WorkerPool } from '../../src/main/offload/worker-pool.js';
import { CacheTerms } from '../../src/main/models/session-model.js';
import { completeEditOptions } from '../../src/main/preflight/edit-options.js';
import {
  createAgentRuntimeContext,
  SessionConfig,
} from '../../src/main/settings/session-config.js';
import { Settings } from '../../src/main/settings/settings.js';
import { getCompressionStrategy } from '../../src/main/strategies/registry.js';
import type { CountEntries } from '../../src/main/tokens/token-ledger.js';
import { Session } from '../../src/main/session.js';
import type { IContent } from '../../src/shared/content.js';
import type { DensityConfig } from '../../src/shared/density.js';
import { indexedAgentOf } from '../../src/shared/density/index/index-scope.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';

/** The modes that use threads. */
export type ThreadedMode = 'resident' | 'auto' | 'snapshot';

/** What all sessions of a run share. */
export interface SessionHouse {
  readonly pool: WorkerPool;
  readonly host: ResidentHost;
  /** Told of each task that workers failed at. */
  readonly onFallback: (event: FallbackEvent) => void;
}

export interface ChaosSessionOptions {
  readonly contextLimit: number;
  /** Entries that it starts with. */
  readonly restored: readonly IContent[];
  /** Whether their tokens are known: to count ten thousand anew in every life would take all the time. */
  readonly isWeighed: boolean;
}

const densityOptions = { workspaceRoot: '/w' };

/** Opens a session in a mode with threads. */
export function openThreaded(
  { pool, host, onFallback }: SessionHouse,
  mode: ThreadedMode,
  options: ChaosSessionOptions,
): Session {
  const meter = new OffloadMeter('', onFallback);
  const pooled = new SnapshotOffload(pool, meter);
  return openSession(options, (densityConfig) => {
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

/** Opens a session that runs inline; `countEntries` replaces its way to count. */
export function openInline(options: ChaosSessionOptions, countEntries: CountEntries): Session {
  return openSession(options, () => new InlineOffload(), countEntries);
}

function openSession(
  { contextLimit, restored, isWeighed }: ChaosSessionOptions,
  createOffload: (densityConfig: () => DensityConfig) => Offload,
  countEntries?: CountEntries,
): Session {
  const settings = new Settings();
  const edits = completeEditOptions({});
  const runtimeContext = createAgentRuntimeContext(settings, contextLimit);
  const resolveStrategy = getCompressionStrategy;
  const shared = { settings, runtimeContext, densityOptions, resolveStrategy };
  const config = new SessionConfig({ ...shared, edits: edits.edits, cache: new CacheTerms() });
  const offload = createOffload(() => config.density());
  const history = new HistoryService({
    countEntries: countEntries ?? ((contents) => offload.countTokens(contents)),
    mirror: offload instanceof ResidentOffload ? offload : undefined,
  });
  if (isWeighed) for (const entry of restored) history.weigh(entry, estimateEntryTokens(entry));
  history.addAll(restored);
  return new Session({
    ...shared,
    config,
    sessionId: 'session',
    history,
    offload,
    logger: SILENT_LOGGER,
    onClose: () => Promise.resolve(offload.close?.()),
  });
}
