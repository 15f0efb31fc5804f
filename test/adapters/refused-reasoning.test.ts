// Reasoning that is bound to messages as they were sent without ctxfold: in each adapter that makes the calls, the provider
// refuses it once, unseen by the caller.

import Anthropic, { BadRequestError } from '@anthropic-ai/sdk';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { compactionMiddleware as ofAiSdk } from '../../src/adapters/ai-sdk/compaction-middleware.js';
import type { PromptParams } from '../../src/adapters/ai-sdk/compaction-middleware.js';
import type { SdkMessage, SdkPart } from '../../src/adapters/ai-sdk/sdk-message.js';
import { compactionMiddleware as ofAnthropic } from '../../src/adapters/anthropic/compaction-middleware.js';
import { compactionMiddleware as ofLangChain } from '../../src/adapters/langchain/compaction-middleware.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import { length, sample } from '../support/scale.js';
import { ReasoningSeals } from '../support/thinking-provider.js';

const MODEL = 'claude-opus-5-5';
const REFUSAL =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set ' +
  '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
const CALLS = length(60);
/** The calls at which compaction begins: early, and after some turns. */
const BEGINS = [5, 12, 23].filter((call) => call < CALLS - 5);

/** A provider for messages of any format, in which a text that begins with `seal-` is the signature of reasoning. */
class BindingProvider {
  readonly #seals = new ReasoningSeals();
  readonly #refusal: string;
  /** Calls with a refused request. */
  readonly refused: number[] = [];
  call = 0;
  refusesAll = false;
  /** Number of reasoning parts in the last request. */
  sealsInFront = 0;

  constructor(refusal: string) {
    this.#refusal = refusal;
  }

  /** Returns the seal of an answer to messages of parts. @throws Error if reasoning in them is bound to something else */
  answer(messages: readonly (readonly object[])[]): string {
    const parts = messages.flat().map((part) => {
      const text = JSON.stringify(part);
      const [seal] = /seal-\d+/.exec(text) ?? [];
      return { text, ...(seal !== undefined && { seal }) };
    });
    this.sealsInFront = parts.filter((part) => 'seal' in part).length;
    if (!this.refusesAll && this.#seals.broken(parts).length === 0) return this.#seals.seal(parts);
    this.refused.push(this.call);
    throw new Error(this.#refusal);
  }
}

/** An agent with one adapter, or without. */
interface Agent {
  /** Calls the model with all messages so far, and takes its answer. */
  readonly call: (isCompacted: boolean) => Promise<void>;
  readonly addResult: (text: string) => void;
  readonly endTurn: () => void;
  readonly messages: readonly unknown[];
}

type StartAgent = (provider: BindingProvider, compactor: Compactor) => Agent;

const overAnthropic: StartAgent = (provider, compactor) => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'make it work' }];
  const fetch: typeof globalThis.fetch = async (_, init) => {
    const sent = JSON.parse(init?.body as string) as { messages: { content: string | object[] }[] };
    try {
      const signature = provider.answer(
        sent.messages.map(({ content }) => [content].flat() as object[]),
      );
      const thinking = { type: 'thinking', thinking: 'hm', signature };
      const id = `t${provider.call}`;
      const use = { type: 'tool_use', id, name: 'read_file', input: { path: 'a.ts' } };
      return Response.json({
        ...{ id: 'm', type: 'message', role: 'assistant', model: MODEL },
        ...{ content: [thinking, use], usage: { input_tokens: 10, output_tokens: 5 } },
      });
    } catch (thrown) {
      const error = { type: 'invalid_request_error', message: (thrown as Error).message };
      return Response.json({ type: 'error', error }, { status: 400 });
    }
  };
  const plain = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch });
  const folding = plain.withOptions({ middleware: [ofAnthropic(compactor)] });
  return {
    messages,
    call: async (isCompacted) => {
      const { content } = await (isCompacted ? folding : plain).messages.create({
        ...{ model: MODEL, max_tokens: 100, thinking: { type: 'adaptive' } },
        messages,
      });
      messages.push({ role: 'assistant', content });
    },
    addResult: (content) => {
      const tool_use_id = `t${provider.call}`;
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] });
    },
    endTurn: () =>
      messages.push({ role: 'assistant', content: 'done' }, { role: 'user', content: 'go on' }),
  };
};

/** A provider of the AI SDK: how it returns a seal, and which parts of an assistant's message it sends. */
interface AiProvider {
  readonly provider: string;
  readonly modelId: string;
  readonly options: (seal: string) => object;
  readonly sent: (content: readonly object[]) => readonly object[];
  /** Whether the first call of a step has the options, too. */
  readonly onCall?: true;
}

const ANTHROPIC: AiProvider = {
  provider: 'anthropic.messages',
  modelId: MODEL,
  options: (signature) => ({ anthropic: { signature } }),
  sent: (content) => content,
};

/** Its model ID does not tell the model. */
const BEDROCK_PROFILE: AiProvider = {
  ...ANTHROPIC,
  provider: 'amazon-bedrock',
  modelId: 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc',
  options: (signature) => ({ bedrock: { signature } }),
};

/** Sends the reasoning that the first call carries, or else that of the first reasoning part. */
const OPEN_ROUTER: AiProvider = {
  provider: 'openrouter.chat',
  modelId: 'anthropic/claude-opus-5.5',
  options: (signature) => ({ openrouter: { reasoning_details: [{ signature }] } }),
  sent: (content) => {
    const parts = content as readonly SdkPart[];
    const detailsIn = (type: string): readonly object[] | undefined =>
      parts
        .filter((part) => part.type === type)
        .map(detailsOf)
        .find(({ length }) => length > 0);
    const others = parts.filter(({ type }) => type !== 'reasoning');
    const details = detailsIn('tool-call') ?? detailsIn('reasoning') ?? [];
    return [...details, ...others.map(({ providerOptions: _, ...part }: SdkFields) => part)];
  },
  onCall: true,
};

type SdkFields = SdkPart & { readonly providerOptions?: object };

function detailsOf({ providerOptions }: SdkFields): readonly object[] {
  const { openrouter } = (providerOptions ?? {}) as {
    readonly openrouter?: { readonly reasoning_details?: readonly object[] };
  };
  return openrouter?.reasoning_details ?? [];
}

const overAiSdk =
  (kind: 'Generate' | 'Stream', ai: AiProvider = ANTHROPIC): StartAgent =>
  (provider, compactor) => {
    const middleware = ofAiSdk(compactor);
    const text = (role: string, said: string): SdkMessage =>
      ({ role, content: [{ type: 'text', text: said } as SdkPart] }) as SdkMessage;
    const messages = [text('user', 'make it work')];
    const answer = async ({ prompt }: PromptParams): Promise<{ seal: string }> => ({
      seal: provider.answer(prompt.map(({ content }) => ai.sent([content].flat() as object[]))),
    });
    const model = {
      ...{ provider: ai.provider, modelId: ai.modelId },
      doGenerate: answer,
      doStream: answer,
    };
    return {
      messages,
      call: async (isCompacted) => {
        // The SDK makes the prompt anew for each call.
        const given = { params: { prompt: structuredClone(messages) }, model };
        const params = isCompacted ? await middleware.transformParams(given) : given.params;
        const ask = (): Promise<{ seal: string }> => answer(params);
        const call = { params, model, doGenerate: ask, doStream: ask };
        const { seal } = await (isCompacted ? middleware[`wrap${kind}`](call) : ask());
        const providerOptions = ai.options(seal);
        const toolCallId = `t${provider.call}`;
        const content = [
          { type: 'reasoning', text: 'hm', providerOptions },
          {
            ...{ type: 'tool-call', toolCallId, toolName: 'read_file', input: { path: 'a.ts' } },
            ...(ai.onCall && { providerOptions }),
          },
        ];
        messages.push({ role: 'assistant', content });
      },
      addResult: (value) => {
        const ids = { toolCallId: `t${provider.call}`, toolName: 'read_file' };
        const content = [{ type: 'tool-result', ...ids, output: { type: 'text', value } }];
        messages.push({ role: 'tool', content });
      },
      endTurn: () => messages.push(text('assistant', 'done'), text('user', 'go on')),
    };
  };

const overLangChain: StartAgent = (provider, compactor) => {
  const { wrapModelCall } = ofLangChain(compactor);
  const messages: BaseMessage[] = [new HumanMessage('make it work')];
  const answer = async ({ messages: sent }: { messages: BaseMessage[] }): Promise<AIMessage> => {
    const parts = sent.map(({ content, ...message }) => [
      ...([content].flat() as object[]),
      ...((message as { tool_calls?: object[] }).tool_calls ?? []),
    ]);
    const thinking = { type: 'thinking', thinking: 'hm', signature: provider.answer(parts) };
    const use = { id: `t${provider.call}`, name: 'read_file', args: { path: 'a.ts' } };
    return new AIMessage({ content: [thinking], tool_calls: [use] });
  };
  const model = { _llmType: () => 'anthropic', model: MODEL };
  return {
    messages,
    call: async (isCompacted) => {
      const request = { messages: [...messages], model };
      const said = isCompacted
        ? await wrapModelCall!(request as never, answer as never)
        : await answer(request);
      messages.push(said as AIMessage);
    },
    addResult: (content) =>
      messages.push(new ToolMessage({ content, tool_call_id: `t${provider.call}` })),
    endTurn: () => messages.push(new AIMessage('done'), new HumanMessage('go on')),
  };
};

interface Played {
  readonly refused: readonly number[];
  readonly messages: readonly unknown[];
}

/** Plays calls with nearly equal results, compacted from the call `begins` on. */
async function play(
  start: StartAgent,
  begins: number,
  { refusal = REFUSAL, contextLimit = 128_000 } = {},
): Promise<Played> {
  await using compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit,
  });
  const provider = new BindingProvider(refusal);
  const agent = start(provider, compactor);
  for (; provider.call < CALLS; provider.call += 1) {
    const { call } = provider;
    await agent.call(call >= begins);
    agent.addResult(
      Array.from({ length: 60 }, (_, at) => `line ${at} of ${at === call ? call : 'it'}`).join(
        '\n',
      ),
    );
    if (call % 8 === 7) agent.endTurn();
  }

  return { refused: provider.refused, messages: agent.messages };
}

/** A copy of a message whose result the host has cleared. */
function cleared(message: unknown): unknown {
  if (message instanceof ToolMessage)
    return new ToolMessage({ content: 'cleared', tool_call_id: message.tool_call_id });
  return JSON.parse(JSON.stringify(message).replace(/result \d+/, 'cleared'));
}

describe.each([
  ['the Anthropic SDK', overAnthropic],
  ['the AI SDK', overAiSdk('Generate')],
  ['the AI SDK, streamed', overAiSdk('Stream')],
  ['the AI SDK and OpenRouter', overAiSdk('Generate', OPEN_ROUTER)],
  ['LangChain', overLangChain],
] as const)('a conversation over %s', (_, start) => {
  it('that is compacted from some call on is refused once, unseen by its caller', async () => {
    const played = await Promise.all(sample(BEGINS, 1).map((begins) => play(start, begins)));
    for (const { refused, messages } of played) {
      expect(refused.length).toBeLessThanOrEqual(1);
      expect(new Set(JSON.stringify(messages).match(/seal-\d+/g)).size).toBe(CALLS);
    }
    expect(played.flatMap(({ refused }) => refused)).not.toEqual([]);
  });

  it('that is compacted from the start is never refused', async () => {
    expect((await play(start, 0)).refused).toEqual([]);
  });

  it('continues in a process that does not know the edits, and sends the given messages', async () => {
    const provider = new BindingProvider(REFUSAL);
    const options = { offload: 'inline', tokenizer: 'estimate', contextLimit: 3_000 } as const;
    const settings = { 'compression.strategy': 'top-down-truncation' } as const;
    await using first = createCompactor({ ...options, settings });
    await using second = createCompactor({ ...options, contextLimit: 128_000 });
    const agent = start(provider, first);
    for (; provider.call < 12; provider.call += 1) {
      await agent.call(true);
      agent.addResult(`result ${provider.call} `.repeat(100));
    }
    const later = start(provider, second);
    (later.messages as unknown[]).splice(0, Infinity, ...agent.messages);
    await later.call(true);
    expect(provider.refused).toEqual([12]);
  });

  it('is not refused when its host changes an earlier result', async () => {
    const provider = new BindingProvider(REFUSAL);
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const agent = start(provider, compactor);
    const messages = agent.messages as unknown[];
    for (; provider.call < 24; provider.call += 1) {
      await agent.call(true);
      agent.addResult(`result ${provider.call}`);
      if (provider.call % 8 !== 7) continue;
      const at = messages.findIndex((message) =>
        JSON.stringify(message).includes(`result ${provider.call - 4}"`),
      );
      messages[at] = cleared(messages[at]);
    }
    expect(provider.refused).toEqual([]);
    expect(provider.sealsInFront).toBeGreaterThan(3);
  });

  it('passes on any other refusal', async () => {
    const playing = play(start, 12, { refusal: 'Invalid `signature` in `thinking` block' });
    await expect(playing).rejects.toThrow('Invalid `signature`');
  });
});

it('a conversation with a model of unknown name is refused once', async () => {
  const { refused } = await play(overAiSdk('Generate', BEDROCK_PROFILE), 0, {
    contextLimit: 3_000,
  });
  expect(refused).toHaveLength(1);
});

it('a refused request is not repeated if compacting would not change it', async () => {
  const provider = new BindingProvider(REFUSAL);
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const agent = overAnthropic(provider, compactor);
  provider.refusesAll = true;
  await expect(agent.call(true)).rejects.toThrow(BadRequestError);
  expect(provider.refused).toHaveLength(1);
});
