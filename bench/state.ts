// The cost for a fresh process to continue another one's conversation: from its saved state, compared with reading the array.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { MESSAGE_PARAM_FORMAT } from '../src/adapters/anthropic/message-param-format.js';
import { messageCompactor } from '../src/adapters/anthropic/message-compactor.js';
import { readInSlices } from '../src/adapters/conversation/read-in-slices.js';
import { createCompactor } from '../src/index.js';
import type { IContent } from '../src/index.js';
import { ROW_LENGTH } from '../src/shared/density/plan/plan.js';
import { HistoryDigest } from '../src/main/state/history-digest.js';
import { openState } from '../src/main/state/session-state.js';
import { inTurns } from '../src/main/waiting/event-loop-turn.js';
import { readJournal } from '../src/shared/state/journal-record.js';
import { fromBase64 } from '../src/shared/state/packed-bytes.js';
import { memoryStore } from '../src/state.js';
import type { SessionState, StateStore } from '../src/state.js';
import { readAll } from '../test/support/read-all.js';
import { check } from './support/check.js';
import { longestPauseMs, processorMs } from './support/main-thread.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { toMessageParam } from './support/message-params.js';
import { ENDLESS_CONTEXT, historyOf } from './support/sessions.js';
import { medianMs } from './support/timing.js';

const SCOPE = 'state';
const CALL = { conversationId: 'bench' };
const RUNS = 5;
const OPTIONS = {
  offload: 'inline',
  tokenizer: 'estimate',
  contextLimit: ENDLESS_CONTEXT,
} as const;

/** Longer than the run. Otherwise, on a slow run, edits would land that the previous process held. */
const ADAPTER = { onError: 'throw', cacheTtlMs: 86_400_000 } as const;

export async function measureState({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    for (const [what, played] of [
      ['few edits', withTalk(history)],
      ['many edits', history],
    ] as const) {
      const add = (name: string, value: number, unit: Measurement['unit'] = 'ms'): void => {
        const called = `${name}, ${what}`;
        measurements.push({ scope: SCOPE, name: called, entries, value, unit, runs: RUNS });
      };
      const { ratio, bytes, edits, pauseMs, loadMs, ...times } = await measureServing(played);
      for (const [name, ms] of Object.entries(times)) add(name, ms);
      add('longest pause with a state', pauseMs);
      add('loading a state', loadMs);
      add('size of a state', bytes / 1e6, 'MB');
      if (entries < 10_000) continue;
      const of = `${entries.toLocaleString('en')} messages, ${edits.toLocaleString('en')} edits`;
      const limit = entries > 10_000 ? 1.7 : 1.5;
      goals.push({ name: `a fresh process, of reading the array (${of})`, value: ratio, limit });
      if (entries > 10_000) continue;
      goals.push({
        name: `longest pause of the event loop, in ms (${of})`,
        value: pauseMs,
        limit: 2,
      });
      goals.push({ name: `loading a state, in ms (${of})`, value: loadMs, limit: 2 });
      if (what === 'few edits')
        goals.push({ name: `a state, in kB (${of})`, value: bytes / 1_000, limit: 80 });
    }
    const { bytes, snapshotMs } = await snapshotOf(history);
    const name = 'a snapshot, an edit each turn';
    measurements.push({ scope: SCOPE, name, entries, value: snapshotMs, unit: 'ms', runs: RUNS });
    if (entries !== 10_000) continue;
    goals.push({ name: 'a snapshot, in ms (10,000)', value: snapshotMs, limit: 2 });
    goals.push({
      name: 'a state, an edit each turn, in kB (10,000)',
      value: bytes / 1_000,
      limit: 80,
    });
  }
  return { measurements, goals };
}

/** The same with calls in the first tenth only and talk afterwards, so that one in ten entries is edited. */
function withTalk(history: readonly IContent[]): readonly IContent[] {
  const said = history.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'text'));
  const calls = history.slice(0, history.length / 10);
  const talk = history.slice(calls.length).map((_, at): IContent => {
    const text = `${String(at)}: ${said[at % said.length]?.text ?? ''}`;
    return { speaker: at % 2 === 0 ? 'human' : 'ai', blocks: [{ type: 'text', text }] };
  });
  return [...calls, ...talk];
}

/** Serves a conversation by processes that do not know it. Minimum CPU times. */
async function measureServing(history: readonly IContent[]): Promise<{
  readonly 'reading the array': number;
  readonly 'reading, checking and hashing it': number;
  readonly 'a fresh process with a state': number;
  readonly 'a fresh process without one': number;
  readonly ratio: number;
  readonly pauseMs: number;
  readonly loadMs: number;
  readonly bytes: number;
  readonly edits: number;
}> {
  const messages = history.map(toMessageParam);
  const kept = memoryStore();
  const { last, state } = await play(messages, kept);
  const serve = async (store?: StateStore): Promise<ServingTime> => {
    const list = structuredClone(messages);
    await using compactor = createCompactor({ ...OPTIONS, store });
    const compact = messageCompactor(compactor, ADAPTER);
    let sent: unknown;
    let cpuMs = 0;
    const pauseMs = await longestPauseMs(async () => {
      cpuMs = await processorMs(async () => {
        sent = await compact(list, CALL);
      });
    });
    if (store !== undefined)
      check(JSON.stringify(sent) === last, 'a fresh process sent something else');
    return { cpuMs, pauseMs };
  };
  const reads: number[] = [];
  const floors: number[] = [];
  const warm: ServingTime[] = [];
  const cold: ServingTime[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const list = structuredClone(messages);
    reads.push(
      await processorMs(() => {
        readAll(MESSAGE_PARAM_FORMAT.createReader(), list, 0);
        return Promise.resolve();
      }),
    );
    const again = structuredClone(messages);
    floors.push(await processorMs(() => readCheckAndHash(again)));
    warm.push(await serve(kept));
    cold.push(await serve());
  }
  const readMs = Math.min(...reads);
  const warmMs = Math.min(...warm.map(({ cpuMs }) => cpuMs));
  return {
    'reading the array': readMs,
    'reading, checking and hashing it': Math.min(...floors),
    'a fresh process with a state': warmMs,
    'a fresh process without one': Math.min(...cold.map(({ cpuMs }) => cpuMs)),
    ratio: warmMs / readMs,
    pauseMs: Math.min(...warm.map(({ pauseMs }) => pauseMs)),
    loadMs: medianMs({ runs: RUNS, prepare: () => state }, (text) => openState(JSON.parse(text))),
    bytes: state.length,
    edits: editsIn(JSON.parse(state) as SessionState),
  };
}

/** The lower bound for any process that checks a state against the whole history. */
async function readCheckAndHash(list: readonly MessageParam[]): Promise<void> {
  const { entries } = await inTurns(readInSlices(MESSAGE_PARAM_FORMAT.createReader(), list, 0));
  const digest = new HistoryDigest();
  for (const entry of entries) digest.add(entry);
  await inTurns(digest.settleInSlices());
  check(digest.digests.entries === entries.length, 'not all entries were hashed');
}

interface ServingTime {
  readonly cpuMs: number;
  readonly pauseMs: number;
}

/** Grows a conversation in a hundred steps. Returns what was last sent and saved. */
async function play(
  messages: readonly MessageParam[],
  store: StateStore,
): Promise<{ readonly last: string; readonly state: string }> {
  let state = '';
  const save: StateStore['save'] = (key, text, version) => {
    state = text;
    return store.save(key, text, version);
  };
  const noting: StateStore = {
    load: (key) => store.load(key),
    save,
    delete: (key) => store.delete(key),
  };
  await using compactor = createCompactor({ ...OPTIONS, store: noting });
  const compact = messageCompactor(compactor, ADAPTER);
  const step = Math.max(2, Math.floor(messages.length / 100));
  for (let end = step; end < messages.length; end += step) {
    await compact(messages.slice(0, end), CALL);
  }
  const last = JSON.stringify(await compact([...messages], CALL));
  return { last, state };
}

/** Edits of single blocks. */
function editsIn({ journal: { records, texts } }: SessionState): number {
  let rows = 0;
  for (const record of readJournal({ bytes: fromBase64(records), texts })) {
    if (record.kind === 'rows') rows += record.rows.length / ROW_LENGTH;
  }
  return rows;
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
