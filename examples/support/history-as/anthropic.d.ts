import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { IContent } from '../../../src/shared/content.js';

/** Returns the messages that the history is sent as. Reasoning goes along where it is signed. */
export declare function anthropicMessages(history: readonly IContent[]): MessageParam[];
