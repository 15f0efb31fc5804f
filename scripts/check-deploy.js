// Builds and runs an agent in every way of docs/deploying.md, and compiles a consumer with several versions of TypeScript, each
// in a temporary folder. Needs a build. `--quick`: only rows that install nothing; `--only <text>`, repeatable: rows whose name
// contains it. Reports what could not be installed; exits with 1 when a row fails.

import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { ROWS, TYPESCRIPTS } from './deploy/rows.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
  },
});
const TIME_LIMIT_MS = values.quick ? 180_000 : 600_000;
const scratch = mkdtempSync(join(tmpdir(), 'ctxfold-deploy-'));

/** Runs a command in a folder. If it fails, the error contains its output. */
function run([command, ...args], cwd, env = {}) {
  const bins = [join(cwd, 'node_modules/.bin'), resolve('node_modules/.bin'), process.env.PATH];
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: TIME_LIMIT_MS,
    env: { ...process.env, NODE_ENV: 'production', ...env, PATH: bins.join(delimiter) },
  });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`);
}

function writeFiles(folder, files = {}) {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

const [tarball] = JSON.parse(run(['npm', 'pack', '--json', '--pack-destination', scratch], '.'));
const PACKED = join(scratch, tarball.filename);

/** A folder with the agent and an installed ctxfold. Dependencies come from the registry, with `--quick` from this repository. */
function makeProject(tools = []) {
  const folder = mkdtempSync(join(scratch, 'project-'));
  cpSync('scripts/deploy/agent.mjs', join(folder, 'agent.mjs'));
  cpSync('scripts/deploy/run-agent.mjs', join(folder, 'run-agent.mjs'));
  writeFiles(folder, { 'package.json': JSON.stringify({ name: 'agent', private: true }) });
  if (values.quick) {
    run(['tar', 'xzf', PACKED], folder);
    mkdirSync(join(folder, 'node_modules'));
    renameSync(join(folder, 'package'), join(folder, 'node_modules/ctxfold'));
  } else {
    run(['npm', 'install', '--no-audit', '--no-fund', PACKED, ...tools], folder, { NODE_ENV: '' });
  }
  return folder;
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** Starts a server, sends one request once it listens, and stops it. */
async function ask(command, cwd) {
  const port = await freePort();
  const env = { ...process.env, NODE_ENV: 'production', PORT: port, HOSTNAME: '127.0.0.1' };
  const [program, ...args] = command;
  const server = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = Promise.all([text(server.stdout), text(server.stderr)]);
  try {
    for (const deadline = Date.now() + 60_000; ;) {
      try {
        const response = await globalThis.fetch(`http://127.0.0.1:${port}/agent`);
        return await response.text();
      } catch (error) {
        if (Date.now() > deadline || server.exitCode !== null) throw error;
        await new Promise((again) => setTimeout(again, 200));
      }
    }
  } finally {
    server.kill();
    await printed;
  }
}

/** Installs and runs the agent with Yarn, in another folder than Yarn's own. */
function playByYarn(folder) {
  const apart = mkdtempSync(join(scratch, 'yarn-'));
  for (const file of ['agent.mjs', 'run-agent.mjs']) cpSync(join(folder, file), join(apart, file));
  writeFiles(apart, {
    'package.json': JSON.stringify({
      name: 'agent',
      private: true,
      dependencies: { ctxfold: `file:${PACKED}` },
    }),
    'yarn.lock': '',
    '.yarnrc.yml': `nodeLinker: pnp\nenableGlobalCache: false\nenableTelemetry: false\nnpmRegistryServer: '${run(['npm', 'config', 'get', 'registry'], folder).trim()}'\nunsafeHttpWhitelist: ['*']\n`,
  });
  const binary = join(folder, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
  const inApart = (args) =>
    run(['node', binary, ...args], apart, {
      NODE_ENV: '',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    });
  inApart(['install']);
  return inApart(['node', 'run-agent.mjs']);
}

async function play(row) {
  const folder = makeProject(row.tools);
  if (row.isYarn) return playByYarn(folder);
  writeFiles(folder, row.files);
  for (const command of row.build ?? []) run(command, folder);
  let place = folder;
  if (row.from !== undefined) {
    place = mkdtempSync(join(scratch, 'alone-'));
    cpSync(join(folder, row.from), place, { recursive: true, verbatimSymlinks: true });
    writeFiles(place, row.alone);
    // The agent must not reach anything but its build output.
    rmSync(folder, { recursive: true });
  }
  return row.serve === undefined ? run(row.run, place) : ask(row.serve, place);
}

/** The result of the first row, which is not bundled. */
let expected;

function judge(row, printed) {
  const line = /^played (.*)$/m.exec(printed)?.[1];
  if (line === undefined) throw new Error(`The agent printed:\n${printed}`);
  const { result, runs, warnings } = JSON.parse(line);
  expected ??= JSON.stringify(result);
  if (JSON.stringify(result) !== expected) {
    throw new Error(`Expected ${expected}, got ${JSON.stringify(result)}; ${warnings.join(' ')}`);
  }
  if (runs !== row.runs)
    throw new Error(`Expected ${row.runs}, got ${runs}; ${warnings.join(' ')}`);
  const expectedWarnings = runs === 'inline' ? 1 : 0;
  if (warnings.length === expectedWarnings) return [runs, ...warnings].join(' · ');
  throw new Error(`Expected ${expectedWarnings} warnings, got:\n${warnings.join('\n')}`);
}

const CONSUMER = `import { createCompactor } from 'ctxfold';
import { chatCompactor } from 'ctxfold/openai';
const compactor = createCompactor();
const session = await compactor.createSession();
session.on('fallback', (event) => { const code: string = event.error.message; void code; });
void chatCompactor(compactor);
await compactor.close();
`;

function compile(version) {
  const folder = makeProject([`typescript@${version}`, '@types/node@20', 'openai@6']);
  const options = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true };
  for (const [name, types] of [
    ['with', ['node']],
    ['without', undefined],
    ['empty', []],
  ]) {
    writeFiles(folder, {
      'package.json': JSON.stringify({ type: 'module' }),
      'consumer.ts': CONSUMER,
      [`${name}.json`]: JSON.stringify({
        compilerOptions: { ...options, skipLibCheck: true, ...(types && { types }) },
        files: ['consumer.ts'],
      }),
    });
    run(['node', 'node_modules/typescript/bin/tsc', '-p', `${name}.json`], folder);
  }
  return 'compiles';
}

const checks = ROWS.filter(({ quick }) => quick === true || !values.quick).map((row) => ({
  name: row.name,
  check: async () => judge(row, await play(row)),
}));
if (!values.quick) {
  for (const version of TYPESCRIPTS) {
    checks.push({ name: `TypeScript ${version}`, check: async () => compile(version) });
  }
}
try {
  for (const [at, { name, check }] of checks.entries()) {
    const { only } = values;
    if (at > 0 && only.length > 0 && !only.some((part) => name.includes(part))) continue;
    try {
      console.log(`ok    ${name}: ${await check()}`);
    } catch (error) {
      const isMissing = error.message.startsWith('npm install');
      console.log(
        `${isMissing ? 'not installed' : 'FAILS'} ${name}: ${error.message.slice(0, 3_000)}`,
      );
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
