// The interface of compression strategies, and the context that they are given.

import type { IContent } from '../../shared/content.js';
import type { DensityConfig, DensityResult, PlaceholderForm } from '../../shared/density.js';
import type { ShrinkChoice } from '../../shared/density/rules/shrink.js';
import type { WorkingSetChoice } from '../../shared/density/rules/working-set.js';
import type { CompressionRequest, PlannedCompression } from '../../shared/resident-protocol.js';
import type { Logger } from '../host/logger.js';
import type { Summarizer } from '../summarizer/summarizer.js';
import type { Todo } from '../summarizer/todo.js';
import type { CompactByProvider } from './provider-compaction.js';

/** The part of a compression's context that the host provides. */
export type CompressionInputs = Pick<
  CompressionContext,
  'summarizer' | 'compressionPrompt' | 'activeTodos' | 'transcriptPath'
>;

/** The names of strategies that work without an adapter. */
export const COMPRESSION_STRATEGIES = [
  'middle-out',
  'top-down-truncation',
  'one-shot',
  'high-density',
] as const;

/** Strategies that need at most a model. */
export type OwnStrategyName = (typeof COMPRESSION_STRATEGIES)[number];

/** `provider` needs an adapter that makes requests to the provider. */
export type CompressionStrategyName = OwnStrategyName | 'provider';

/**
 * When a strategy acts. `compress` always runs at a share of the context window; the strategy `optimize`s before every send if
 * its mode is `continuous`. `defaultThreshold` is that share if no setting gives one.
 */
export type StrategyTrigger =
  | { readonly mode: 'threshold'; readonly defaultThreshold: number }
  | { readonly mode: 'continuous'; readonly defaultThreshold: number };

/** The settings as strategies read them. */
export interface RuntimeEphemerals {
  compressionStrategy(): CompressionStrategyName;
  /** Share of the context window at which to compress, in (0, 1]. */
  compressionThreshold(): number;
  /** Share of the context window at which summaries are requested in the background, in (0, 1]; 1 for never. @default 1 */
  compressionAhead?(): number;
  /** The strategy used if `provider` fails, or a summary while the history does not fit the window. @default 'high-density' */
  compressionFallback?(): OwnStrategyName;
  /** Tokens that the model accepts. */
  contextLimit(): number;
  /** Share of the entries, from the end, that a compression leaves unchanged, in [0, 1]. */
  preserveThreshold(): number;
  /** Share of the entries, from the start, that middle-out leaves unchanged, in [0, 1]. */
  topPreserveThreshold(): number;
  /** Name of the model profile that writes summaries; `undefined` means the session's model. */
  compressionProfile(): string | undefined;
  /** Whether top-down truncation is used if a summary fails. */
  fallbackToTruncation(): boolean;
  densityReadWritePruning(): boolean;
  densityFileDedupe(): boolean;
  densityRecencyPruning(): boolean;
  densityRecencyRetention(): number;
  /** @default 'preset' */
  densityWorkingSet?(): WorkingSetChoice;
  /** @default 'preset' */
  densityShrink?(): ShrinkChoice;
  /** What replaces removed results. @default 'pointer' */
  densityPlaceholder?(): PlaceholderForm;
  /** Any other rule setting: `densityX` for `compression.density.x`. */
  readonly [accessor: `density${string}`]: (() => unknown) | undefined;
}

/** The surroundings of a running session. */
export interface AgentRuntimeContext {
  readonly ephemerals: RuntimeEphemerals;
}

/** The input of `compress`. */
export interface CompressionContext {
  /** The curated history. */
  readonly history: readonly IContent[];
  readonly runtimeContext: AgentRuntimeContext;
  /** Tokens of all given entries together. */
  readonly estimateTokens: (contents: readonly IContent[]) => Promise<number>;
  /** Tokens of each given entry. @default one call of `estimateTokens` per entry */
  readonly countEach?: (contents: readonly IContent[]) => Promise<readonly number[]>;
  /**
   * Plans a high-density compression off the calling thread, where the history's counts are; resolves to `undefined` if the
   * strategy must plan it itself. Indices refer to `history`.
   */
  readonly planCompression?: (
    request: CompressionRequest,
  ) => Promise<PlannedCompression | undefined>;
  /** Whether results stay that are no longer than the line that would replace them. @default false, as specified */
  readonly keepsShortResults?: boolean;
  readonly currentTokenCount: number;
  readonly logger: Logger;
  readonly promptId: string;
  /** Identifies the conversation and its numbers of added entries and landed edits; the same in every process. @default none */
  readonly version?: string;
  readonly signal?: AbortSignal;
  /** The model that writes summaries. Required by strategies with `requiresLLM`. */
  readonly summarizer?: Summarizer;
  /** The system prompt for summaries. @default `getCompressionPrompt()` */
  readonly compressionPrompt?: string;
  /** Asks the provider to compact; absent without an adapter. */
  readonly compactByProvider?: CompactByProvider;
  /** The agent's task list; a summary explains the open items. */
  readonly activeTodos?: readonly Todo[];
  /** Where the user finds the original history; a summary ends with it. */
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

/** The history that replaces the given one. */
export interface CompressionResult {
  readonly newHistory: IContent[];
  /** Tokens of new entries that need not be counted. @default none */
  readonly knownTokens?: ReadonlyMap<IContent, number>;
  /** Whether reasoning behind the new entries stays valid, because the provider made them. @default false */
  readonly keepsReasoning?: boolean;
  readonly metadata: CompressionResultMetadata;
}

/** A way to make a history smaller. Stateless: one instance serves all sessions. */
export interface CompressionStrategy {
  readonly name: CompressionStrategyName;
  readonly requiresLLM: boolean;
  readonly trigger: StrategyTrigger;

  /** Finds edits that lose no information. Deterministic, synchronous, does not change its input. */
  optimize?(history: readonly IContent[], config: DensityConfig): DensityResult;

  /** Makes a smaller history. Unchanged entries stay the same objects. */
  compress(context: CompressionContext): Promise<CompressionResult>;
}

/** A compression aims at this share of the threshold, so that the next one is not due at once. */
export const TARGET_SHARE = 0.6;

/** Target tokens of a compression: `compressionThreshold × contextLimit × 0.6`, rounded down. */
export function compressionTarget(ephemerals: RuntimeEphemerals): number {
  return Math.floor(ephemerals.compressionThreshold() * ephemerals.contextLimit() * TARGET_SHARE);
}

/** Tokens of each entry, with whichever counter the context has. */
export function countEach(
  context: CompressionContext,
  contents: readonly IContent[],
): Promise<readonly number[]> {
  return (
    context.countEach?.(contents) ??
    Promise.all(contents.map((content) => context.estimateTokens([content])))
  );
}

/** Makes the result of a compression. @param details metadata that differ from those of a compression without a model */
export function compressionResult(
  strategyUsed: CompressionStrategyName,
  history: readonly IContent[],
  newHistory: IContent[],
  details: Partial<CompressionResultMetadata> = {},
): CompressionResult {
  return {
    newHistory,
    metadata: {
      originalMessageCount: history.length,
      compressedMessageCount: newHistory.length,
      strategyUsed,
      llmCallMade: false,
      ...details,
    },
  };
}
