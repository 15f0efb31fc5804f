// The example for the AI SDK, run from the command line: alone, and with a provider that refuses what real ones
// refuse.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ScriptedStep } from '../../examples/support/scripted-provider.js';
import { PLAYS_ALL } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';
import { HISTORY_MESSAGES, runExample } from './run-example.js';

const EXAMPLE = 'examples/ai-sdk.js';

/** The tokens of the first and the last step with edits. */
function tokensOf(output: string): { readonly before: number; readonly after: number } {
  const steps = [...output.matchAll(/^\w+: (\d+) tokens before, (\d+) after$/gm)];
  return { before: Number(steps[0]?.[1]), after: Number(steps.at(-1)?.[2]) };
}

describe(EXAMPLE, () => {
  it.runIf(PLAYS_ALL)(
    'shows that compaction removes tokens before the first call, and that the tools work',
    async () => {
      const output = await runExample(EXAMPLE);
      const { before, after } = tokensOf(output);
      expect(Number(/^messages: (\d+)$/m.exec(output)?.[1])).toBeGreaterThan(HISTORY_MESSAGES);
      expect(after).toBeLessThan(before * 0.7);
      expect(output).toContain('replace src/price.js\n');
      expect(output).toMatch(/: The discount begins at ten pieces now\.\n$/);
    },
    70_000,
  );

  it('sends no request that a provider refuses', async () => {
    const read = { name: 'read_file', input: { file_path: 'src/price.js' } };
    const write = { name: 'write_file', input: { file_path: 'src/price.js', content: 'new' } };
    const calls = [read, write, read, { ...read, input: { file_path: 'no-such-file' } }];
    const script: ScriptedStep[] = [
      ...calls.map((call) => ({ toolCalls: [call] })),
      { text: 'Hm.' },
    ];
    const { url, requests } = await startStrictProvider(script);
    const output = await runExample(EXAMPLE, { PROVIDER_URL: url });
    expect(requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(output).toMatch(/^\d+ input tokens: Hm\.$/m);
    const { before, after } = tokensOf(output);
    expect(after).toBeLessThan(before * 0.7);
  });

  it('contains the five lines that the README shows', () => {
    const region = /\/\/ #region five lines\n(.*?)\/\/ #endregion/s.exec(
      readFileSync(EXAMPLE, 'utf8'),
    );
    expect(region?.[1]?.split('\n').filter((line) => line !== '')).toHaveLength(5);
  });
});
