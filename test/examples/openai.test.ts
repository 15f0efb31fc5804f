// The examples of the adapters for OpenAI, run like their readers run them.

import { describe, expect, it } from 'vitest';
import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import { PLAYS_ALL, sample } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';
import { HISTORY_MESSAGES, runExample } from './run-example.js';

function tokensOf(output: string): { readonly before: number; readonly after: number } {
  const tokens = /^\d+ requests: (\d+) tokens before, (\d+) after$/m.exec(output);
  return { before: Number(tokens?.[1]), after: Number(tokens?.[2]) };
}

const EXAMPLES: readonly (readonly [string, ProviderApi])[] = [
  ['examples/openai.js', 'openai-chat'],
  ['examples/openai-responses.js', 'openai-responses'],
  ['examples/openai-agents.js', 'openai-responses'],
];

describe.each(sample(EXAMPLES, 1))('%s', (example, api) => {
  it.runIf(PLAYS_ALL)(
    'completes its task after a long history, and sends less of it',
    async () => {
      const output = await runExample(example);
      const { before, after } = tokensOf(output);
      expect(Number(/^(?:messages|items): (\d+)$/m.exec(output)?.[1])).toBeGreaterThan(
        HISTORY_MESSAGES,
      );
      expect(after).toBeLessThan(before * 0.8);
      expect(output.match(/^tool: .*/gm)).toEqual([
        'tool: read_file',
        'tool: replace',
        'tool: read_file',
      ]);
      expect(output).toContain('model: The discount begins at ten pieces now.');
    },
    70_000,
  );

  it('sends no request that a provider refuses', async () => {
    const read = { name: 'read_file', input: { file_path: 'src/price.js' } };
    const write = { name: 'write_file', input: { file_path: 'src/price.js', content: 'new' } };
    const missing = { name: 'read_file', input: { file_path: 'no-such-file' } };
    const { url, requests } = await startStrictProvider([
      { reasoning: 'First read it.', toolCalls: [read] },
      { reasoning: 'Then write it.', text: 'I write.', toolCalls: [write, missing] },
      { toolCalls: [read] },
      { text: 'Hm.' },
    ]);
    const output = await runExample(example, { PROVIDER_URL: url });
    expect(requests.map((request) => [request.api, request.status])).toEqual(
      Array(4).fill([api, 200]),
    );
    expect(output).toContain('model: Hm.');
    const { before, after } = tokensOf(output);
    expect(after).toBeLessThan(before * 0.8);
  });
});
