// Servers with two versions of this library at one conversation, as during an update: the older ones cannot read what the newer ones save, and must not
// overwrite it.

import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import type { Session } from '../../../src/main/session.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore, StoredState } from '../../../src/main/state/state-store.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

const LONG = 'a line of what was read '.repeat(40);

function turn(at: number): readonly IContent[] {
  const call = at % 2 === 0 ? `a:r${at}(a.ts) t:r${at}("${LONG}")` : `a:w${at}(a.ts) t:w${at}`;
  return historyOf(`h:"ask ${at}" ${call} a:done`);
}

/** The store as a newer version sees it: its states have another version number. */
function seenByNewer(store: StateStore): StateStore {
  const withVersion = (state: string, version: number): string =>
    JSON.stringify({ ...(JSON.parse(state) as object), version });
  return {
    load: async (key) => {
      const stored = await store.load(key);
      return stored && { ...stored, state: withVersion(stored.state, 1) };
    },
    save: (key, state, version) => store.save(key, withVersion(state, 2), version),
    delete: (key) => store.delete(key),
  };
}

class Fleet {
  readonly history: IContent[] = [];
  readonly warn = vi.fn();
  readonly older: StateStore = memoryStore();
  readonly newer: StateStore = seenByNewer(this.older);

  open(store: StateStore): Promise<Session> {
    const logger = { ...SILENT_LOGGER, warn: this.warn };
    const compactor = createCompactor({
      ...{ store, logger, offload: 'inline', tokenizer: 'estimate', contextLimit: 128_000 },
    });
    const history = [...this.history];
    return compactor.createSession({ edits: 'every-turn', sessionId: 'one', history });
  }

  /** Serves one turn with this session, or with a new process. */
  async send(by: Session | StateStore): Promise<string> {
    this.history.push(...turn(this.history.length / 4));
    const isOpen = 'history' in by;
    const session = isOpen ? by : await this.open(by);
    if (isOpen) session.history.addAll(this.history.slice(session.history.journal.length));
    await session.ensureCompressionBeforeSend('p');
    const sent = JSON.stringify(session.history.getAll().map(({ blocks }) => blocks));
    if (!isOpen) await session.close();
    return sent.slice(0, -1);
  }

  stored(): Promise<StoredState | null> {
    return this.older.load(`named-${hash('sha256', 'one')}`);
  }
}

afterEach(() => void vi.restoreAllMocks());

describe('a server of an older version', () => {
  it('does not overwrite the states of newer ones, whether it runs for long or for one request', async () => {
    const fleet = new Fleet();
    const long = await fleet.open(fleet.older);
    await fleet.send(long);
    let edits = 0;
    for (let round = 0; round < 4; round += 1) {
      const sent = await fleet.send(fleet.newer);
      const state = await fleet.stored();
      expect(JSON.parse(state!.state)).toMatchObject({ version: 2 });
      await fleet.send(long);
      await fleet.send(fleet.older);
      expect(await fleet.stored()).toEqual(state);
      // So a newer server continues from all decisions of newer servers.
      const again = await fleet.open(fleet.newer);
      expect(again.history.journal.count).toBeGreaterThanOrEqual(edits);
      edits = again.history.journal.count;
      expect(sent.length).toBeGreaterThan(0);
      await again.close();
    }
    expect(edits).toBeGreaterThan(1);
    const codes = fleet.warn.mock.calls.map(([, { error }]) => (error as { code: string }).code);
    // Once per session.
    expect(codes).toEqual(Array.from({ length: 5 }, () => 'STATE_TOO_NEW'));
  });

  it('refuses such a state once per session, and saves over it an hour after the last newer server', async () => {
    const fleet = new Fleet();
    await fleet.send(fleet.newer);
    const session = await fleet.open(fleet.older);
    const refused = vi.fn();
    session.on('stateRefused', refused);
    for (let at = 0; at < 3; at += 1) await fleet.send(session);
    await nextTurn();
    expect(refused).toHaveBeenCalledTimes(1);
    const now = Date.now();
    vi.spyOn(Date, 'now').mockReturnValue(now + 3_600_001);
    await fleet.send(session);
    expect(JSON.parse((await fleet.stored())!.state)).toMatchObject({ version: 1 });
    expect(fleet.warn).toHaveBeenCalledTimes(1);
  });
});
