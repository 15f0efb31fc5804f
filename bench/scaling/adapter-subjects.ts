// The compactors of the adapters as subjects: a conversation that is new to them, and the same one as it
// goes on. Whoever hands over the whole array has it compared once for each call.

import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';
import { messageCompactor as sdkCompactor } from '../../src/ai-sdk.js';
import { contentsCompactor } from '../../src/google.js';
import { CtxfoldError, createCompactor, estimateEntryTokens } from '../../src/index.js';
import type { Compactor, IContent } from '../../src/index.js';
import { messageCompactor as langchainCompactor } from '../../src/langchain.js';
import { callModelInputFilter, chatCompactor, inputCompactor } from '../../src/openai.js';
import {
  anthropicMessages,
  chatMessages,
  geminiContents,
  items,
  langchainMessages,
  sdkMessages,
} from './messages.js';
import type { Subject } from './subject.js';

type Compact = (messages: readonly object[]) => Promise<unknown>;

const open: Compactor[] = [];

async function finish(): Promise<void> {
  await Promise.all(open.splice(0).map((compactor) => compactor.close()));
}

function adapter(
  name: string,
  messagesOf: (history: readonly IContent[]) => readonly object[],
  create: (compactor: Compactor) => Compact,
): Subject {
  return {
    name,
    prepare: (history) => {
      const messages = messagesOf(history);
      const tokens = history.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
      const compactor = createCompactor({
        offload: 'inline',
        tokenizer: 'estimate',
        // So that it is compressed whatever the size.
        contextLimit: Math.max(1_000, tokens >> 1),
      });
      open.push(compactor);
      const compact = create(compactor);
      return async () => {
        try {
          await compact(messages);
          // As the next call hands it over: the same objects, and as the caller's copies of them.
          await compact([...messages]);
          await compact(structuredCloneOf(messages));
        } catch (thrown) {
          const isForeseen = thrown instanceof CtxfoldError || thrown instanceof TypeError;
          if (!isForeseen) throw thrown;
        }
      };
    },
    finish,
  };
}

/** The messages are those that `messages.ts` makes for the format; their types are the SDK's own. */
function asGiven(messages: readonly object[]): never {
  return messages as never;
}

/** Objects of classes have no copies of their own here. */
function structuredCloneOf(messages: readonly object[]): readonly object[] {
  const isPlain = messages.every((message) => Object.getPrototypeOf(message) === Object.prototype);
  return isPlain ? structuredClone(messages) : [...messages];
}

export const ADAPTER_SUBJECTS: readonly Subject[] = [
  adapter('messageCompactor of the AI SDK', sdkMessages, (compactor) => {
    const compact = sdkCompactor(compactor);
    return (messages) => compact(asGiven(messages));
  }),
  adapter('messageCompactor of Anthropic', anthropicMessages, (compactor) => {
    const compact = anthropicCompactor(compactor);
    return (messages) => compact(asGiven(messages));
  }),
  adapter('contentsCompactor', geminiContents, (compactor) => {
    const compact = contentsCompactor(compactor);
    return (messages) => compact(asGiven(messages));
  }),
  adapter('chatCompactor', chatMessages, (compactor) => {
    const compact = chatCompactor(compactor);
    return (messages) => compact(asGiven(messages));
  }),
  adapter(
    'inputCompactor',
    (history) => items(history, 'responses'),
    (compactor) => {
      const compact = inputCompactor(compactor);
      return (messages) => compact(asGiven(messages));
    },
  ),
  adapter(
    'callModelInputFilter',
    (history) => items(history, 'agents'),
    (compactor) => {
      const filter = callModelInputFilter(compactor);
      return (messages) => filter({ modelData: { input: [...messages] } });
    },
  ),
  adapter('messageCompactor of LangChain', langchainMessages, (compactor) => {
    const compact = langchainCompactor(compactor);
    return (messages) => compact(asGiven(messages));
  }),
];
