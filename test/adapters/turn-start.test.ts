// Claude with a thinking budget refuses a request whose turn in progress does not begin with thinking. Random sessions through the
// formats of several SDKs, sent by these SDKs, to an endpoint that judges each request.

import { createAnthropic } from '@ai-sdk/anthropic';
import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import Anthropic from '@anthropic-ai/sdk';
import { generateText } from 'ai';
import type { ModelMessage } from 'ai';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { messageCompactor as aiSdkCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as anthropicCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import { messageCompactor as langChainCompactor } from '../../src/adapters/langchain/message-compactor.js';
import type { AdapterOptions } from '../../src/adapters/request/adapter-options.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { Session } from '../../src/main/session.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import type { JsonRecord } from '../../src/shared/json.js';
import { findRequestViolations } from '../../src/shared/providers/validate.js';
import { readAnthropicRequest } from '../support/requests/anthropic.js';
import { runs } from '../support/scale.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';

const MODEL = 'claude-opus-4-5';
const BUDGET = { type: 'enabled', budget_tokens: 1_024 } as const;

/** A step of the model with the answers to its calls. */
interface Step {
  readonly thinks: boolean;
  readonly says: boolean;
  readonly calls: readonly { readonly name: string; readonly path: string }[];
  /** Whether the user speaks behind the results. */
  readonly isAside: boolean;
}

/** The steps of each turn. All but the last turn end with an answer. */
type Talk = readonly (readonly Step[])[];

const step: fc.Arbitrary<Step> = fc.record({
  thinks: fc.constantFrom(false, false, true),
  says: fc.constantFrom(false, false, true),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('read_file', 'write_file', 'search'),
      path: fc.constantFrom('a.ts', 'b.ts'),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  isAside: fc.constantFrom(false, false, false, true),
});
const talk: fc.Arbitrary<Talk> = fc.array(fc.array(step, { maxLength: 9 }), {
  minLength: 1,
  maxLength: 3,
});

/** What happens in a talk, in the format of an SDK. */
interface Writer<Message> {
  readonly ask: (text: string) => Message;
  readonly answer: (text: string, thinking?: string) => Message;
  readonly use: (
    step: Step,
    calls: readonly (Step['calls'][number] & { readonly id: string; readonly result: string })[],
    thinking: string | undefined,
  ) => readonly Message[];
}

/** Returns the messages of a talk, and the lengths at which requests are sent. */
function play<Message>(turns: Talk, writer: Writer<Message>): readonly [Message[], number[]] {
  const messages: Message[] = [];
  const lengths: number[] = [];
  let count = 0;
  for (const [turn, steps] of turns.entries()) {
    messages.push(writer.ask(`Do part ${turn}.`));
    lengths.push(messages.length);
    for (const [at, each] of steps.entries()) {
      const calls = each.calls.map((call) => {
        count += 1;
        const result = `${call.name} ${count}: `.concat(`const n${count} = 42; `.repeat(40));
        return { ...call, id: `toolu_${count}`, result };
      });
      // With a budget, each turn begins with thinking.
      const thinking = at === 0 || each.thinks ? `thought ${count}` : undefined;
      messages.push(...writer.use(each, calls, thinking));
      if (each.isAside) messages.push(writer.ask(`Mind ${count}.`));
      lengths.push(messages.length);
    }
    const thinking = steps.length === 0 ? `thought ${turn}` : undefined;
    messages.push(writer.answer(`Done with ${turn}.`, thinking));
  }
  return [messages, lengths];
}

/** Judges requests. */
class Judge {
  readonly sent: string[] = [];
  readonly found: string[] = [];

  readonly fetch: typeof fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as JsonRecord;
    expect(body).toMatchObject({ thinking: { type: 'enabled' } });
    this.sent.push(JSON.stringify(body['messages']));
    const breaches = findRequestViolations(readAnthropicRequest(body), 'anthropic');
    this.found.push(...breaches.map(({ message }) => message));
    return Promise.resolve(
      Response.json({
        ...{ id: 'm', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' },
        content: [{ type: 'text', text: 'Yes.' }],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    );
  };
}

/** The processes that send the requests of a talk. */
interface Processes {
  readonly open: () => Compactor;
  /** Requests per process. */
  readonly perProcess: number;
  readonly conversationId?: string;
  /** A model that has been asked first, in some requests. */
  readonly former: string;
}

type Send = (
  judge: Judge,
  turns: Talk,
  processes: Processes,
  options: AdapterOptions,
) => Promise<void>;

const byAnthropic: Send = async (
  judge,
  turns,
  { open, perProcess, conversationId, former },
  options,
) => {
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch: judge.fetch });
  const [messages, lengths] = play<Anthropic.MessageParam>(turns, {
    ask: (content) => ({ role: 'user', content }),
    answer: (text, thinking) => ({
      role: 'assistant',
      content: [...thoughtsOf(thinking), { type: 'text', text }],
    }),
    use: ({ says }, calls, thinking) => [
      {
        role: 'assistant',
        content: [
          ...thoughtsOf(thinking),
          ...(says ? [{ type: 'text', text: 'So.' } as const] : []),
          ...calls.map(({ id, name, path }) => {
            return { type: 'tool_use', id, name, input: { file_path: path } } as const;
          }),
        ],
      },
      {
        role: 'user',
        content: calls.map(({ id, result }) => {
          return { type: 'tool_result', tool_use_id: id, content: result } as const;
        }),
      },
    ],
  });
  let compact = anthropicCompactor(open(), options);
  for (const [at, length] of lengths.entries()) {
    if (at > 0 && at % perProcess === 0) compact = anthropicCompactor(open(), options);
    const now = messages.slice(0, length);
    if (at % 3 === 1) await compact(now, { modelName: former, conversationId });
    const sent = await compact(now, { modelName: MODEL, conversationId });
    await client.messages.create({
      ...{ model: MODEL, max_tokens: 4_000, thinking: BUDGET },
      messages: sent,
    });
  }
};

function thoughtsOf(thinking: string | undefined): readonly Anthropic.ThinkingBlockParam[] {
  return thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: thinking }];
}

const byAiSdk: Send = async (
  judge,
  turns,
  { open, perProcess, conversationId, former },
  options,
) => {
  const model = createAnthropic({ apiKey: 'none', fetch: judge.fetch })(MODEL);
  const reasoningOf = (text: string | undefined) =>
    text === undefined
      ? []
      : [{ type: 'reasoning', text, providerOptions: { anthropic: { signature: text } } } as const];
  const [messages, lengths] = play<ModelMessage>(turns, {
    ask: (content) => ({ role: 'user', content }),
    answer: (text, thinking) => ({
      role: 'assistant',
      content: [...reasoningOf(thinking), { type: 'text', text }],
    }),
    use: ({ says }, calls, thinking) => [
      {
        role: 'assistant',
        content: [
          ...reasoningOf(thinking),
          ...(says ? [{ type: 'text', text: 'So.' } as const] : []),
          ...calls.map(({ id, name, path }) => {
            const input = { file_path: path };
            return { type: 'tool-call', toolCallId: id, toolName: name, input } as const;
          }),
        ],
      },
      {
        role: 'tool',
        content: calls.map(({ id, name, result }) => {
          const output = { type: 'text', value: result } as const;
          return { type: 'tool-result', toolCallId: id, toolName: name, output } as const;
        }),
      },
    ],
  });
  let compact = aiSdkCompactor(open(), options);
  for (const [at, length] of lengths.entries()) {
    if (at > 0 && at % perProcess === 0) compact = aiSdkCompactor(open(), options);
    const now = messages.slice(0, length);
    if (at % 3 === 1) await compact(now, { modelName: former, conversationId });
    const sent = await compact(now, { modelName: MODEL, conversationId });
    await generateText({
      ...{ model, messages: sent, maxRetries: 0, maxOutputTokens: 4_000 },
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
    });
  }
};

const byLangChain: Send = async (
  judge,
  turns,
  { open, perProcess, conversationId, former },
  options,
) => {
  const model = new ChatAnthropic({
    ...{ apiKey: 'none', model: MODEL, maxTokens: 4_000, maxRetries: 0, thinking: BUDGET },
    clientOptions: { fetch: judge.fetch },
  });
  const [messages, lengths] = play<BaseMessage>(turns, {
    ask: (content) => new HumanMessage(content),
    answer: (text, thinking) =>
      new AIMessage({ content: [...thoughtsOf(thinking), { type: 'text', text }] as never }),
    use: ({ says }, calls, thinking) => [
      new AIMessage({
        content: [
          ...thoughtsOf(thinking),
          ...(says ? [{ type: 'text', text: 'So.' }] : []),
          ...calls.map(({ id, name, path }) => {
            return { type: 'tool_use', id, name, input: { file_path: path } };
          }),
        ] as never,
        tool_calls: calls.map(({ id, name, path: file_path }) => ({
          id,
          name,
          args: { file_path },
        })),
      }),
      ...calls.map(
        ({ id, name, result }) => new ToolMessage({ tool_call_id: id, name, content: result }),
      ),
    ],
  });
  let compact = langChainCompactor(open(), options);
  for (const [at, length] of lengths.entries()) {
    if (at > 0 && at % perProcess === 0) compact = langChainCompactor(open(), options);
    const now = messages.slice(0, length);
    if (at % 3 === 1) await compact(now, { modelName: former, conversationId });
    await model.invoke(await compact(now, { modelName: MODEL, conversationId }));
  }
};

describe('the turn in progress, with a thinking budget', () => {
  it.each([
    ['Anthropic', byAnthropic],
    ['the AI SDK', byAiSdk],
    ['LangChain', byLangChain],
  ] as const)(
    'begins with thinking in every request of %s, the same from any process',
    async (_, send) => {
      const landed = { pruned: 0, compressed: 0, fitted: 0 };
      await fc.assert(
        fc.asyncProperty(
          talk,
          fc.constantFrom('every-turn' as const, 'auto' as const),
          fc.constantFrom(
            undefined,
            'keep' as const,
            'strip-after-first-edit' as const,
            'forbid-edits' as const,
          ),
          fc.constantFrom(
            'high-density' as const,
            'top-down-truncation' as const,
            'one-shot' as const,
            'middle-out' as const,
          ),
          fc.constantFrom(200_000, 2_500, 1_500),
          fc.constantFrom(0.7, 1),
          fc.constantFrom(MODEL, 'claude-opus-5-5', 'gpt-5.5'),
          async (turns, edits, reasoning, strategy, contextLimit, ahead, former) => {
            const onSession = (session: Session): void => {
              for (const event of ['pruned', 'compressed', 'fitted'] as const)
                session.on(event, () => void (landed[event] += 1));
            };
            const judge = async (given: Partial<Processes>): Promise<readonly string[]> => {
              const store = memoryStore();
              const opened: Compactor[] = [];
              const open = (): Compactor => {
                const compactor = createCompactor({
                  ...{ offload: 'inline', tokenizer: 'estimate', contextLimit },
                  summarizer: scriptedSummarizer(snapshot('on we go')),
                  settings: { 'compression.strategy': strategy, 'compression.ahead': ahead },
                  ...(given.conversationId !== undefined && { store }),
                });
                opened.push(compactor);
                return compactor;
              };
              const made = new Judge();
              const options = { edits, reasoning, onSession, onError: 'throw' } as const;
              await send(made, turns, { open, perProcess: Infinity, former, ...given }, options);
              for (const compactor of opened) await compactor.close();
              expect(made.found).toEqual([]);
              return made.sent;
            };
            const sent = await judge({});
            await judge({ perProcess: 6 });
            const byMany = await judge({ perProcess: 1, conversationId: 'c' });
            // A summary that is written in the background is done at another time, and a model with other rules for reasoning has a
            // conversation of its own where none is named.
            if (ahead === 1 && former === MODEL) expect(byMany).toEqual(sent);
          },
        ),
        { numRuns: runs(200, 25) },
      );
      for (const count of Object.values(landed)) expect(count).toBeGreaterThan(0);
    },
  );
});
