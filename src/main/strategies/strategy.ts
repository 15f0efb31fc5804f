// What a compression strategy is: the interface that all of them implement, and what they are given.

import type { ShrinkChoice } from '../../shared/density/rules/shrink.js';
import type { WorkingSetChoice } from '../../shared/density/rules/working-set.js';
import type { IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult, PlaceholderForm } from '../../shared/density.js';
import type { CompressionRequest, PlannedCompression } from '../../shared/resident-protocol.js';
import type { Logger } from '../host/logger.js';
import type { CompactByProvider } from './provider-compaction.js';
import type { Summarizer } from '../summarizer/summarizer.js';
import type { Todo } from '../summarizer/todo.js';

/** The names of the strategies that run anywhere. */
export const COMPRESSION_STRATEGIES = [
  'middle-out',
  'top-down-truncation',
  'one-shot',
  'high-density',
] as const;

/** The strategies that need nobody but, perhaps, a model. */
export type OwnStrategyName = (typeof COMPRESSION_STRATEGIES)[number];

/** `provider` needs whoever makes requests to the provider, which adapters do. */
export type CompressionStrategyName = OwnStrategyName | 'provider';

/**
 * When a strategy acts. Either way `compress` runs at a share of the context window; a `continuous`
 * one is also asked to `optimize` before every send. `defaultThreshold` is that share, for when no
 * setting names one.
 */
export type StrategyTrigger =
  | { readonly mode: 'threshold'; readonly defaultThreshold: number }
  | { readonly mode: 'continuous'; readonly defaultThreshold: number };

/** The settings as a strategy reads them. */
export interface RuntimeEphemerals {
  compressionStrategy(): CompressionStrategyName;
  /** Share of the context window at which to compress, in (0, 1]. */
  compressionThreshold(): number;
  /** Share of the context window at which a model is asked for a summary in the background, in (0, 1]; 1 for never. @default 1 */
  compressionAhead?(): number;
  /** The strategy that takes the place of `provider` where that fails. @default 'high-density' */
  compressionFallback?(): OwnStrategyName;
  /** Tokens that the model accepts. */
  contextLimit(): number;
  /** Share of the entries, from the end, that a compression leaves alone, in [0, 1]. */
  preserveThreshold(): number;
  /** Share of the entries, from the start, that middle-out leaves alone, in [0, 1]. */
  topPreserveThreshold(): number;
  /** Name of the model profile that writes summaries; `undefined` means the session's model. */
  compressionProfile(): string | undefined;
  /** Whether a summary that failed makes way for top-down truncation. */
  fallbackToTruncation(): boolean;
  densityReadWritePruning(): boolean;
  densityFileDedupe(): boolean;
  densityRecencyPruning(): boolean;
  densityRecencyRetention(): number;
  /** @default 'preset' */
  densityWorkingSet?(): WorkingSetChoice;
  /** @default 'preset' */
  densityShrink?(): ShrinkChoice;
  /** What stands in place of results that are taken away. @default 'pointer' */
  densityPlaceholder?(): PlaceholderForm;
  /** Any other setting of a rule, by its key: `densityX` for `compression.density.x`. */
  readonly [accessor: `density${string}`]: (() => unknown) | undefined;
}

/** What surrounds a session while it runs. */
export interface AgentRuntimeContext {
  readonly ephemerals: RuntimeEphemerals;
}

/** What `compress` is given. */
export interface CompressionContext {
  /** The curated history. */
  readonly history: readonly IContent[];
  readonly runtimeContext: AgentRuntimeContext;
  /** Tokens of all given entries together. */
  readonly estimateTokens: (contents: readonly IContent[]) => Promise<number>;
  /** Tokens of each given entry. Without it, `estimateTokens` is asked for one entry at a time. */
  readonly countEach?: (contents: readonly IContent[]) => Promise<readonly number[]>;
  /**
   * Plans a compression by high-density where the history's counts are, off the calling thread; to
   * `undefined` when the strategy has to do that itself. Indices are those of `history`.
   */
  readonly planCompression?: (
    request: CompressionRequest,
  ) => Promise<PlannedCompression | undefined>;
  readonly currentTokenCount: number;
  readonly logger: Logger;
  readonly promptId: string;
  /** Names the conversation and what had been added to it and had landed, alike in any process. @default nobody can */
  readonly version?: string;
  readonly signal?: AbortSignal;
  /** The model that writes summaries. Strategies with `requiresLLM` cannot do without. */
  readonly summarizer?: Summarizer;
  /** The system prompt for summaries. @default `getCompressionPrompt()` */
  readonly compressionPrompt?: string;
  /** Asks the provider to compact; absent where nobody here makes requests to it. */
  readonly compactByProvider?: CompactByProvider;
  /** The agent's task list; a summary explains the items in it that are not done. */
  readonly activeTodos?: readonly Todo[];
  /** Where the user finds the history as it was; a summary ends by naming it. */
  readonly transcriptPath?: string;
}

export interface CompressionResultMetadata {
  readonly originalMessageCount: number;
  readonly compressedMessageCount: number;
  readonly strategyUsed: CompressionStrategyName;
  readonly llmCallMade: boolean;
  readonly topPreserved?: number;
  readonly bottomPreserved?: number;
  readonly middleCompressed?: number;
}

/** The history to put in place of the one that was given. */
export interface CompressionResult {
  readonly newHistory: IContent[];
  /** Tokens of new entries that need no count any more. @default none */
  readonly knownTokens?: ReadonlyMap<IContent, number>;
  /** Whether reasoning behind what was put in stays valid, for the provider made that itself. @default false */
  readonly keepsReasoning?: boolean;
  readonly metadata: CompressionResultMetadata;
}

/** One way to make a history smaller. Stateless: one instance serves all sessions. */
export interface CompressionStrategy {
  readonly name: CompressionStrategyName;
  readonly requiresLLM: boolean;
  readonly trigger: StrategyTrigger;

  /** Finds edits that cost no information. Deterministic, synchronous, without effect on its input. */
  optimize?(history: readonly IContent[], config: DensityConfig): DensityResult;

  /** Makes a smaller history. Entries that it does not change are the same objects. */
  compress(context: CompressionContext): Promise<CompressionResult>;
}

/** Share of the threshold that a compression aims at, so that the next one is not due at once. */
export const TARGET_SHARE = 0.6;

/** Tokens that a compression aims at: `compressionThreshold × contextLimit × 0.6`, rounded down. */
export function compressionTarget(ephemerals: RuntimeEphemerals): number {
  return Math.floor(ephemerals.compressionThreshold() * ephemerals.contextLimit() * TARGET_SHARE);
}

/** Tokens of each entry, by whichever of the context's two counters there is. */
export function countEach(
  context: CompressionContext,
  contents: readonly IContent[],
): Promise<readonly number[]> {
  return (
    context.countEach?.(contents) ??
    Promise.all(contents.map((content) => context.estimateTokens([content])))
  );
}
