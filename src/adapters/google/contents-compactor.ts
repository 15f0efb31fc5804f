// The adapter for Google GenAI: contents in, contents out.

import type { Content } from '@google/genai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { checkedMessages } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import { contentFormat } from './content-format.js';
import { JoinedTurns } from './joined-turns.js';

/** What one function has joined, another one may be given. */
const TURNS = new JoinedTurns();

/**
 * Makes a function that makes contents ready to be sent. Call it with the whole array before each
 * `generateContent` or `generateContentStream`:
 *
 * ```ts
 * const compact = contentsCompactor(compactor);
 * await ai.models.generateContent({ model, contents: await compact(contents) });
 * ```
 *
 * Go on appending to your own array. A chat keeps its history to itself, so a compacted one is another
 * chat: `ai.chats.create({ model, config, history: await compact(chat.getHistory(true)) })`.
 *
 * Contents of one role that a removal made neighbours are joined. Of calls in parallel the first one stays
 * as long as others of its step do, for it alone carries the thought signature that Gemini asks for.
 *
 * @throws RangeError naming each option that is wrong.
 */
export function contentsCompactor(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Content> {
  return createMessageCompactor(
    compactor,
    contentFormat,
    options,
    (compact) => async (contents, call) => {
      const given = TURNS.split(checkedMessages(contents));
      return TURNS.join(await compact(given, call), given);
    },
  );
}
