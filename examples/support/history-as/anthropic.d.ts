import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { IContent } from '../../../src/shared/content.js';

/** Returns the history as messages, with reasoning only where it is signed. */
export declare function anthropicMessages(history: readonly IContent[]): MessageParam[];
