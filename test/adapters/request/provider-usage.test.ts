// The usage in answers of providers, and impossible usage.

import { describe, expect, it } from 'vitest';

import { reportedSum, reportedUsage } from '../../../src/adapters/request/call-arguments.js';
import { hasServerCalls, reportedBy } from '../../../src/adapters/request/provider-usage.js';
import { contentsCompactor } from '../../../src/google.js';
import type { CacheMissedEvent, OddUsage } from '../../../src/main/preflight/session-events.js';
import type { Session } from '../../../src/main/session.js';
import { inputCompactor } from '../../../src/openai.js';
import { openCompactor } from '../../support/open-compactor.js';

describe('reportedBy', () => {
  it.each([
    ['Responses', { usage: { input_tokens: 900, input_tokens_details: { cached_tokens: 600 } } }],
    ['Chat', { usage: { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 600 } } }],
    ['Kimi', { usage: { prompt_tokens: 900, cached_tokens: 600 } }],
    ['Google', { usageMetadata: { promptTokenCount: 900, cachedContentTokenCount: 600 } }],
  ])('reads an answer of %s', (_, answer) => {
    expect(reportedBy(answer)).toEqual({ reportedInputTokens: 900, reportedCacheReadTokens: 600 });
  });

  it("passes on OpenAI's reason for a cache miss", () => {
    const usage = { input_tokens: 900, input_tokens_details: { cached_tokens: 0 } };
    const said = { type: 'cache_miss', reason: 'tools_changed' };
    expect(reportedBy({ usage, prompt_cache_diagnostics: said })).toMatchObject({
      reportedCacheMissReason: 'tools_changed',
    });
  });

  it('ignores the usage of an answer for which the provider ran tools: it is a sum', () => {
    const usage = { input_tokens: 900, input_tokens_details: { cached_tokens: 600 } };
    const answer = (type: string, call_id?: string): object => ({
      usage,
      output: [{ type, call_id }],
    });
    expect(reportedBy(answer('web_search_call'))).toEqual({});
    expect(reportedBy(answer('function_call', 'c1'))).toHaveProperty('reportedInputTokens', 900);
  });

  it.each([undefined, 'usage', {}, { usage: {} }, { usage: { input_tokens: '9' } }])(
    'reads nothing of %j',
    (answer) => {
      expect(reportedBy(answer).reportedInputTokens).toBeUndefined();
    },
  );
});

describe('hasServerCalls', () => {
  it.each([
    [true, { type: 'server_tool_use' }],
    [true, { type: 'mcp_tool_use' }],
    [true, { type: 'web_search_call' }],
    [true, { type: 'tool-call', providerExecuted: true }],
    [false, { type: 'tool-call', providerExecuted: false }],
    [false, { type: 'tool_use' }],
    [false, { type: 'tool_call' }],
    [false, { type: 'function_call', call_id: 'c1' }],
    [false, { text: 'web_search_call' }],
    [false, null],
  ])('is %s of an answer with %j', (expected, part) => {
    expect(hasServerCalls([{ type: 'text', text: 'Well.' }, part])).toBe(expected);
  });
});

describe('reportedUsage', () => {
  it.each([
    [-1, 0, 0],
    [NaN, 0, 0],
    [100, 101, 0],
    [100, -1, 0],
    [100, 0, Infinity],
  ])(
    'reports no usage for %d tokens, %d read and %d written, and says so',
    (input, read, written) => {
      const { oddUsage, ...rest } = reportedUsage(input, read, written);
      expect(rest).toEqual({});
      expect(oddUsage).toEqual({ inputTokens: input, cacheReadTokens: read });
    },
  );

  it('adds up partial counts, and reports nothing without a count', () => {
    expect(reportedSum(1, 2, 3)).toMatchObject({ reportedInputTokens: 6 });
    expect(reportedSum(undefined, 2, 3)).toEqual({});
    expect(reportedSum(0, 0, 0)).toEqual({});
    expect(reportedSum(1, -2, 3)).toHaveProperty('oddUsage');
  });
});

describe('Session', () => {
  function watch(): {
    missed: CacheMissedEvent[];
    odd: OddUsage[];
    onSession: (session: Session) => void;
  } {
    const [missed, odd]: [CacheMissedEvent[], OddUsage[]] = [[], []];
    const onSession = (session: Session): void => {
      session.on('cacheMissed', (event) => missed.push(event));
      session.on('oddUsage', (event) => odd.push(event));
    };
    return { missed, odd, onSession };
  }

  it('gets the usage in answers of OpenAI and Google', async () => {
    const compactor = openCompactor();
    const { missed, odd, onSession } = watch();
    const ask = inputCompactor(compactor, { onSession, onError: 'throw' });
    const items: { role: 'user' | 'assistant'; content: string }[] = [];
    const answer = (input: number, cached: number): object => {
      return { usage: { input_tokens: input, input_tokens_details: { cached_tokens: cached } } };
    };
    const say = async (answered: object, isAnswered: boolean = true): Promise<void> => {
      if (isAnswered) items.push({ role: 'assistant', content: 'yes' });
      items.push({ role: 'user', content: 'more' });
      await ask([...items], { modelName: 'gpt-6.2-sol', ...reportedBy(answered) });
    };
    await say({}, false);
    await say(answer(10_000, 0));
    // This request failed: the usage belongs to the previous one.
    await say(answer(10_000, 0), false);
    await say(answer(11_000, 9_900));
    expect(missed).toEqual([]);
    await say(answer(12_000, 0));
    expect(missed).toEqual([{ expectedTokens: 11_000, readTokens: 0, cause: 'changed-request' }]);
    await say(answer(12_000, 13_000));
    expect(odd).toEqual([{ inputTokens: 12_000, cacheReadTokens: 13_000 }]);
    expect(missed).toHaveLength(1);
    const google = watch();
    const compact = contentsCompactor(compactor, { onSession: google.onSession });
    const metadata = { promptTokenCount: 5, cachedContentTokenCount: 9 };
    const contents = ['user', 'model'].map((role) => ({ role, parts: [{ text: 'begin' }] }));
    await compact(contents, reportedBy({ usageMetadata: metadata }));
    expect(google.odd).toHaveLength(1);
  });
});
