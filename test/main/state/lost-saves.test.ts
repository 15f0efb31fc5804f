// A session whose store has another version than it knows: because the answer to a save was lost, or the store's data, or another branch of the conversation
// was saved under its name. It follows another process only if that was really faster.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { HistoryService } from '../../../src/main/history-service.js';
import type { Session } from '../../../src/main/session.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { Journal } from '../../../src/main/state/journal.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { switchToState } from '../../../src/main/state/resume.js';
import { StateKeeper } from '../../../src/main/state/state-keeper.js';
import type { SaveOutcome, StateStore, StoredState } from '../../../src/main/state/state-store.js';
import { TokenCalibration } from '../../../src/main/tokens/token-calibration.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

const LONG = 'a line of what was read '.repeat(40);

/** A turn that reads a file, which the next turn writes. */
function turn(at: number, branch = ''): IContent[] {
  const name = `${branch}${at}`;
  return at % 2 === 0
    ? historyOf(`h:"ask ${name}" a:r${name}(a.ts) t:r${name}("${LONG}") a:"done"`)
    : historyOf(`h:"ask ${name}" a:w${name}(a.ts) t:w${name} a:"done"`);
}

const EDITS = { edits: 'batched', minReclaimTokens: 300 } as const;

function open(store: StateStore | undefined, history: readonly IContent[] = []): Promise<Session> {
  const compactor = createCompactor({ store, offload: 'inline', tokenizer: 'estimate' });
  return compactor.createSession({ ...EDITS, sessionId: 'one', history });
}

async function send(session: Session, entries: readonly IContent[]): Promise<string> {
  session.history.addAll(entries);
  await session.ensureCompressionBeforeSend('p');
  return JSON.stringify(session.history.getAll().map(({ blocks }) => blocks));
}

async function sendAnew(session: Session, entries: readonly IContent[]): Promise<string> {
  await session.goOnWith([...(session.history.journal.added ?? []), ...entries]);
  return send(session, []);
}

/** What a session without a store sends. */
async function alone(turns: number, branchOf = (_at: number): string => ''): Promise<string[]> {
  const session = await open(undefined);
  const sent: string[] = [];
  for (let at = 0; at < turns; at += 1) sent.push(await send(session, turn(at, branchOf(at))));
  return sent;
}

/** A store in memory whose saves may be replaced. */
function fickleStore(
  save: (kept: StateStore, ...args: Parameters<StateStore['save']>) => Promise<SaveOutcome>,
): StateStore {
  const kept = memoryStore();
  return {
    load: (key) => kept.load(key),
    save: (...args) => save(kept, ...args),
    delete: (key) => kept.delete(key),
  };
}

afterEach(() => void vi.restoreAllMocks());

/** Stops the clock, so that a busy machine does not matter. */
function stopClock(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}

/** Lets the pause after a failure pass. */
function waitForStore(): void {
  const now = performance.now();
  vi.spyOn(performance, 'now').mockReturnValue(now + 60_000);
}

const TURNS = 14;

describe('a session with a store', () => {
  it('goes on from its own decisions when the answer to a save was lost', async () => {
    stopClock();
    let saves = 0;
    const store = fickleStore(async (kept, ...args) => {
      const outcome = await kept.save(...args);
      saves += 1;
      if (saves === 5) throw new Error('the connection was reset');
      return outcome;
    });
    const session = await open(store);
    const sent: string[] = [];
    for (let at = 0; at < TURNS; at += 1) {
      if (at === 9) waitForStore();
      sent.push(await send(session, turn(at)));
    }
    expect(sent).toEqual(await alone(TURNS));
    expect(session.costs().requests).toBe(TURNS);
    // Four turns were not saved, and one save was refused at first.
    expect(saves).toBe(TURNS - 4 + 1);
  });

  it('recognizes its own state when the store saved twice because the first answer was lost', async () => {
    let saves = 0;
    const store = fickleStore(async (kept, ...args) => {
      saves += 1;
      if (saves % 2 === 0) await kept.save(...args);
      return kept.save(...args);
    });
    const session = await open(store);
    const sent: string[] = [];
    for (let at = 0; at < TURNS; at += 1) sent.push(await send(session, turn(at)));
    expect(sent).toEqual(await alone(TURNS));
    expect(session.costs().requests).toBe(TURNS);
    expect(saves).toBe(TURNS);
  });

  it.each([
    ['goes on', send],
    ['is given its messages anew', sendAnew],
  ])('%s from its own decisions when the store has lost the last saves', async (_, sendTurn) => {
    let copy: StoredState | null = null;
    let version = 0;
    const store: StateStore = {
      load: async () => copy,
      save: async (_key, state, expected) => {
        if ((copy?.version ?? null) !== expected) return 'conflict';
        version += 1;
        copy = { state, version };
        return version;
      },
      delete: async () => undefined,
    };
    const session = await open(store);
    const sent: string[] = [];
    let backup: StoredState | null = null;
    for (let at = 0; at < TURNS; at += 1) {
      if (at === 4) backup = copy;
      if (at === 9) ({ version } = copy = backup!);
      sent.push(await sendTurn(session, turn(at)));
    }
    expect(sent).toEqual(await alone(TURNS));
    expect(session.costs().requests).toBe(TURNS);
  });

  it('keeps to its own branch when another one was saved under its name', async () => {
    const store = memoryStore();
    const fork = (branch: string) => (at: number) => (at < 4 ? '' : branch);
    const [left, right] = [await open(store), await open(store)];
    const [sentLeft, sentRight]: [string[], string[]] = [[], []];
    for (let at = 0; at < TURNS; at += 1) {
      sentLeft.push(await send(left, turn(at, fork('10')(at))));
      sentRight.push(await send(right, turn(at, fork('20')(at))));
    }
    expect(sentLeft).toEqual(await alone(TURNS, fork('10')));
    expect(sentRight).toEqual(await alone(TURNS, fork('20')));
    expect(left.costs().rewrites).toBeLessThan(TURNS / 2);
  });

  it('continues from the state of a faster process when the host returns to an earlier message', async () => {
    const store = memoryStore();
    const turns = Array.from({ length: TURNS }, (_, at) => turn(at));
    const earlier = [...turns.slice(0, TURNS / 2).flat(), humanText('something else')];
    const single = await open(undefined);
    for (const entries of turns) await send(single, entries);
    const slow = await open(store);
    for (const entries of turns.slice(0, -2)) await send(slow, entries);
    const fast = await open(store, turns.slice(0, -2).flat());
    for (const entries of turns.slice(-2)) await send(fast, entries);
    const goBack = async (session: Session): Promise<readonly unknown[]> => {
      await session.goOnWith(earlier);
      return [await send(session, []), session.costs()];
    };
    const expected = await goBack(single);
    expect(single.costs().requests).toBe(TURNS + 1);
    expect(await goBack(slow)).toEqual(expected);
  });

  // It is stored under the hash of its first 2, 4, 8, … entries, and so its key changes from time to time.
  it('follows a faster process across the change of key of a conversation without an id', async () => {
    const expected = await alone(TURNS);
    for (const period of [2, 3, 4, 5, 7]) {
      const store = memoryStore();
      const createSession = (): Promise<Session> =>
        createCompactor({ store, offload: 'inline', tokenizer: 'estimate' }).createSession(EDITS);
      const sessions = [await createSession(), await createSession()];
      const added = [0, 0];
      for (let at = 0; at < TURNS; at += 1) {
        const which = at % period === 0 ? 0 : 1;
        const fresh: IContent[] = [];
        for (; added[which]! <= at; added[which]! += 1) fresh.push(...turn(added[which]!));
        expect(await send(sessions[which]!, fresh), `every ${period}, turn ${at}`).toBe(
          expected[at],
        );
      }
    }
  });

  /** Sessions of a conversation without an id, each in a process of its own. */
  function processes(store: StateStore): (history: readonly IContent[]) => Promise<Session> {
    return (history) =>
      createCompactor({ store, offload: 'inline', tokenizer: 'estimate' }).createSession({
        ...EDITS,
        history,
      });
  }

  const turns = (to: number, branch = ''): IContent[] =>
    Array.from({ length: to }, (_, at) => turn(at, at === 2 ? branch : '')).flat();

  it('follows a process that saves first under the key which it is about to leave', async () => {
    let meanwhile: (() => Promise<unknown>) | undefined;
    const store = fickleStore(async (kept, ...save) => {
      const act = meanwhile;
      meanwhile = undefined;
      await act?.();
      return kept.save(...save);
    });
    const a = await processes(store)(turns(4));
    await send(a, []);
    const next = [
      humanText('and another question'),
      ...turn(5),
      ...turn(6),
      ...turn(7),
      ...turn(8),
    ];
    const b = await processes(store)(turns(4));
    meanwhile = () => send(b, next.slice(0, 1));
    await send(a, next);
    // Its own two requests, and that of the other process between them.
    expect(a.costs().requests).toBe(3);
  });

  it('keeps its state when another process has taken that along to another branch', async () => {
    const begin = processes(memoryStore());
    const [a, b] = [await begin(turns(4)), await begin(turns(4))];
    await send(a, []);
    await send(b, turn(4));
    await b.goOnWith(turns(5, '10'));
    await send(b, []);
    const sent = await send(a, turn(4));
    const c = await begin(turns(6));
    expect(c.costs().requests).toBe(a.costs().requests);
    expect((await send(c, [])).startsWith(sent.slice(0, -1))).toBe(true);
  });

  it('follows a faster process on another branch, even if it has saved its own state since', async () => {
    const begin = processes(memoryStore());
    const a = await begin(turns(4));
    await send(a, []);
    await send(await begin(turns(4)), turn(4));
    const c = await begin(turns(5, '10'));
    await send(c, []);
    await a.goOnWith(turns(5, '10'));
    await send(a, []);
    expect(a.snapshot().journal).toEqual(c.snapshot().journal);
    expect(a.costs().requests).toBe(c.costs().requests + 1);
  });

  it.each<[string, (at: number, name: string) => IContent[]]>([
    ['another conversation', turn],
    [
      'itself with another first message',
      (at, name) => (at === 0 ? [humanText(name), ...turn(at).slice(1)] : turn(at)),
    ],
  ])('goes on beside %s that has the same id', async (_, turnOf) => {
    const store = memoryStore();
    const names = ['1', '2'];
    const alone = await Promise.all(names.map(() => open(undefined)));
    const beside = [await open(store), await open(store)];
    for (let at = 0; at < 8; at += 1) {
      for (const [which, name] of names.entries()) {
        const [one, other] = [beside, alone].map((list) => list[which] as Session);
        const entries = turnOf(at, name);
        expect(await send(one as Session, entries)).toBe(await send(other as Session, entries));
      }
    }
    const third = await open(store, turnOf(0, '3'));
    expect(third.costs().requests > 0).toBe(turnOf !== turn);
  });

  it('uses a store again soon after a failure, however far the clock is set back', async () => {
    let saves = 0;
    const store = fickleStore((kept, ...args) => {
      saves += 1;
      return saves === 1 ? Promise.reject(new Error('gone')) : kept.save(...args);
    });
    const session = await open(store);
    await send(session, turn(0));
    waitForStore();
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000);
    await send(session, turn(1));
    expect(saves).toBe(2);
  });

  it('finds a conversation without an id in a store that returns undefined for missing keys', async () => {
    const kept = memoryStore();
    const store = { ...fickleStore((_, ...args) => kept.save(...args)) };
    store.load = async (key) => (await kept.load(key)) ?? (undefined as unknown as null);
    const compactor = createCompactor({ store, offload: 'inline', tokenizer: 'estimate' });
    const history = [turn(0), turn(1)].flat();
    const first = await compactor.createSession({ history: history.slice(0, 5) });
    await first.ensureCompressionBeforeSend('p');
    // Its first one, two, four or eight entries may identify it; it was saved under four.
    const second = await compactor.createSession({ history });
    expect(second.costs().requests).toBe(1);
  });
});

describe('a session whose store has unreadable states', () => {
  it('goes on without them', async () => {
    const unreadable = {
      version: 1,
      get state(): string {
        throw new Error('the row is gone');
      },
    };
    const save = vi.fn(async (): Promise<SaveOutcome> => 'conflict');
    const store = { ...fickleStore(save), load: async () => unreadable };
    const session = await open(store, turn(0));
    expect(await send(session, [])).toEqual((await alone(1))[0]);
    waitForStore();
    await send(session, turn(1));
    expect(save).toHaveBeenCalledOnce();
  });
});

describe('a session whose saves succeed without an answer', () => {
  it.each([1, 2])('does not follow its own former state (%i saves)', async (times) => {
    let isSlow = true;
    const kept = memoryStore();
    const store = fickleStore(async (_, ...args) => {
      const outcome = await kept.save(...args);
      if (isSlow) throw new Error('no answer within 1,000 ms');
      return outcome;
    });
    store.load = (key) => kept.load(key);
    const keeper = new StateKeeper({ store, conversationId: 'one', logger: SILENT_LOGGER });
    const journal = new Journal();
    for (let at = 1; at <= times; at += 1) {
      expect(await keeper.save({ at }, journal)).toBe('not-kept');
      keeper.endPause();
    }
    isSlow = false;
    expect(await keeper.loadNewer()).toBeUndefined();
    expect(await keeper.save({ at: 3 }, journal)).toBe('kept');
    const other = new StateKeeper({ store, conversationId: 'one', logger: SILENT_LOGGER });
    expect(await other.load([])).toEqual({ at: 3 });
  });
});

describe('a session whose state has expired', () => {
  // As in a swept directory: the first save after that starts at version 1 again.
  it('follows the process that has continued the conversation since, however high a version it knows', async () => {
    const store = memoryStore({ ttlMs: 1_000 });
    const [idle, other] = [0, 1].map(
      () => new StateKeeper({ store, conversationId: 'one', logger: SILENT_LOGGER }),
    ) as [StateKeeper, StateKeeper];
    const journal = new Journal();
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now);
    for (let at = now; at < now + 3; at += 1) await idle.save({ at }, journal);
    vi.spyOn(Date, 'now').mockReturnValue(now + 2_000);
    const newer = { at: now + 2_000, by: 'the other one' };
    expect(await other.save(newer, journal)).toBe('kept');
    expect(await idle.save({ at: now + 2_001 }, journal)).toEqual({ overtakenBy: newer });
    const late = new StateKeeper({ store, conversationId: 'one', logger: SILENT_LOGGER });
    await late.load([]);
    for (let times = 0; times < 3; times += 1) await late.save(newer, journal);
    vi.spyOn(Date, 'now').mockReturnValue(now + 4_000);
    const newest = { at: now + 4_000 };
    await other.save(newest, journal);
    expect(await late.loadNewer()).toEqual(newest);
  });
});

describe('a session beside a process whose clock is behind', () => {
  it('follows it, because the version counts', async () => {
    const store = memoryStore();
    const [one, other] = [0, 1].map(
      () => new StateKeeper({ store, conversationId: 'one', logger: SILENT_LOGGER }),
    ) as [StateKeeper, StateKeeper];
    const journal = new Journal();
    await one.save({ at: 5_000 }, journal);
    await other.load([]);
    await other.save({ at: 1_000 }, journal);
    expect(await one.save({ at: 6_000 }, journal)).toEqual({ overtakenBy: { at: 1_000 } });
  });
});

describe('switchToState', () => {
  const entries = [turn(0), turn(1)].flat();

  async function overtaken(): Promise<{ history: HistoryService; state: unknown }> {
    const winner = await open(memoryStore(), entries);
    const history = new HistoryService({ keepsAdded: true });
    history.addAll(entries);
    return { history, state: winner.snapshot() };
  }

  const switching = (history: HistoryService, state: unknown): Promise<boolean> => {
    const calibration = new TokenCalibration();
    const options = { state, calibration, toolCatalog: undefined };
    return switchToState(history, options, 0, (replace) => void replace());
  };

  it('brings back nothing that the host clears meanwhile', async () => {
    const { history, state } = await overtaken();
    const switched = switching(history, state);
    history.clear();
    history.add(humanText('a new conversation'));
    expect(await switched).toBe(false);
    expect(history.getAll()).toEqual([humanText('a new conversation')]);
  });

  it('keeps the content of a history that is closed meanwhile', async () => {
    const { history, state } = await overtaken();
    const switched = switching(history, state);
    history.add(humanText('the last one'));
    history.close();
    await expect(switched).rejects.toMatchObject({ code: 'CLOSED' });
    expect(history.getAll()).toEqual([...entries, humanText('the last one')]);
  });
});
