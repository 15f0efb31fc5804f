// Conversations separate from those of other adapters of the same compactor.

import { completeAdapterOptions } from '../../src/adapters/request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../../src/adapters/request/adapter-options.js';
import { checkedMessages } from '../../src/adapters/request/call-arguments.js';
import type { ConversationReport } from '../../src/adapters/conversation/conversation.js';
import { Conversations } from '../../src/adapters/conversation/conversations.js';
import type { MessageFormat } from '../../src/adapters/format/message-format.js';
import type { Compactor } from '../../src/main/compactor.js';

export interface OwnConversations<Message> {
  compact(messages: readonly Message[], call?: CompactCall): Promise<Message[]>;
  report(): readonly ConversationReport[];
}

export function ownConversations<Message>(
  compactor: Compactor,
  format: MessageFormat<Message>,
  options: AdapterOptions = {},
): OwnConversations<Message> {
  const complete = completeAdapterOptions(compactor, options);
  const conversations = new Conversations(compactor, format);
  return {
    compact: async (messages, call = {}) =>
      conversations.compact(checkedMessages(messages), call, complete),
    report: () => conversations.report(complete),
  };
}
