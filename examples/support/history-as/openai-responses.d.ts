import type { IContent } from '../../../src/shared/content.js';
import type { ResponseInputItem } from 'openai/resources/responses/responses';

/** Returns the input items that the history is sent as, without reasoning. */
export declare function responseItems(history: readonly IContent[]): ResponseInputItem[];
