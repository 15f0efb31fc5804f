import type { ModelMessage } from 'ai';
import type { IContent } from '../../../src/shared/content.js';

/** Returns the history as messages, with reasoning only where Anthropic signed it. */
export declare function modelMessages(history: readonly IContent[]): ModelMessage[];
