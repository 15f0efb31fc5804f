// LangChain's `ClearToolUsesEdit`, as contextEditingMiddleware applies it, and its `trimMessages`. Both edit the agent's own
// messages, so a later turn starts from the result of an earlier one.

import type * as LangChain from 'langchain';
import type { BaseMessage, ContextEdit } from 'langchain';
import type { IContent, ToolResponseBlock } from '../../src/index.js';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../src/index.js';
import { check, checkSameHistory } from './check.js';
import type { PeerBudget } from './peer-budget.js';
import type { Peer, PeerSession } from './peer.js';

/** The default of ClearToolUsesEdit, used for both. */
const MAX_TOKENS = 100_000;

export const LANGCHAIN_PEERS: readonly Peer[] = [
  {
    name: 'LangChain ClearToolUsesEdit',
    note: 'Its defaults: from 100,000 tokens on, by its approximate counter, keeps the newest 3 results and blanks all others, stale or not. Counts all messages again after each result that it blanks.',
    isDocumentedPass: false,
    open: (history, budget) =>
      openLangChain(history, async ({ ClearToolUsesEdit, countTokensApproximately }) => {
        const edit: ContextEdit = new ClearToolUsesEdit();
        const countTokens = within(budget, countTokensApproximately);
        return async (messages) => {
          await edit.apply({ messages, countTokens });
          return messages;
        };
      }),
  },
  {
    name: 'LangChain trimMessages',
    note: "strategy: 'last', startOn: 'human', maxTokens: 100,000 by its approximate counter; the trimmed messages take the place of the history. Drops whole messages, oldest first; counts all that are left after each.",
    isDocumentedPass: false,
    open: (history, budget) =>
      openLangChain(history, async ({ countTokensApproximately, trimMessages }) => {
        const tokenCounter = within(budget, countTokensApproximately);
        const options = { strategy: 'last', startOn: 'human', maxTokens: MAX_TOKENS } as const;
        return (messages) => trimMessages(messages, { ...options, tokenCounter });
      }),
  },
];

type EditMessages = (messages: BaseMessage[]) => Promise<BaseMessage[]>;

async function openLangChain(
  history: readonly IContent[],
  start: (langChain: typeof LangChain) => Promise<EditMessages>,
): Promise<PeerSession> {
  const langChain = await import('langchain');
  const edit = await start(langChain);
  let messages = toMessages(history, langChain);
  checkSameHistory(toEntries(messages, langChain), history, 'the history as messages of LangChain');
  return {
    prepareTurn: (added) => {
      const converted = toMessages(added, langChain);
      return async () => {
        messages.push(...converted);
        messages = await edit(messages);
      };
    },
    sent: () => toEntries(messages, langChain),
    countedTokens: () => undefined,
    close: async () => {},
  };
}

/** Both tools block, but call their counter all the time. */
function within(
  budget: PeerBudget,
  count: (messages: BaseMessage[]) => number,
): (messages: BaseMessage[]) => number {
  return (messages) => {
    budget.assertLeft();
    return count(messages);
  };
}

/** One message per entry, but one per result for tool entries. */
function toMessages(history: readonly IContent[], langChain: typeof LangChain): BaseMessage[] {
  const { AIMessage, HumanMessage, ToolMessage } = langChain;
  return history.flatMap(({ speaker, blocks }): BaseMessage[] => {
    if (speaker === 'tool') {
      return blocks.map((block) => {
        check(block.type === 'tool_response', `a ${block.type} block in a tool entry`);
        const content = String(block.result);
        return new ToolMessage({ tool_call_id: block.callId, name: block.toolName, content });
      });
    }
    const [text, ...calls] = blocks;
    check(text?.type === 'text', 'an entry does not begin with text');
    const content = text.text;
    if (speaker === 'human') return [new HumanMessage({ content })];
    const toolCalls = calls.map((block) => {
      check(block.type === 'tool_call', `a ${block.type} block after the text of an ai entry`);
      const args = block.parameters as Record<string, unknown>;
      return { type: 'tool_call' as const, id: block.id, name: block.name, args };
    });
    return [new AIMessage({ content, tool_calls: toolCalls })];
  });
}

function toEntries(
  messages: readonly BaseMessage[],
  { AIMessage, HumanMessage, ToolMessage }: typeof LangChain,
): readonly IContent[] {
  const entries: IContent[] = [];
  let responses: ToolResponseBlock[] | undefined;
  for (const message of messages) {
    const text = message.content;
    check(typeof text === 'string', 'the content of a message is no text');
    if (ToolMessage.isInstance(message)) {
      if (responses === undefined) entries.push(toolContent((responses = [])));
      responses.push(toolResponse(message.tool_call_id, message.name ?? '', text));
      continue;
    }
    responses = undefined;
    if (HumanMessage.isInstance(message)) {
      entries.push(humanText(text));
    } else {
      check(AIMessage.isInstance(message), `no entry for a ${message.type} message`);
      const calls = message.tool_calls ?? [];
      const callBlocks = calls.map(({ id = '', name, args }) => toolCall(id, name, args));
      entries.push(aiContent([{ type: 'text', text }, ...callBlocks]));
    }
  }
  return entries;
}
