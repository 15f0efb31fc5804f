// What a session knows about the model named last: looked up once per name, and never out of date.

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { ModelLimits } from '../../../src/main/models/model-limits.js';
import { modelPrice } from '../../../src/main/models/model-prices.js';
import { ReasoningTerms, SessionModel } from '../../../src/main/models/session-model.js';

const named = (): { modelName: string | undefined } => ({ modelName: undefined });

describe('SessionModel', () => {
  it('looks up each name once', () => {
    const asked: (string | undefined)[] = [];
    const model = new SessionModel({
      limits: new ModelLimits(undefined, SILENT_LOGGER),
      priceOf: (name) => {
        asked.push(name);
        return name === undefined ? undefined : modelPrice(name);
      },
    });
    const history = named();
    const known = (): readonly unknown[] => [
      model.contextLimit(),
      model.bindsReasoning,
      model.cache.price?.name,
    ];
    expect(known()).toEqual([128_000, false, undefined]);
    model.follow(history);
    history.modelName = 'claude-opus-5-5';
    expect(known()).toEqual([1_000_000, true, 'claude-opus-5-5']);
    expect(known()).toEqual([1_000_000, true, 'claude-opus-5-5']);
    history.modelName = 'gpt-5.5';
    expect(known()).toEqual([922_000, false, 'gpt-5.5']);
    expect(asked).toEqual([undefined, 'claude-opus-5-5', 'gpt-5.5']);
  });

  it('has a limit as soon as a provider has reported it', () => {
    const limits = new ModelLimits(undefined, SILENT_LOGGER);
    const model = new SessionModel({ limits });
    model.follow({ modelName: 'mine' });
    expect(model.contextLimit()).toBe(128_000);
    limits.learn('maximum context length is 32768 tokens', 'mine');
    expect(model.contextLimit()).toBe(32_768);
    limits.learn('maximum context length is 16384 tokens', 'mine');
    expect(model.contextLimit()).toBe(16_384);
  });

  it("asks a host's function each time: its answer may depend on more than the name", () => {
    let tokens = 1_000;
    const model = new SessionModel({ limits: new ModelLimits(() => tokens, SILENT_LOGGER) });
    model.follow({ modelName: 'mine' });
    expect(model.contextLimit()).toBe(1_000);
    tokens = 2_000;
    expect(model.contextLimit()).toBe(2_000);
  });
});

describe('ReasoningTerms', () => {
  it('strip no reasoning of a model that may think with a budget, until its provider refuses some', () => {
    const terms = new ReasoningTerms('strip-after-first-edit');
    const isStripping = (modelName: string, isRefused = false): boolean => {
      terms.beginRequest(undefined, isRefused, modelName);
      return terms.isStripping;
    };
    expect(isStripping('claude-opus-5-5')).toBe(true);
    expect(isStripping('claude-sonnet-4-5')).toBe(false);
    expect(isStripping('claude-sonnet-4-5', true)).toBe(true);
    expect(isStripping('claude-opus-4-5')).toBe(false);
  });
});

describe('Session', () => {
  it('has the window of its current model', async () => {
    await using compactor = createCompactor({ offload: 'inline' });
    const session = await compactor.createSession();
    const limits = ['claude-opus-5-5', 'gpt-4.1', 'claude-opus-5-5'].map((name) => {
      session.history.nameModel(name);
      return session.contextLimit;
    });
    expect(limits).toEqual([1_000_000, 1_047_576, 1_000_000]);
    compactor.reportRefusal(
      'prompt is too long: 208310 tokens > 200000 maximum',
      'claude-opus-5-5',
    );
    expect(session.contextLimit).toBe(200_000);
  });
});
