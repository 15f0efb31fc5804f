import { MODEL_MESSAGE_FORMAT } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import { baseMessageFormat } from '../../../src/adapters/langchain/base-message-format.js';
import { chatMessageFormat } from '../../../src/adapters/openai/chat-message-format.js';
import { describe, expect, it } from 'vitest';
import { reasoningOfModel } from '../../../src/adapters/request/claude-reasoning.js';

describe('reasoningOfModel', () => {
  it.each([
    'claude-3-7-sonnet-latest',
    'claude-sonnet-4-20250514',
    'claude-opus-4-0',
    'claude-opus-4-1@20250805',
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'anthropic/claude-haiku-4.5',
    'claude-opus-4-6',
    'claude-sonnet-4-6-20260218',
  ])('keeps the reasoning of %s, with which a turn has to start', (model) => {
    expect(reasoningOfModel(model)).toBe('keep');
    expect(reasoningOfModel(model, { type: 'disabled' })).toBe('keep');
  });

  it('strips the reasoning of a model that binds it, although the AI SDK is given a budget', () => {
    const thinking = { type: 'enabled', budgetTokens: 1_024 };
    expect(reasoningOfModel('claude-opus-5-5', thinking)).toBe('strip-after-first-edit');
    const blockBinding = { prefixMismatchBehavior: 'drop_block' };
    expect(reasoningOfModel('claude-opus-5-5', { ...thinking, blockBinding })).toBe('keep');
  });

  it.each([undefined, 'claude-opus-4-8', 'opus'])(
    'strips the reasoning of %s unless the request has a budget',
    (model) => {
      expect(reasoningOfModel(model)).toBe('strip-after-first-edit');
      expect(reasoningOfModel(model, { type: 'adaptive' })).toBe('strip-after-first-edit');
      expect(reasoningOfModel(model, { type: 'enabled', budget_tokens: 1_024 })).toBe('keep');
    },
  );
});

describe('a format whose calls do not state the thinking option', () => {
  it.each([
    ['Chat Completions', chatMessageFormat],
    ['the AI SDK', MODEL_MESSAGE_FORMAT],
    ['LangChain', baseMessageFormat],
  ] as const)('%s strips it for models that are known to bind it', (_, { reasoningOf }) => {
    const named = (name?: string): unknown => reasoningOf?.(name);
    expect(named('databricks-claude-opus-5-5')).toBe('strip-after-first-edit');
    expect([named('claude-sonnet-4-6'), named('gpt-6.2-sol'), named()].filter(Boolean)).toEqual([]);
  });
});
