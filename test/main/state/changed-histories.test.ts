// Sessions whose host changes what was sent, such as an old result. Behind the change nothing is cached, so results are shrunk there
// as they were before their first request.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../../src/main/session.js';
import type { SessionOptions } from '../../../src/main/session-options.js';
import type { SessionState } from '../../../src/main/state/session-state.js';
import {
  COMPACTION_KIND,
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { entryOfProvider } from '../../../src/main/strategies/provider-compaction.js';
import type { IContent, ThinkingBlock } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitrarySendableHistory } from '../../support/arbitrary-sendable-history.js';
import { arbitraryWorkingHistory } from '../../support/arbitrary-working-history.js';
import { openCompactor } from '../../support/open-compactor.js';
import { requestsOf } from '../../support/resumed-session.js';
import { runs } from '../../support/scale.js';

const STRIP = 'strip-after-first-edit';
const NOISE = 'the same line of noise, again and again\n'.repeat(60);

function ran(id: string, thought?: string): IContent[] {
  const call = toolCall(id, 'run_shell_command', { command: `node ${id}.js` });
  const thinking: ThinkingBlock[] =
    thought === undefined ? [] : [{ type: 'thinking', thought, signature: thought }];
  const result = `${id}\n${NOISE}`;
  return [
    aiContent([...thinking, call]),
    toolContent([toolResponse(id, 'run_shell_command', result)]),
  ];
}

const TURNS = [[humanText('go')], ran('r1'), ran('r2'), [humanText('on')], ran('r3'), ran('r4')];
const HISTORY = TURNS.flat();

const FILE = [
  aiContent([toolCall('r', 'read_file', { file_path: 'a.ts' })]),
  toolContent([toolResponse('r', 'read_file', NOISE)]),
];
const WRITE = [
  aiContent([toolCall('w', 'write_file', { file_path: 'a.ts', content: 'new' })]),
  toolContent([toolResponse('w', 'write_file', 'done')]),
];
/** Adds what holds for one request only to an entry with results. */
const NOTES: Readonly<Record<string, (entry: IContent, note: string) => IContent[]>> = {
  'a text behind the results of': (entry, note) => [entry, humanText(note)],
  'the results of': (entry, note) => {
    const [block] = entry.blocks;
    if (block?.type !== 'tool_response') return [entry];
    return [toolContent([{ ...block, result: `${String(block.result)} (${note})` }])];
  },
};

function open(options: SessionOptions = {}): Promise<Session> {
  return openCompactor({ workspaceRoot: '/w' }).createSession(options);
}

/** A session that has sent `HISTORY`, turn by turn. */
async function sent(options?: SessionOptions): Promise<Session> {
  const session = await open(options);
  for (const turn of TURNS) {
    session.history.addAll(turn);
    await session.ensureCompressionBeforeSend('p');
  }
  return session;
}

function lengthsIn(session: Session): readonly number[] {
  return session.history.getAll().map((entry) => JSON.stringify(entry.blocks).length);
}

describe('a history that the host has changed', () => {
  it.each(
    (['auto', 'append-only', 'every-turn', 'at-birth'] as const).flatMap((edits) => [
      { edits, at: 5, shrunk: 2 },
      { edits, at: 0, shrunk: 4 },
    ]),
  )(
    'is sent as before behind entry $at by the policy $edits, also by another process',
    async ({ edits, at, shrunk }) => {
      const session = await sent({ edits });
      const entry = humanText('changed');
      const before = session.history.getAll().with(at, entry);
      const changed = HISTORY.with(at, entry);
      const state = session.snapshot();
      const other = await open({ edits, history: structuredClone(changed), state });
      await session.goOnWith(changed);
      for (const one of [session, other]) {
        const { pruned } = await one.ensureCompressionBeforeSend('p');
        expect(one.history.getAll()).toEqual(before);
        expect(pruned?.metadata.resultsShrunk).toBe(shrunk);
        expect([pruned?.edits.length, pruned?.changes.length]).toEqual([shrunk, shrunk]);
        expect([one.costs().requests, one.costs().rewrites]).toEqual([TURNS.length + 1, 0]);
        const next = await open({ edits, history: changed, state: one.snapshot() });
        expect(next.history.getAll()).toEqual(before);
      }
    },
  );

  it('keeps an edit that landed in front of a last message of the user that the host has replaced', async () => {
    const session = await open({ edits: 'every-turn' });
    const work = [humanText('go'), ...FILE, ...WRITE];
    session.history.addAll([...work, humanText('It is 12:00.')]);
    await session.ensureCompressionBeforeSend('p');
    const prefix = session.history.getAll().slice(0, -1);
    expect(JSON.stringify(prefix)).not.toContain('noise');
    const state = session.snapshot();
    for (const next of [[humanText('It is 12:01.')], [...ran('r1'), humanText('It is 12:02.')]]) {
      const other = await open({ edits: 'append-only', history: [...work, ...next], state });
      expect(other.history.getAll().slice(0, prefix.length)).toEqual(prefix);
      // It stays in the journal: another process goes on from there.
      const later = [...work, ...next, aiContent([{ type: 'text', text: 'so' }])];
      const third = await open({ history: later, state: other.snapshot() });
      expect(third.history.getAll().slice(0, prefix.length)).toEqual(prefix);
    }
    // The write that made the read stale has gone.
    const other = await open({ history: [...work.slice(0, -2), humanText('Stop.')], state });
    expect(JSON.stringify(other.history.getAll())).toContain('noise');
  });

  it.each(Object.entries(NOTES))(
    'keeps its edits where the host adds to %s its last three turns',
    async (_, noted) => {
      const work = [humanText('go'), ...FILE, ...WRITE];
      let state: SessionState | undefined;
      for (let turn = 1; turn < 9; turn += 1) {
        work.push(...ran(`turn ${turn}`));
        const from = work.length - 6;
        const history = work.flatMap((entry, at) =>
          at >= from && entry.speaker === 'tool' ? noted(entry, `turn ${turn}`) : entry,
        );
        const options = { edits: 'every-turn', history, ...(state && { state }) } as const;
        const session = await open(options);
        if (turn > 4) expect(session.history.getAll().slice(0, 2)).toEqual([work[0], work[3]]);
        await session.ensureCompressionBeforeSend('p');
        expect(findViolations(session.history.getAll())).toEqual([]);
        state = session.snapshot();
      }
    },
  );

  it('drops its edits where the conversation takes another turn', async () => {
    const session = await open({ edits: 'every-turn' });
    session.history.addAll([humanText('go'), ...FILE, ...WRITE, ...ran('r1'), ...ran('r2')]);
    await session.ensureCompressionBeforeSend('p');
    const others = [...ran('r3'), ...ran('r4'), ...ran('r5')];
    const history = [humanText('go'), ...FILE, ...others];
    const next = await open({ edits: 'append-only', history, state: session.snapshot() });
    expect(next.history.getAll()).toEqual(history);
  });

  it('drops an edit of a call whose result the host has changed', async () => {
    const session = await open({ edits: 'every-turn' });
    session.history.addAll([humanText('go'), ...FILE, ...WRITE]);
    await session.ensureCompressionBeforeSend('p');
    const other = toolContent([toolResponse('r', 'read_file', 'another text')]);
    const history = [humanText('go'), ...FILE.with(1, other), ...WRITE];
    const next = await open({ edits: 'append-only', history, state: session.snapshot() });
    expect(next.history.getAll()).toEqual(history);
  });

  it('drops an edit that landed with a result in whose place the user has said something', async () => {
    const session = await open({ edits: 'every-turn' });
    session.history.addAll([humanText('go'), ...FILE, ...WRITE]);
    await session.ensureCompressionBeforeSend('p');
    expect(JSON.stringify(session.history.getAll())).not.toContain('noise');
    const history = [humanText('go'), ...FILE, ...WRITE.slice(0, 1), humanText('Stop.')];
    const other = await open({ edits: 'append-only', history, state: session.snapshot() });
    expect(JSON.stringify(other.history.getAll())).toContain('noise');
  });

  it('drops what a compaction replaces if the first entry is another one', async () => {
    const session = await sent();
    const compaction = entryOfProvider([
      { type: 'opaque', kind: COMPACTION_KIND, data: {}, tokens: 9 },
    ]);
    await session.goOnWith([humanText('another'), ...ran('r0'), compaction, ...HISTORY]);
    await session.ensureCompressionBeforeSend('p');
    expect(session.history.getAll()[0]).toEqual(compaction);
  });

  it('is shrunk once, at the next request', async () => {
    const session = await sent();
    await session.goOnWith(HISTORY.with(5, humanText('changed')));
    await session.ensureCompressionBeforeSend('p');
    const before = session.history.getAll();
    session.history.addAll(ran('r5'));
    const { pruned } = await session.ensureCompressionBeforeSend('p');
    expect(pruned?.metadata.resultsShrunk).toBe(1);
    expect(session.history.getAll().slice(0, -2)).toEqual(before);
  });

  it('is left as it was given with shrinking off, or if an answer shows that the host sends it so', async () => {
    const off = await sent({ density: { shrink: 'off' } });
    await off.goOnWith(HISTORY.with(5, humanText('changed')));
    expect((await off.ensureCompressionBeforeSend('p')).pruned).toBeNull();
    const session = await sent();
    // Without a preflight before the second answer.
    session.history.addAll([...ran('r5'), ...ran('r6')]);
    const { pruned } = await session.ensureCompressionBeforeSend('p');
    expect(pruned?.metadata.resultsShrunk).toBe(1);
  });
});

describe('reasoning behind results that are shrunk late', () => {
  const ids = ['r5', 'r6', 'r7'];
  const BRANCH = [...HISTORY.slice(0, 5), ...ids.flatMap((id) => ran(id, `thought of ${id}`))];
  const done = aiContent([{ type: 'text', text: 'done' }]);

  /** A session that has sent `HISTORY`, and goes on with another branch, whose reasoning was made from it. */
  async function branched(modelName: string, branch: readonly IContent[]): Promise<Session> {
    const session = await sent({ reasoning: STRIP });
    session.history.nameModel(modelName);
    await session.goOnWith(branch);
    await session.ensureCompressionBeforeSend('p');
    return session;
  }

  function thoughtsIn(session: Session): number {
    const blocks = session.history.getAll().flatMap((entry) => entry.blocks);
    return blocks.filter(({ type }) => type === 'thinking').length;
  }

  it('leaves with them, once the turn is over', async () => {
    const session = await branched('claude-opus-5-5', [...BRANCH, done, humanText('more')]);
    expect(thoughtsIn(session)).toBe(1);
    expect(lengthsIn(session).every((length) => length < NOISE.length)).toBe(true);
  });

  it('stays while a call is open, and so do the results in front of it', async () => {
    const session = await branched('claude-opus-5-5', BRANCH);
    expect(thoughtsIn(session)).toBe(3);
    expect(lengthsIn(session).filter((length) => length > NOISE.length)).toHaveLength(2);
  });

  it('stays for a model that does not bind it', async () => {
    const session = await branched('claude-opus-4-5', BRANCH);
    expect(thoughtsIn(session)).toBe(3);
    expect(lengthsIn(session).every((length) => length < NOISE.length)).toBe(true);
  });
});

describe('Session.goOnWith', () => {
  it('sends what another process would send that goes on from the state, and nothing invalid', async () => {
    const histories = arbitraryWorkingHistory(arbitrarySendableHistory({ maxEntries: 40 }));
    const changes = fc.array(fc.tuple(fc.nat(20), fc.nat(40)), {
      maxLength: 4,
    });
    const policies = fc.record({
      edits: fc.constantFrom('auto', 'append-only', 'every-turn', 'at-birth'),
      reasoning: fc.constantFrom('keep', STRIP, 'forbid-edits'),
    });
    let shrunk = 0;
    await fc.assert(
      fc.asyncProperty(histories, changes, policies, async (history, changesAt, options) => {
        const session = await open(options);
        session.history.nameModel('claude-opus-5-5');
        session.on('pruned', ({ metadata }) => (shrunk += metadata.resultsShrunk ?? 0));
        let added: readonly IContent[] = [];
        for (const [at, entries] of requestsOf(history).entries()) {
          added = [...added, ...entries];
          const change = changesAt.find(([request]) => request === at)?.[1] ?? Infinity;
          if (change < added.length - entries.length) {
            const { speaker, blocks } = added[change] as IContent;
            const noted = speaker === 'tool' ? blocks.map(clearedResult) : blocks;
            const text = { type: 'text', text: `note ${at}` } as const;
            added = added.with(change, {
              speaker,
              blocks: speaker === 'tool' ? noted : [...blocks, text],
            });
            const state = JSON.parse(JSON.stringify(session.snapshot())) as SessionState;
            const other = await open({ ...options, history: structuredClone(added), state });
            await session.goOnWith(added);
            await other.ensureCompressionBeforeSend('p');
            await session.ensureCompressionBeforeSend('p');
            // A state of one entry that has changed is of another conversation: the process counts all it was opened with as sent.
            const isUnknown = options.edits === 'at-birth' && added.length - entries.length === 1;
            if (!isUnknown) expect(other.history.getAll()).toEqual(session.history.getAll());
          } else {
            session.history.addAll(entries);
            await session.ensureCompressionBeforeSend('p');
          }
          const state = session.snapshot();
          const next = await open({ ...options, history: structuredClone(added), state });
          expect(next.history.getAll()).toEqual(session.history.getAll());
          if (findViolations(added).length === 0)
            expect(findViolations(session.history.getAll())).toEqual([]);
        }
      }),
      { numRuns: runs(300, 12) },
    );
    expect(shrunk).toBeGreaterThan(0);
  });
});

function clearedResult(block: IContent['blocks'][number]): IContent['blocks'][number] {
  return block.type === 'tool_response' ? { ...block, result: 'cleared' } : block;
}
