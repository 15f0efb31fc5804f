import type { Content } from '@google/genai';
import type { IContent } from '../../../src/shared/content.js';

export interface GeminiContentsOptions {
  /** Whether calls and responses carry ids; the API often gives none. @default false */
  readonly ids?: boolean;
}

/** Returns the contents that the history is sent as, without reasoning. */
export declare function geminiContents(
  history: readonly IContent[],
  options?: GeminiContentsOptions,
): Content[];
