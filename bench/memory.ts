// Memory that stays in use on the main thread after preflights and compressions: must not include a second copy of the history.

import { createCompactor } from '../src/index.js';
import type { IContent } from '../src/index.js';
import { check } from './support/check.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { ENDLESS_CONTEXT, followingOf, historyOf, megabytesOf } from './support/sessions.js';
import { usedMegabytes } from './support/used-megabytes.js';

const TURNS = 5;

export async function measureMemory({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    const megabytes = megabytesOf(history);
    const add = (name: string, value: number): void => {
      measurements.push({ scope: 'memory', name, entries, value, unit: 'MB', runs: 1 });
      if (entries < 10_000) return;
      const of = `of the history (${entries.toLocaleString('en')})`;
      goals.push({ name: `${name}, ${of}`, value: value / megabytes, limit: 0.1 });
    };
    add('kept after windows with snapshots', await keptByWindows(entries, history));
    add('kept after a compression', await keptByCompression(history));
  }
  return { measurements, goals };
}

async function keptByWindows(entries: number, history: readonly IContent[]): Promise<number> {
  const options = { offload: 'snapshot', tokenizer: 'estimate', workspaceRoot: '/w' } as const;
  await using compactor = createCompactor({ ...options, contextLimit: ENDLESS_CONTEXT });
  const session = await compactor.createSession({ history });
  await session.history.waitForTokenUpdates();
  const following = followingOf(entries);
  const before = await usedMegabytes();
  for (let turn = 0; turn < TURNS; turn += 1) {
    session.history.addAll(following.slice(turn * 5, turn * 5 + 5));
    await session.ensureCompressionBeforeSend(`turn ${turn}`);
  }
  check(session.history.length < entries + TURNS * 5, 'the windows pruned nothing');
  return (await usedMegabytes()) - before;
}

async function keptByCompression(history: readonly IContent[]): Promise<number> {
  await using compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: history.length * 100,
  });
  const session = await compactor.createSession({ history });
  await session.history.waitForTokenUpdates();
  const before = await usedMegabytes();
  const { outcome, tokensAfter, tokensBefore } = await session.performCompression('bench');
  check(outcome === 'applied' && tokensAfter < tokensBefore, 'the compression did not shrink');
  return (await usedMegabytes()) - before;
}
