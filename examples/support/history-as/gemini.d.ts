import type { Content } from '@google/genai';
import type { IContent } from '../../../src/shared/content.js';

export interface GeminiContentsOptions {
  /** Whether calls and responses have ids; the API often has none. @default false */
  readonly ids?: boolean;
}

/** Returns the history as contents, without reasoning. */
export declare function geminiContents(
  history: readonly IContent[],
  options?: GeminiContentsOptions,
): Content[];
