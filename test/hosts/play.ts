// Plays one session of a real client against a provider on the loopback interface that judges each request: two processes,
// the second of which goes on where the first has ended. Reaches nothing but that provider.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import { findBreaches } from '../support/find-breaches.js';
import { ChoreModel, PROMPTS, workspaceDigest, writeWorkspace } from './chore.js';
import type { Client, ClientCommand, ClientSetup } from './client.js';
import { startGateway } from './gateway.js';
import { isAgentRequest, measureRequests } from './requests.js';
import type { RequestFigures } from './requests.js';

/** How one session is played. */
export interface Play extends Pick<ClientSetup, 'installed' | 'node' | 'contextWindow'> {
  readonly api: ProviderApi;
  /** How ctxfold comes in, and its folder as a package @default the client plays without it */
  readonly ctxfold?: { readonly way: 'plugin' | 'gateway'; readonly folder: string } | undefined;
}

/** What one session came to. */
export interface Played extends RequestFigures {
  readonly calls: number;
  readonly rereads: number;
  /** The last word of the model, and what the workspace holds. */
  readonly answer: string;
  readonly digest: string;
  readonly seconds: number;
  /** What the provider refused, and what the client complained of. */
  readonly complaints: readonly string[];
}

/** Of both processes together. */
const TIME_LIMIT_MS = 170_000;

export async function playSession(client: Client, play: Play): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), `ctxfold-${client.name}-`));
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')];
  for (const part of [home, workspace]) mkdirSync(part);
  writeWorkspace(workspace);
  const model = new ChoreModel(client.tools, client.thinks);
  const complaints: string[] = [];
  const answers: string[] = [];
  const provider = await startScriptedProvider({
    script: (request) => {
      if (!isAgentRequest(request)) return { text: 'A chore' };
      const step = model.answer(request);
      if (step.toolCalls === undefined && step.text !== undefined) answers.push(step.text);
      return step;
    },
    check: (request) => {
      const [breach] = findBreaches(request);
      if (breach !== undefined) complaints.push(breach.message);
      return breach?.message;
    },
  });
  const { ctxfold, ...given } = play;
  const gateway =
    ctxfold?.way === 'gateway'
      ? await startGateway(ctxfold.folder, provider.url, play.contextWindow)
      : undefined;
  const plugin = ctxfold?.way === 'plugin' ? ctxfold.folder : undefined;
  const url = gateway?.url ?? provider.url;
  const setup: ClientSetup = { ...given, plugin, home, workspace, url };
  const start = performance.now();
  try {
    client.configure(setup);
    for (const [at, prompt] of PROMPTS.entries()) {
      const leftMs = TIME_LIMIT_MS - (performance.now() - start);
      const faults = await run(client.run(setup, prompt, at > 0), setup, leftMs);
      complaints.push(...faults);
      if (faults.length > 0) break;
    }
    return {
      ...measureRequests(provider.requests),
      calls: model.calls,
      rereads: model.rereads,
      answer: answers.at(-1) ?? '',
      digest: workspaceDigest(workspace),
      seconds: Math.round((performance.now() - start) / 100) / 10,
      complaints,
    };
  } finally {
    await gateway?.close();
    await provider.close();
    if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true });
    else process.stderr.write(`${folder}\n`);
  }
}

/** Resolves to what the client said when it ended otherwise than well. */
async function run(
  { command, args, env = {} }: ClientCommand,
  { home, workspace }: ClientSetup,
  timeout: number,
): Promise<readonly string[]> {
  const child = spawn(command, args, {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
    // Nothing of the caller's: neither keys nor proxies.
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_STATE_HOME: join(home, '.local/state'),
      XDG_CACHE_HOME: join(home, '.cache'),
      ...env,
    },
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(String(signal ?? code)));
  });
  const [said, complained, end] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  if (process.env['SHOW'] !== undefined) process.stderr.write(`${said}\n${complained}\n`);
  if (end === 'SIGKILL') return [`was not done in ${TIME_LIMIT_MS / 1_000} s`];
  return end === '0' ? [] : [`ended with ${end}: ${`${complained}${said}`.slice(-600)}`];
}
