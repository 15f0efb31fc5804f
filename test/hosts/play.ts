// Plays one session of a real client against a provider on the loopback interface that judges each request: two processes,
// the second of which goes on where the first has ended. Reaches nothing but that provider.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type { IncomingRequest } from '../../examples/support/scripted-provider.js';
import { bindsReasoning } from '../../src/main/models/model-limits.js';
import { asText } from '../../src/shared/json.js';
import type { Turn } from '../../src/shared/providers/provider-request.js';
import { findBreaches, readRequest } from '../support/find-breaches.js';
import { ChoreModel, choreOf, workspaceDigest, writeWorkspace } from './chore.js';
import type { Chore, HostTools, Thinking } from './chore.js';
import type { Client, ClientCommand, ClientPlay, ClientSetup } from './client.js';
import { startGateway } from './gateway.js';
import type { RecordedTexts } from './recorded-texts.js';
import { isAgentRequest, measureRequests, SUMMARY_MARK } from './requests.js';
import type { RequestFigures } from './requests.js';

/** What all sessions of a client have in common. */
export interface Stage extends Pick<ClientSetup, 'installed' | 'node'> {
  /** The folder of ctxfold as a package. */
  readonly package: string;
  /** What the chore's files, outputs and words are. */
  readonly recorded: RecordedTexts;
}

/** What one session came to. */
export interface Played extends RequestFigures {
  readonly calls: number;
  readonly rereads: number;
  /** How often the client has summarized its history. */
  readonly ownCompactions: number;
  /** The last word of the model, and what the workspace holds. */
  readonly answer: string;
  readonly digest: string;
  readonly seconds: number;
  /** What the provider refused, and what the client complained of. */
  readonly complaints: readonly string[];
}

/** Tokens that the model accepts. */
const WINDOW = 200_000;

/** Plays a session, in `limitMs` milliseconds at most. */
export async function playSession(
  client: Client,
  play: ClientPlay,
  stage: Stage,
  limitMs: number,
): Promise<Played> {
  const start = performance.now();
  const chore = choreOf(play.isLong === true, client.goesOn);
  const folder = mkdtempSync(join(tmpdir(), `ctxfold-${client.name}-`));
  const [home, workspace] = [join(folder, 'home'), join(folder, 'work')];
  for (const part of [home, workspace]) mkdirSync(part);
  writeWorkspace(workspace, chore, stage.recorded);
  const judge = new Judge(
    new ChoreModel(toolsIn(workspace, client), thinkingOf(client, play), chore, stage.recorded),
    chore,
    play,
  );
  const provider = await startScriptedProvider({
    script: (request) => judge.answer(request),
    check: (request) => judge.refusal(request),
    // Gemini's own API gives none, and Gemini CLI goes wrong with them when it takes a session up again.
    callIds: play.api !== 'gemini',
  });
  const gateway =
    play.way === 'gateway' ? await startGateway(stage.package, provider.url, WINDOW) : undefined;
  const setup: ClientSetup = {
    installed: stage.installed,
    node: stage.node,
    api: play.api,
    way: play.way,
    contextWindow: play.window ?? WINDOW,
    model: play.model,
    plugin: play.way === 'plugin' ? stage.package : undefined,
    url: gateway?.url ?? provider.url,
    home,
    workspace,
  };
  try {
    client.configure(setup);
    for (const [at, [, prompt]] of chore.prompts.entries()) {
      const leftMs = Math.max(1, Math.ceil(limitMs - (performance.now() - start)));
      const endsWell = (end: string): boolean =>
        end === '0' || (end === '1' && judge.hasRefused && client.failsAfterRefusal === true);
      const faults = await run(client.run(setup, prompt, at > 0), setup, leftMs, endsWell);
      judge.complaints.push(...faults);
      if (faults.length > 0) break;
    }
    return {
      ...measureRequests(provider.requests),
      ...judge.figures(),
      digest: workspaceDigest(workspace, chore),
      seconds: Math.round((performance.now() - start) / 100) / 10,
    };
  } finally {
    await gateway?.close();
    await provider.close();
    if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true });
    else process.stderr.write(`${folder}\n`);
  }
}

function toolsIn(workspace: string, { tools, takesWholePaths = false }: Client): HostTools {
  if (!takesWholePaths) return tools;
  return {
    ...tools,
    read: (file) => tools.read(join(workspace, file)),
    edit: (file, before, after) => tools.edit(join(workspace, file), before, after),
  };
}

/** A client that summarizes its history may begin what it keeps with any step of a turn. */
function thinkingOf({ thinks }: Client, { ownCompaction }: ClientPlay): Thinking {
  if (!thinks) return 'never';
  return ownCompaction === undefined ? 'at times' : 'always';
}

/** The provider's side of a session: its rules, its model, and what a client has its history summarized to. */
class Judge {
  readonly complaints: string[] = [];
  /** To a model that binds its reasoning to what was sent before. */
  readonly #sent: (readonly Turn[])[] = [];
  readonly #model: ChoreModel;
  /** Where the provider is to find a request too long, once; calls of tools are counted. */
  readonly #refusesAtCall: number;
  readonly #answers: string[] = [];
  readonly #summaries: string[] = [];
  readonly #summariesInUse = new Set<string>();
  hasRefused = false;

  constructor(model: ChoreModel, { areas }: Chore, { ownCompaction }: ClientPlay) {
    this.#model = model;
    this.#refusesAtCall =
      ownCompaction === 'after a refusal' ? areas * CALLS_OF_AREA_BEFORE_REFUSAL : Infinity;
  }

  refusal(request: IncomingRequest): string | undefined {
    // Side calls never pass through ctxfold, and clients cut their histories for them.
    if (!isAgentRequest(request)) return undefined;
    const isBound = bindsReasoning(asText(request.body['model']));
    const [breach] = findBreaches(request, isBound ? { sent: this.#sent } : {});
    if (breach !== undefined) {
      this.complaints.push(breach.message);
      return breach.message;
    }
    if (isBound) this.#sent.push(readRequest(request).turns);
    const isTooLong = this.#model.calls >= this.#refusesAtCall;
    if (!isTooLong || this.hasRefused) return undefined;
    this.hasRefused = true;
    return `prompt is too long: ${WINDOW + 4_321} tokens > ${WINDOW} maximum`;
  }

  answer(request: IncomingRequest): ReturnType<ChoreModel['answer']> {
    if (!isAgentRequest(request)) {
      const summary = `Digest ${this.#summaries.length} of what was done`;
      this.#summaries.push(summary);
      return { text: `<${SUMMARY_MARK}>${summary}: areas, one by one.</${SUMMARY_MARK}>` };
    }
    const body = JSON.stringify(request.body);
    for (const summary of this.#summaries) {
      if (body.includes(summary)) this.#summariesInUse.add(summary);
    }
    const step = this.#model.answer(request);
    if (step.toolCalls === undefined && step.text !== undefined) this.#answers.push(step.text);
    return step;
  }

  figures(): Pick<Played, 'calls' | 'rereads' | 'ownCompactions' | 'answer' | 'complaints'> {
    return {
      calls: this.#model.calls,
      rereads: this.#model.rereads,
      ownCompactions: this.#summariesInUse.size,
      answer: this.#answers.at(-1) ?? '',
      complaints: this.complaints,
    };
  }
}

/** After the restart, and late enough that there is something to summarize. */
const CALLS_OF_AREA_BEFORE_REFUSAL = 4.5;

/** Resolves to what the client said when it ended otherwise than well. */
async function run(
  { command, args, env = {} }: ClientCommand,
  { home, workspace }: ClientSetup,
  timeout: number,
  endsWell: (end: string) => boolean,
): Promise<readonly string[]> {
  const child = spawn(command, args, {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a group of its own: clients start further processes, which hold on to its output.
    detached: true,
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
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort();
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, timeout);
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(String(signal ?? code)));
  });
  const [said, complained, end] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    ended,
  ]);
  clearTimeout(timer);
  if (process.env['SHOW'] !== undefined) process.stderr.write(`${said}\n${complained}\n`);
  if (late.signal.aborted) return [`was not done ${Math.round(timeout / 1_000)} s after its start`];
  return endsWell(end) ? [] : [`ended with ${end}: ${`${complained}${said}`.slice(-600)}`];
}
