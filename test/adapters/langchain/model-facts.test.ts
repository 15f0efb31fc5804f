import { FakeListChatModel } from '@langchain/core/utils/testing';
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
  ])('knows %s', (_, model, reasoning) => {
    expect(modelFacts(model)).toEqual({
      modelName: model['model'] ?? model['modelName'],
      reasoning,
    });
  });

  it('knows little of a model that says nothing, and nothing of none', () => {
    expect(modelFacts(new FakeListChatModel({ responses: [] }))).toEqual({});
    expect(modelFacts(undefined)).toEqual({});
  });
});
