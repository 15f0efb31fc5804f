// Plays long sessions of real coding agents with and without ctxfold, against a provider on the loopback interface that validates
// each request. Needs a build. `--quick`: one session of one host; `--only <name>`: one host. Clients are installed from the
// registry into a temporary folder and run in a network namespace without a route out. Reports what could not be installed; exits
// with 1 when a session fails.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { TSC } from './tsc.js';

/** The packages of each host and the oldest Node that it supports, smallest install first. */
const HOSTS = [
  {
    name: 'pi',
    packages: ['@earendil-works/pi-coding-agent@1.6.0'],
    node: [22, 19],
    types: `import type { ExtensionFactory } from '@earendil-works/pi-coding-agent';
      import extension from 'ctxfold/pi';
      export const fits: ExtensionFactory = extension;`,
  },
  {
    name: 'opencode',
    packages: ['opencode-ai@1.18.33', '@opencode-ai/plugin@1.18.33'],
    node: [20, 19],
    types: `import type { PluginModule } from '@opencode-ai/plugin';
      import plugin from 'ctxfold/server';
      export const fits: PluginModule = plugin;`,
  },
  {
    name: 'openclaw',
    packages: ['openclaw@2026.9.6'],
    node: [24, 16],
    types: `import type { OpenClawPluginApi } from 'openclaw/plugin-sdk/core';
      import register from 'ctxfold/openclaw';
      export const fits: (api: OpenClawPluginApi) => void = register;`,
  },
  { name: 'python', pip: ['anthropic==1.13.0', 'openai==3.22.1', 'google-genai==2.25.0'] },
  { name: 'kilo', packages: ['@kilocode/cli@7.7.7'] },
  { name: 'gemini', packages: ['@google/gemini-cli@0.61.0'] },
  { name: 'codex', packages: ['@openai/codex@0.171.0'] },
  { name: 'claude', packages: ['@anthropic-ai/claude-code@2.1.332'] },
  { name: 'continue', packages: ['@continuedev/cli@1.5.47'] },
  { name: 'qwen', packages: ['@qwen-code/qwen-code@0.24.4'], node: [22, 0] },
  { name: 'copilot', packages: ['@github/copilot@1.0.102'] },
  { name: 'cline', packages: ['cline@3.0.65'] },
  { name: 'grok', packages: ['@vibe-kit/grok-cli@0.0.34'] },
  { name: 'nanocoder', packages: ['@nanocollective/nanocoder@1.30.0'], node: [22, 0] },
];

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const ROOT = resolve(import.meta.dirname, '..');
const INSTALLED = join(tmpdir(), `ctxfold-hosts-${process.getuid()}`);
const INSTALL_LIMIT_MS = values.quick ? 120_000 : 420_000;
/** For all sessions of one host. Sessions that have not started by then are skipped and reported. */
const PLAY_LIMIT_MS = 165_000;

function run(command, args, { cwd = ROOT, timeout = INSTALL_LIMIT_MS } = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    timeout,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    killSignal: 'SIGKILL',
  });
  return { isDone: status === 0, stdout, stderr: `${error?.message ?? ''}${stderr ?? ''}` };
}

/** Returns the folder with `node_modules` or a Python venv, or `undefined` if the install failed. */
function install(name, packages, pip) {
  const folder = join(INSTALLED, name);
  const done = join(folder, 'done');
  const wanted = (packages ?? pip).join('\n');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if (!(pip === undefined ? installByNpm(folder, packages) : installByPip(folder, pip))) {
    return undefined;
  }
  writeFileSync(done, wanted);
  return folder;
}

function installByNpm(folder, packages) {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'host', private: true }));
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  return run('npm', ['install', ...quietly, ...packages], { cwd: folder }).isDone;
}

function installByPip(folder, packages) {
  return (
    run('python3', ['-m', 'venv', folder]).isDone &&
    run(join(folder, 'bin/pip'), ['install', '--quiet', ...packages]).isDone
  );
}

/** Returns a Node that is new enough, or `undefined`. */
function nodeFor([major, minor]) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = install('node', [`${name}@24`]);
  return folder && join(folder, 'node_modules', name, 'bin/node');
}

/** Packs ctxfold and installs it into a folder of its own. */
function unpack() {
  const packed = run('npm', ['pack', '--json', '--pack-destination', scratch]);
  const [{ filename }] = JSON.parse(packed.stdout);
  run('tar', ['xzf', join(scratch, filename)], { cwd: scratch });
  const folder = join(scratch, 'node_modules/ctxfold');
  mkdirSync(join(scratch, 'node_modules'));
  renameSync(join(scratch, 'package'), folder);
  return folder;
}

function compile() {
  const { isDone, stdout } = run(process.execPath, [TSC, '-p', 'scripts/hosts.tsconfig.json']);
  if (!isDone) throw new Error(`The check does not compile.\n${stdout}`);
  cpSync(join(ROOT, 'examples/support'), join(ROOT, '.bench/examples/support'), {
    recursive: true,
  });
}

/** Type errors of a plugin against the host's own types; empty if it fits. */
function typeFaults({ name, types }, installed, folder) {
  if (types === undefined) return [];
  const project = mkdtempSync(join(scratch, 'types-'));
  mkdirSync(join(project, 'node_modules'));
  for (const scope of readdirSync(join(installed, 'node_modules'))) {
    if (scope.startsWith('.')) continue;
    symlinkSync(join(installed, 'node_modules', scope), join(project, 'node_modules', scope));
  }
  symlinkSync(folder, join(project, 'node_modules/ctxfold'));
  writeFileSync(join(project, `${name}.mts`), types);
  const typeRoots = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--skipLibCheck', ...typeRoots];
  const { isDone, stdout } = run(process.execPath, [TSC, ...options, `${name}.mts`], {
    cwd: project,
  });
  return isDone
    ? []
    : [{ host: name, faults: [`does not fit its types: ${stdout.slice(0, 600)}`] }];
}

/** Plays a host's sessions. Returns their outcomes, or why none was played. */
function play(host, folder) {
  const { node: oldest = [20, 0] } = host;
  const node = nodeFor(oldest);
  if (node === undefined) return `no Node ${oldest.join('.')} could be installed`;
  const installed = install(host.name, host.packages, host.pip);
  if (installed === undefined) return 'could not be installed';
  const script = join(ROOT, '.bench/test/hosts/run.js');
  const command = [process.execPath, script, '--client', host.name, '--installed', installed];
  const options = ['--node', node, '--package', folder, '--limit-ms', String(PLAY_LIMIT_MS)];
  if (values.quick) options.push('--quick');
  const inside = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  // Sessions stop by themselves in time. This kills those that hang.
  const timeout = PLAY_LIMIT_MS + 10_000;
  const { stdout, stderr, isDone } = run('unshare', [...inside, ...command, ...options], {
    timeout,
  });
  const sessions = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => ({ host: host.name, ...JSON.parse(line) }));
  if (!isDone) {
    sessions.push({ host: host.name, faults: [`exited with an error: ${stderr.slice(-600)}`] });
  }
  return [...sessions, ...typeFaults(host, installed, folder)];
}

/** The same session without ctxfold. */
function withoutCtxfold({ api, isLong, window, model }, sessions) {
  return sessions.find(
    (other) =>
      other.way === 'none' &&
      other.inputTokens !== undefined &&
      other.api === api &&
      other.isLong === isLong &&
      other.window === window &&
      other.model === model &&
      other.ownCompactions === 0,
  );
}

const WAYS = {
  none: 'without ctxfold',
  plugin: 'with the plugin',
  gateway: 'through the gateway',
};

function show(session, _at, sessions) {
  const { host, way, api, model, window, faults = [], isLeftOut = false } = session;
  const { requests, calls, refused, rewrites, inputTokens, pricedTokens } = session;
  const { ownCompactions, seconds } = session;
  const without = way === 'none' ? undefined : withoutCtxfold(session, sessions);
  const saved = without && Math.round((1 - inputTokens / without.inputTokens) * 100);
  const told = [
    `${host}${way === undefined ? '' : ` ${WAYS[way]}`}`,
    api,
    model,
    window && `window of ${window}`,
    requests && `${calls} calls in ${requests} requests`,
    requests && `${refused} refused`,
    requests && `${inputTokens} input tokens, ${pricedTokens} with a cache`,
    saved !== undefined && `${saved} % saved`,
    rewrites && `${rewrites} rewrites`,
    ownCompactions && `summarized ${ownCompactions} times by itself`,
    seconds && `${seconds} s`,
  ];
  const outcome = isLeftOut ? 'no time' : faults.length === 0 ? 'ok     ' : 'FAILED ';
  console.log(`${outcome} ${told.filter(Boolean).join(', ')}`);
  for (const fault of faults) console.log(`        ${fault}`);
}

const scratch = mkdtempSync(join(tmpdir(), 'ctxfold-hosts-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const chosen = HOSTS.filter(({ name }, at) =>
  values.only === '' ? !values.quick || at === 0 : name === values.only,
);
mkdirSync(INSTALLED, { recursive: true, mode: 0o700 });
// Do not run files that another user put there.
if (statSync(INSTALLED).uid !== process.getuid())
  throw new Error(`${INSTALLED} belongs to another user.`);
if (!run('unshare', ['-rn', 'sh', '-c', 'ip link set lo up']).isDone) {
  console.log('hosts skipped: cannot create a network namespace');
} else {
  compile();
  const folder = unpack();
  for (const host of chosen) {
    const sessions = play(host, folder);
    if (typeof sessions === 'string') {
      console.log(`skipped ${host.name}: ${sessions}`);
      continue;
    }
    sessions.forEach(show);
    if (sessions.some(({ faults = [] }) => faults.length > 0)) process.exitCode = 1;
  }
}
