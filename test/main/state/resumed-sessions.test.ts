// Sessions that continue from the state of another one send what a single long-lived session would send.

import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import type { EditOptions } from '../../../src/main/preflight/edit-options.js';
import type { Session } from '../../../src/main/session.js';
import type { SessionState } from '../../../src/main/state/session-state.js';
import type { CompressionStrategyName } from '../../../src/main/strategies/strategy.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { arbitrarySendableHistory } from '../../support/arbitrary-sendable-history.js';
import { arbitraryWorkingHistory } from '../../support/arbitrary-working-history.js';
import { historyOf } from '../../support/notation.js';
import { playInMany, playInOne, request, requestsOf } from '../../support/resumed-session.js';
import type { PlayOptions } from '../../support/resumed-session.js';
import { PLAYS_ALL, runs, sample } from '../../support/scale.js';
import { scriptedSummarizer } from '../../support/scripted-summarizer.js';

const STRATEGIES = ['high-density', 'top-down-truncation', 'middle-out', 'one-shot'] as const;
const POLICIES = ['every-turn', 'batched', 'at-birth'] as const;
const REASONING = ['keep', 'strip-after-first-edit', 'forbid-edits'] as const;

interface Choice extends EditOptions {
  readonly strategy: CompressionStrategyName;
  readonly contextLimit: number;
  readonly preset: 'specification' | undefined;
  readonly ratio: number | undefined;
  readonly unseenTokens: number | undefined;
  readonly modelName: string;
}

function optionsOf({
  strategy,
  contextLimit,
  preset,
  ratio,
  unseenTokens,
  modelName,
  ...edits
}: Choice): PlayOptions {
  let summaries = 0;
  return {
    compactor: () => {
      summaries = 0;
      return {
        offload: 'inline',
        tokenizer: 'estimate',
        contextLimit,
        preset,
        // A pending summary ends with its process.
        settings: { 'compression.strategy': strategy, 'compression.ahead': 1 },
        summarizer: scriptedSummarizer(
          () => `<state_snapshot>summary ${(summaries += 1)}</state_snapshot>`,
        ),
      };
    },
    session: { ...edits, ...(unseenTokens === undefined && { overheadTokens: 0 }) },
    modelName,
    reportedRatio: ratio,
    unseenTokens,
  };
}

const choice: fc.Arbitrary<Choice> = fc.record({
  strategy: fc.constantFrom(...STRATEGIES),
  edits: fc.constantFrom(...POLICIES),
  reasoning: fc.constantFrom(...REASONING),
  contextLimit: fc.constantFrom(1_000, 4_000, 12_000, 200_000),
  preset: fc.constantFrom('specification', undefined, undefined),
  ratio: fc.constantFrom(undefined, 1, 1.5),
  unseenTokens: fc.constantFrom(undefined, 0, 600, 3_000),
  // The latter's cache takes no prompt below 1,024 tokens.
  modelName: fc.constantFrom('some-model', 'claude-sonnet-4-5'),
});

/** Each request replays the history from the start, in time quadratic in the length. */
const histories = arbitraryWorkingHistory(arbitrarySendableHistory({ maxEntries: 60 }));

async function expectSame(history: readonly IContent[], options: PlayOptions): Promise<number> {
  const requests = requestsOf(history);
  const events: unknown[] = [];
  const sessions: Session[] = [];
  const one = await playInOne(requests, options, (session) => sessions.push(session));
  const many = await playInMany(requests, options, undefined, (session) => {
    session.on('stateDiverged', (event) => events.push(event));
    session.on('stateRefused', (event) => events.push(event));
    sessions[1] = session;
  });
  expect(events).toEqual([]);
  for (const [at, sent] of one.entries()) {
    const now = JSON.stringify(many[at]);
    const then = JSON.stringify(sent);
    if (now === then) continue;
    let first = 0;
    while (now[first] === then[first]) first += 1;
    const around = [first - 200, first + 120] as const;
    expect(now.slice(...around), `request ${at}`).toBe(then.slice(...around));
  }
  const [inOne, inMany] = sessions.map((session) => session.costs());
  expect({ ...inMany, dollars: undefined }).toEqual({ ...inOne, dollars: undefined });
  expect(inMany?.dollars?.without).toBe(inOne?.dollars?.without);
  return one.reduce(
    (sum, sent, at) => sum + Math.abs(requests.slice(0, at + 1).flat().length - sent.length),
    0,
  );
}

describe('Session.snapshot', () => {
  it('makes a new session for each request send what one session sends', async () => {
    await fc.assert(
      fc.asyncProperty(histories, choice, async (history, chosen) => {
        await expectSame(history, optionsOf(chosen));
      }),
      { numRuns: runs(400, 12) },
    );
  });

  it('resumes what was sent, if the host stores that, as if it had been added', async () => {
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(histories, choice, async (history, chosen) => {
        const options = optionsOf(chosen);
        let stored: readonly IContent[] = [];
        let state: SessionState | undefined;
        for (const [at, added] of requestsOf(history).entries()) {
          await using compactor = createCompactor(options.compactor());
          const given = structuredClone(stored);
          const session = await compactor.createSession({
            ...options.session,
            history: given,
            state,
          });
          const events: unknown[] = [];
          session.on('stateDiverged', (event) => events.push(event));
          session.on('stateRefused', (event) => events.push(event));
          await nextTurn();
          expect(events).toEqual([]);
          expect(session.history.getAll()).toEqual(stored);
          expect(session.costs().requests).toBe(state?.memory.costs.requests ?? 0);
          stored = await request(session, added, at, options);
          state = JSON.parse(JSON.stringify(session.snapshot())) as SessionState;
          if (state.standing !== undefined) edited += 1;
        }
      }),
      { numRuns: runs(100, 10) },
    );
    expect(edited).toBeGreaterThan(0);
  });

  it('resumes what was sent even if that is longer, such as with a note of calls that stay', async () => {
    const long = 'lorem ipsum '.repeat(60);
    const calls = Array.from({ length: 40 }, (_, at) =>
      historyOf(`a:s${at}(run-step) t:s${at}(${long})`),
    );
    const order = [
      aiContent([toolCall('o1', 'create_order', { sku: 'A-1' })]),
      toolContent([toolResponse('o1', 'create_order', 'order 7 was made, '.repeat(10))]),
    ];
    const history = [humanText('Build it.'), ...order, ...calls.flat()];
    const settings = {
      'compression.threshold': 0.8,
      'compression.density.workingSet': 'off',
      'compression.density.shrink': 'off',
    } as const;
    const options = { offload: 'inline', tokenizer: 'estimate', contextLimit: 8_000 } as const;
    await using compactor = createCompactor({ ...options, settings });
    const session = await compactor.createSession({ history });
    await session.ensureCompressionBeforeSend('p1');
    const sent = session.history.getAll();
    expect(sent).toHaveLength(history.length + 1);
    const state = session.snapshot();
    const next = await compactor.createSession({ history: sent, state });
    const events: unknown[] = [];
    next.on('stateDiverged', (event) => events.push(event));
    await nextTurn();
    expect(events).toEqual([]);
    expect(next.history.getAll()).toEqual(sent);
  });

  const usual = { preset: undefined, ratio: 1.2, unseenTokens: undefined, modelName: 'some-model' };

  it('counts the unedited cost of a request that is too short to be cached as sent', async () => {
    const result = 'the same line of noise, again and again\n'.repeat(200);
    const history = [
      humanText('go'),
      aiContent([toolCall('c1', 'run_shell_command', { command: 'node run.js' })]),
      toolContent([toolResponse('c1', 'run_shell_command', result)]),
      ...historyOf('a:done h:on a:yes h:so'),
    ];
    const choices = { strategy: 'high-density', edits: 'batched', contextLimit: 200_000 } as const;
    const options = optionsOf({ ...usual, ...choices, modelName: 'claude-sonnet-4-5' });
    expect(await expectSame(history, options)).toBe(0);
  });

  /** Limits at which a policy removes much, and at which a strategy has to compress. */
  const conditions = STRATEGIES.flatMap((strategy) =>
    POLICIES.flatMap((edits) =>
      [8_000, 200_000].map((contextLimit) => ({ strategy, edits, contextLimit })),
    ),
  );

  it.each([
    'claude-code/0ccf1a04-session.jsonl',
    'codex/jdx-mise__71-b56c467073-0.jsonl',
    'openai-chat/openhands-sampled__python__mypy-15976_0.json',
  ])('resumes the recorded session %s under every policy and strategy', async (name) => {
    const path = `test/fixtures/transcripts/${name}`;
    const { entries } = await readTranscript(path);
    const history = entries.slice(0, PLAYS_ALL ? 120 : 30);
    for (const condition of sample(conditions, 2)) {
      await expectSame(history, optionsOf({ ...usual, ...condition }));
    }
  });
});
