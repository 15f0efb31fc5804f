import type { IContent } from '../../src/shared/content.js';
import type { ToolCatalog } from '../../src/shared/tool-use.js';

export interface RecordedHistoryOptions {
  /**
   * How many messages the history has at least, counted as Anthropic and Gemini do: what follows each
   * other on one side is one message. In other formats they are more.
   *
   * @default `HISTORY_MESSAGES` of the environment, or 500
   */
  readonly messages?: number;
  /**
   * `signed` keeps reasoning that has a signature. A real service would refuse it here, as signatures
   * are bound to what was said before.
   *
   * @default 'none'
   */
  readonly reasoning?: 'none' | 'signed';
}

/** What the tools of the recorded agents do to files. */
export declare const RECORDED_TOOL_CATALOG: ToolCatalog;

/**
 * Returns a valid history that starts with a human entry and ends with an answer. Always the same for the
 * same options; its objects are new in every call.
 *
 * @throws RangeError for more messages than are recorded.
 */
export declare function recordedHistory(options?: RecordedHistoryOptions): Promise<IContent[]>;
