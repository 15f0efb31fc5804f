// How sessions shrink results: once, before they are sent, by every edit policy; and how the originals come back.

import { describe, expect, it } from 'vitest';

import type { CompactorOptions } from '../../src/main/compactor-options.js';
import type { PrunedEvent } from '../../src/main/preflight/session-events.js';
import type { Session } from '../../src/main/session.js';
import type { SessionOptions } from '../../src/main/session-options.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import type { IContent, ThinkingBlock } from '../../src/shared/content.js';
import type { SessionState } from '../../src/main/state/session-state.js';
import type { CompressionStrategyName } from '../../src/main/strategies/strategy.js';
import { isShrunk, sourceIdsOf } from '../../src/shared/shrink/shown-before.js';
import { PLAYS_ALL } from '../support/scale.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { temporaryPath } from './removal-log/recording.js';
import { openCompactor } from '../support/open-compactor.js';

const NOISE = 'the same line of noise, again and again\n'.repeat(60);

function ran(id: string, result: string = NOISE): IContent[] {
  return [
    aiContent([toolCall(id, 'run_shell_command', { command: 'node run.js' })]),
    toolContent([toolResponse(id, 'run_shell_command', result)]),
  ];
}

async function openSession(
  options: SessionOptions = {},
  compactorOptions: CompactorOptions = {},
): Promise<Session> {
  return openCompactor({
    workspaceRoot: '/w',
    ...compactorOptions,
  }).createSession(options);
}

/** Adds entries and sends the history; returns the edit made then. */
async function send(session: Session, entries: readonly IContent[]): Promise<PrunedEvent | null> {
  session.history.addAll(entries);
  return (await session.ensureCompressionBeforeSend('p')).pruned;
}

function resultAt(session: Session, entry: number): unknown {
  const [block] = session.history.getAll()[entry]?.blocks ?? [];
  return block?.type === 'tool_response' ? block.result : undefined;
}

describe('Session', () => {
  it.each(['every-turn', 'batched', 'at-birth'] as const)(
    'shrinks results before they are sent by the policy %s, and leaves sent ones alone',
    async (edits) => {
      const session = await openSession({ edits, minReclaimTokens: 5_000 });
      await send(session, [humanText('go')]);
      const pruned = await send(session, ran('1'));
      expect(pruned).toMatchObject({
        reason: edits === 'every-turn' ? 'every-turn' : 'unsent',
        edits: [{ entry: 2, rule: 'shrink', action: 'shrink' }],
      });
      const sent = session.history.getAll().slice();
      expect(isShrunk(String(resultAt(session, 2)))).toBe(true);
      expect(
        await send(session, [aiContent([{ type: 'text', text: 'well' }]), humanText('on')]),
      ).toBeNull();
      expect(session.history.getAll().slice(0, sent.length)).toEqual(sent);
    },
  );

  it('removes nothing that was sent because of a large new result', async () => {
    const session = await openSession({ edits: 'batched', minReclaimTokens: 300 });
    const read = (id: string): IContent[] => [
      aiContent([toolCall(id, 'read_file', { path: 'a.ts' })]),
      toolContent([toolResponse(id, 'read_file', 'a line')]),
    ];
    await send(session, [humanText('go'), ...read('1')]);
    const write = aiContent([toolCall('2', 'write_file', { file_path: 'a.ts', content: 'x' })]);
    const written = toolContent([toolResponse('2', 'write_file', 'ok')]);
    const pruned = await send(session, [write, written, ...ran('3')]);
    expect(pruned?.edits).toMatchObject([{ entry: 6, rule: 'shrink' }]);
    expect(session.history.getAll()).toHaveLength(7);
  });

  it('recalls the original, byte for byte', async () => {
    const removalLogPath = temporaryPath();
    const compactor = openCompactor({
      workspaceRoot: '/w',
    });
    const session = await compactor.createSession({ removalLogPath });
    await send(session, [humanText('go'), ...ran('1')]);
    expect(resultAt(session, 2)).not.toBe(NOISE);
    const { response } = await compactor.restore('1', { sessionId: session.sessionId });
    expect(response.result).toBe(NOISE);
  });

  it.each<[string, SessionOptions, CompactorOptions]>([
    ['the preset is that of the specification', {}, { preset: 'specification' }],
    ['its option says so', { density: { shrink: 'off' } }, {}],
    ['the setting says so', {}, { settings: { 'compression.density.shrink': 'off' } }],
    ['all rules that shrink are off', { density: { shrink: { likeLines: false } } }, {}],
  ])('leaves results alone when %s', async (_, options, compactorOptions) => {
    const session = await openSession(options, compactorOptions);
    await send(session, [humanText('go')]);
    expect(await send(session, ran('1'))).toBeNull();
  });

  it('shrinks on a worker', async () => {
    const session = await openSession({}, { offload: 'resident', threads: 1 });
    await send(session, [humanText('go')]);
    const pruned = await send(session, ran('1'));
    expect(pruned?.edits).toMatchObject([{ entry: 2, rule: 'shrink' }]);
    expect(isShrunk(String(resultAt(session, 2)))).toBe(true);
  });

  it('sends the same when it is resumed with the originals', async () => {
    const lines = Array.from({ length: 80 }, (_, at) => `a line of a file, ${'x'.repeat(at)}`);
    const read = (id: string, from: number): IContent[] => [
      aiContent([toolCall(id, 'read_file', { path: 'a.ts' })]),
      toolContent([toolResponse(id, 'read_file', lines.slice(from, from + 40).join('\n'))]),
    ];
    // So many that a batch may not land in most requests.
    const early = Array.from({ length: PLAYS_ALL ? 400 : 120 }, (_, at) =>
      ran(`early ${at}`, 'short'),
    ).flat();
    const entries = [
      ...[
        humanText('go'),
        ...early,
        ...read('1', 0),
        ...ran('2'),
        ...read('3', 0),
        ...read('4', 20),
      ],
      ...[...ran('5', `other\n${NOISE}`), ...read('6', 30), ...ran('7'), ...read('8', 0)],
    ];
    const one = await openSession({ edits: 'batched' });
    for (let end = 1; end <= entries.length; end += 2) {
      await send(one, entries.slice(Math.max(0, end - 2), end));
      if (end < early.length) continue;
      const other = await openSession({ edits: 'batched', history: entries.slice(0, end) });
      await send(other, []);
      expect(other.history.getAll()).toEqual(one.history.getAll());
    }
    expect(one.history.getAll().filter((entry) => entries.includes(entry)).length).toBeLessThan(
      entries.length - 4,
    );
  });
  it('runs no pass between two batches that would be held, also in a fresh process, but one at a new result', async () => {
    const talk = Array.from({ length: 200 }, (_, at) => [
      humanText(`question ${at}`.repeat(10)),
      aiContent([{ type: 'text', text: `answer ${at}`.repeat(10) }]),
    ]).flat();
    const first = await openSession();
    first.history.addAll(talk);
    await first.ensureCompressionBeforeSend('prompt');
    const state = first.snapshot();
    const session = await openSession({ history: talk, state });
    session.history.add(humanText('go on'));
    await session.ensureCompressionBeforeSend('prompt');
    expect(session.stats().inlineTasks).toBe(0);
    session.history.addAll(ran('c1'));
    const { pruned } = await session.ensureCompressionBeforeSend('prompt');
    expect(session.stats().inlineTasks).toBe(1);
    expect(pruned).toMatchObject({ reason: 'unsent', metadata: { resultsShrunk: 1 } });
  });

  describe('after a compression', () => {
    const LINES = Array.from({ length: 60 }, (_, at) => `const line${at} = ${at} * ${at * 7_919};`);
    const WHOLE = LINES.join('\n');
    const PART = ['// what is new', ...LINES.slice(10, 50)].join('\n');

    const words = (id: string): string =>
      Array.from({ length: 150 }, (_, at) => (at * 7_919 + Number(id)).toString(36)).join(' ');

    function readsAgain(result: string, ...reasoning: readonly ThinkingBlock[]): IContent[] {
      const read = (id: string, text: string): IContent[] => [
        aiContent([...reasoning, toolCall(id, 'read_file', { path: 'a.ts' })]),
        toolContent([toolResponse(id, 'read_file', text)]),
      ];
      const between = ['2', '3', '4', '5', '6'].flatMap((id) => ran(id, words(id)));
      return [humanText('go'), ...read('1', WHOLE), ...between, ...read('7', result)];
    }

    async function compressed(
      entries: readonly IContent[],
      strategy: CompressionStrategyName,
      options: SessionOptions = {},
    ): Promise<Session> {
      const session = await openSession(options, {
        contextLimit: 8_000,
        settings: { 'compression.strategy': strategy, 'compression.preserveThreshold': 0.2 },
      });
      // One at a time, as an agent adds them.
      for (const entry of entries) await send(session, [entry]);
      expect(sourceIdsOf(lastResult(session))).toBe('1');
      expect(await session.performCompression('p')).toMatchObject({ outcome: 'applied' });
      return session;
    }

    const lastResult = (session: Session): unknown =>
      resultAt(
        session,
        session.history.getAll().findLastIndex(({ speaker }) => speaker === 'tool'),
      );

    it.each([
      ['whole', WHOLE],
      ['in part', PART],
    ])(
      'shows the lines that a result referred to, %s, in one that was removed',
      async (_, result) => {
        const entries = readsAgain(result);
        const session = await compressed(entries, 'high-density');
        expect(lastResult(session)).toBe(result);
        const state = JSON.parse(JSON.stringify(session.snapshot())) as SessionState;
        expect(JSON.stringify(state)).not.toContain('line49');
        const other = await openSession({ history: entries, state });
        expect(other.history.getAll()).toEqual(session.history.getAll());
      },
    );

    it('shows the lines that a result referred to in one whose own lines are shown again', async () => {
      const lines = (what: string, count: number): string[] =>
        Array.from({ length: count }, (_, at) => `${what} ${words(String(at)).slice(0, 60)}`);
      const [built, linked, installed] = ['built', 'linked', 'installed'].map((what) =>
        lines(what, what === 'installed' ? 50 : 30),
      );
      const make = (id: string, command: string, ...parts: (readonly string[] | undefined)[]) => [
        aiContent([toolCall(id, 'run_shell_command', { command })]),
        toolContent([toolResponse(id, 'run_shell_command', parts.flat().join('\n'))]),
      ];
      const session = await openSession({}, { contextLimit: 40_000 });
      const entries = [
        ...[humanText('go'), ...make('1', 'cat old.log', built)],
        ...['2', '3', '4', '5', '6', '7'].flatMap((id) =>
          ran(id, [1, 2, 3, 4, 5].map((part) => words(`${part}${id}`)).join(' ')),
        ),
        ...make('8', 'sh all.sh', built, linked, installed),
        ...make('9', 'cat new.log', ['what is new'], linked),
      ];
      for (const entry of entries) await send(session, [entry]);
      expect([14, 16].map((at) => sourceIdsOf(resultAt(session, at + 2)))).toEqual(['1', '8']);
      await session.performCompression('p');
      expect([14, 16].map((at) => sourceIdsOf(resultAt(session, at + 2)))).toEqual(['', '']);
      expect(lastResult(session)).toContain(linked?.join('\n'));
    });

    it('leaves a reference where there is no room for the lines', async () => {
      const entries = readsAgain(WHOLE);
      // Little is saved: the call in between belongs to the tail.
      const session = await compressed(
        [...entries.slice(0, 3), ...entries.slice(-4)],
        'high-density',
      );
      expect(sourceIdsOf(lastResult(session))).toBe('1');
    });

    it('shows no lines in the room of pending tokens', async () => {
      const tokensWith = async (pendingTokens: number): Promise<readonly [Session, number]> => {
        const session = await openSession({}, { contextLimit: 8_000 });
        for (const entry of readsAgain(WHOLE)) await send(session, [entry]);
        expect(sourceIdsOf(lastResult(session))).toBe('1');
        session.settings.set('compression.threshold', pendingTokens === 0 ? 0.3 : 0.85);
        const { compressed: event } = await session.ensureCompressionBeforeSend('p', pendingTokens);
        expect(event).toMatchObject({ outcome: 'applied' });
        return [session, session.history.getTotalTokens()];
      };
      const [given, tokens] = await tokensWith(0);
      expect(lastResult(given)).toBe(WHOLE);
      const pendingTokens = 0.85 * 8_000 - tokens + 10;
      const [session] = await tokensWith(pendingTokens);
      expect(sourceIdsOf(lastResult(session))).toBe('1');
      expect(session.shouldCompress(pendingTokens)).toBe(false);
    });

    it('shows lines again, too, if the result was removed because the history did not fit', async () => {
      const contextLimit = 20_000;
      const settings = {
        'compression.strategy': 'one-shot',
        'compression.fallback': 'one-shot',
        'compression.ahead': 1,
      } as const;
      const session = await openSession({}, { contextLimit, settings });
      const entries = [...readsAgain(PART), humanText('a word '.repeat(4_000))];
      const gone = JSON.stringify(entries[2]?.blocks);
      for (const entry of entries) await send(session, [entry]);
      expect(JSON.stringify(session.history.getAll())).toContain(gone);
      expect(sourceIdsOf(lastResult(session))).toBe('1');
      const pendingTokens = contextLimit - session.history.getTotalTokens() + 10;
      const { fitted } = await session.ensureCompressionBeforeSend('p', pendingTokens);
      expect(fitted).not.toBeNull();
      expect(lastResult(session)).toBe(PART);
      expect(session.history.getTotalTokens() + pendingTokens).toBeLessThan(contextLimit);
      const state = JSON.parse(JSON.stringify(session.snapshot())) as SessionState;
      const other = await openSession({ history: entries, state });
      expect(other.history.getAll()).toEqual(session.history.getAll());
    });

    it.each([
      ['that stays, when others of its name are removed', ['1', '3', '4'], '(the 4th back)'],
      ['that is removed, when there is no room for its lines', ['3', '4', '1'], '(the 2nd back)'],
    ])('counts no calls back to one %s', async (_, ids, position) => {
      const look = (id: string, text: string): IContent[] => [
        aiContent([toolCall(id, 'snapshot', {})]),
        toolContent([toolResponse(id, 'snapshot', text)]),
      ];
      const page = (id: string): IContent[] => look(id, id === '1' ? WHOLE : words(id));
      const entries = [
        humanText('go'),
        ...ids.flatMap(page),
        ...['5', '6', '7'].flatMap((id) => ran(id, words(id))),
        ...page('8'),
        ...look('9', [...LINES.slice(0, 40), '// what is new'].join('\n')),
        humanText('on'),
      ];
      const session = await openSession(
        {},
        {
          contextLimit: 8_000,
          summarizer: scriptedSummarizer(() => snapshot('what was seen')),
          settings: {
            'compression.strategy': 'middle-out',
            'compression.ahead': 1,
            'compression.preserveThreshold': 0.2,
            'compression.topPreserveThreshold': 0.3,
          },
        },
      );
      for (const entry of entries) await send(session, [entry]);
      expect(lastResult(session)).toContain(position);
      session.settings.set('compression.threshold', 0.1);
      expect(await session.performCompression('p')).toMatchObject({ outcome: 'applied' });
      const left = JSON.stringify(session.history.getAll());
      expect(ids.map((id) => left.includes(`"callId":"${id}"`))).toEqual([true, true, false]);
      expect(lastResult(session)).not.toContain(' back)');
      expect(lastResult(session)).toContain('as in snapshot (an earlier one)');
      expect(sourceIdsOf(lastResult(session))).toBe('1');
      const state = JSON.parse(JSON.stringify(session.snapshot())) as SessionState;
      expect(JSON.stringify(state)).not.toContain('an earlier one');
      const other = await openSession({ history: entries, state });
      expect(other.history.getAll()).toEqual(session.history.getAll());
    });

    it.each([
      ['as it was sent if reasoning is bound to it', true, '1'],
      ['with its lines if there is no reasoning', false, ''],
    ])('leaves a result behind a provider’s compaction %s', async (_, isBound, sources) => {
      const thinking = { type: 'thinking', thought: 'So', signature: 'signed' } as const;
      const session = await compressed(
        readsAgain(PART, ...(isBound ? [thinking] : [])),
        'provider',
        {
          compactByProvider: ({ tailStart }) =>
            Promise.resolve({
              length: tailStart,
              items: [{ kind: 'compaction', data: {}, tokens: 9 }],
              keepsReasoning: true,
            }),
        },
      );
      expect(sourceIdsOf(lastResult(session))).toBe(sources);
      if (!isBound) expect(lastResult(session)).toBe(PART);
    });
  });
});
