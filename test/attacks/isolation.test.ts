// No byte of one user appears in what another one is sent, shown, told by an event, or recalls: canaries are planted in all
// content and searched for in all outputs. The attack was to share a compactor, a log, a call id or a conversation id with
// the victim, and to ask.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aiContent,
  createCompactor,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from 'ctxfold';
import { listRemoved, restore } from 'ctxfold/removal-log';
import type { IContent } from 'ctxfold';
import type { TelemetryMessages } from '../../src/main/telemetry/channels.js';
import { Canaries } from '../support/canaries.js';
import { hear } from '../support/heard-messages.js';
import { HOSTILE_IDS } from '../support/hostile-ids.js';
import { IsolationWorld } from '../support/isolation-world.js';
import { serveRecall } from '../support/recall-client.js';
import { runCommand } from '../support/run-command.js';
import { runs } from '../support/scale.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MANY_CANARIES = 200;
const SETTINGS = {
  'compression.density.recencyPruning': true,
  'compression.density.recencyRetention': 1,
  'compression.density.placeholder': 'informative',
  'compression.fallbackToTruncation': true,
} as const;

/** Places with canaries of more than one owner. */
function mixedPlaces(canaries: Canaries<string>): string[] {
  return [...canaries.places.keys()].filter((place) => canaries.ownersIn(place).size > 1);
}

function marksIn(canaries: Canaries<string>, kind: RegExp): string[] {
  return [...canaries.places].flatMap(([place, marks]) => (kind.test(place) ? [...marks] : []));
}

describe('conversations of many users over one compactor', () => {
  it('never leak anything of each other in any output', async () => {
    const names = ['ctxfold:pass', 'ctxfold:fallback', 'ctxfold:compaction', 'ctxfold:preflight'];
    const heard = names.map((name) => hear(name as keyof TelemetryMessages));
    const seen = { recalled: 0, sent: 0, events: 0, logged: 0, requests: 0 };
    const schedule = fc.record({
      seed: fc.nat(1_000),
      offload: fc.constantFrom('inline', 'resident'),
      strategy: fc.constantFrom('high-density', 'one-shot', 'top-down-truncation'),
      contextLimit: fc.constantFrom(2_000, 200_000),
      rounds: fc.array(
        fc.record({
          users: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 10 }),
          isRestarted: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(schedule, async ({ seed, offload, strategy, contextLimit, rounds }) => {
        const settings = { ...SETTINGS, 'compression.strategy': strategy } as const;
        const options = { offload, threads: 1, contextLimit, settings: settings as never };
        const world = new IsolationWorld(temporaryFolder(), options, seed);
        const { canaries, users } = world;
        const before = heard.map((messages) => messages.length);
        // All at once, so that some come and go while others wait.
        await world.round(users);
        for (const { users: at, isRestarted } of rounds) {
          if (isRestarted) await world.restart();
          await world.round(at.flatMap((index) => users[index] ?? []));
        }
        await world.close();
        const messages = heard.flatMap((all, at) => all.slice(before[at]));
        for (const [at, message] of messages.entries()) canaries.collect(`message ${at}`, message);

        expect(canaries.size).toBeGreaterThanOrEqual(MANY_CANARIES);
        expect(mixedPlaces(canaries)).toEqual([]);
        for (const { name } of users) {
          for (const place of [`sent by ${name}`, `recalled by ${name}`]) {
            expect([...canaries.ownersIn(place)].filter((owner) => owner !== name)).toEqual([]);
          }
        }
        // Monitoring output contains no content, but may contain one user's ids at a time.
        const logged = marksIn(canaries, /^(message|line|stats)/);
        expect(logged.filter((mark) => !world.idMarks.has(mark))).toEqual([]);
        seen.recalled += world.recalled;
        seen.sent += marksIn(canaries, /^sent/).length;
        seen.events += marksIn(canaries, /^session/).length;
        seen.requests += marksIn(canaries, /^request/).length;
        seen.logged += logged.length;
      }),
      { numRuns: runs(8, 2) },
    );
    // Proof that all of it happened.
    expect(Math.min(seen.recalled, seen.sent, seen.events, seen.logged)).toBeGreaterThan(
      runs(100, 20),
    );
  });
});

/** A history in which all results but the last are pruned, with a canary in every part. */
function historyOf(mark: () => string): IContent[] {
  return [
    humanText(`Look at ${mark()}.`),
    ...Array.from({ length: 12 }, (_, at) => `call_${at}`).flatMap((id) => [
      aiContent([toolCall(id, 'look', { path: `/home/${mark()}/a.ts`, note: mark() })]),
      toolContent([toolResponse(id, 'look', `${mark()} is a line\n`.repeat(3))]),
    ]),
  ];
}

describe('sessions of many users with one file', () => {
  it('never leak anything of each other in what is restored, listed or served from it', async () => {
    const canaries = new Canaries<string>();
    const removalLogPath = path.join(temporaryFolder(), 'all.jsonl');
    const sessionIds = HOSTILE_IDS.slice(0, 6).map((id) => `${id}${canaries.plant(id)}`);
    const owners = new Map(sessionIds.map((sessionId, at) => [sessionId, HOSTILE_IDS[at] ?? '']));
    for (const [sessionId, owner] of owners) {
      const compactor = createCompactor({ offload: 'inline', settings: SETTINGS });
      const history = historyOf(() => canaries.plant(owner));
      const session = await compactor.createSession({
        sessionId,
        removalLogPath,
        history,
        edits: 'every-turn',
      });
      await session.ensureCompressionBeforeSend('p');
      for (let at = 0; at < 12; at += 1) {
        const restored = await session.restore(`call_${at}`).catch(String);
        canaries.collect(`restored by ${owner}`, restored);
      }
      await compactor.close();
    }
    expect(canaries.size).toBeGreaterThanOrEqual(MANY_CANARIES);

    for (const [sessionId, owner] of owners) {
      const place = `served to ${owner}`;
      const scope = { sessionId };
      const { recall, list } = await serveRecall({ paths: [removalLogPath], scope });
      for (let at = 0; at < 12; at += 1) {
        canaries.collect(place, await recall(`call_${at}`));
        canaries.collect(place, await restore(removalLogPath, `call_${at}`, scope).catch(String));
      }
      canaries.collect(place, await list());
      canaries.collect(place, await listRemoved(removalLogPath, scope));
    }
    for (const [sessionId, owner] of owners) {
      for (const place of [`restored by ${owner}`, `served to ${owner}`]) {
        expect([...canaries.ownersIn(place)], sessionId).toEqual([owner]);
        expect(canaries.places.get(place)?.size).toBeGreaterThan(11);
      }
    }

    // A server without a conversation serves none of several.
    const unnamed = await serveRecall({ paths: [removalLogPath] });
    canaries.collect('unnamed', [await unnamed.recall('call_0'), await unnamed.list()]);
    const refused = await runCommand(['mcp', '--removal-log', removalLogPath]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    canaries.collect('unnamed', refused.stderr);
    expect(canaries.places.get('unnamed')?.size).toBe(0);
  });
});

describe('a report', () => {
  it.each([
    ['analyze', ['--json']],
    ['replay', ['--json', '--recency', '1']],
    ['report', ['--no-redact', '--recency', '1']],
  ])('of one session contains nothing of those beside it: %s', async (command, flags) => {
    const directory = temporaryFolder();
    const canaries = new Canaries<string>();
    const fileOf = (owner: string): string => {
      const file = path.join(directory, `${owner}.json`);
      const mark = (): string => canaries.plant(owner);
      const messages = Array.from({ length: 25 }, (_, at) => `call_${at}`).flatMap((id) => [
        { role: 'user', content: `Look at ${mark()}.` },
        {
          role: 'assistant',
          content: mark(),
          tool_calls: [
            {
              id,
              type: 'function',
              function: { name: 'look', arguments: `{"path":"/${mark()}"}` },
            },
          ],
        },
        { role: 'tool', tool_call_id: id, content: mark() },
      ]);
      writeFileSync(file, JSON.stringify(messages));
      return file;
    };
    const ofAnn = fileOf('ann');
    fileOf('bob');
    const page = path.join(directory, 'page.html');
    const output = command === 'report' ? ['-o', page] : [];
    const { code, stdout, stderr } = await runCommand([command, ofAnn, ...flags, ...output]);
    expect(code).toBe(0);
    canaries.collect('ann', [stdout, stderr]);
    if (existsSync(page)) {
      canaries.collect('ann', readFileSync(page, 'utf8'));
      expect(canaries.places.get('ann')?.size).toBeGreaterThan(0);
    }
    expect([...canaries.ownersIn('ann')].filter((owner) => owner !== 'ann')).toEqual([]);
  });
});
