// Sessions as subjects: growing histories, preflights, compressions by each strategy, the turn loop, and recall from removal
// logs.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  COMPRESSION_STRATEGIES,
  createCompactor,
  estimateEntryTokens,
  HistoryService,
  isToolResponseBlock,
  CtxfoldError,
} from '../../src/index.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import { listRemoved, readRemovals, restore } from '../../src/removal-log.js';
import { TurnLoop } from '../../src/turn-loop.js';
import type {
  Compactor,
  CompactorOptions,
  CompressionStrategyName,
  IContent,
  Summarizer,
  Session,
} from '../../src/index.js';
import type { ChatChunk } from '../../src/turn-loop.js';
import type { Subject } from './subject.js';

const SUMMARIZER: Summarizer = {
  contextLimit: 1_000_000_000,
  generate: () =>
    Promise.resolve({
      text: '<state_snapshot>so</state_snapshot>',
      finishReason: 'stop',
    }),
};

/** Compactors to close when a subject is done. */
const open: Compactor[] = [];

async function finish(): Promise<void> {
  await Promise.all(open.splice(0).map((compactor) => compactor.close()));
}

/** Makes a session whose history is too large for its window. */
async function sessionOf(
  history: readonly IContent[],
  options: CompactorOptions = {},
): Promise<Session> {
  const tokens = history.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: Math.max(1_000, tokens >> 1),
    summarizer: SUMMARIZER,
    ...options,
    settings: {
      'compression.density.recencyPruning': true,
      'compression.density.placeholder': 'informative',
      ...options.settings,
    },
  });
  open.push(compactor);
  const session = await compactor.createSession({
    history,
    density: {
      workingSet: DEFAULT_WORKING_SET,
      inclusionSyntaxes: ['delimited', 'referenced-files'],
    },
  });
  // Reads are only tracked with a listener.
  session.on('removed', () => undefined);
  return session;
}

/** Some shapes cannot be compressed or made to fit. Failing takes its time as well. */
async function asFarAsPossible(work: Promise<unknown>): Promise<void> {
  await work.catch((thrown: unknown) => {
    if (!(thrown instanceof CtxfoldError)) throw thrown;
  });
}

function compressionBy(strategy: CompressionStrategyName): Subject {
  return {
    name: `compression by ${strategy}`,
    prepare: async (history) => {
      const session = await sessionOf(history, { settings: { 'compression.strategy': strategy } });
      return () => asFarAsPossible(session.performCompression('prompt'));
    },
    finish,
  };
}

function windowIn(offload: 'inline' | 'snapshot' | 'resident'): Subject {
  return {
    name: `the window of a session, ${offload}`,
    prepare: async (history) => {
      const session = await sessionOf(history, { offload });
      return () => asFarAsPossible(session.ensureCompressionBeforeSend('prompt', 0));
    },
    finish,
    isTimedOnly: offload !== 'inline',
  };
}

const directories: string[] = [];

/** Writes a log of what a session removes, and returns the file. */
async function recordOf(history: readonly IContent[]): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ctxfold-scaling-'));
  directories.push(directory);
  const path = join(directory, 'removals.jsonl');
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    settings: { 'compression.density.recencyPruning': true },
  });
  open.push(compactor);
  const session = await compactor.createSession({ history, removalLogPath: path });
  await session.ensureDensityOptimized();
  await finish();
  return path;
}

async function removeDirectories(): Promise<void> {
  await Promise.all(
    directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true })),
  );
}

function ofRecord(
  name: string,
  work: (path: string, history: readonly IContent[]) => Promise<unknown>,
): Subject {
  return {
    name,
    prepare: async (history) => {
      const path = await recordOf(history);
      return () => asFarAsPossible(work(path, history));
    },
    finish: removeDirectories,
    isTimedOnly: true,
    shapes: ['a working session', 'one id for all', 'two ids in turn', 'nested', 'parallel calls'],
  };
}

function firstCallId(history: readonly IContent[]): string {
  return history.flatMap(({ blocks }) => blocks).find(isToolResponseBlock)?.callId ?? '';
}

async function exhaust(path: string): Promise<void> {
  for await (const _ of readRemovals(path)) continue;
}

const EVERY_SESSION = { acrossSessions: true } as const;

export const SESSION_SUBJECTS: readonly Subject[] = [
  {
    name: 'HistoryService, entry by entry',
    prepare: (history) => () => {
      const service = new HistoryService();
      for (const entry of history) service.add(entry);
      service.getCurated();
      return service.getAll();
    },
  },
  {
    name: 'tokens of a session, counted',
    prepare: async (history) => {
      const session = await sessionOf([], { tokenizer: 'o200k' });
      return () => session.history.countEach(history);
    },
    finish,
    isTimedOnly: true,
    shapes: ['a working session', 'one giant result', 'one giant text', 'the same said again'],
  },
  windowIn('inline'),
  windowIn('snapshot'),
  windowIn('resident'),
  ...COMPRESSION_STRATEGIES.map(compressionBy),
  {
    name: 'TurnLoop, one answer of many calls',
    prepare: async (history) => {
      const session = await sessionOf([], { contextLimit: 1_000_000_000 });
      const calls = history.flatMap(({ blocks }) =>
        blocks.flatMap((block) => (block.type === 'tool_call' ? [block] : [])),
      );
      const model = { stream: () => answerWith(calls) };
      const loop = new TurnLoop({ session, model, tools: {}, maxModelCalls: 1 });
      return () => loop.sendMessage('Begin.');
    },
    finish,
    shapes: ['parallel calls'],
  },
  ofRecord('readRemovals', exhaust),
  ofRecord('listRemoved', (path) => listRemoved(path, EVERY_SESSION)),
  ofRecord('restore', (path, history) => restore(path, firstCallId(history), EVERY_SESSION)),
];

async function* answerWith(
  calls: readonly (ChatChunk & { readonly type: 'tool_call' })['call'][],
): AsyncGenerator<ChatChunk> {
  await Promise.resolve();
  for (const call of calls) {
    yield { type: 'text', text: 'so ' };
    yield { type: 'tool_call', call };
  }
}
