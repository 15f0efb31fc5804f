import type { IContent } from '../../src/shared/content.js';
import type { ToolCatalog } from '../../src/shared/tool-use.js';

export interface RecordedHistoryOptions {
  /**
   * Minimum number of messages, counted as Anthropic and Gemini do: consecutive messages of one role are one. Other
   * formats have more.
   *
   * @default `HISTORY_MESSAGES` of the environment, or 500
   */
  readonly messages?: number;
  /**
   * `signed` keeps signed reasoning. A real service would refuse it here, because signatures are bound to their prefix.
   *
   * @default 'none'
   */
  readonly reasoning?: 'none' | 'signed';
}

/** What the recorded agents' tools do to files. */
export declare const RECORDED_TOOL_CATALOG: ToolCatalog;

/**
 * Returns a valid history that starts with a human entry and ends with an answer. Deterministic; every call makes new
 * objects.
 *
 * @throws RangeError for more messages than were recorded.
 */
export declare function recordedHistory(options?: RecordedHistoryOptions): Promise<IContent[]>;
