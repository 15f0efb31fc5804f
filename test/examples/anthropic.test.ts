// The example of the Anthropic adapter, run like its readers run it.

import { describe, expect, it } from 'vitest';

import { PLAYS_ALL } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';
import { HISTORY_MESSAGES, numbersBehind, runExample } from './run-example.js';

const EXAMPLE = 'examples/anthropic.js';

describe(EXAMPLE, () => {
  it.runIf(PLAYS_ALL)('completes its task after a long history, and sends less of it', async () => {
    const output = await runExample(EXAMPLE);

    const [before = 0] = numbersBehind('tokens before', output);
    expect(numbersBehind('history', output)[0]).toBeGreaterThan(HISTORY_MESSAGES);
    expect(numbersBehind('tokens after', output)[0]).toBeLessThan(before);
    expect(output.match(/^tool: .*/gm)).toEqual([
      'tool: search',
      'tool: read_file',
      'tool: replace',
      'tool: read_file',
    ]);
    expect(output).toContain('model: The discount begins at ten pieces now.');
    expect(output).toContain('5 requests: ');
  });

  it('calls the given provider, which refuses nothing', async () => {
    const provider = await startStrictProvider([
      { toolCalls: [{ name: 'read_file', input: { file_path: 'nowhere.js' } }] },
      { text: 'There is no such file.' },
    ]);

    const output = await runExample(EXAMPLE, { PROVIDER_URL: provider.url });

    expect(output).toContain('model: There is no such file.');
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});
