// Checks one host, inside a network namespace without a route out: plays its client's sessions, two at a time, and prints a
// line of JSON for each. Refuses to run if there is a route. Started by scripts/check-hosts.js.

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';

import { asError } from '../../src/shared/errors.js';
import { choreOf, finalAnswer, finishedDigest } from './chore.js';
import type { Client, ClientPlay } from './client.js';
import { claudeCode } from './claude-code.js';
import { cline } from './cline.js';
import { codex } from './codex.js';
import { continueCli } from './continue.js';
import { copilot } from './copilot.js';
import { gemini } from './gemini.js';
import { openclaw } from './openclaw.js';
import { grok } from './grok.js';
import { nanocoder } from './nanocoder.js';
import { kilo, opencode } from './opencode.js';
import { pi } from './pi.js';
import { python } from './python.js';
import { qwen } from './qwen.js';
import { playSession } from './play.js';
import type { Played, Stage } from './play.js';
import { recordedTexts } from './recorded-texts.js';

const CLIENTS: readonly Client[] = [
  ...[pi, opencode, kilo, openclaw, codex, gemini, claudeCode, python],
  ...[copilot, cline, qwen, continueCli, grok, nanocoder],
];

/** Checks the result of a session. */
function faultsOf(played: Played, play: ClientPlay, { goesOn }: Client): readonly string[] {
  const chore = choreOf(play.isLong === true, goesOn);
  const digest = finishedDigest(chore, recorded);
  const { ownCompaction = 'never' } = play;
  const { window = Infinity } = play;
  const refusals = ownCompaction === 'after a refusal' ? 1 : 0;
  // The gateway recovers from the refusal before the client sees it.
  const isMended = refusals > 0 && play.way === 'gateway';
  const summarizes = ownCompaction !== 'never' && !isMended;
  const faults: readonly (readonly [boolean, string])[] = [
    [play.isLong === true && played.calls <= 60, `only ${played.calls} calls`],
    [played.complaints.length > 0, played.complaints.join(' | ')],
    [played.refused !== refusals, `${played.refused} requests refused, not ${refusals}`],
    [played.answer !== finalAnswer(digest), `answered ${played.answer}`],
    [
      ownCompaction === 'never' && played.largestTokens > window,
      `${played.largestTokens} tokens for a window of ${window}`,
    ],
    [played.digest !== digest, 'left the workspace in another state'],
    [
      play.way !== 'none' && played.unexplainedRewrites > 0,
      `${played.unexplainedRewrites} rewrites that no edit explains`,
    ],
    [
      played.ownCompactions > 0 !== summarizes,
      `the host summarized ${played.ownCompactions} times, not ${summarizes ? ownCompaction : 'never'}`,
    ],
  ];
  return faults.flatMap(([isSo, fault]) => (isSo ? [fault] : []));
}

function assertNoWayOut(): void {
  const routes = readFileSync('/proc/net/route', 'utf8').trim().split('\n').slice(1);
  const outer = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (routes.length > 0 || outer.length > 0) {
    throw new Error('Clients must run in a network namespace without routes.');
  }
}

assertNoWayOut();
const { values } = parseArgs({
  options: {
    client: { type: 'string' },
    installed: { type: 'string', default: '' },
    node: { type: 'string', default: process.execPath },
    package: { type: 'string', default: '' },
    quick: { type: 'boolean', default: false },
    match: { type: 'string', default: '' },
    'limit-ms': { type: 'string', default: '170000' },
  },
});
const client = CLIENTS.find(({ name }) => name === values.client);
if (client === undefined) throw new Error(`There is no client ${String(values.client)}.`);
const recorded = await recordedTexts('test/fixtures/transcripts');
const { installed, node } = values;
const stage: Stage = { installed, node, package: values.package, recorded };
const limitMs = Number(values['limit-ms']);
const waiting = client.plays
  .slice(0, values.quick ? 2 : undefined)
  .filter((play) => JSON.stringify(play).includes(values.match));

/** The share of the total time that must be left to start another session, with a margin for busy machines. */
const LEAST_LEFT = 0.45;

async function playOn(of: Client): Promise<void> {
  for (let play = waiting.shift(); play !== undefined; play = waiting.shift()) {
    const leftMs = limitMs - performance.now();
    if (leftMs < limitMs * LEAST_LEFT)
      process.stdout.write(`${JSON.stringify({ ...play, isLeftOut: true })}\n`);
    else {
      // If one fails, the other must still close its servers.
      const outcome = await playSession(of, play, stage, leftMs).then(
        (played) => ({ ...played, faults: faultsOf(played, play, of) }),
        (thrown: unknown) => ({ faults: [asError(thrown).message] }),
      );
      process.stdout.write(`${JSON.stringify({ ...play, ...outcome })}\n`);
    }
  }
}

await Promise.all([playOn(client), playOn(client)]);
