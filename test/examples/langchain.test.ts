// The example of the adapter for LangChain, run like its readers run it.

import { describe, expect, it } from 'vitest';

import { PLAYS_ALL } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';
import { HISTORY_MESSAGES, numbersBehind, runExample } from './run-example.js';

const EXAMPLE = 'examples/langchain.js';

describe(EXAMPLE, () => {
  it('completes two tasks after a long history, sends less of it, and keeps all of it', async () => {
    const output = await runExample(EXAMPLE);
    const [history = 0] = numbersBehind('history', output);
    const before = numbersBehind('tokens before', output);
    const after = numbersBehind('tokens after', output);
    expect(history).toBeGreaterThan(HISTORY_MESSAGES);
    expect(numbersBehind('messages in the state', output)).toEqual([history + 6, history + 10]);
    expect(after).toHaveLength(2);
    for (const [at, tokens] of after.entries()) expect(tokens).toBeLessThan(before[at]! * 0.9);
    expect(output.match(/^tool: .*/gm)).toEqual([
      'tool: read_file',
      'tool: replace',
      'tool: read_file',
    ]);
    expect(output).toContain('model: It does: the comparison includes ten.');
  });

  it.runIf(PLAYS_ALL)(
    'calls the given provider, which refuses nothing',
    async () => {
      const provider = await startStrictProvider([
        { toolCalls: [{ name: 'read_file', input: { file_path: 'nowhere.js' } }] },
        { text: 'There is no such file.' },
        { text: 'It is not there.' },
      ]);
      const output = await runExample(EXAMPLE, { PROVIDER_URL: provider.url });
      expect(output).toContain('model: It is not there.');
      expect(provider.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    },
    70_000,
  );
});
