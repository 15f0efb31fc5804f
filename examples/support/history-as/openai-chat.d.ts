import type { IContent } from '../../../src/shared/content.js';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';

/** Returns the history as messages. */
export declare function chatMessages(history: readonly IContent[]): ChatCompletionMessageParam[];
