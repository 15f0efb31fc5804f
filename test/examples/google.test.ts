// The example of the adapter for Google GenAI, run like its readers run it.

import { describe, expect, it } from 'vitest';

import { PLAYS_ALL } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';
import { HISTORY_MESSAGES, numbersBehind, runExample } from './run-example.js';

const EXAMPLE = 'examples/google.js';

describe(EXAMPLE, () => {
  it('completes its task after a long history, and sends less of it', async () => {
    const output = await runExample(EXAMPLE);
    const [before = 0] = numbersBehind('tokens before', output);
    const [after = 0] = numbersBehind('tokens after', output);
    expect(numbersBehind('history', output)[0]).toBeGreaterThan(HISTORY_MESSAGES);
    expect(after).toBeGreaterThan(0);
    expect(after).toBeLessThan(before * 0.9);
    expect(output.match(/^tool: .*/gm)).toEqual([
      'tool: read_file',
      'tool: read_file',
      'tool: replace',
      'tool: read_file',
    ]);
    expect(output).toContain('model: The discount begins at ten pieces now.');
  });

  it.runIf(PLAYS_ALL)(
    'calls the given provider, which refuses nothing',
    async () => {
      const read = (file_path: string): object => ({ name: 'read_file', input: { file_path } });
      const content = 'export {};';
      const provider = await startStrictProvider(
        [
          { toolCalls: [read('src/price.js'), read('nowhere.js')] as never },
          { toolCalls: [{ name: 'write_file', input: { file_path: 'src/price.js', content } }] },
          { text: 'It is empty now.' },
        ],
        { callIds: false },
      );
      const output = await runExample(EXAMPLE, { PROVIDER_URL: provider.url });
      expect(output).toContain('model: It is empty now.');
      expect(provider.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
    },
    70_000,
  );
});
