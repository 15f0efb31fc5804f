// Runs the rows of docs/deploying.md that need only this repository's tools, each checked against the unbundled package. `npm run
// check:deploy` runs the rest.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { sample } from '../support/scale.js';

const ON_THREADS = sample(
  [
    'node',
    'node --permission --allow-worker',
    'node --disallow-code-generation-from-strings',
    'esbuild, ESM',
    'esbuild, CJS',
    'esbuild, --packages=external',
    'rolldown',
    'Vite SSR',
    'Vite SSR, noExternal',
    'vitest, --pool=vmThreads',
  ],
  3,
);
const INLINE = [['node --permission', '--allow-worker']] as const;

let outcomes: ReadonlyMap<string, string>;

beforeAll(async () => {
  const only = [...ON_THREADS, ...INLINE.map(([name]) => name)].flatMap((name) => ['--only', name]);
  const child = spawn(process.execPath, ['scripts/check-deploy.js', '--quick', ...only]);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const lines = output.matchAll(/^ok +(.+?): (workers|inline.*)$/gm);
  outcomes = new Map(Array.from(lines, ([, name = '', outcome = '']) => [name, outcome]));
});

describe('an agent with the package', () => {
  test.each(ON_THREADS)('works on threads, without a warning: %s', (name) => {
    expect(outcomes.get(name)).toBe('workers');
  });

  test.each(INLINE)('works inline, and says once why and what helps: %s', (name, remedy) => {
    expect(outcomes.get(name)).toContain(remedy);
  });
});
