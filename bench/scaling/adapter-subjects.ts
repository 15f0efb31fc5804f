// The adapters' compactors as subjects: with a new conversation, and as it continues. Passing the whole array costs one
// comparison of it per call.

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
        // Small enough to compress at every size.
        contextLimit: Math.max(1_000, tokens >> 1),
      });
      open.push(compactor);
      const compact = create(compactor);
      return async () => {
        try {
          await compact(messages);
          // The next call, with the same objects and with copies.
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

/** Casts messages that `messages.ts` made to the SDK's own types. */
function asGiven(messages: readonly object[]): never {
  return messages as never;
}

/** Class instances are not copied. */
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
