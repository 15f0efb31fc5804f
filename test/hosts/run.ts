// The check of hosts, inside of a network namespace that leads nowhere: plays a session of a client with ctxfold and one without, at
// the same time, and prints a line of JSON. Refuses to run where there is a way out. Started by scripts/check-hosts.js.

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import { LEAST_CALLS } from './chore.js';
import type { Client } from './client.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { opencode } from './opencode.js';
import { pi } from './pi.js';
import { playSession } from './play.js';
import type { Play, Played } from './play.js';

const CLIENTS: readonly Client[] = [pi, opencode, codex, gemini];

/** What is to be true of a session with ctxfold, against the same one without. */
function faultsOf(played: Played, without: Played): readonly string[] {
  const saved = 1 - played.inputTokens / without.inputTokens;
  const faults: readonly (readonly [boolean, string])[] = [
    [without.calls < LEAST_CALLS, `only ${without.calls} calls without ctxfold`],
    [without.complaints.length > 0, `without ctxfold: ${without.complaints.join(' | ')}`],
    [played.complaints.length > 0, played.complaints.join(' | ')],
    [played.refused > 0, `${played.refused} requests refused`],
    [played.answer !== without.answer, `answered ${played.answer}, not ${without.answer}`],
    [played.digest !== without.digest, 'left other files'],
    [saved < LEAST_SAVED, `saved ${Math.round(saved * 100)} % of the input`],
    [played.unexplainedRewrites > 0, `${played.unexplainedRewrites} rewrites that no edit tells`],
  ];
  return faults.flatMap(([isSo, fault]) => (isSo ? [fault] : []));
}

/** Of the input of a session with more than 60 calls. */
const LEAST_SAVED = 0.4;

function assertNoWayOut(): void {
  const routes = readFileSync('/proc/net/route', 'utf8').trim().split('\n').slice(1);
  const outer = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (routes.length > 0 || outer.length > 0) {
    throw new Error('Clients are started in a network namespace without routes only.');
  }
}

assertNoWayOut();
const { values } = parseArgs({
  options: {
    client: { type: 'string' },
    installed: { type: 'string' },
    node: { type: 'string' },
    package: { type: 'string' },
    way: { type: 'string', default: 'plugin' },
    api: { type: 'string', default: 'openai-chat' },
  },
});
const { client: name, installed = '', node = process.execPath, package: folder = '' } = values;
const client = CLIENTS.find((each) => each.name === name);
if (client === undefined) throw new Error(`There is no client ${String(name)}.`);
const way = values.way === 'gateway' ? 'gateway' : 'plugin';
const play: Play = { installed, node, api: values.api as ProviderApi, contextWindow: 200_000 };
const [without, played] = await Promise.all([
  playSession(client, play),
  playSession(client, { ...play, ctxfold: { way, folder } }),
]);
const { answer: _, digest: _digest, ...figures } = played;
process.stdout.write(
  `${JSON.stringify({
    ...figures,
    inputTokensWithout: without.inputTokens,
    faults: faultsOf(played, without),
  })}\n`,
);
