// What batched edits do to a provider's prompt cache, by process lifetime, on recorded sessions: `npm run warm-caches -- <file or
// folder>... [--json]`. Plays every model call through sessions of the public API.

import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { CtxfoldError, createCompactor } from '../src/index.js';
import { readTranscript } from '../src/transcripts.js';
import type { Compactor, IContent, Session } from '../src/index.js';
import type { Transcript } from '../src/transcripts.js';
import { findSessionFiles } from '../src/cli/replay/session-files.js';
import { ContextMeter } from './fidelity/context-meter.js';
import { percentText } from './fidelity/policy-table.js';

/** Which calls still find the previous call's session, by the entry before the call. */
const LIVES: Readonly<Record<string, (before: IContent | undefined) => boolean>> = {
  'one process': () => true,
  'a process per question': (before) => before?.speaker !== 'human',
  'a process per call': () => false,
};

/** Compression is off, to see the cost of edits alone. */
const CONTEXT_LIMIT = 100_000_000;

interface Row {
  readonly session: string;
  readonly calls: number;
  /** By process lifetime: price of the input as a share of the price without ctxfold. */
  readonly costs: Readonly<Record<string, number>>;
  /** By process lifetime: calls before which anything sent before had changed. */
  readonly changes: Readonly<Record<string, number>>;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
});
if (positionals.length === 0) throw new RangeError('Expected files or folders with sessions.');

const rows: Row[] = [];
for (const path of positionals) {
  for (const file of (await findSessionFiles(path)).files) {
    try {
      rows.push(await measure(file, await readTranscript(file)));
    } catch (error) {
      if (!(error instanceof CtxfoldError)) throw error;
    }
  }
}
process.stdout.write(`${values.json ? JSON.stringify(rows, null, 2) : render(rows)}\n`);

async function measure(session: string, transcript: Transcript): Promise<Row> {
  const nothing = new ContextMeter();
  transcript.entries.forEach(({ speaker }, at) => {
    if (speaker === 'ai') nothing.send(transcript.entries.slice(0, at));
  });
  const costs: Record<string, number> = {};
  const changes: Record<string, number> = {};
  for (const [name, goesOn] of Object.entries(LIVES)) {
    const { inputCost, prefixChanges } = await play(transcript, goesOn);
    costs[name] = inputCost / nothing.figures.inputCost;
    changes[name] = prefixChanges;
  }
  return { session, calls: nothing.figures.modelCalls, costs, changes };
}

async function play(
  { entries: recorded, preset, workspaceRoot = '/' }: Transcript,
  goesOn: (before: IContent | undefined) => boolean,
): Promise<ContextMeter['figures']> {
  const density = { ...preset, workspaceRoot };
  // Without timestamps: the run takes seconds, so no cache goes cold.
  const entries = recorded.map(({ speaker, blocks }) => ({ speaker, blocks }));
  const meter = new ContextMeter();
  // A new process has new objects for the same entries, but the meter compares by identity.
  const known = new Map<string, IContent>();
  const theOne = (entry: IContent): IContent => {
    const text = JSON.stringify(entry);
    const first = known.get(text) ?? entry;
    known.set(text, first);
    return first;
  };
  let compactor: Compactor | undefined;
  let session: Session | undefined;
  let told = 0;
  for (const [at, { speaker }] of entries.entries()) {
    if (speaker !== 'ai') continue;
    if (session !== undefined && goesOn(entries[at - 1])) {
      session.history.addAll(entries.slice(told, at));
    } else {
      await compactor?.close();
      compactor = createCompactor({
        offload: 'inline',
        tokenizer: 'estimate',
        contextLimit: CONTEXT_LIMIT,
      });
      const history = entries.slice(0, at);
      session = await compactor.createSession({ edits: 'batched', density, history });
    }
    told = at;
    await session.ensureCompressionBeforeSend(`call ${at}`);
    meter.send(session.history.getAll().map(theOne));
  }
  await compactor?.close();
  return meter.figures;
}

function render(measured: readonly Row[]): string {
  const names = Object.keys(LIVES);
  const table = new Table({
    head: ['session', 'calls', ...names, ...names.map((name) => `changes, ${name}`)],
    colAligns: ['left', 'right', ...[...names, ...names].map(() => 'right' as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { session, calls, costs, changes } of measured) {
    table.push([
      session.slice(-40),
      calls,
      ...names.map((name) => percentText(costs[name] ?? 0)),
      ...names.map((name) => changes[name] ?? 0),
    ]);
  }
  return `Cost of the input, with everything kept as 100 %; tokens are estimates.\n${table.toString()}`;
}
