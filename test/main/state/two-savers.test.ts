// Two processes at one conversation, with all operations of their shared store in an order that a scheduler chooses.

import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { HistoryService } from '../../../src/main/history-service.js';
import type { Session } from '../../../src/main/session.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import type { IContent } from '../../../src/shared/content.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { runs } from '../../support/scale.js';

/** The entries of a turn, which reads a file, or writes it. */
function entriesOf(turn: number): IContent[] {
  const path = `src/file-${turn % 2}.ts`;
  const isRead = turn % 2 === 0;
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at} as turn ${turn} has it`);
  const [name, result] = isRead ? ['read_file', lines.join('\n')] : ['write_file', 'written'];
  const parameters = isRead ? { path: 'src/file.ts' } : { path: 'src/file.ts', content: path };
  return [
    { speaker: 'human', blocks: [{ type: 'text', text: `ask ${turn}.` }] },
    { speaker: 'ai', blocks: [{ type: 'tool_call', id: `c${turn}`, name: name, parameters }] },
    {
      speaker: 'tool',
      blocks: [{ type: 'tool_response', callId: `c${turn}`, toolName: name, result }],
    },
    { speaker: 'ai', blocks: [{ type: 'text', text: 'done' }] },
  ];
}

/** A process: the history it was given, and its session once it has one. */
class Process {
  readonly #compactor;
  readonly #sessionId: string | undefined;
  #session: Session | undefined;
  #turns = 0;
  #reports = 0;

  constructor(store: StateStore | undefined, sessionId: string | undefined) {
    this.#sessionId = sessionId;
    this.#compactor = createCompactor({ store, offload: 'inline', tokenizer: 'estimate' });
  }

  /** Adds all turns up to this one; returns what it sends then. */
  async send(turn: number): Promise<string> {
    const fresh: IContent[] = [];
    for (; this.#turns <= turn; this.#turns += 1) fresh.push(...entriesOf(this.#turns));
    if (this.#session === undefined) {
      const sessionId = this.#sessionId;
      const options = { edits: 'batched', minReclaimTokens: 0, history: fresh } as const;
      this.#session = await this.#compactor.createSession({ ...options, sessionId });
    } else this.#session.history.addAll(fresh);
    await this.#session.ensureCompressionBeforeSend(`turn ${turn}`, 0, 'test');
    const sent = this.#session.history.getRawHistory();
    expect(
      validate(
        [...sent, { speaker: 'human', blocks: [{ type: 'text', text: 'on' }] }],
        'anthropic',
      ),
    ).toEqual([]);
    return JSON.stringify(sent.map(({ speaker, blocks }) => ({ speaker, blocks })));
  }

  /** Reports the usage of the last answer, which changes what is learned each time. */
  report(): void {
    const session = this.#session;
    this.#reports += 1;
    const inputTokens = (1 + (this.#reports % 2)) * (session?.history.getTotalTokens() ?? 0);
    session?.reportUsage({ inputTokens });
  }

  close(): Promise<void> {
    return this.#compactor.close();
  }
}

/** Has a scheduler decide when each operation of a store is done. */
function scheduled(store: StateStore, scheduler: fc.Scheduler, saved: string[]): StateStore {
  const later = <Result>(what: string, act: () => Promise<Result>): Promise<Result> =>
    scheduler.schedule(Promise.resolve(), what).then(act);
  return {
    load: (key) => later('load', () => store.load(key)),
    save: (key, state, version) =>
      later('save', async () => {
        const outcome = await store.save(key, state, version);
        if (outcome !== 'conflict') saved.push(state);
        return outcome;
      }),
    delete: (key) => later('delete', () => store.delete(key)),
  };
}

const TURNS = 6;

describe.each([
  ['with an id', 'one'],
  ['found by its first entries', undefined],
])('two processes at one conversation %s', (_, sessionId) => {
  it('send what one process would, in whatever order they load and save', async () => {
    const single = new Process(undefined, sessionId);
    const expected: string[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) expected.push(await single.send(turn));
    await single.close();
    // Something is removed at all.
    expect(new Set(expected.map((text) => text.includes('line 1 as turn 0')))).toContain(false);
    const who = fc.record({
      at: fc.constantFrom([0], [1], [0, 1], [1, 0]),
      reports: fc.constantFrom('none', 'at once', 'late'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(who, { minLength: TURNS, maxLength: TURNS }),
        async (scheduler, plan) => {
          const saved: string[] = [];
          const store = memoryStore();
          const processes = [0, 1].map(
            () => new Process(scheduled(store, scheduler, saved), sessionId),
          );
          let late: readonly Process[] = [];
          for (const [turn, { at, reports }] of plan.entries()) {
            const sending = Promise.all(at.map((which) => processes[which]!.send(turn)));
            for (const process of late) process.report();
            late = [];
            const sent = await scheduler.waitFor(sending);
            for (const text of sent) expect(text).toBe(expected[turn]);
            const asked = at.map((which) => processes[which]!);
            if (reports === 'late') late = asked;
            if (reports === 'at once') for (const process of asked) process.report();
          }
          // No saved record is removed again, and none is saved twice.
          const records = saved.map(
            (state) =>
              (JSON.parse(state) as { readonly journal: { readonly records: string } }).journal
                .records,
          );
          for (const [at, later] of records.entries()) {
            const former = records[at - 1] ?? '';
            expect(later.startsWith(former.replace(/.{4}$|=+$/, ''))).toBe(true);
          }
          await scheduler.waitFor(Promise.all(processes.map((one) => one.close())));
        },
      ),
      { numRuns: runs(200, 8) },
    );
  });
});

it('nothing is saved where a conversation was before another process continued it', async () => {
  const memory = memoryStore();
  const gone = new Set<string>();
  const again: string[] = [];
  const store: StateStore = {
    load: (key) => memory.load(key),
    save: async (key, state, version) => {
      const outcome = await memory.save(key, state, version);
      if (gone.has(key) && outcome !== 'conflict') again.push(key);
      return outcome;
    },
    delete: (key) => {
      gone.add(key);
      return memory.delete(key);
    },
  };
  const [one, other] = [new Process(store, undefined), new Process(store, undefined)];
  await one.send(1);
  await other.send(3);
  expect(gone.size).toBe(1);
  one.report();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  await one.send(4);
  expect(again).toEqual([]);
  await Promise.all([one.close(), other.close()]);
});

describe('a session that continues what another process has saved', () => {
  it('keeps no watcher of its former history', async () => {
    const store = memoryStore();
    const processes = [new Process(store, 'one'), new Process(store, 'one')];
    // Each history has one watcher for the key of the entries left after its edits.
    for (let turn = 0; turn < TURNS; turn += 1) await processes[turn % 2]!.send(turn);
    const watched = vi.spyOn(HistoryService.prototype, 'watch');
    const goesOn = vi.spyOn(HistoryService.prototype, 'goOn');
    onTestFinished(() => {
      watched.mockRestore();
      goesOn.mockRestore();
    });
    for (let turn = TURNS; turn < 2 * TURNS; turn += 1) await processes[turn % 2]!.send(turn);
    expect(goesOn).toHaveBeenCalled();
    expect(watched).not.toHaveBeenCalled();
    for (const process of processes) await process.close();
  });

  it('sends what it has prepared, after it has lost every race', async () => {
    const store = memoryStore();
    const former = new Process(store, 'one');
    await former.send(0);
    await former.close();
    let version = 100;
    const racing: StateStore = {
      ...store,
      load: async (key) => {
        const stored = await store.load(key);
        return stored && { ...stored, version: (version += 1) };
      },
      save: () => Promise.resolve('conflict'),
    };
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', store: racing },
    });
    const history = [0, 1, 2, 3].flatMap(entriesOf);
    const options = { edits: 'every-turn', history, sessionId: 'one' } as const;
    const session = await compactor.createSession(options);
    const { pruned, totalTokens } = await session.ensureCompressionBeforeSend('p1');
    expect(pruned?.changes).not.toEqual([]);
    expect(session.history.getTotalTokens()).toBe(totalTokens);
    expect(session.history.length).toBeLessThan(history.length);
  });
});
