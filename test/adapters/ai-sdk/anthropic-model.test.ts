import { describe, expect, it } from 'vitest';
import { describeModel } from '../../../src/adapters/ai-sdk/anthropic-model.js';

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

  it.each([
    [{ provider: 'openai.responses', modelId: 'gpt-6' }, 'gpt-6'],
    [{ provider: 'amazon-bedrock', modelId: 'amazon.nova' }, 'amazon.nova'],
    ['openai/gpt-6', 'openai/gpt-6'],
  ])('leaves the reasoning of %j to the session', (model, modelName) => {
    expect(describeModel(model)).toEqual({ modelName, reasoning: undefined });
  });
});
