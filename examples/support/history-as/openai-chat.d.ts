import type { IContent } from '../../../src/shared/content.js';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';

/** Returns the messages that the history is sent as. */
export declare function chatMessages(history: readonly IContent[]): ChatCompletionMessageParam[];
