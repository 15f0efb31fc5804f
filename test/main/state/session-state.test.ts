// States that are broken, newer, of another history, or of one that has changed since.

import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import type { SessionState } from '../../../src/main/state/session-state.js';
import { openState, stateChecksum } from '../../../src/main/state/session-state.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';
import { historyOf } from '../../support/notation.js';

const COMPACTOR = { offload: 'inline', tokenizer: 'estimate', preset: 'specification' } as const;
const HISTORY = historyOf('h a:r1 t:r1 a:w2 t:w2 h a:r3(b.ts) t:r3 a:w4(b.ts) t:w4 h');

/** The state of a history with a preflight at each request, and what it sends. */
async function sent(history = HISTORY): Promise<{ state: SessionState; entries: IContent[] }> {
  await using compactor = createCompactor(COMPACTOR);
  const session = await compactor.createSession();
  for (let end = 1; end <= history.length; end += 5) {
    session.history.addAll(history.slice(end === 1 ? 0 : end - 5, end));
    await session.ensureCompressionBeforeSend(`at ${end}`);
  }
  return { state: session.snapshot(), entries: session.history.getAll() };
}

function estimatedTokens(entries: readonly IContent[]): number {
  return entries.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
}

/** Continues from a state, and returns the reported events. */
async function goOn(
  history: readonly IContent[],
  state: unknown,
): Promise<{ session: Session; events: readonly unknown[]; entries: readonly IContent[] }> {
  const compactor = createCompactor(COMPACTOR);
  const session = await compactor.createSession({ history, state: state as SessionState });
  const events: unknown[] = [];
  session.on('stateDiverged', (event) => events.push(event));
  session.on('stateRefused', ({ error }) => events.push(error.code));
  await new Promise((resolve) => setImmediate(resolve));
  const entries = session.history.getAll();
  await compactor.close();
  return { session, events, entries };
}

describe('createSession with a state', () => {
  it('starts with the history of the former session', async () => {
    const { state, entries } = await sent();
    const resumed = await goOn(structuredClone(HISTORY), JSON.parse(JSON.stringify(state)));
    expect(resumed.events).toEqual([]);
    expect(resumed.entries).toEqual(entries);
    expect(entries.length).toBeLessThan(HISTORY.length);
    expect(resumed.session.history.isCounted).toBe(true);
  });

  it('accepts a state whose keys a database has reordered', async () => {
    const { state, entries } = await sent();
    const reversed = (value: unknown): unknown =>
      typeof value !== 'object' || value === null || Array.isArray(value)
        ? value
        : Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, field]) => [key, reversed(field)]),
          );
    const { events, entries: resumed } = await goOn(HISTORY, reversed(state));
    expect(events).toEqual([]);
    expect(resumed).toEqual(entries);
  });

  it('adds new entries behind those of the state', async () => {
    const { state, entries } = await sent();
    const more = humanText('and more');
    const resumed = await goOn([...HISTORY, more], state);
    expect(resumed.entries).toEqual([...entries, more]);
    expect(resumed.events).toEqual([]);
  });

  it('continues with what was sent, if the host has stored that', async () => {
    const { state, entries } = await sent();
    const stored = structuredClone(entries);
    const { session, events, entries: resumed } = await goOn([...stored, humanText('more')], state);
    expect(events).toEqual([]);
    expect(resumed).toEqual([...stored, humanText('more')]);
    const { memory, standing, history } = session.snapshot();
    const { idleMs: _, ...now } = memory.sent;
    expect(state.memory.sent).toMatchObject(now);
    expect(memory.costs).toEqual(state.memory.costs);
    expect([standing, history.entries]).toEqual([undefined, stored.length + 1]);
    const differing = await goOn(stored.with(0, humanText('something else')), state);
    expect(differing.events).toMatchObject([{ reason: 'foreign' }]);
  });

  it('starts from a state that names no model', async () => {
    const { state, entries } = await sent();
    const { checksum: _, ...fields } = state;
    const older = { ...fields, model: null };
    const resumed = await goOn(HISTORY, { ...older, checksum: stateChecksum(older) });
    expect([resumed.events, resumed.entries]).toEqual([[], entries]);
  });

  it('reports the first changed entry, and keeps the edits in front of it', async () => {
    const { state } = await sent();
    const edited = [...HISTORY.slice(0, 6), ...historyOf('a h a h h')];
    const { events, entries } = await goOn(edited, state);
    expect(events).toEqual([{ reason: 'edited', entry: 6, followed: 1, left: 1 }]);
    expect(entries.at(-5)).toBe(edited[6]);
    expect(entries.length).toBe(edited.length - 2);
  });

  it('reports missing entries, and keeps the edits in front of them', async () => {
    const { state } = await sent();
    const { events, entries } = await goOn(HISTORY.slice(0, 8), state);
    expect(events).toEqual([{ reason: 'shortened', entry: 8, followed: 1, left: 1 }]);
    expect(entries).toEqual(
      (await goOn(HISTORY, state)).entries.slice(0, 4).concat(HISTORY.slice(6, 8)),
    );
  });

  it('reports missing entries also if all edits are in front of them', async () => {
    const history = [...HISTORY, ...historyOf('a h a h a')];
    const { state, entries } = await sent(history);
    const { session, events } = await goOn(history.slice(0, -1), state);
    expect(events).toMatchObject([{ reason: 'shortened', entry: history.length - 1, left: 0 }]);
    expect(session.snapshot().memory.sent.entries).toBeLessThan(entries.length);
  });

  it('knows the model of the former session', async () => {
    await using compactor = createCompactor(COMPACTOR);
    const history = [humanText('a long question '.repeat(2_000))];
    const former = await compactor.createSession({ history, overheadTokens: 0 });
    former.history.nameModel('claude-opus-5');
    await former.ensureCompressionBeforeSend('p');
    former.reportUsage({ inputTokens: 12_345 });
    const { session } = await goOn(history, former.snapshot());
    expect(session.history.modelName).toBe('claude-opus-5');
    expect(session.contextUsage().tokens).toBe(12_345);
  });

  it('counts as removed only what the edits have removed that it follows', async () => {
    const { state } = await sent();
    const rules = [['read-write', state.memory.sent.reclaimedTokens, 3]] as const;
    const costs = { ...state.memory.costs, dollars: { with: 1, without: 4, rules } };
    const { checksum: _, ...rest } = { ...state, memory: { ...state.memory, costs } };
    const priced = { ...rest, checksum: stateChecksum(rest) };
    for (const [given, isNone] of [
      [HISTORY.with(7, humanText('something else')), false],
      [HISTORY.slice(0, 8), false],
      [HISTORY.with(1, humanText('something else')), true],
    ] as const) {
      const { session, entries } = await goOn(given, priced);
      const { sent: now, costs: since } = session.snapshot().memory;
      expect(now.reclaimedTokens).toBe(estimatedTokens(given) - estimatedTokens(entries));
      expect(now.reclaimedTokens).toBeLessThan(state.memory.sent.reclaimedTokens);
      expect(now.reclaimedTokens === 0).toBe(isNone);
      expect(since.dollars?.rules).toEqual([['read-write', now.reclaimedTokens, 3]]);
    }
  });

  it('reports an edit that it cannot follow, and keeps those before it', async () => {
    const history = [...HISTORY, ...historyOf('a h a h a')];
    const { state, entries } = await sent(history);
    const unknown = Buffer.concat([Buffer.from(state.journal.records, 'base64'), Buffer.of(3, 0)]);
    const changed = {
      ...state,
      journal: { ...state.journal, records: unknown.toString('base64') },
    };
    const given = { ...changed, checksum: stateChecksum(changed) };
    const { session, events, entries: resumed } = await goOn(history, given);
    expect(events).toEqual([{ reason: 'not-followed', entry: 11, followed: 2, left: 1 }]);
    expect(resumed).toEqual(entries);
    expect(session.snapshot().memory.sent.intactEntries).toBe(0);
  });

  it('starts with all entries if the former session had none', async () => {
    const { state } = await sent([]);
    const { events, entries } = await goOn(HISTORY, state);
    expect(events).toEqual([]);
    expect(entries).toEqual(HISTORY);
  });

  it('lands a batch in a shortened history, however long the former one was', async () => {
    const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const long = historyOf('h a:r1(x.ts) t:r1 h h h h h h h h h h h h h h h h h');
    const options = { edits: 'batched', minReclaimTokens: 1, cacheTtlMs: 3_600_000 } as const;
    const former = await compactor.createSession({ ...options, history: long });
    await former.ensureCompressionBeforeSend('long');
    const history = [...long.slice(0, 4), ...historyOf('a:w2(x.ts) t:w2 h')];
    const session = await compactor.createSession({
      ...options,
      history,
      state: former.snapshot(),
    });
    const { pruned } = await session.ensureCompressionBeforeSend('short');
    expect(pruned?.metadata.readWritePairsPruned).toBe(1);
    await compactor.close();
  });

  it('counts as sent only what is left as it was sent', async () => {
    const { state } = await sent();
    const { session, entries } = await goOn(HISTORY.with(7, humanText('something else')), state);
    const { intactEntries } = session.snapshot().memory.sent;
    expect(intactEntries).toBeLessThanOrEqual(entries.length - 4);
    expect(intactEntries).toBeLessThan(state.memory.sent.intactEntries);
  });

  it('knows the time since the last request, whatever process has sent it', async () => {
    const { state } = await sent();
    const { checksum: _, ...rest } = { ...state, at: state.at - 3_600_000 };
    const old = { ...rest, checksum: stateChecksum(rest) };
    const { session, events } = await goOn(HISTORY, old);
    expect(events).toEqual([]);
    expect(session.snapshot().memory.sent.idleMs).toBeGreaterThanOrEqual(3_600_000);
  });

  it.each(['a:r1 t:r1 a:w2 t:w2', 'h:"another"'])(
    'follows no edit of another history: %s',
    async (given) => {
      const { state } = await sent();
      const other = historyOf(given);
      const { session, events, entries } = await goOn(other, state);
      expect(events).toEqual([{ reason: 'foreign', entry: 0, followed: 0, left: 2 }]);
      expect(entries).toEqual(other);
      expect(session.costs().requests).toBe(0);
    },
  );

  it.each([
    ['of a newer version', (state: SessionState) => ({ ...state, version: 2 }), 'STATE_TOO_NEW'],
    [
      'with a changed number',
      (state: SessionState) => ({ ...state, at: state.at + 1 }),
      'STATE_BROKEN',
    ],
    [
      'with invalid base64',
      ({ journal, ...state }: SessionState) => {
        const changed = { ...state, journal: { ...journal, records: `${journal.records}!` } };
        return { ...changed, checksum: stateChecksum(changed) };
      },
      'STATE_BROKEN',
    ],
    [
      'with fewer hashes than entries',
      ({ history, ...state }: SessionState) => {
        const changed = { ...state, history: { ...history, entries: history.entries + 1 } };
        return { ...changed, checksum: stateChecksum(changed) };
      },
      'STATE_BROKEN',
    ],
    ['that is a string', () => 'state', 'STATE_BROKEN'],
    ['that is an empty object', () => ({}), 'STATE_BROKEN'],
    [
      'that lacks one half',
      ({ version, tokens }: SessionState) => ({ version, tokens }),
      'STATE_BROKEN',
    ],
  ])('refuses one %s, and starts without it', async (_, change, code) => {
    const { state } = await sent();
    const { events, entries } = await goOn(HISTORY, change(state));
    expect(events).toEqual([code]);
    expect(entries).toEqual(HISTORY);
  });

  it('has no text of the history', async () => {
    const secret = 'the-secret-of-the-history';
    const { state } = await sent([humanText(secret), ...HISTORY]);
    expect(JSON.stringify(state)).not.toContain(secret);
    expect(openState(state).digests.entries).toBe(HISTORY.length + 1 - (HISTORY.length % 5));
  });
});

describe('createSession without a state or a store', () => {
  it('goes on from the closed session of the same process that had most of the entries', async () => {
    await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const requestsOf = async (
      history: readonly IContent[],
      edits: 'auto' | 'every-turn',
      preflights: number,
    ): Promise<number> => {
      const session = await compactor.createSession({ history, edits });
      const { requests } = session.costs();
      for (let made = 0; made < preflights; made += 1)
        await session.ensureCompressionBeforeSend('p');
      await session.close();
      return requests;
    };
    const [other, more] = [historyOf('h:other a h'), [...HISTORY, humanText('and more')]];
    expect(await requestsOf(other, 'every-turn', 1)).toBe(0);
    expect(await requestsOf(other, 'auto', 0)).toBe(0);
    expect(await requestsOf(HISTORY, 'auto', 1)).toBe(0);
    expect(await requestsOf(structuredClone(HISTORY), 'auto', 1)).toBe(1);
    expect(await requestsOf(more, 'auto', 3)).toBe(2);
    expect(await requestsOf([...more, humanText('and more')], 'auto', 0)).toBe(5);
    expect(await requestsOf(more.slice(1), 'auto', 0)).toBe(0);
  });
});

describe('Session.goOnWith', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'entries'],
    ['an entry without a valid speaker', [HISTORY[0], { speaker: 'nobody', blocks: [] }]],
    [
      'an invalid entry far behind the known ones',
      [...HISTORY, ...Array(200).fill(humanText('more')), 7],
    ],
  ])('refuses %s, and changes nothing', async (_, entries) => {
    await using compactor = createCompactor(COMPACTOR);
    const session = await compactor.createSession({ history: HISTORY });
    await session.ensureCompressionBeforeSend('p');
    const former = session.history.getAll();
    await expect(session.goOnWith(entries as IContent[])).rejects.toThrow(TypeError);
    expect(session.history.getAll()).toEqual(former);
    await session.close();
    await expect(session.goOnWith([])).rejects.toMatchObject({ code: 'CLOSED' });
    expect(session.history.getAll()).toEqual(former);
  });

  it('keeps what reports have taught about the tokens besides the history', async () => {
    await using compactor = createCompactor(COMPACTOR);
    const session = await compactor.createSession({ history: HISTORY });
    await session.ensureCompressionBeforeSend('p');
    session.reportUsage({ inputTokens: session.history.getTotalTokens() + 27_000 });
    await session.goOnWith([humanText('something else')]);
    await session.ensureCompressionBeforeSend('p');
    const ownTokens = session.history.getTotalTokens();
    expect(session.contextUsage().tokens - ownTokens).toBe(27_000);
    const other = await compactor.createSession({
      history: [humanText('something else')],
      state: session.snapshot(),
    });
    expect(other.contextUsage().tokens - other.history.getTotalTokens()).toBe(27_000);
  });

  it("does not count the host's change of sent entries as its own rewrite, wherever that begins", async () => {
    await using compactor = createCompactor({ ...COMPACTOR, preset: 'specification' });
    const history = Array.from({ length: 40 }, (_, at) => humanText(`entry ${at} `.repeat(50)));
    for (const [changed, keeps] of [
      [1, false],
      [30, true],
    ] as const) {
      const session = await compactor.createSession({ history });
      await session.ensureCompressionBeforeSend('p');
      await session.history.waitForTokenUpdates();
      const before = session.costs();
      await session.goOnWith(history.with(changed, humanText('another one')));
      await session.ensureCompressionBeforeSend('q');
      const { rewrites, requests, cacheReadTokens, uncompacted } = session.costs();
      expect([requests, rewrites]).toEqual([before.requests + 1, 0]);
      expect(uncompacted.cacheReadTokens).toBe(cacheReadTokens);
      const kept = cacheReadTokens / before.sentTokens;
      if (keeps) expect(kept).toBeCloseTo(0.75, 1);
      else expect(kept).toBe(0);
    }
  });

  it('has a preflight that is started at once see all new entries', async () => {
    await using compactor = createCompactor(COMPACTOR);
    const session = await compactor.createSession({ history: HISTORY });
    const others = Array.from({ length: 300 }, (_, at) => humanText(`entry ${at}`));
    void session.goOnWith(others);
    await session.ensureCompressionBeforeSend('p');
    expect(session.history.getAll()).toEqual(others);
    expect(session.snapshot().memory.sent.entries).toBe(others.length);
  });
});
