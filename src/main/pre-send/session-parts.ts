// What the steps of the pre-send window work with.

import { DEFAULT_DENSITY_CONFIG, placeholderOf } from '../../shared/density.js';
import type { DensityConfig } from '../../shared/density.js';
import { withoutBatches } from '../../shared/density/rules/working-set-rules.js';
import type { HistoryService } from '../history-service.js';
import type { Logger } from '../logger.js';
import type { Offload } from '../offload/offload.js';
import type {
  AgentRuntimeContext,
  CompressionStrategy,
  CompressionStrategyName,
} from '../strategies/strategy.js';
import type { RecordContext } from '../removal-log/removal-recorder.js';
import { ruleSettings } from '../settings/density-settings.js';
import type { EntryChange } from '../entry-change.js';
import type { ReasoningPolicy } from './reasoning-policy.js';
import type { Rewrite } from './sent-history.js';

/** The part of `DensityConfig` that comes from the agent and not from settings. */
export type DensityOptions = Pick<
  DensityConfig,
  'workspaceRoot' | 'toolCatalog' | 'inclusionSyntaxes' | 'partialWritesSupersede' | 'workingSet'
>;

/** Puts changes on record before they are made. */
export type RecordChanges = (
  kind: RecordContext['kind'],
  changes: readonly EntryChange[],
  signal: AbortSignal | undefined,
) => Promise<void>;

/** The parts of one session. */
export interface SessionParts {
  readonly history: HistoryService;
  readonly offload: Offload;
  readonly runtimeContext: AgentRuntimeContext;
  readonly resolveStrategy: (name: CompressionStrategyName) => CompressionStrategy;
  readonly densityOptions: DensityOptions;
  /** Whether the price of the cache decides when edits land, so that a pass need not wait for them to come together. @default false */
  readonly arePriced?: boolean | undefined;
  /** Keeps what an edit is about to take away; when it rejects, nothing changes. @default nothing is kept */
  readonly recordChanges?: RecordChanges | undefined;
  /** What becomes of reasoning behind an edit. @default 'keep' */
  readonly reasoning?: ReasoningPolicy | undefined;
  /** Told of each edit once it stands. @default nobody is */
  readonly noteRewrite?: ((rewrite: Rewrite) => void) | undefined;
  readonly logger: Logger;
}

/** A call that a signal can end; it then rejects with the signal's reason. */
export interface AbortOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The strategy that the settings name. */
export function currentStrategy(parts: SessionParts): CompressionStrategy {
  return parts.resolveStrategy(parts.runtimeContext.ephemerals.compressionStrategy());
}

/** The configuration of a density pass, from settings and agent. */
export function currentDensityConfig({
  runtimeContext: { ephemerals },
  densityOptions,
  arePriced = false,
}: Pick<SessionParts, 'runtimeContext' | 'densityOptions' | 'arePriced'>): DensityConfig {
  const { workingSet: _, ...agent } = densityOptions;
  const placeholder = placeholderOf({ placeholder: ephemerals.densityPlaceholder?.() });
  const rules = ruleSettings(ephemerals, densityOptions);
  const config = { ...DEFAULT_DENSITY_CONFIG, ...agent, ...rules, placeholder };
  const { workingSet } = config;
  if (!arePriced || workingSet === undefined) return config;
  return { ...config, workingSet: withoutBatches(workingSet) };
}
