// Every example runs as it stands, from the command line.

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

describe('examples', () => {
  it.each(readdirSync('examples').filter((name) => name.endsWith('.js')))(
    '%s ends well',
    async (name) => {
      const { stderr } = await run(process.execPath, [`examples/${name}`], { timeout: 60_000 });
      expect(stderr).toBe('');
    },
    70_000,
  );

  it('the turn loop removes the stale read before the third model call', async () => {
    const { stdout } = await run(process.execPath, ['examples/turn-loop.js'], { timeout: 60_000 });
    const windows = stdout.split('\n').filter((line) => line.startsWith('before the model call'));
    expect(windows.map((line) => /(\d) stale reads removed/.exec(line)?.[1])).toEqual([
      '0',
      '0',
      '1',
      '0',
    ]);
    expect(stdout).toContain('model: The greeting is short now.');
  }, 70_000);
});
