// What models accept, by name and by what providers report.

import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';

import {
  bindsReasoning,
  contextWindowOf,
  isFixableByCompacting,
  refusedLength,
  ModelLimits,
  UNKNOWN_CONTEXT_LIMIT,
  usualTokenRatio,
} from '../../../src/main/models/model-limits.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import { blockTexts } from '../../../src/shared/tokens/content-text.js';
import { referenceCount } from '../../support/reference-counter.js';

describe('contextWindowOf', () => {
  it.each([
    ['claude-opus-5-5', 1_000_000],
    ['claude-opus-4-5-20251101', 200_000],
    ['us.anthropic.claude-opus-4-6-v1:0', 1_000_000],
    ['anthropic/claude-sonnet-4.6', 1_000_000],
    ['claude-haiku-4-5@20251001', 200_000],
    ['openai/gpt-5.4-mini', 272_000],
    ['gpt-5.5', 922_000],
    ['gpt-5.2-codex', 272_000],
    ['gpt-4o-mini', 128_000],
    ['openai/gpt-5.2-chat', 128_000],
    ['gpt-5-chat-latest', 128_000],
    ['models/gemini-3.1-pro', 1_048_576],
    ['grok-4.6', 500_000],
    ['anthropic:claude-opus-4-6', 1_000_000],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
    ['databricks-claude-sonnet-4-6', 1_000_000],
    ['anthropic--claude-4.6-sonnet', 1_000_000],
    ['claude-sonnet-4-5-20250929[1m]', 1_000_000],
    ['azure_openai:gpt-5.5', 922_000],
    ['my-claude-proxy', undefined],
    ['my-own-model', undefined],
    ['gemini-2.5-computer-use-preview-10-2025', undefined],
    ['gemini-3-pro-image-preview', undefined],
    ['', undefined],
  ])('of %s is %s', (name, tokens) => {
    expect(contextWindowOf(name)).toBe(tokens);
  });
});

describe('bindsReasoning', () => {
  it.each([
    ['claude-opus-5-5', true],
    ['openrouter/anthropic/claude-opus-5.5', true],
    ['anthropic--claude-5.5-opus', true],
    ['our_claude-fable-5.1', true],
    ['openai:gpt-6.2-sol', true],
    ['claude-opus-5', false],
    ['gpt-6.20', false],
  ])('of %s is %s', (name, isBinding) => {
    expect(bindsReasoning(name)).toBe(isBinding);
  });
});

describe('usualTokenRatio', () => {
  it("is the growth of a session's recorded usage, within a tenth", async () => {
    const path = 'test/fixtures/transcripts/claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl';
    const { entries } = await readTranscript(path);
    // Each usage includes the first request.
    const added = entries.slice(entries.findIndex(({ speaker }) => speaker === 'ai'));
    const texts = added.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'thinking' ? [] : blockTexts(block))),
    );
    const counted = texts.reduce((sum, text) => sum + referenceCount(text), 0);
    const usage = [...readFileSync(path, 'utf8').matchAll(/"usage":(\{[^{}]*\{?)/g)].map(
      ([, fields = '']) =>
        ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens']
          .map((name) => Number(new RegExp(`"${name}":(\\d+)`).exec(fields)?.[1] ?? 0))
          .reduce((sum, tokens) => sum + tokens, 0),
    );
    const grown = Math.max(...usage) - Math.min(...usage);
    expect(Math.abs(grown / counted / usualTokenRatio('claude-opus-4-5') - 1)).toBeLessThan(0.1);
  });
});

describe('refusedLength', () => {
  it.each([
    ['prompt is too long: 208310 tokens > 200000 maximum', 200_000, 208_310],
    [
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens`',
      200_000,
      210_000,
    ],
    [
      'Invalid request: Your request exceeded model token limit: 262144 (requested: 270012)',
      262_144,
      270_012,
    ],
    ['Range of input length should be [1, 129024]', 129_024, undefined],
    [
      "This model's maximum context length is 128,000 tokens. However, you sent more.",
      128_000,
      undefined,
    ],
    [
      "This model's maximum context length is 65536 tokens. However, you requested 70001 tokens (66001 in the messages, 4000 in the completion). See https://docs.example/v1/2026112599",
      65_536,
      70_001,
    ],
    [
      'The input token count (1050000) exceeds the maximum number of tokens allowed (1048576).',
      1_048_576,
      1_050_000,
    ],
    [
      'Unable to submit request because the input token count is 1050000 but model only supports up to 1048576. Reduce the input token count and try again.',
      1_048_576,
      1_050_000,
    ],
    ["Input length (265330) exceeds model's maximum context length (262144).", 262_144, 265_330],
    [
      "The input (210000 tokens) is longer than the model's context length (202752 tokens).",
      202_752,
      210_000,
    ],
    [
      'Input length 140000 exceeds the maximum allowed input length of 131040 tokens.',
      131_040,
      140_000,
    ],
    [
      'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      32_768,
      65_673,
    ],
    [
      'the request exceeds the available context size (8192 tokens), try increasing it',
      8_192,
      undefined,
    ],
    ['Request body too large for gpt-4o model. Max size: 8000 tokens.', 8_000, undefined],
    ['prompt token count of 130123 exceeds the limit of 128000', 128_000, 130_123],
    [
      'The model is loaded with context length of only 4096 tokens, which is not enough',
      4_096,
      undefined,
    ],
  ])('reads %j as %s and %s', (said, limit, tokens) => {
    expect(refusedLength(new Error('failed', { cause: new Error(said) }))).toEqual({
      limit,
      tokens,
    });
    const answer = { message: '400', responseBody: JSON.stringify({ error: said }) };
    expect(refusedLength(answer)).toEqual({ limit, tokens });
  });

  it.each([
    ['Your input exceeds the context window of this model. Please adjust your input', true],
    ['Input is too long for requested model.', true],
    ['{"error":{"code":"context_length_exceeded","message":"no"}}', true],
    ['Number of input tokens exceeds maximum length. Please update the input to try again.', true],
    ['litellm.ContextWindowExceededError: Context Window exceeded for given call.', true],
    ['invalid params, context window exceeds limit (2013)', true],
    ['prompt too long; exceeded max context length by 4 tokens', true],
    ['tokens to keep from the initial prompt is greater than the context length', true],
    ['Too many tokens, please wait before trying again.', false],
    ['maximum context length is 3 tokens', false],
    ['overloaded', false],
  ])('recognizes without a number whether %j is a refusal for length: %s', (said, isOne) => {
    expect(refusedLength(said)).toEqual(isOne ? {} : undefined);
    expect(isFixableByCompacting(said)).toBe(isOne);
  });

  it('returns nothing for what cannot be read', () => {
    const hostile = Object.defineProperty({}, 'message', {
      get: () => {
        throw new Error('no');
      },
    });
    expect([undefined, null, 7, hostile].map((thrown) => refusedLength(thrown))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('ModelLimits', () => {
  it('warns once about an unknown model, and learns from a refusal', () => {
    const warnings: string[] = [];
    const limits = new ModelLimits(undefined, {
      ...SILENT_LOGGER,
      warn: (said) => warnings.push(said),
    });
    expect([limits.limitOf('mine'), limits.limitOf('mine')]).toEqual([
      UNKNOWN_CONTEXT_LIMIT,
      UNKNOWN_CONTEXT_LIMIT,
    ]);
    expect(warnings).toHaveLength(1);
    expect(limits.learn(new Error('maximum context length is 32768 tokens'), 'mine')).toBe(32_768);
    expect([limits.limitOf('mine'), limits.limitOf('claude-opus-5')]).toEqual([32_768, 1_000_000]);
    limits.learn('maximum context length is 8192 tokens', 'theirs');
    expect([limits.limitOf('mine'), limits.limitOf('theirs')]).toEqual([32_768, 8_192]);
  });

  it('does not ask the host for an answer that it is giving', () => {
    const warn = vi.fn();
    const inner: number[] = [];
    const limits: ModelLimits = new ModelLimits(
      () => {
        inner.push(limits.limitOf('claude-opus-5'), limits.limitOf('claude-opus-5'));
        return 9_000;
      },
      { ...SILENT_LOGGER, warn },
    );
    expect([limits.limitOf('claude-opus-5'), limits.limitOf('claude-opus-5')]).toEqual([
      9_000, 9_000,
    ]);
    expect(inner).toEqual([1_000_000, 1_000_000, 1_000_000, 1_000_000]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('warns once if no model is named, unless the user sets a limit', () => {
    const warnings: string[] = [];
    const logger = { ...SILENT_LOGGER, warn: (said: string) => warnings.push(said) };
    const limits = new ModelLimits(undefined, logger);
    expect([limits.limitOf(undefined), limits.limitOf(undefined)]).toEqual([
      UNKNOWN_CONTEXT_LIMIT,
      UNKNOWN_CONTEXT_LIMIT,
    ]);
    expect(warnings).toEqual([expect.stringMatching(/^no model is named/)]);
    expect(new ModelLimits(9_000, logger).limitOf(undefined)).toBe(9_000);
    expect(warnings).toHaveLength(1);
  });

  it.each([
    ['a number', 9_000],
    ['a function', () => 9_000],
  ])('uses the limit of the user, up to what the provider accepts: %s', (_, said) => {
    const limits = new ModelLimits(said, SILENT_LOGGER);
    expect(limits.limitOf('claude-opus-5')).toBe(9_000);
    limits.learn('maximum context length is 32768 tokens', 'claude-opus-5');
    expect(limits.limitOf('claude-opus-5')).toBe(9_000);
    limits.learn('maximum context length is 8192 tokens', 'claude-opus-5');
    expect([limits.limitOf('claude-opus-5'), limits.limitOf('gpt-5.5')]).toEqual([8_192, 9_000]);
  });

  it('asks the host for each model, and ignores invalid answers', () => {
    const answers: Record<string, number> = { mine: 64_000, odd: 0.5, 'claude-opus-5': 300_000 };
    const limits = new ModelLimits((name) => answers[name], SILENT_LOGGER);
    expect(['mine', 'odd', 'claude-opus-5', 'gpt-4.1'].map((name) => limits.limitOf(name))).toEqual(
      [64_000, UNKNOWN_CONTEXT_LIMIT, 300_000, 1_047_576],
    );
  });

  it.each([
    ['throws', (): unknown => JSON.parse('{')],
    ['rejects, which would end the process', () => Promise.reject(new Error('offline'))],
    ['answers later', () => Promise.resolve(9_000)],
    ['answers with a text', () => '9000'],
  ])('uses its table when the host %s, and reports to the logger once', async (_, ask) => {
    const warnings: unknown[] = [];
    const warn = (_said: string, details?: object): number => warnings.push(details);
    const limits = new ModelLimits(ask as () => number, { ...SILENT_LOGGER, warn });
    const names = ['claude-opus-5', 'claude-opus-5', 'claude-opus-4-6'];
    expect(names.map((name) => limits.limitOf(name))).toEqual([1_000_000, 1_000_000, 1_000_000]);
    expect(warnings).toMatchObject([{ error: { code: 'CALLBACK_FAILED' } }]);
    await new Promise((resolve) => setImmediate(resolve));
  });
});
