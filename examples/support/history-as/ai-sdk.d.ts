import type { ModelMessage } from 'ai';
import type { IContent } from '../../../src/shared/content.js';

/** Returns the messages that the history is sent as. Reasoning goes along where Anthropic signed it. */
export declare function modelMessages(history: readonly IContent[]): ModelMessage[];
