// The ways to deploy an agent with ctxfold: how to build and run it, and where its work has to run. Each row gets a folder with
// the agent and ctxfold in node_modules. A bundle is run alone, from another folder.

const CONFIGS = {
  rollup: `import resolve from '@rollup/plugin-node-resolve'; import commonjs from '@rollup/plugin-commonjs'; import json from '@rollup/plugin-json';
export default { input: 'run-agent.mjs', output: { dir: 'out', entryFileNames: 'run-agent.mjs', format: 'esm' },
  plugins: [resolve({ preferBuiltins: true }), commonjs(), json()] };`,
  webpack: `module.exports = { mode: 'production', target: 'node', entry: './run-agent.mjs',
  output: { path: __dirname + '/out', filename: 'run-agent.cjs' } };`,
  viteAll: `export default { ssr: { noExternal: true } };`,
};

const NEXT_PAGE = `import { playAgent } from '../../agent.mjs';
export const dynamic = 'force-dynamic';
export async function GET() { return new Response('played ' + JSON.stringify(await playAgent())); }`;

const NEXT_CONFIG = `const here = import.meta.dirname;
export default { output: 'standalone', outputFileTracingRoot: here, turbopack: { root: here } };`;

const NEXT_FILES = {
  'next.config.mjs': NEXT_CONFIG,
  'app/agent/route.js': NEXT_PAGE,
  'app/layout.js': `export default ({ children }) => <html><body>{children}</body></html>;`,
};
const NEXT = ['next@16', 'react@19', 'react-dom@19'];

function nextRow(name, bundler) {
  return {
    name,
    tools: NEXT,
    runs: 'workers',
    files: NEXT_FILES,
    build: [['next', 'build', `--${bundler}`]],
    from: '.next/standalone',
    serve: ['node', 'server.js'],
  };
}

/** The agent as a Worker, and a program that runs its bundle in Cloudflare's runtime. */
const WORKER_FILES = {
  'wrangler.json': `{ "name": "agent", "main": "worker.mjs", "compatibility_date": "2026-03-01", "compatibility_flags": ["nodejs_compat"], "send_metrics": false }`,
  'worker.mjs': `import { playAgent } from './agent.mjs';
export default { fetch: async () => new Response('played ' + JSON.stringify(await playAgent())) };`,
  'in-workerd.mjs': `import { Miniflare } from 'miniflare';
import { readFileSync } from 'node:fs';
const contents = readFileSync('out/worker.js', 'utf8');
const worker = new Miniflare({
  modules: [{ type: 'ESModule', path: 'worker.js', contents }],
  compatibilityDate: '2026-03-01',
  compatibilityFlags: ['nodejs_compat'],
  cf: false,
});
console.log(await (await worker.dispatchFetch('http://localhost/')).text());
await worker.dispose();`,
};

/** The agent as a test, in the VM context of a test runner. */
const AS_TEST = {
  'agent.test.mjs': `import { playAgent } from './agent.mjs';
test('plays', async () => {
  const played = await playAgent();
  process.stdout.write('\\nplayed ' + JSON.stringify(played) + '\\n');
}, 60_000);`,
  'jest.config.mjs': `export default { transform: {}, testMatch: ['**/*.test.mjs'] };`,
};

const NODE_22 = Number(process.versions.node.split('.')[0]) >= 22;
const PERMISSION = [
  NODE_22 ? '--permission' : '--experimental-permission',
  '--no-warnings',
  '--allow-fs-read=*',
];

/** The command that bundles the agent into one file with that extension. */
function esbuild(format, option, ending) {
  const outfile = `--outfile=out/run-agent.${ending}`;
  return [
    'esbuild',
    'run-agent.mjs',
    '--bundle',
    '--platform=node',
    `--format=${format}`,
    option,
    outfile,
  ];
}

/**
 * `quick`: needs only this repository's tools, and is part of the tests. `tools`: packages to install. `build`: commands. `from`:
 * the folder to run, which is moved away from all others first.
 */
export const ROWS = [
  { name: 'node', quick: true, runs: 'workers', run: ['node', 'run-agent.mjs'] },
  {
    name: 'node --permission',
    quick: true,
    runs: 'inline',
    run: ['node', ...PERMISSION, 'run-agent.mjs'],
  },
  {
    name: 'node --permission --allow-worker',
    quick: true,
    runs: 'workers',
    run: ['node', ...PERMISSION, '--allow-worker', 'run-agent.mjs'],
  },
  {
    name: 'node --disallow-code-generation-from-strings',
    quick: true,
    runs: 'workers',
    run: ['node', '--disallow-code-generation-from-strings', 'run-agent.mjs'],
  },
  {
    name: 'esbuild, ESM',
    quick: true,
    tools: ['esbuild'],
    runs: 'workers',
    build: [esbuild('esm', '--log-level=error', 'mjs')],
    from: 'out',
    run: ['node', 'run-agent.mjs'],
  },
  {
    name: 'esbuild, CJS',
    quick: true,
    tools: ['esbuild'],
    runs: 'workers',
    build: [esbuild('cjs', '--log-level=error', 'cjs')],
    from: 'out',
    run: ['node', 'run-agent.cjs'],
  },
  {
    name: 'esbuild, --packages=external',
    quick: true,
    tools: ['esbuild'],
    runs: 'workers',
    build: [esbuild('esm', '--packages=external', 'mjs')],
    run: ['node', 'out/run-agent.mjs'],
  },
  {
    name: 'rolldown',
    quick: true,
    tools: ['rolldown'],
    runs: 'workers',
    build: [
      [
        'rolldown',
        'run-agent.mjs',
        '--platform',
        'node',
        '--dir',
        'out',
        '--entry-file-names',
        '[name].mjs',
        '--log-level',
        'silent',
      ],
    ],
    from: 'out',
    run: ['node', 'run-agent.mjs'],
  },
  {
    name: 'rollup',
    tools: [
      'rollup',
      '@rollup/plugin-node-resolve',
      '@rollup/plugin-commonjs',
      '@rollup/plugin-json',
    ],
    runs: 'workers',
    files: { 'rollup.config.mjs': CONFIGS.rollup },
    build: [['rollup', '-c', '--silent']],
    from: 'out',
    run: ['node', 'run-agent.mjs'],
  },
  {
    name: 'Vite SSR',
    quick: true,
    tools: ['vite'],
    runs: 'workers',
    build: [['vite', 'build', '--ssr', 'run-agent.mjs', '--outDir', 'out', '--logLevel', 'error']],
    run: ['node', 'out/run-agent.js'],
    files: { 'package.json': '{ "type": "module" }' },
  },
  {
    name: 'Vite SSR, noExternal',
    quick: true,
    tools: ['vite'],
    runs: 'workers',
    files: { 'vite.config.mjs': CONFIGS.viteAll, 'package.json': '{ "type": "module" }' },
    build: [['vite', 'build', '--ssr', 'run-agent.mjs', '--outDir', 'out', '--logLevel', 'error']],
    from: 'out',
    run: ['node', 'run-agent.js'],
    alone: { 'package.json': '{ "type": "module" }' },
  },
  {
    name: 'webpack 5',
    tools: ['webpack@5', 'webpack-cli'],
    runs: 'workers',
    files: { 'webpack.config.cjs': CONFIGS.webpack },
    build: [['webpack', '--config', 'webpack.config.cjs']],
    from: 'out',
    run: ['node', 'run-agent.cjs'],
  },
  {
    name: 'ncc',
    tools: ['@vercel/ncc'],
    runs: 'workers',
    build: [['ncc', 'build', 'run-agent.mjs', '-o', 'out', '-q']],
    from: 'out',
    run: ['node', 'index.mjs'],
  },
  {
    name: 'vitest, --pool=vmThreads',
    quick: true,
    runs: 'workers',
    files: AS_TEST,
    run: ['vitest', 'run', '--globals', '--pool=vmThreads', '--disable-console-intercept'],
  },
  {
    name: 'Jest',
    tools: ['jest@30'],
    runs: 'workers',
    files: AS_TEST,
    run: ['node', '--experimental-vm-modules', 'node_modules/jest/bin/jest.js'],
  },
  nextRow('Next 16, Turbopack, standalone', 'turbopack'),
  nextRow('Next 16, webpack, standalone', 'webpack'),
  {
    name: 'Yarn PnP',
    isYarn: true,
    tools: ['@yarnpkg/cli-dist@4'],
    runs: 'workers',
    run: ['yarn', 'node', 'run-agent.mjs'],
  },
  {
    name: 'Cloudflare Workers, nodejs_compat',
    tools: ['wrangler@4'],
    runs: 'inline',
    files: WORKER_FILES,
    build: [['wrangler', 'deploy', '--dry-run', '--outdir', 'out']],
    run: ['node', 'in-workerd.mjs'],
  },
  { name: 'Bun', tools: ['bun'], runs: 'workers', run: ['bun', 'run-agent.mjs'] },
  { name: 'Deno', tools: ['deno'], runs: 'workers', run: ['deno', 'run', '-A', 'run-agent.mjs'] },
];

/** Versions of TypeScript that must compile the declarations. */
export const TYPESCRIPTS = ['5.4', '5.9', '6.0', '7.0'];
