// Compaction on demand through the real Agents SDK, with a provider that checks the items it gets back.

import {
  Agent,
  OpenAIProvider,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import type { AgentInputItem } from '@openai/agents';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { callModelInputFilter } from '../../../src/adapters/openai/call-model-input-filter.js';
import { providerCompaction } from '../../../src/adapters/openai/provider-compaction.js';
import { createCompactor } from '../../../src/main/compactor.js';
import {
  itHasTheModelCompact,
  itSaysWhyNot,
  openCompaction,
  playTalk,
} from '../../support/compaction-by-model.js';
import type { OpenTalk } from '../../support/compaction-by-model.js';

beforeAll(() => setTracingDisabled(true));

const NAME = 'gpt-6.2-sol';
const parameters = {
  type: 'object' as const,
  properties: {},
  required: [],
  additionalProperties: true as const,
};
const file = (name: string) =>
  tool({ name, description: name, parameters, strict: false, execute: () => '' });

/** A conversation of an agent whose model is an object, or a name that a model provider resolves. */
const openTalk =
  (model: 'object' | 'name' | 'known name'): OpenTalk =>
  ({ url, compactor, options, isHeld, messages }) => {
    const openAIClient = new OpenAI({ baseURL: url, apiKey: 'key', maxRetries: 0 });
    const models = new OpenAIProvider({ openAIClient, useResponses: true });
    const runner = new Runner({ modelProvider: models, tracingDisabled: true });
    const agent = new Agent({
      name: 'worker',
      instructions: 'Be brief.',
      model: model.endsWith('name') ? NAME : new OpenAIResponsesModel(openAIClient, NAME),
      modelSettings: {
        store: false,
        ...(isHeld && { providerData: { previous_response_id: 'resp_1' } }),
      },
      tools: [file('read_file'), file('write_file')],
    });
    const compactByProvider = model === 'known name' ? models : undefined;
    const filter = callModelInputFilter(compactor, { ...options, compactByProvider });
    const items = messages as AgentInputItem[];
    return {
      send: async ({ user, callId, tool: name, input, reasoning, result, said }, next, signal) => {
        const providerData = { encryptedContent: `of ${reasoning}` };
        items.push(
          { role: 'user', content: user },
          { type: 'reasoning', id: reasoning, content: [], providerData },
          { type: 'function_call', callId, name, arguments: JSON.stringify(input), status: 'completed' },
          { type: 'function_call_result', callId, name, status: 'completed', output: { type: 'text', text: result } },
          { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: said }] },
          { role: 'user', content: next },
        ); // prettier-ignore
        const { history } = await runner.run(agent, items, {
          callModelInputFilter: filter,
          ...(signal && { signal }),
        });
        items.push(history.at(-1)!);
      },
    };
  };

describe("compression by 'provider' with the Agents SDK", () => {
  // Filters do not get the signal of a run.
  itHasTheModelCompact(openTalk('object'), false);

  describe('with a model given by name', () =>
    itSaysWhyNot(openTalk('name'), 'new OpenAIProvider()'));

  it('resolves a model name with the given model provider', async () => {
    const { provider, events, play } = await playTalk(openTalk('known name'));
    await play(20, 1);
    await play(1);
    expect(events).toMatchObject([{ strategy: 'provider', outcome: 'applied' }]);
    expect(provider.requests.map(({ status, body }) => [status, body['model']])).toEqual(
      provider.requests.map(() => [200, 'gpt-6.2-sol']),
    );
  });

  it('sends no request for a model of Chat Completions', async () => {
    const sent: unknown[] = [];
    const fetch = (url: unknown) => Promise.reject(new Error(String(sent.push(url))));
    const model = new OpenAIChatCompletionsModel(
      new OpenAI({ apiKey: 'key', fetch, maxRetries: 0 }),
      NAME,
    );
    const { compactor, options, events } = openCompaction();
    const users = Array.from({ length: 60 }, (__, at) => [
      { role: 'user', content: `${at} ${'lorem ipsum '.repeat(80)}` },
      { role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'fine' }] },
    ]);
    const modelData = { input: users.flat() };
    await callModelInputFilter(compactor, options)({ modelData, agent: { model } });
    expect(events[0]?.fallbackFrom?.error.message).toContain('failed (Error)');
    expect(sent).toEqual([]);
  });

  it('accepts a model provider for compaction, and nothing else', () => {
    const compactor = createCompactor();
    onTestFinished(() => compactor.close());
    const compactByProvider = providerCompaction({ responses: {} }, 'gpt-6.2-sol');
    expect(() => callModelInputFilter(compactor, { compactByProvider } as never)).toThrow(
      /model provider of the Agents SDK.*got a function/,
    );
  });
});
