// Runs the examples that need no SDK from the command line; test/examples has the others.

import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** `openai-agents.js` is covered by the tests of `openai.js`. */
const hasTests = (name: string): boolean =>
  existsSync(`test/examples/${name.replace(/(-[a-z]+)?\.js$/, '')}.test.ts`) ||
  existsSync(`test/examples/${name.replace(/\.js$/, '')}.test.ts`);

describe('examples', () => {
  it('have tests of their own, but for the turn loop', () => {
    const names = readdirSync('examples').filter((name) => name.endsWith('.js'));
    expect(names.filter((name) => !hasTests(name))).toEqual(['turn-loop.js']);
  });

  it('the turn loop removes the stale read before the third model call', async () => {
    const { stdout, stderr } = await run(process.execPath, ['examples/turn-loop.js'], {
      timeout: 120_000,
    });
    expect(stderr).toBe('');
    const windows = stdout.split('\n').filter((line) => line.startsWith('before the model call'));
    expect(windows.map((line) => /stale reads removed: (\d)/.exec(line)?.[1])).toEqual([
      '0',
      '0',
      '1',
      '0',
    ]);
    expect(stdout).toContain('model: The greeting is short now.');
  });
});
