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
import type { AdapterOptions, CompactCall } from '../../src/adapters/request/adapter-options.js';
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
  readonly calls: readonly Call[];
  /** Where the user speaks, if at all: in a message of its own, or in that of the last result if the format can. */
  readonly aside: 'none' | 'behind' | 'beside';
}

interface Call {
  readonly name: string;
  readonly path: string;
  readonly result: 'long' | 'image' | 'empty' | 'failed';
}

const MOVES = [
  'none',
  'other model',
  'aborted',
  'abort',
  'twice',
  'at once',
  'taken back',
] as const;

/** What happens at a request, besides it. */
type Move = (typeof MOVES)[number];

/** The steps of each turn. All but the last turn end with an answer. */
type Talk = readonly (readonly Step[])[];

const step: fc.Arbitrary<Step> = fc.record({
  thinks: fc.constantFrom(false, false, true),
  says: fc.constantFrom(false, false, true),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('read_file', 'write_file', 'search'),
      path: fc.constantFrom('a.ts', 'b.ts'),
      result: fc.constantFrom('long', 'long', 'long', 'image', 'empty', 'failed'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  aside: fc.constantFrom('none', 'none', 'none', 'none', 'behind', 'beside'),
});
const talk: fc.Arbitrary<Talk> = fc.array(fc.array(step, { maxLength: 9 }), {
  minLength: 1,
  maxLength: 3,
});

/** What happens in a talk, in the format of an SDK. */
interface Writer<Message> {
  readonly ask: (text: string) => Message;
  readonly answer: (text: string, thinking?: string) => Message;
  /** @param aside what the user says with the results; a format without such messages has it follow */
  readonly use: (
    step: Step,
    calls: readonly MadeCall[],
    thinking: string | undefined,
    aside: string | undefined,
  ) => readonly Message[];
}

type MadeCall = Call & { readonly id: string; readonly text: string };

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
        const long = `${call.name} ${count}: `.concat(`const n${count} = 42; `.repeat(40));
        const text = call.result === 'empty' ? '' : long;
        return { ...call, id: `toolu_${count}`, text };
      });
      // With a budget, each turn begins with thinking.
      const thinking = at === 0 || each.thinks ? `thought ${count}` : undefined;
      const aside = each.aside === 'none' ? undefined : `Mind ${count}.`;
      const isBeside = each.aside === 'beside';
      messages.push(...writer.use(each, calls, thinking, isBeside ? aside : undefined));
      if (aside !== undefined && !isBeside) messages.push(writer.ask(aside));
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
  /** What happens at each request; from the start again behind the last. */
  readonly moves: readonly Move[];
}

type Send = (
  judge: Judge,
  turns: Talk,
  processes: Processes,
  options: AdapterOptions,
) => Promise<void>;

type Compact<Message> = (
  messages: readonly Message[],
  call: CompactCall,
) => Promise<readonly Message[]>;

/** Sends the requests of a talk. */
async function sendAll<Message>(
  [messages, lengths]: readonly [Message[], number[]],
  { open, perProcess, conversationId, former, moves }: Processes,
  compactorOf: (compactor: Compactor) => Compact<Message>,
  request: (messages: Message[]) => Promise<unknown>,
): Promise<void> {
  let compact = compactorOf(open());
  const send = async (length: number, call: CompactCall = {}): Promise<void> => {
    const named = { modelName: MODEL, conversationId, ...call };
    await request([...(await compact(messages.slice(0, length), named))]);
  };
  for (const [at, length] of lengths.entries()) {
    if (at > 0 && at % perProcess === 0) compact = compactorOf(open());
    const now = messages.slice(0, length);
    switch (moves[at % moves.length]) {
      case 'other model':
        await compact(now, { modelName: former, conversationId });
        break;
      case 'aborted':
        await expect(send(length, { signal: AbortSignal.abort() })).rejects.toThrow();
        break;
      case 'abort': {
        const controller = new AbortController();
        const sent = send(length, { signal: controller.signal }).catch(() => undefined);
        for (let turn = 0; turn < 12 * at; turn += 1) await Promise.resolve();
        controller.abort();
        await sent;
        break;
      }
      case 'twice':
        await send(length);
        break;
      case 'at once':
        await Promise.all([send(length), send(length)]);
        break;
      case 'taken back':
        await send(lengths[Math.max(0, at - 2)] ?? length);
        break;
      default:
    }
    await send(length);
  }
}

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const byAnthropic: Send = async (judge, turns, processes, options) => {
  const client = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch: judge.fetch });
  const talked = play<Anthropic.MessageParam>(turns, {
    ask: (content) => ({ role: 'user', content }),
    answer: (text, thinking) => ({
      role: 'assistant',
      content: [...thoughtsOf(thinking), { type: 'text', text }],
    }),
    use: ({ says }, calls, thinking, aside) => [
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
        content: [
          ...calls.map(({ id, text, result }) => {
            const source = { type: 'base64', media_type: 'image/png', data: PIXEL } as const;
            const parts = [{ type: 'text', text } as const, { type: 'image', source } as const];
            return {
              ...({ type: 'tool_result', tool_use_id: id } as const),
              content: result === 'image' ? parts : text,
              is_error: result === 'failed',
            };
          }),
          ...(aside === undefined ? [] : [{ type: 'text', text: aside } as const]),
        ],
      },
    ],
  });
  await sendAll(
    talked,
    processes,
    (compactor) => anthropicCompactor(compactor, options),
    (messages) =>
      client.messages.create({
        ...{ model: MODEL, max_tokens: 4_000, thinking: BUDGET },
        messages,
      }),
  );
};

function thoughtsOf(thinking: string | undefined): readonly Anthropic.ThinkingBlockParam[] {
  return thinking === undefined ? [] : [{ type: 'thinking', thinking, signature: thinking }];
}

const byAiSdk: Send = async (judge, turns, processes, options) => {
  const model = createAnthropic({ apiKey: 'none', fetch: judge.fetch })(MODEL);
  const reasoningOf = (text: string | undefined) =>
    text === undefined
      ? []
      : [{ type: 'reasoning', text, providerOptions: { anthropic: { signature: text } } } as const];
  const talked = play<ModelMessage>(turns, {
    ask: (content) => ({ role: 'user', content }),
    answer: (text, thinking) => ({
      role: 'assistant',
      content: [...reasoningOf(thinking), { type: 'text', text }],
    }),
    use: ({ says }, calls, thinking, aside) => [
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
        content: calls.map(({ id, name, text, result }) => {
          const image = { type: 'image-data', data: PIXEL, mediaType: 'image/png' } as const;
          const output =
            result === 'image'
              ? { type: 'content' as const, value: [{ type: 'text' as const, text }, image] }
              : {
                  type: result === 'failed' ? ('error-text' as const) : ('text' as const),
                  value: text,
                };
          return { type: 'tool-result', toolCallId: id, toolName: name, output } as const;
        }),
      },
      ...(aside === undefined ? [] : [{ role: 'user' as const, content: aside }]),
    ],
  });
  await sendAll(
    talked,
    processes,
    (compactor) => aiSdkCompactor(compactor, options),
    (messages) =>
      generateText({
        ...{ model, messages, maxRetries: 0, maxOutputTokens: 4_000 },
        providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
      }),
  );
};

const byLangChain: Send = async (judge, turns, processes, options) => {
  const model = new ChatAnthropic({
    ...{ apiKey: 'none', model: MODEL, maxTokens: 4_000, maxRetries: 0, thinking: BUDGET },
    clientOptions: { fetch: judge.fetch },
  });
  const talked = play<BaseMessage>(turns, {
    ask: (content) => new HumanMessage(content),
    answer: (text, thinking) =>
      new AIMessage({ content: [...thoughtsOf(thinking), { type: 'text', text }] as never }),
    use: ({ says }, calls, thinking, aside) => [
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
      ...calls.map(({ id, name, text, result }) => {
        const url = `data:image/png;base64,${PIXEL}`;
        const parts = [
          { type: 'text', text },
          { type: 'image_url', image_url: { url } },
        ];
        return new ToolMessage({
          ...{ tool_call_id: id, name, status: result === 'failed' ? 'error' : 'success' },
          content: result === 'image' ? parts : text,
        });
      }),
      ...(aside === undefined ? [] : [new HumanMessage(aside)]),
    ],
  });
  await sendAll(
    talked,
    processes,
    (compactor) => langChainCompactor(compactor, options),
    (messages) => model.invoke(messages),
  );
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
          fc.array(fc.constantFrom(...MOVES), { minLength: 1, maxLength: 8 }),
          async (turns, edits, reasoning, strategy, contextLimit, ahead, former, moves) => {
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
              const usual = { open, perProcess: Infinity, former, moves };
              await send(made, turns, { ...usual, ...given }, options);
              for (const compactor of opened) await compactor.close();
              expect(made.found).toEqual([]);
              return made.sent;
            };
            const sent = await judge({});
            await judge({ perProcess: 6 });
            const byMany = await judge({ perProcess: 1, conversationId: 'c' });
            // A summary that is written in the background is done at another time, and a model with other rules for reasoning has a
            // conversation of its own where none is named.
            const isSteady = !moves.some((move) => /abort|taken back/.test(move));
            if (isSteady && ahead === 1 && former === MODEL) expect(byMany).toEqual(sent);
          },
        ),
        { numRuns: runs(200, 25) },
      );
      for (const count of Object.values(landed)) expect(count).toBeGreaterThan(0);
    },
  );
});
