// Plays one session of a real client against a loopback provider that validates each request: two processes, the second of
// which resumes the first one's session. Connects to nothing but that provider.

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

/** Shared by all sessions of a client. */
export interface Stage extends Pick<ClientSetup, 'installed' | 'node'> {
  /** The folder of the ctxfold package. */
  readonly package: string;
  /** The source of the chore's files, outputs and texts. */
  readonly recorded: RecordedTexts;
}

/** The result of one session. */
export interface Played extends RequestFigures {
  readonly calls: number;
  readonly rereads: number;
  /** How often the client summarized its history. */
  readonly ownCompactions: number;
  /** The model's final answer, and the digest of the workspace. */
  readonly answer: string;
  readonly digest: string;
  readonly seconds: number;
  /** Messages of the provider's refusals and of client failures. */
  readonly complaints: readonly string[];
}

/** The model's window in tokens. */
const WINDOW = 200_000;

/** Plays a session within `limitMs` milliseconds. */
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
    // Gemini's own API has no ids, and with them Gemini CLI fails to resume a session.
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

/** After a client has summarized, its history may start with any step of a turn, so that every step needs thinking. */
function thinkingOf({ thinks }: Client, { ownCompaction }: ClientPlay): Thinking {
  if (!thinks) return 'never';
  return ownCompaction === undefined ? 'at times' : 'always';
}

/** The provider's side of a session: its rules, its model, and the summaries that it writes for the client. */
class Judge {
  readonly complaints: string[] = [];
  /** Requests so far, for models that bind reasoning to its prefix. */
  readonly #sent: (readonly Turn[])[] = [];
  readonly #model: ChoreModel;
  /** After this many tool calls, the provider once refuses a request as too long. */
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
    // Side calls bypass ctxfold, and clients truncate their histories for them.
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

/** After the restart, and late enough to have something to summarize. */
const CALLS_OF_AREA_BEFORE_REFUSAL = 4.5;

/** Resolves to the client's output if it ended with an error. */
async function run(
  { command, args, env = {} }: ClientCommand,
  { home, workspace }: ClientSetup,
  timeout: number,
  endsWell: (end: string) => boolean,
): Promise<readonly string[]> {
  const child = spawn(command, args, {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    // In its own process group, because clients start child processes that keep its output open.
    detached: true,
    // Without the caller's keys and proxies.
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
