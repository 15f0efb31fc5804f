// The AI SDK's `pruneMessages`, configured as in the example of its documentation.

import { checkSameHistory } from './check.js';
import { toEntry, toModelMessage } from './model-messages.js';
import type { Peer } from './peer.js';

export const AI_SDK_PEER: Peer = {
  name: 'AI SDK pruneMessages',
  note: "toolCalls: 'before-last-2-messages', reasoning: 'before-last-message'. Drops every call and result before the last two messages, stale or not; counts nothing; is given the whole history each turn.",
  isDocumentedPass: false,
  async open(history) {
    const { pruneMessages } = await import('ai');
    const messages = history.map(toModelMessage);
    checkSameHistory(messages.map(toEntry), history, 'the history as messages of the AI SDK');
    let pruned = messages;
    return {
      prepareTurn: (added) => {
        const converted = added.map(toModelMessage);
        return async () => {
          messages.push(...converted);
          pruned = pruneMessages({
            messages,
            reasoning: 'before-last-message',
            toolCalls: 'before-last-2-messages',
            emptyMessages: 'remove',
          });
        };
      },
      sent: () => pruned.map(toEntry),
      countedTokens: () => undefined,
      close: async () => {},
    };
  },
};
