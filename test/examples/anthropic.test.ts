// The example of the Anthropic adapter, as its readers run it.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

import { PLAYS_ALL } from '../support/scale.js';
import { startStrictProvider } from '../support/strict-provider.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/anthropic.js', import.meta.url));

async function run(environment: Record<string, string> = {}): Promise<string> {
  const { PROVIDER_URL: _, ...inherited } = process.env;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE], {
    env: { ...inherited, ...environment },
  });
  expect(stderr).toBe('');
  return stdout;
}

function numberBehind(label: string, output: string): number {
  return Number(new RegExp(`${label}: (\\d+)`).exec(output)?.[1]);
}

describe('examples/anthropic.js', () => {
  it.runIf(PLAYS_ALL)('does the job on a long history, and sends less of it', async () => {
    const output = await run();

    expect(numberBehind('history', output)).toBeGreaterThan(500);
    expect(numberBehind('tokens after', output)).toBeLessThan(
      numberBehind('tokens before', output),
    );
    expect(output.match(/^tool: .*/gm)).toEqual([
      'tool: search',
      'tool: read_file',
      'tool: replace',
      'tool: read_file',
    ]);
    expect(output).toContain('model: The discount begins at ten pieces now.');
    expect(output).toContain('5 requests: ');
  });

  it('talks to the provider that it is told, which refuses nothing', async () => {
    const provider = await startStrictProvider([
      { toolCalls: [{ name: 'read_file', input: { file_path: 'nowhere.js' } }] },
      { text: 'There is no such file.' },
    ]);

    const output = await run({ PROVIDER_URL: provider.url });

    expect(output).toContain('model: There is no such file.');
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200]);
  });
});
