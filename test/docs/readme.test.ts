// Checks the README and the guide: every sample compiles and runs unchanged.

import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import { sample as share } from '../support/scale.js';

const REPOSITORY = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, REPOSITORY), 'utf8');

/** The samples of a page under a heading. */
function samplesOf(page: string, heading: string): string[] {
  const section = page.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`)) ?? '';
  return [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code ?? '');
}

/** Runs a sample in the repository, where `ctxfold` is this package; returns its output. */
async function run(
  sample: string,
  env: Record<string, string> = {},
  imports: readonly string[] = [],
): Promise<string> {
  const args = [
    ...imports.flatMap((file) => ['--import', file]),
    '--input-type=module',
    '--eval',
    sample,
  ];
  const options = { cwd: REPOSITORY, env: { ...process.env, ...env }, timeout: 120_000 };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout;
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'ctxfold-readme-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

it('the picture of tokens per turn is what the script draws', async () => {
  const drawn = path.join(temporaryDirectory(), 'drawn.svg');
  const script = [path.join('scripts', 'picture.js'), drawn];
  await promisify(execFile)(process.execPath, script, { cwd: REPOSITORY, timeout: 120_000 });
  expect(readFileSync(drawn, 'utf8')).toBe(read('docs/tokens-per-turn.svg'));
});

/** The compiler's errors for each of some modules within the repository. */
async function complaintsAbout(...modules: readonly string[]): Promise<readonly string[][]> {
  const folder = fileURLToPath(new URL('.tmp/', REPOSITORY));
  mkdirSync(folder, { recursive: true });
  const samples = mkdtempSync(path.join(folder, 'samples-'));
  onTestFinished(() => {
    rmSync(samples, { recursive: true });
  });
  const files = modules.map((_, at) => path.join(samples, `sample-${at}.ts`));
  for (const [at, code] of modules.entries()) writeFileSync(files[at] ?? '', code);
  // Samples are JavaScript: parameters have no types.
  const compilerOptions = { noImplicitAny: false, noEmit: true };
  const project = { extends: '../../tsconfig.json', compilerOptions, files, include: [] };
  writeFileSync(path.join(samples, 'tsconfig.json'), JSON.stringify(project));
  const compiler = fileURLToPath(new URL('node_modules/@typescript/native/bin/tsc', REPOSITORY));
  const output = await promisify(execFile)(process.execPath, [compiler, '-p', samples]).catch(
    (failure: unknown) => failure as { readonly stdout: string },
  );
  return files.map((file) =>
    output.stdout.split('\n').flatMap((line) => {
      const [, where = '', what = ''] = /^(\S+)\(\d+,\d+\): error TS\d+: (.*)$/.exec(line) ?? [];
      return where.endsWith(path.basename(file)) ? [what] : [];
    }),
  );
}

describe('README.md', () => {
  it('has a sample that compiles unchanged', async () => {
    const samples = samplesOf(read('README.md'), 'Five lines');
    expect(samples).toHaveLength(1);
    const [sample = ''] = samples;
    const [whole, broken] = await complaintsAbout(sample, `${sample}\nprepareStep(agent);`);
    expect(whole).toEqual([]);
    expect(broken).toEqual(["Cannot find name 'agent'."]);
  });

  it('has a sample that runs unchanged', async () => {
    const [sample = ''] = samplesOf(read('README.md'), 'Five lines');
    const readManifest = { name: 'read_file', input: { path: 'package.json' } };
    const provider = await startScriptedProvider({
      script: [{ toolCalls: [readManifest] }, { text: 'A context compactor.' }],
    });
    onTestFinished(() => provider.close());
    const printed = await run(sample, { BASE_URL: `${provider.url}/v1`, MODEL: 'scripted' });
    expect(printed).toBe('A context compactor.\n');
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toContain('Context compaction');
  });

  it('is packed with pages that exist: npm silently omits missing ones', () => {
    const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
    expect(files).toContain('docs/options.md');
    expect(files.filter((file) => !existsSync(new URL(file, REPOSITORY)))).toEqual([]);
  });

  it('has the figures of the page about fidelity', () => {
    const page = read('docs/fidelity.md');
    const [, bundled = ''] = page.split('<!-- five lines, bundled -->');
    const rowsOf = (text: string): readonly string[][] =>
      [...text.matchAll(/^\| `?(?:ctxfold\/|session API).*%.*\|$/gm)].map(([row]) =>
        row.split('|').map((cell) => cell.trim().replaceAll('`', '')),
      );
    const readme = rowsOf(read('README.md'));
    expect(readme).toHaveLength(4);
    const measured = rowsOf(bundled).map(([, name, saved, cost, , inView]) => [
      name,
      saved,
      cost,
      inView,
    ]);
    expect(readme.map((cells) => cells.slice(1, 5))).toEqual(measured);
    const [, sessions, cost, inView] =
      /(\d+) of them cost (\d+) %, with (\d+) % of the edited text/.exec(read('README.md')) ?? [];
    expect(page).toContain(`, ${sessions} traces.`);
    const figures =
      /^\| traces: default, batched .*$/m.exec(page)?.[0].split('|').map(Number) ?? [];
    expect([cost, inView].map(Number)).toEqual(
      [figures[3], figures[4]].map((each) => Math.round(each ?? NaN)),
    );
  });

  it('is short enough to be read in one go', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150);
  });

  it('names every entry of the package, and no others', () => {
    const { exports } = JSON.parse(read('package.json')) as { readonly exports: object };
    const entries = Object.keys(exports).filter((entry) => entry !== './package.json');
    const named = read('README.md').match(/(?<=['`])ctxfold(?:\/[a-z-]+)?(?=['`])/g) ?? [];
    expect([...new Set(named)].sort()).toEqual(
      entries.map((entry) => entry.replace('.', 'ctxfold')).sort(),
    );
  });
});

describe('docs/guide.md', () => {
  const GUIDE = read('docs/guide.md');

  it('shows how to recall results in code that runs, and is safe for any id', async () => {
    const [sample = ''] = samplesOf(GUIDE, 'Getting results back');
    const outer = temporaryDirectory();
    const end = 'console.log(text);\nawait compactor.close();';
    const env = { WORKSPACE: path.join(outer, 'a', 'b') };
    const printed = await run(`${sample}\n${end}`, env, ['./test/docs/recall-host.mjs']);
    expect(printed).toBe('what a.ts was\n');
    const files = readdirSync(outer, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.relative(outer, path.join(parentPath, name)));
    expect(files).toEqual([expect.stringMatching(/^a\/b\/removed\/sha256\.\w+\.removals\.jsonl$/)]);
  });

  it('names every metric and every channel, and no others', () => {
    const source = read('src/otel.ts');
    const created = source.matchAll(/create(?:Histogram|Counter)\(\s*'([^']+)'/g);
    const metrics = [...created].map(([, name]) => name);
    const channels = [...source.matchAll(/'(ctxfold:[a-z-]+)'/g)].map(([, name]) => name);
    const named = [...GUIDE.matchAll(/`(ctxfold[.:][a-z._-]+)`/g)].map(([, name]) => name);
    expect(metrics.length).toBeGreaterThan(3);
    expect(named.toSorted()).toEqual([...metrics, ...channels].toSorted());
  });

  const headings = ['The working set', 'With an SDK', 'Using a session directly', 'Monitoring'];

  it.each(share(headings, 1))('has samples that run: %s', async (heading) => {
    const samples = samplesOf(GUIDE, heading);
    expect(samples.length).toBeGreaterThan(0);
    for (const sample of samples) {
      const end = "console.log('done');";
      const host = ['./test/docs/sample-host.mjs'];
      expect(await run(`${sample}\n${end}`, {}, host), sample).toContain('done');
    }
  });
});
