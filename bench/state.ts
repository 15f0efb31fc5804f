// What it costs a fresh process to go on with a conversation that another one had: with its state, against reading the array.

import { MESSAGE_PARAM_FORMAT } from '../src/adapters/anthropic/message-param-format.js';
import { messageCompactor } from '../src/adapters/anthropic/message-compactor.js';
import { createCompactor } from '../src/index.js';
import type { IContent } from '../src/index.js';
import { memoryStore } from '../src/state.js';
import { check } from './support/check.js';
import { longestPauseMs, timeThread } from './support/main-thread.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { toMessageParam } from './support/message-params.js';
import { ENDLESS_CONTEXT, historyOf } from './support/sessions.js';
import { median, medianMs } from './support/timing.js';

const SCOPE = 'state';
const RUNS = 5;
const OPTIONS = {
  offload: 'inline',
  tokenizer: 'estimate',
  contextLimit: ENDLESS_CONTEXT,
} as const;

export async function measureState({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const messages = historyOf(entries).map(toMessageParam);
    const store = memoryStore();
    const call = { conversationId: 'bench' };
    const add = (name: string, value: number, unit: Measurement['unit'] = 'ms'): void => {
      measurements.push({ scope: SCOPE, name, entries, value, unit, runs: RUNS });
    };
    let last: string;
    {
      await using compactor = createCompactor({ ...OPTIONS, store });
      const compact = messageCompactor(compactor, { onError: 'throw' });
      const step = Math.max(2, Math.floor(entries / 100));
      for (let end = step; end < entries; end += step) await compact(messages.slice(0, end), call);
      last = JSON.stringify(await compact(messages, call));
    }
    const readMs = medianMs({ runs: RUNS, prepare: () => structuredClone(messages) }, (list) =>
      MESSAGE_PARAM_FORMAT.createReader().read(list, 0),
    );
    add('reading the array', readMs);
    const serve = async (
      kept: typeof store | undefined,
    ): Promise<{ busyMs: number; pauseMs: number }> => {
      const list = structuredClone(messages);
      await using compactor = createCompactor({ ...OPTIONS, store: kept });
      const compact = messageCompactor(compactor, { onError: 'throw' });
      let sent: unknown;
      let busyMs = 0;
      const pauseMs = await longestPauseMs(async () => {
        ({ busyMs } = await timeThread(async () => {
          sent = await compact(list, call);
        }));
      });
      if (kept !== undefined)
        check(JSON.stringify(sent) === last, 'a fresh process sends the same');
      return { busyMs, pauseMs };
    };
    const warm: { busyMs: number; pauseMs: number }[] = [];
    const cold: { busyMs: number; pauseMs: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      warm.push(await serve(store));
      cold.push(await serve(undefined));
    }
    const warmMs = median(warm.map(({ busyMs }) => busyMs));
    add('a fresh process with a state', warmMs);
    add('a fresh process without one', median(cold.map(({ busyMs }) => busyMs)));
    add('longest pause with a state', median(warm.map(({ pauseMs }) => pauseMs)));
    const { bytes, snapshotMs } = await snapshotOf(historyOf(entries));
    add('a snapshot', snapshotMs);
    add('size of a state', bytes / 1e6, 'MB');
    if (entries < 10_000) continue;
    const of = entries.toLocaleString('en');
    const limit = entries > 10_000 ? 1.7 : 1.5;
    goals.push({
      name: `a fresh process, of reading the array (${of})`,
      value: warmMs / readMs,
      limit,
    });
    if (entries > 10_000) continue;
    goals.push({ name: `a snapshot, in ms (${of})`, value: snapshotMs, limit: 2 });
    goals.push({ name: `a state, in kB (${of})`, value: bytes / 1_000, limit: 80 });
  }
  return { measurements, goals };
}

async function snapshotOf(
  history: readonly IContent[],
): Promise<{ bytes: number; snapshotMs: number }> {
  await using compactor = createCompactor(OPTIONS);
  const session = await compactor.createSession({ edits: 'every-turn' });
  const step = Math.max(2, Math.floor(history.length / 1_000));
  for (let at = 0; at < history.length; at += step) {
    session.history.addAll(history.slice(at, at + step));
    if (at % (10 * step) === 0) await session.ensureCompressionBeforeSend('bench');
  }
  await session.ensureCompressionBeforeSend('bench');
  const bytes = JSON.stringify(session.snapshot()).length;
  const snapshotMs = medianMs({ runs: RUNS, prepare: () => session }, (one) => one.snapshot());
  return { bytes, snapshotMs };
}
