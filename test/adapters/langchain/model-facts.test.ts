import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ConfigurableModel } from 'langchain/chat_models/universal';
import { describe, expect, it } from 'vitest';

import { modelFacts } from '../../../src/adapters/langchain/model-facts.js';

describe('modelFacts', () => {
  it.each<[string, Record<string, unknown>, string | undefined]>([
    ['ChatAnthropic', { model: 'opus', _llmType: () => 'anthropic' }, 'strip-after-first-edit'],
    ['Claude elsewhere', { model: 'us.anthropic.claude-x' }, 'strip-after-first-edit'],
    ['another class', { modelName: 'x', getName: () => 'ChatAnthropic' }, 'strip-after-first-edit'],
    ['a budget', { model: 'claude-opus-4-6', thinking: { type: 'enabled' } }, 'keep'],
    ['a model with budgets only', { model: 'anthropic.claude-haiku-4-5-v1:0' }, 'keep'],
    ['ChatOpenAI', { model: 'gpt', _llmType: () => 'openai' }, undefined],
  ])('reads the facts of %s', (_, model, reasoning) => {
    expect(modelFacts(model)).toEqual({
      modelName: model['model'] ?? model['modelName'],
      reasoning,
    });
  });

  it('reads the model that an agent makes of a name, and the model that a run selects', () => {
    const model = new ConfigurableModel({
      defaultConfig: { model: 'claude-opus-5-5', modelProvider: 'anthropic', apiKey: 'none' },
    });
    const reasoning = 'strip-after-first-edit';
    expect(modelFacts(model)).toEqual({ modelName: 'claude-opus-5-5', reasoning });
    const configurable = { thread_id: 'one', model: 'gpt-5.5', modelProvider: 'openai' };
    expect(modelFacts(model, { configurable })).toEqual({ modelName: 'gpt-5.5' });
    const budget = new ConfigurableModel({
      defaultConfig: { model: 'opus', modelProvider: 'anthropic', thinking: { type: 'enabled' } },
    });
    expect(modelFacts(budget)).toEqual({ modelName: 'opus', reasoning: 'keep' });
  });

  it('reads the lifetime of the cache from the settings of middleware', () => {
    const modelSettings = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const model = { model: 'gpt', promptCacheRetention: '24h' };
    expect(modelFacts(model, { modelSettings })).toEqual({
      modelName: 'gpt',
      cacheTtlMs: 3_600_000,
    });
    expect(modelFacts(model)).toEqual({ modelName: 'gpt', cacheTtlMs: 24 * 3_600_000 });
  });

  it('returns no facts that a model does not state, and none without a model', () => {
    expect(modelFacts(new FakeListChatModel({ responses: [] }))).toEqual({});
    expect(modelFacts(undefined)).toEqual({});
    const own = { model: 'gpt', _defaultConfig: { temperature: 1 } };
    expect(modelFacts(own)).toEqual({ modelName: 'gpt' });
  });
});
