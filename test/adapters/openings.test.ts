// How a request begins when only messages that must be sent unchanged are left at its start: generated conversations in each
// format, with windows too small for the user's words or a note.

import * as fc from 'fast-check';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { messageCompactor as sdkCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as anthropicCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import { messageCompactor as langchainCompactor } from '../../src/adapters/langchain/message-compactor.js';
import type { MessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import { chatCompactor } from '../../src/adapters/openai/chat-compactor.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import { ContextWindowExceededError } from '../../src/shared/errors.js';
import { runs } from '../support/scale.js';

/** `pinned` is a call with its result that must be sent unchanged. */
type Turn = { readonly of: 'user' | 'call' | 'pinned'; readonly words: number };

interface Talk<Message> {
  readonly compactor: (compactor: Compactor) => MessageCompactor<Message>;
  readonly user: (text: string) => Message;
  readonly exchange: (id: string, result: string, isPinned: boolean) => readonly Message[];
  readonly roleOf: (message: Message) => string;
}

interface Roled {
  readonly role: string;
}

type Roleds = MessageCompactor<Roled>;

const OPTIONS = { onError: 'throw', edits: 'every-turn' } as const;

const TALKS: Readonly<Record<string, Talk<never>>> = {
  anthropic: {
    compactor: (compactor) => anthropicCompactor(compactor, OPTIONS) as unknown as Roleds,
    user: (content) => ({ role: 'user', content }),
    exchange: (id, content, isPinned) => {
      const caller = { type: isPinned ? 'code_execution_20260120' : 'direct', tool_id: 'srv' };
      const call = { type: 'tool_use', id, name: 'read_file', input: { path: id }, caller };
      return [
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content }] },
      ];
    },
    roleOf: ({ role }: Roled) => role,
  } satisfies Talk<Roled> as unknown as Talk<never>,
  'ai-sdk': {
    compactor: (compactor) => sdkCompactor(compactor, OPTIONS) as unknown as Roleds,
    user: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
    exchange: (toolCallId, value, isPinned) => {
      const call = { toolCallId, toolName: 'read_file' };
      const input = isPinned ? { arguments: {}, call_id: toolCallId } : { path: toolCallId };
      const output = { type: 'text', value };
      return [
        { role: 'assistant', content: [{ type: 'tool-call', ...call, input }] },
        { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
      ];
    },
    roleOf: ({ role }: Roled) => role,
  } satisfies Talk<Roled> as unknown as Talk<never>,
  langchain: {
    compactor: (compactor) => langchainCompactor(compactor, OPTIONS),
    user: (text) => new HumanMessage(text),
    exchange: (id, result, isPinned) => {
      const call = { id, name: 'read_file', args: { path: id } };
      const caller = { type: isPinned ? 'code_execution_20260120' : 'direct' };
      const content = [{ type: 'tool_use', id, name: 'read_file', input: call.args, caller }];
      const made = new AIMessage({ content, tool_calls: [call] });
      return [made, new ToolMessage({ content: result, tool_call_id: id })];
    },
    roleOf: (message) => (message.type === 'human' ? 'user' : message.type),
  } satisfies Talk<BaseMessage> as unknown as Talk<never>,
  chat: {
    compactor: (compactor) => chatCompactor(compactor, OPTIONS) as unknown as Roleds,
    user: (content) => ({ role: 'user', content }),
    exchange: (id, content, isPinned) => {
      const made = { name: 'read_file', arguments: `{"path":"${id}"}` };
      if (!isPinned) {
        const tool_calls = [{ id, type: 'function', function: made }];
        const call = { role: 'assistant', content: null, tool_calls };
        return [call, { role: 'tool', tool_call_id: id, content }];
      }
      const call = { role: 'assistant', content: null, function_call: made };
      return [call, { role: 'function', name: 'read_file', content }];
    },
    roleOf: ({ role }: Roled) => role,
  } satisfies Talk<Roled> as unknown as Talk<never>,
};

const turn: fc.Arbitrary<Turn> = fc.record({
  of: fc.constantFrom('user', 'call', 'call', 'pinned'),
  words: fc.constantFrom(3, 30, 300),
});

/** Plays a conversation; returns the beginning of each request, and of the next one if that continues from the sent messages. */
async function openings(
  { compactor: create, user, exchange, roleOf }: Talk<never>,
  turns: readonly Turn[],
  contextLimit: number,
  strategy: CompressionStrategyName,
): Promise<readonly string[]> {
  const settings = { 'compression.strategy': strategy, 'compression.ahead': 1 };
  const compactor = createCompactor({ offload: 'inline', contextLimit, settings });
  const compact = create(compactor);
  const seen: string[] = [];
  let messages: readonly never[] = [];
  try {
    for (const [at, { of, words }] of [{ of: 'user', words: 3 }, ...turns].entries()) {
      const text = `${at} `.concat('word '.repeat(words));
      const added = of === 'user' ? [user(text)] : exchange(`call_${at}`, text, of === 'pinned');
      messages = [...messages, ...added];
      const sent = await compact(messages);
      seen.push(sent.length === 0 ? 'nothing' : roleOf(sent[0] as never));
      if (at % 2 === 0) messages = sent;
    }
  } catch (thrown) {
    if (!(thrown instanceof ContextWindowExceededError)) throw thrown;
  } finally {
    await compactor.close();
  }
  return seen;
}

describe.each(Object.entries(TALKS))('a request of %s', (_, talk) => {
  it('begins with a user message, whatever is left at its start', async () => {
    const strategies = fc.constantFrom<CompressionStrategyName[]>(
      'high-density',
      'top-down-truncation',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 4, maxLength: 16 }),
        fc.constantFrom(300, 600, 1_200),
        strategies,
        async (turns, contextLimit, strategy) => {
          const seen = new Set(await openings(talk, turns, contextLimit, strategy));
          expect(seen).toEqual(new Set(['user']));
        },
      ),
      { numRuns: runs(800, 12) },
    );
  });
});
