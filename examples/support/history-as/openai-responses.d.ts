import type { IContent } from '../../../src/shared/content.js';
import type { ResponseInputItem } from 'openai/resources/responses/responses';

/** Returns the history as input items, without reasoning. */
export declare function responseItems(history: readonly IContent[]): ResponseInputItem[];
