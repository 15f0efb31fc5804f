// The alternatives to ctxfold on the same histories in the same run: the cost of a turn, its growth with the history, and the
// tokens reclaimed.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { findViolations } from '../src/validate.js';
import type { IContent } from '../src/index.js';
import type { ViolationRule } from '../src/validate.js';
import { check, checkSameHistory } from './support/check.js';
import { timeThread } from './support/main-thread.js';
import type { ThreadTime } from './support/main-thread.js';
import type { ScopeContext, ScopeResult } from './support/measurement.js';
import { AI_SDK_PEER } from './support/peer-ai-sdk.js';
import { OverBudgetError, PeerBudget } from './support/peer-budget.js';
import { CTXFOLD_PEERS } from './support/peer-ctxfold.js';
import type { PeerFigures, PeerRun } from './support/peer-figures.js';
import { LANGCHAIN_PEERS } from './support/peer-langchain.js';
import { PLAIN_PEER } from './support/peer-plain.js';
import { TokenScale } from './support/peer-tokens.js';
import { WORKER_PEER } from './support/peer-worker.js';
import type { Peer, PeerSession } from './support/peer.js';
import { followingOf, historyOf, runsFor } from './support/sessions.js';
import { median } from './support/timing.js';

const PEERS: readonly Peer[] = [
  ...CTXFOLD_PEERS,
  WORKER_PEER,
  PLAIN_PEER,
  AI_SDK_PEER,
  ...LANGCHAIN_PEERS,
];

/**
 * Limit for the first turn on a history, and for all later ones together. A tool whose first turn exceeds it is not tried on
 * longer histories.
 */
const BUDGET_MS = 20_000;
const ENTRIES_PER_TURN = 5;
const WARM_UP_ENTRIES = 400;

export async function measurePeers({ sizes }: ScopeContext): Promise<ScopeResult> {
  await using scale = new TokenScale();
  const peers: PeerFigures[] = [];
  const tooSlow = new Set<Peer>();
  for (const peer of PEERS) await warmUp(peer);
  for (const entries of sizes) {
    const unedited = [...historyOf(entries), ...addedIn(entries, 0)];
    const expected: Expected = { tokens: await scale.weigh(unedited) };
    for (const peer of PEERS) {
      const named = { tool: peer.name, note: peer.note, entries };
      if (tooSlow.has(peer)) {
        peers.push({ ...named, outcome: 'skipped', budgetMs: BUDGET_MS });
        continue;
      }
      const { run, isOverBudget } = await measurePeer(peer, entries, scale, expected);
      if (isOverBudget) tooSlow.add(peer);
      peers.push(
        run === undefined
          ? { ...named, outcome: 'over-budget', budgetMs: BUDGET_MS }
          : { ...named, outcome: 'measured', ...run },
      );
    }
  }
  return { measurements: [], goals: [], peers };
}

/** Otherwise the first peer would pay for compiling shared code. */
async function warmUp(peer: Peer): Promise<void> {
  const budget = new PeerBudget(BUDGET_MS);
  const session = await peer.open([...historyOf(WARM_UP_ENTRIES)], budget);
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      await session.prepareTurn(addedIn(WARM_UP_ENTRIES, turn))();
    }
  } finally {
    await session.close();
  }
}

/** What the first turn must leave, as set by the first peer that makes the documented pass. */
interface Expected {
  /** Tokens of the history and its first turn before any edit. */
  readonly tokens: number;
  history?: readonly IContent[];
}

type Run = Omit<PeerRun, 'outcome' | 'tool' | 'note' | 'entries'>;

async function measurePeer(
  peer: Peer,
  entries: number,
  scale: TokenScale,
  expected: Expected,
): Promise<{ readonly run: Run | undefined; readonly isOverBudget: boolean }> {
  const budget = new PeerBudget(BUDGET_MS);
  const session = await peer.open([...historyOf(entries)], budget);
  try {
    // Garbage of the previous tool and of the conversions must not be charged to this one.
    collectGarbage();
    const first = await timeTurn(session, budget, addedIn(entries, 0));
    if (first === undefined) return { run: undefined, isOverBudget: true };
    const tokensSent = await checkFirstTurn(peer, session, entries, scale, expected);

    const isOverBudget = budget.isSpent;
    budget.renew();
    const later: ThreadTime[] = [];
    for (let turn = 1; turn <= runsFor(entries, 12) && !budget.isSpent; turn += 1) {
      const time = await timeTurn(session, budget, addedIn(entries, turn));
      if (time === undefined) break;
      later.push(time);
    }
    const brokenPairs = countBrokenPairs(session.sent());
    check(!peer.isDocumentedPass || brokenPairs === 0, `${peer.name} broke pairs`);
    const { tokens } = expected;
    const repeated = later.length === 0 ? undefined : medianOf(later);
    const repeats = later.length;
    return {
      run: { first, repeated, repeats, tokens, tokensSent, brokenPairs },
      isOverBudget,
    };
  } finally {
    await session.close();
  }
}

/** Returns `undefined` when the turn was stopped after its time limit. */
async function timeTurn(
  session: PeerSession,
  budget: PeerBudget,
  added: readonly IContent[],
): Promise<ThreadTime | undefined> {
  const turn = session.prepareTurn(added);
  try {
    return await timeThread(() => budget.run(turn));
  } catch (error) {
    if (error instanceof OverBudgetError) return undefined;
    throw error;
  }
}

function addedIn(entries: number, turn: number): readonly IContent[] {
  return followingOf(entries).slice(turn * ENTRIES_PER_TURN, (turn + 1) * ENTRIES_PER_TURN);
}

/** Checks the result of the first turn against the other tools and the exact counter. Returns its tokens. */
async function checkFirstTurn(
  peer: Peer,
  session: PeerSession,
  entries: number,
  scale: TokenScale,
  expected: Expected,
): Promise<number> {
  const sent = session.sent();
  const tokens = await scale.weigh(sent);
  const counted = session.countedTokens();
  check(
    counted === undefined || counted === tokens,
    `${peer.name} counts ${counted}, not ${tokens}`,
  );
  check(tokens < expected.tokens, `${peer.name} reclaimed nothing`);
  if (peer.isDocumentedPass) {
    expected.history ??= [...sent];
    checkSameHistory(sent, expected.history, `${peer.name} at ${entries}`);
  }
  return tokens;
}

const PAIR_RULES: readonly ViolationRule[] = [
  'unpaired-call',
  'unpaired-response',
  'response-before-call',
  'duplicate-response',
];

function countBrokenPairs(history: readonly IContent[]): number {
  return findViolations(history).filter(({ rule }) => PAIR_RULES.includes(rule)).length;
}

function medianOf(times: readonly ThreadTime[]): ThreadTime {
  return {
    wallMs: median(times.map(({ wallMs }) => wallMs)),
    busyMs: median(times.map(({ busyMs }) => busyMs)),
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
