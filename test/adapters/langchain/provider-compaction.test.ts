// Compaction on demand through models of LangChain: the real agent, and a provider that checks the items it gets back.

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import type { ChatOpenAIFields } from '@langchain/openai';
import { createAgent } from 'langchain';
import { describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../../src/adapters/langchain/compaction-middleware.js';
import { compactionByModel } from '../../../src/adapters/langchain/provider-compaction.js';
import { startCompactingProvider } from '../../support/compacting-provider.js';
import { itHasTheModelCompact, itSaysWhyNot } from '../../support/compaction-by-model.js';
import type { OpenTalk } from '../../support/compaction-by-model.js';
import { chatFields, chatModel } from '../../support/responses-models.js';

const file = (name: string) =>
  tool(() => '', { name, description: name, schema: { type: 'object', properties: {} } });

const openTalk =
  (makeModel: typeof chatModel): OpenTalk =>
  ({ url, compactor, options, isHeld, messages: held }) => {
    const model = makeModel(url, isHeld ? { conversation: 'conv_1' } : {});
    const agent = createAgent({
      model,
      tools: [file('read_file'), file('write_file')],
      systemPrompt: 'Be brief.',
      middleware: [compactionMiddleware(compactor, options)],
    });
    const messages = held as BaseMessage[];
    return {
      send: async ({ user, callId, tool: name, input, reasoning, result, said }, next, signal) => {
        const output = [
          { type: 'reasoning', id: reasoning, summary: [], encrypted_content: `of ${reasoning}` },
          { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(input) },
        ];
        messages.push(
          new HumanMessage(user),
          new AIMessage({
            content: '',
            tool_calls: [{ id: callId, name, args: input, type: 'tool_call' }],
            response_metadata: { model_provider: 'openai', output },
          }),
          new ToolMessage({ content: result, tool_call_id: callId, name }),
          new AIMessage(said),
          new HumanMessage(next),
        );
        const state = await agent.invoke({ messages }, { ...(signal && { signal }) });
        messages.push(state.messages.at(-1) as BaseMessage);
      },
    };
  };

class LikeChatAnthropic extends ChatOpenAI {
  override _llmType(): string {
    return 'anthropic';
  }
}

/** The API of a model that only knows Chat Completions. */
const answerOfCompletions = (): Promise<Response> => {
  const message = { role: 'assistant', content: 'fine' };
  return Promise.resolve(
    Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  );
};

class ChatCompletions extends ChatOpenAI {
  constructor(fields: ChatOpenAIFields) {
    const configuration = { ...fields.configuration, fetch: answerOfCompletions };
    super({ ...fields, configuration, useResponsesApi: false });
  }
}

describe("compression by 'provider' with LangChain", () => {
  itHasTheModelCompact(openTalk(chatModel));

  describe.each([
    ['Anthropic', LikeChatAnthropic, 'loses what a compaction is signed with'],
    ['Chat Completions', ChatCompletions, 'useResponsesApi: true'],
  ])('by a model of %s', (_, Model, words) => {
    itSaysWhyNot(
      openTalk((url, extra) => new Model(chatFields(url, extra))),
      words,
    );
  });

  it('asks the model behind a name', async () => {
    const { baseURL, requests } = await startCompactingProvider();
    const named = { _getModelInstance: () => Promise.resolve(chatModel(baseURL)) };
    const ask = compactionByModel({ model: named });
    const { items } = await ask([new HumanMessage('go on')], AbortSignal.timeout(60_000));
    expect(items).toMatchObject([{ kind: 'compaction', data: { type: 'compaction' } }]);
    expect(requests.map(({ body }) => body.input?.map(({ type }) => type))).toEqual([
      ['message', 'compaction_trigger'],
    ]);
  });

  it('aborts its request with the signal, also outside an agent', async () => {
    const provider = await startCompactingProvider();
    const stop = new AbortController();
    provider.onCompaction = (closed) => {
      stop.abort(new Error('stopped'));
      return closed;
    };
    const ask = compactionByModel({ model: chatModel(provider.baseURL) });
    await expect(ask([new HumanMessage('go on')], stop.signal)).rejects.toThrow();
    await expect.poll(() => provider.requests).toHaveLength(1);
  });
});
