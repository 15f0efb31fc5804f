// A conversation handled by many processes is sent exactly as by one long-lived process. For each policy and strategy,
// compactors that share only a store stand in for processes; some tests use real ones.

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createCompactor } from 'ctxfold';
import type { Compactor, CompactorOptions, IContent } from 'ctxfold';
import { memoryStore } from 'ctxfold/state';
import type { StateStore } from 'ctxfold/state';
import { validate } from 'ctxfold/validate';
import { describe, expect, it } from 'vitest';
import { length, sample } from '../support/scale.js';

const REQUESTS = length(40, 10);
const POLICIES = ['auto', 'append-only', 'batched', 'at-birth', 'every-turn'] as const;
const STRATEGIES = ['high-density', 'top-down-truncation', 'middle-out', 'one-shot'] as const;

const SUMMARIZER = {
  contextLimit: 100_000,
  generate: async () => ({
    text: '<state_snapshot>what was done</state_snapshot>',
    finishReason: 'stop' as const,
  }),
};

/** The entries added before each request: files are read, written and read again. */
function turns(): readonly (readonly IContent[])[] {
  const history: IContent[][] = [];
  for (let turn = 0; turn < REQUESTS; turn += 1) {
    const path = `src/file-${turn % 4}.ts`;
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at} as turn ${turn} has it`);
    const isRead = turn % 3 !== 2;
    const parameters = isRead ? { path } : { path, content: `new ${turn}` };
    const name = isRead ? 'read_file' : 'write_file';
    const result = isRead ? lines.join('\n') : 'written';
    const entries: IContent[] = [
      { speaker: 'ai', blocks: [{ type: 'tool_call', id: `c${turn}`, name, parameters }] },
      {
        speaker: 'tool',
        blocks: [{ type: 'tool_response', callId: `c${turn}`, toolName: name, result }],
      },
    ];
    if (turn % 8 === 0)
      entries.unshift({ speaker: 'human', blocks: [{ type: 'text', text: `ask ${turn}` }] });
    history.push(entries);
  }
  return history;
}

type Play = (edits: (typeof POLICIES)[number], options: CompactorOptions) => Promise<string[]>;

/** Plays all requests. `of` assigns them to processes; `Infinity` means a new one each time. */
function playedBy(processes: number): Play {
  return async (edits, options) => {
    const store: StateStore | undefined = processes === 1 ? undefined : memoryStore();
    const open = new Map<number, Awaited<ReturnType<Compactor['createSession']>>>();
    const compactors: Compactor[] = [];
    const given: IContent[] = [];
    const sent: string[] = [];
    for (const [turn, entries] of turns().entries()) {
      const which = processes === Infinity ? turn : turn % processes;
      given.push(...(structuredClone(entries) as IContent[]));
      let session = open.get(which);
      if (session === undefined) {
        const compactor = createCompactor({ ...options, store, offload: 'inline' });
        compactors.push(compactor);
        session = await compactor.createSession({ sessionId: 'one', edits, history: given });
        open.set(which, session);
      } else {
        session.history.addAll(given.slice(session.history.journal.length));
      }
      await session.ensureCompressionBeforeSend(`request ${turn}`, 0, 'test');
      const history = session.history.getRawHistory();
      expect(validate(history, 'anthropic')).toEqual([]);
      sent.push(JSON.stringify(history.map(({ speaker, blocks }) => ({ speaker, blocks }))));
      if (processes === Infinity) await compactors.at(-1)?.close();
    }
    await Promise.all(compactors.map((compactor) => compactor.close()));
    return sent;
  };
}

describe('a conversation that goes through processes with a store', () => {
  describe.each(POLICIES)('with edits: %s', (edits) => {
    it.each(STRATEGIES)('is sent as by one that never ends, by %s', async (strategy) => {
      const options: CompactorOptions = {
        contextLimit: 6_000,
        tokenizer: 'estimate',
        summarizer: SUMMARIZER,
        settings: { 'compression.strategy': strategy, 'compression.ahead': 1 },
      };
      const expected = await playedBy(1)(edits, options);
      for (const processes of [2, Infinity]) {
        const sent = await playedBy(processes)(edits, options);
        const differing = sent.flatMap((text, turn) => (text === expected[turn] ? [] : [turn]));
        expect({ processes, differing }).toEqual({ processes, differing: [] });
      }
    });
  });
});

const SERVE = fileURLToPath(new URL('../support/serve-request.js', import.meta.url));

/** What a separate process sends for each request, with a shared directory. */
async function playedByProcesses(
  edits: (typeof POLICIES)[number],
  options: CompactorOptions,
  requests: number,
): Promise<string[]> {
  const store = await mkdtemp(join(tmpdir(), 'ctxfold-processes-'));
  try {
    const given: IContent[] = [];
    const sent: string[] = [];
    for (const [turn, entries] of turns().slice(0, requests).entries()) {
      given.push(...entries);
      const child = promisify(execFile)(process.execPath, [SERVE], { timeout: 120_000 });
      child.child.stdin?.end(JSON.stringify({ options, store, edits, turn, history: given }));
      sent.push((await child).stdout);
    }
    return sent;
  } finally {
    await rm(store, { recursive: true, force: true });
  }
}

describe('a conversation of which each request has a process of its own', () => {
  // Functions cannot be passed to a process, so the tests above play strategies that call a model.
  const plays = POLICIES.map(
    (edits, at) => [edits, at % 2 === 0 ? 'high-density' : 'top-down-truncation'] as const,
  );

  it.each(sample(plays, 1))(
    'is sent as by one process, with edits: %s, by %s',
    async (edits, strategy) => {
      const options: CompactorOptions = {
        contextLimit: 3_000,
        tokenizer: 'estimate',
        settings: { 'compression.strategy': strategy },
      };
      const requests = length(REQUESTS, 6);
      const expected = await playedBy(1)(edits, options);
      const sent = await playedByProcesses(edits, options, requests);
      expect(sent).toEqual(expected.slice(0, requests));
    },
  );
});
