// Keeps the README true: what it shows of a drop-in is what an example runs.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

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
});
