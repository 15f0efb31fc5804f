// An attacker with write access to a store tries to make a session send content that its host never sent, or content of
// another conversation.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/main/compactor.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import { stateChecksum } from '../../src/main/state/session-state.js';
import type { SessionState } from '../../src/main/state/session-state.js';
import type { IContent } from '../../src/shared/content.js';
import { validate } from '../../src/shared/providers/validate.js';
import { pairs, runs } from '../support/scale.js';

/** A conversation in which files are read and written, with its name in every text. */
function conversation(name: string, turns: number = 8): IContent[] {
  return Array.from({ length: turns }, (_, turn): IContent[] => {
    const isRead = turn % 2 === 0;
    const toolName = isRead ? 'read_file' : 'write_file';
    const lines = Array.from({ length: 40 }, (_line, at) => `${name}: line ${at} of ${turn}`);
    const result = isRead ? lines.join('\n') : `${name} written`;
    const parameters = { path: 'a.ts', ...(!isRead && { content: name }) };
    const id = `${name}-${turn}`;
    return [
      { speaker: 'human', blocks: [{ type: 'text', text: `${name} asks ${turn}` }] },
      { speaker: 'ai', blocks: [{ type: 'tool_call', id, name: toolName, parameters }] },
      { speaker: 'tool', blocks: [{ type: 'tool_response', callId: id, toolName, result }] },
    ];
  }).flat();
}

const SESSION = { sessionId: 'mine', edits: 'every-turn' } as const;

async function stateOf(history: readonly IContent[]): Promise<SessionState> {
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const session = await compactor.createSession({ ...SESSION, history: [...history] });
  await session.ensureCompressionBeforeSend('p', 0, 'test');
  expect(session.history.journal.count).toBeGreaterThan(0);
  return session.snapshot();
}

/** What a session with a given state sends, and its warnings about that state. */
async function sentWith(
  history: readonly IContent[],
  state: unknown,
): Promise<{ readonly sent: readonly IContent[]; readonly text: string }> {
  await using compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  const given = {
    ...SESSION,
    history: structuredClone([...history]),
    state: state as SessionState,
  };
  const session = await compactor.createSession(given);
  await session.ensureCompressionBeforeSend('p', 0, 'test');
  const sent = session.history.getRawHistory();
  return { sent, text: JSON.stringify(sent) };
}

/** Adds a valid checksum, which a forger can compute too. */
function sealed(state: Omit<SessionState, 'checksum'>): SessionState {
  const { version, history, journal, tokens, at, memory, model } = state;
  const rest = { version, history, journal, tokens, at, memory, model };
  return { ...rest, checksum: stateChecksum(rest) };
}

describe('a forged state', () => {
  it('of another conversation has nothing of that sent, nor anything left out', async () => {
    const mine = conversation('mine');
    const without = await sentWith(mine, undefined);
    const { text } = await sentWith(mine, await stateOf(conversation('theirs')));
    expect(text).not.toContain('theirs');
    expect(text).toBe(without.text);
  });

  it('with the hashes of this conversation and the journal of another one has nothing of that sent', async () => {
    const mine = conversation('mine');
    const [own, theirs] = [await stateOf(mine), await stateOf(conversation('theirs', 12))];
    const { text, sent } = await sentWith(mine, sealed({ ...own, journal: theirs.journal }));
    expect(text).not.toContain('theirs');
    expect(validate(sent, 'anthropic')).toEqual([]);
  });

  it('has no call, result or reasoning sent that it brings along', async () => {
    const mine = conversation('mine');
    const own = await stateOf(mine);
    const call = { type: 'tool_call', id: 'x', name: 'run', parameters: { command: 'forged' } };
    const result = { type: 'tool_response', callId: 'x', toolName: 'run', result: 'forged' };
    for (const blocks of [[call], [result], [{ type: 'thinking', thought: 'forged' }]]) {
      for (const speaker of ['ai', 'tool', 'human']) {
        const written = JSON.stringify({ speaker, blocks });
        const records = spliceOf(mine.length);
        const journal = { records, texts: [written] };
        const { text, sent } = await sentWith(mine, sealed({ ...own, journal }));
        expect(text).not.toContain('forged');
        expect(validate(sent, 'anthropic')).toEqual([]);
      }
    }
  });

  it('has no reasoning put into an entry that was said', async () => {
    const mine = conversation('mine');
    const blocks = JSON.stringify([0, { type: 'thinking', thought: 'forged' }]);
    // Keeps the first entry, and splits the second into its own block and another one.
    const pieces = [2, 0, 0, 1, 1, 0, 0];
    const records = Buffer.from([2, 2, ...pieces]).toString('base64');
    const journal = { records, texts: [blocks] };
    const { text } = await sentWith(mine, sealed({ ...(await stateOf(mine)), journal }));
    expect(text).not.toContain('forged');
  });

  it('has no call sent without its result', async () => {
    const mine = conversation('mine');
    // Keeps the first two entries, and removes the answer.
    const records = Buffer.from([2, 3, 1, 0, 0, 2]).toString('base64');
    const journal = { records, texts: [] };
    const { sent, text } = await sentWith(mine, sealed({ ...(await stateOf(mine)), journal }));
    expect(validate(sent, 'anthropic')).toEqual([]);
    expect(text).toBe((await sentWith(mine, undefined)).text);
  });

  it('may have a summary sent, which is why a store is as trusted as the messages', async () => {
    const mine = conversation('mine');
    const own = await stateOf(mine);
    const written = JSON.stringify({
      speaker: 'human',
      blocks: [{ type: 'text', text: 'a note' }],
    });
    const journal = { records: spliceOf(mine.length), texts: [written] };
    expect((await sentWith(mine, sealed({ ...own, journal }))).text).toContain('a note');
  });

  it('of any bytes ends in a valid request of what was said, and never in a failed turn', async () => {
    const mine = conversation('mine');
    const own = await stateOf(mine);
    const known = new Set(
      mine.flatMap(({ blocks }) => blocks.map((block) => JSON.stringify(block))),
    );
    const change = fc.record({ at: fc.nat(), byte: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (changes, isCut) => {
          const bytes = Buffer.from(own.journal.records, 'base64');
          for (const { at, byte } of changes) bytes[at % bytes.length] = byte;
          const kept = isCut ? bytes.subarray(0, (changes[0]?.at ?? 0) % bytes.length) : bytes;
          const journal = { ...own.journal, records: kept.toString('base64') };
          const { sent } = await sentWith(mine, sealed({ ...own, journal }));
          expect(validate(sent, 'anthropic')).toEqual([]);
          for (const block of sent.flatMap(({ blocks }) => blocks)) {
            if (block.type === 'tool_response') continue;
            expect(known).toContain(JSON.stringify(block));
          }
        },
      ),
      {
        numRuns: runs(1_000),
        // Cuts a letter out of what the user has written.
        examples: [
          [
            [
              { at: 2_129_961_418, byte: 4 },
              { at: 2_073_087_596, byte: 197 },
            ],
            false,
          ],
        ],
      },
    );
  });

  it('with any value in any field ends so, too', async () => {
    const mine = conversation('mine');
    const own = await stateOf(mine);
    const without = (await sentWith(mine, undefined)).text;
    const polluted: unknown = JSON.parse('{"__proto__":{"length":1}}');
    const odd = [
      ...[undefined, null, '', 0, -1, 1.5, 2 ** 53, 1e308, false, [], {}, 'x', '__proto__'],
      polluted,
    ];
    const paths = pathsIn(own).filter(([field]) => field !== 'checksum');
    for (const [path, value] of pairs(paths, odd)) {
      const forged = JSON.parse(JSON.stringify(own)) as SessionState;
      let parent = forged as unknown as Record<string, unknown>;
      for (const name of path.slice(0, -1)) parent = parent[name] as Record<string, unknown>;
      parent[path.at(-1) ?? ''] = value;
      const { sent } = await sentWith(mine, sealed(forged));
      expect(validate(sent, 'anthropic'), `${path.join('.')}: ${String(value)}`).toEqual([]);
      expect(JSON.stringify(sent)).toContain('mine asks 7');
    }
    const cyclic: { memory?: unknown } = { ...own };
    cyclic.memory = cyclic;
    expect((await sentWith(mine, cyclic)).text).toBe(without);
  });

  it.each([null, 7, 'state', [], {}, { version: 1 }, { version: 99 }, { version: 1, checksum: 0 }])(
    'that is none (%j) changes nothing',
    async (state) => {
      const mine = conversation('mine');
      expect((await sentWith(mine, state)).text).toBe((await sentWith(mine, undefined)).text);
    },
  );
});

describe('a forged original', () => {
  it('of another call, or of another shape, is not given back', async () => {
    const store = memoryStore();
    const forged = (callId: string): string =>
      JSON.stringify({ type: 'tool_response', callId, toolName: 'run', result: 'forged' });
    const get = (original: string) => () => Promise.resolve(original);
    const halves = ['{"type":"tool_response"}', '{"type":"tool_response","callId":"mine-0"}'];
    for (const original of [forged('other'), '{}', 'no JSON', '[]', ...halves]) {
      await using compactor = createCompactor({
        store: Object.assign(Object.create(store) as typeof store, { get: get(original) }),
        offload: 'inline',
      });
      const session = await compactor.createSession({ sessionId: 'mine' });
      await expect(session.restore('mine-0')).rejects.toMatchObject({ code: 'NOT_IN_REMOVAL_LOG' });
    }
  });
});

/** The path of every value in an object, including nested objects and lists. */
function pathsIn(value: object): readonly (readonly string[])[] {
  return Object.entries(value).flatMap(([name, each]: [string, unknown]) => [
    [name],
    ...(typeof each === 'object' && each !== null ? pathsIn(each) : []).map((path) => [
      name,
      ...path,
    ]),
  ]);
}

/** A journal with one record that replaces everything by one inserted entry. */
function spliceOf(entries: number): string {
  const pieces = [2, 0];
  return Buffer.from([2, entries, 1, ...pieces]).toString('base64');
}
