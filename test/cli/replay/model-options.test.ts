// The options required for a model, and secrecy of the key.

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readSummarizer } from '../../../src/cli/replay/model-options.js';
import type { ModelArguments } from '../../../src/cli/replay/model-options.js';

const GIVEN: ModelArguments = {
  strategy: 'one-shot',
  contextLimit: 20_000,
  baseUrl: 'http://localhost:1234/v1',
  model: 'a-model',
};

function choose(
  given: Partial<ModelArguments>,
  environment: Readonly<Record<string, string>> = {},
): ReturnType<typeof readSummarizer> {
  return readSummarizer({ ...GIVEN, ...given }, environment);
}

describe('readSummarizer', () => {
  test('uses the window of the session unless another one is given', () => {
    const settings = { baseUrl: GIVEN.baseUrl, model: 'a-model', fallbackToTruncation: false };
    expect(choose({})?.settings).toEqual({ ...settings, contextLimit: 20_000 });
    expect(choose({ summarizerContextLimit: 9_000 })).toMatchObject({
      summarizer: { contextLimit: 9_000 },
      settings: { contextLimit: 9_000 },
    });
  });

  test('sends the key from the named variable', async () => {
    const answer = { choices: [{ message: { content: 'short' }, finish_reason: 'stop' }] };
    const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json(answer));
    onTestFinished(() => fetched.mockRestore());
    const { signal } = new AbortController();
    const request = { system: 's', prompt: 'p', maxOutputTokens: 9, signal };
    await choose({ apiKeyEnv: 'KEY' }, { KEY: ' secret\n' })?.summarizer.generate(request);
    expect(fetched.mock.calls[0]?.[1]?.headers).toMatchObject({ authorization: 'Bearer secret' });
  });

  test.each(['middle-out', 'one-shot'] as const)('names the options that %s lacks', (strategy) => {
    const { contextLimit } = GIVEN;
    const read = (more: Partial<ModelArguments>) => () =>
      readSummarizer({ strategy, contextLimit, ...more }, {});
    expect(read({})).toThrow(/add --base-url <url> and --model <name>\.$/);
    expect(read({ model: 'm' })).toThrow(/: add --base-url <url>\.$/);
    expect(read({ baseUrl: 'http://h' })).toThrow(/: add --model <name>\.$/);
  });

  test.each(['high-density', 'top-down-truncation'] as const)(
    '%s needs and accepts none',
    (name) => {
      expect(() => choose({ strategy: name })).toThrow(/drop --base-url, --model/);
      const { contextLimit } = GIVEN;
      expect(readSummarizer({ strategy: name, contextLimit }, {})).toBeUndefined();
    },
  );

  test.each([
    'nowhere',
    'ftp://h/v1',
    'http://me:secret@h/v1',
    'http://h/v1?k=secret',
    'http://h#a',
  ])('refuses the URL %s without repeating it', (baseUrl) => {
    expect(() => choose({ baseUrl })).toThrow(/^--base-url: expected an http or https URL/);
    expect(() => choose({ baseUrl })).not.toThrow(/secret/);
  });

  test('refuses a missing, empty or invalid variable without showing its name or value', () => {
    for (const [name, value] of [
      ['sk-secret', undefined],
      ['KEY', ''],
      ['KEY', 'sec\nret'],
    ] as const) {
      const read = (): unknown =>
        choose({ apiKeyEnv: name }, value === undefined ? {} : { [name]: value });
      expect(read).toThrow(/^--api-key-env: /);
      expect(read).not.toThrow(/sk-|sec\s?ret/);
    }
  });
});
