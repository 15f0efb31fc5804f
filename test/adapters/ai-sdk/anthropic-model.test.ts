import { describe, expect, it } from 'vitest';
import { describeModel } from '../../../src/adapters/ai-sdk/anthropic-model.js';

const DROPS = { prefixMismatchBehavior: 'drop_block' };

describe('describeModel', () => {
  it.each([
    [{ provider: 'anthropic.messages', modelId: 'claude-opus-5' }, 'claude-opus-5'],
    [{ provider: 'vertex.anthropic.messages', modelId: 'claude-opus-5' }, 'claude-opus-5'],
    [{ provider: 'amazon-bedrock', modelId: 'us.anthropic.claude-5' }, 'us.anthropic.claude-5'],
    [{ provider: 'gateway', modelId: 'anthropic/claude-5' }, 'anthropic/claude-5'],
    ['anthropic/claude-5', 'anthropic/claude-5'],
  ])('strips the reasoning of %j after an edit', (model, modelName) => {
    expect(describeModel(model)).toEqual({ modelName, reasoning: 'strip-after-first-edit' });
  });

  it.each<[object | undefined, string]>([
    [{ anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } }, 'keep'],
    [{ bedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 1_024 } } }, 'keep'],
    [{ amazonBedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 1_024 } } }, 'keep'],
    [{ anthropic: { thinking: { type: 'adaptive' } } }, 'strip-after-first-edit'],
    [{ anthropic: { thinking: { type: 'adaptive', blockBinding: DROPS } } }, 'keep'],
    [undefined, 'strip-after-first-edit'],
  ])('with the provider options %j decides for %s', (options, reasoning) => {
    const model = { provider: 'anthropic.messages', modelId: 'claude-opus-5' };
    expect(describeModel(model, options)).toEqual({ modelName: model.modelId, reasoning });
  });

  it.each([
    [{ type: 'adaptive' }, 'strip-after-first-edit'],
    [{ type: 'enabled', budget_tokens: 1_024 }, 'keep'],
    [undefined, undefined],
  ])(
    'recognizes Claude behind a Bedrock inference profile by its thinking option %j',
    (thinking, reasoning) => {
      const modelId = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/a1';
      const options = { bedrock: { additionalModelRequestFields: { thinking } } };
      const described = describeModel({ provider: 'amazon-bedrock', modelId }, options);
      expect(described).toEqual({ modelName: modelId, reasoning });
      expect(describeModel({ provider: 'openai.responses', modelId: 'gpt-6' }, options)).toEqual({
        modelName: 'gpt-6',
        reasoning: undefined,
      });
    },
  );

  it('keeps the reasoning of models whose thinking only has a budget', () => {
    const model = { provider: 'amazon-bedrock', modelId: 'us.anthropic.claude-sonnet-4-5' };
    expect(describeModel(model).reasoning).toBe('keep');
  });

  it.each([
    [{ provider: 'openai.responses', modelId: 'gpt-6' }, 'gpt-6'],
    [{ provider: 'amazon-bedrock', modelId: 'amazon.nova' }, 'amazon.nova'],
    ['openai/gpt-6', 'openai/gpt-6'],
  ])('leaves the reasoning of %j to the session', (model, modelName) => {
    expect(describeModel(model)).toEqual({ modelName, reasoning: undefined });
  });
});
