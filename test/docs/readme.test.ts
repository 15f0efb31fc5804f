// Keeps the README true: what it shows of a drop-in is what an example runs.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';

const REPOSITORY = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, REPOSITORY), 'utf8');

describe('README.md', () => {
  it('shows the lines for the AI SDK that the example runs', () => {
    const [, region] =
      /^\/\/ #region five lines\n(.*?)^\/\/ #endregion$/ms.exec(read('examples/ai-sdk.js')) ?? [];
    const lines = region?.split('\n').filter((line) => line.trim() !== '') ?? [];
    expect(lines).toHaveLength(5);
    expect(read('README.md')).toContain(`\`\`\`js\n${region ?? ''}\`\`\``);
  });

  it('names every entry of the package, and no other', () => {
    const { exports } = JSON.parse(read('package.json')) as { readonly exports: object };
    const entries = Object.keys(exports).filter((path) => path !== './package.json');
    const named = new Set(read('README.md').match(/(?<=')ctxfold(?:\/[a-z-]+)?(?=')/g));
    const listed = new Set(read('README.md').match(/(?<=`)ctxfold\/[a-z-]+(?=`)/g));
    expect([...new Set([...named, ...listed])].sort()).toEqual(
      entries.map((path) => path.replace('.', 'ctxfold')).sort(),
    );
  });

  it('shows how to get results back in lines that run, and are safe with any id', async () => {
    const sample = /## Getting it back\n.*?```js\n(.*?)```/s.exec(read('README.md'))?.[1] ?? '';
    const outer = mkdtempSync(path.join(tmpdir(), 'ctxfold-readme-'));
    onTestFinished(() => {
      rmSync(outer, { recursive: true, force: true });
    });
    const end = 'console.log(text);\nawait compactor.close();';
    const host = ['--import', './test/docs/recall-host.mjs', '--input-type=module'];
    const args = [...host, '--eval', `${sample}\n${end}`];
    const env = { ...process.env, WORKSPACE: path.join(outer, 'a', 'b') };
    const options = { cwd: REPOSITORY, env, timeout: 30_000 };
    const { stdout } = await promisify(execFile)(process.execPath, args, options);
    expect(stdout).toBe('what a.ts was\n');
    const files = readdirSync(outer, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(outer, path.join(parentPath, name)));
    expect(files).toEqual([
      expect.stringMatching(/^a\/b\/transcripts\/sha256\.\w+\.removals\.jsonl$/),
    ]);
  }, 40_000);
});
