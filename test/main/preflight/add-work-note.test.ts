// What was asked and done survives a compaction by any strategy, in one note.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { addWorkNote } from '../../../src/main/preflight/add-work-note.js';
import type { SessionParts } from '../../../src/main/preflight/session-parts.js';
import type { Session } from '../../../src/main/session.js';
import { COMPRESSION_STRATEGIES } from '../../../src/main/strategies/strategy.js';
import type { CompressionStrategyName } from '../../../src/main/strategies/strategy.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { isWorkNote, readWorkNote } from '../../../src/shared/work/work-note.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { openCompactor } from '../../support/open-compactor.js';

const LONG = 'lorem ipsum '.repeat(60);

/** Turns of five entries, each with a message of the user, a command, and a file written. */
function turns(from: number, count: number): IContent[] {
  return Array.from({ length: count }, (_, turn) => {
    const at = from + turn;
    const outcome = at % 3 === 0 ? '!' : '';
    return historyOf(
      `h:"Never skip step ${at}." a:"${LONG}",s${at}(run-step) t:s${at}(${LONG})${outcome} a:w${1_000 + at}(f${at}.ts) t:w${1_000 + at} a:"${LONG}"`,
    );
  }).flat();
}

async function open(
  strategy: CompressionStrategyName,
  history: readonly IContent[],
  options: CompactorOptions = {},
): Promise<Session> {
  return openCompactor({
    workspaceRoot: '/w',
    contextLimit: 40_000,
    summarizer: scriptedSummarizer(snapshot('on we go')),
    settings: {
      'compression.strategy': strategy,
      'compression.threshold': 0.05,
      'compression.ahead': 1,
    },
    ...options,
  }).createSession({ history });
}

const STRATEGIES = COMPRESSION_STRATEGIES;

/** The user answers through a tool. */
const ANSWER = [
  aiContent([toolCall('asked', 'ask_user', { question: 'Which?' })]),
  toolContent([toolResponse('asked', 'ask_user', `Never the red one. ${LONG}`)]),
];

it('keeps what the user answered through a tool where results are only shortened', async () => {
  const calls = Array.from({ length: 40 }, (_, at) =>
    historyOf(`a:s${at}(run-step) t:s${at}(${LONG})`),
  );
  const history = [humanText('Build it.'), ...ANSWER, ...calls.flat()];
  const settings = {
    'compression.strategy': 'high-density',
    'compression.threshold': 0.8,
    'compression.density.workingSet': 'off',
    'compression.density.shrink': 'off',
  } as const;
  const session = await open('high-density', history, { contextLimit: 8_000, settings });
  const { compressed } = await session.ensureCompressionBeforeSend('p1');
  expect(compressed?.outcome).toBe('applied');
  const sent = session.history.getAll();
  expect(sent.filter(({ speaker }) => speaker === 'tool')).toHaveLength(41);
  expect(sent.filter((entry) => JSON.stringify(entry).includes('Never the red'))).toHaveLength(1);
  expect(sent.filter(isWorkNote)).toHaveLength(1);
});

describe.each(STRATEGIES)('%s', (strategy) => {
  it('keeps each word of the user, and what was done, in one note', async () => {
    const session = await open(strategy, turns(0, 30));
    const { compressed } = await session.ensureCompressionBeforeSend('p1');
    expect(compressed?.outcome).toBe('applied');
    const history = session.history.getAll();
    const notes = history.filter(isWorkNote);
    const said = history.flatMap((entry) =>
      isWorkNote(entry)
        ? readWorkNote(entry).userWords
        : entry.speaker === 'human'
          ? JSON.stringify(entry)
          : [],
    );
    for (let at = 0; at < 30; at += 1) expect(said.join('\n')).toContain(`Never skip step ${at}.`);
    expect(notes).toHaveLength(1);
    expect(readWorkNote(notes[0]!).done.get('write f10.ts')).toBe('written');
    expect([...readWorkNote(notes[0]!).done.keys()].join('\n')).toMatch(/^run-step(?: → |$)/m);
    expect(findViolations(history)).toEqual([]);
  });

  it('keeps what the user answered through a tool', async () => {
    const session = await open(strategy, [...turns(0, 3), ...ANSWER, ...turns(3, 30)]);
    for (const [at, prompt] of ['p1', 'p2', 'p3'].entries()) {
      await session.ensureCompressionBeforeSend(prompt);
      const said = session.history.getAll().map((entry) => JSON.stringify(entry));
      expect(said.filter((text) => text.includes('Never the red one.'))).toHaveLength(1);
      session.history.addAll(turns(33 + 30 * at, 30));
    }
  });

  it('carries the note over into the next compaction', async () => {
    const session = await open(strategy, turns(0, 30));
    await session.ensureCompressionBeforeSend('p1');
    session.history.addAll(turns(30, 30));
    const { compressed } = await session.ensureCompressionBeforeSend('p2');
    expect(compressed?.outcome).toBe('applied');
    const history = session.history.getAll();
    const notes = history.filter(isWorkNote);
    expect(notes).toHaveLength(1);
    const text = JSON.stringify(history);
    for (let at = 0; at < 60; at += 1) expect(text).toContain(`Never skip step ${at}.`);
  });

  it('adds none in the documented system', async () => {
    const session = await open(strategy, turns(0, 30), { preset: 'specification' });
    await session.ensureCompressionBeforeSend('p1');
    expect(session.history.getAll().some(isWorkNote)).toBe(false);
  });

  it('keeps any history valid, with at most one note, and never makes it longer', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryHistory({ maxEntries: 60 }), async (random) => {
        const session = await open(strategy, [...turns(0, 4), ...random], { contextLimit: 20_000 });
        for (const at of [1, 2]) {
          const former = session.history.getAll();
          const before = session.history.getTotalTokens();
          const broken = findViolations(former).length;
          const { compressed } = await session.ensureCompressionBeforeSend(`p${at}`);
          const history = session.history.getAll();
          expect(findViolations(history).length).toBeLessThanOrEqual(broken);
          expect(history.filter(isWorkNote).length).toBeLessThanOrEqual(1);
          if (compressed?.outcome === 'applied') {
            expect(session.history.getTotalTokens()).toBeLessThan(before);
          }
          session.history.addAll(turns(10 * at, 3));
        }
        await session.close();
      }),
      { numRuns: runs(200, 8) },
    );
  });
});

describe('a history that is cut to fit', () => {
  const FAILING = {
    contextLimit: 8_000,
    summarizer: scriptedSummarizer(() => Promise.reject(new Error('down'))),
    settings: { 'compression.strategy': 'one-shot', 'compression.fallback': 'one-shot' },
  } as const;

  it("keeps the user's words from removed turns, also when more turns are removed later", async () => {
    const session = await open('one-shot', turns(0, 30), FAILING);
    for (let from = 30; from < 60; from += 10) {
      const { fitted } = await session.ensureCompressionBeforeSend(`p${from}`);
      expect(fitted?.droppedEntries).toBeGreaterThan(0);
      const history = session.history.getAll();
      expect(history.filter(isWorkNote)).toHaveLength(1);
      expect(JSON.stringify(history)).toContain('Never skip step 0.');
      expect(JSON.stringify(history)).toContain(`Never skip step ${from - 12}.`);
      expect(findViolations(history)).toEqual([]);
      expect(session.contextUsage().tokens).toBeLessThanOrEqual(8_000);
      session.history.addAll(turns(from, 10));
    }
  });

  it('keeps them when an entry is added while the note is made', async () => {
    const given = turns(0, 30);
    const session = await open('one-shot', given, FAILING);
    const { history } = session;
    const late = humanText('Wait a moment.');
    const countEach = history.countEach.bind(history);
    history.countEach = (contents) => {
      if (history.length < given.length && !history.getAll().includes(late)) history.add(late);
      return countEach(contents);
    };
    await session.ensureCompressionBeforeSend('p');
    const left = history.getAll();
    expect(left.at(-1)).toBe(late);
    expect(left.filter(isWorkNote)).toHaveLength(1);
    expect(JSON.stringify(left)).toContain('Never skip step 0.');
  });

  it('has no note in the documented system, or without room for it', async () => {
    const documented = { ...FAILING, preset: 'specification' } as const;
    const whole = await open('one-shot', turns(0, 60), documented);
    await whole.ensureCompressionBeforeSend('p');
    expect(whole.history.getAll().some(isWorkNote)).toBe(false);
    const last = humanText('lorem ipsum '.repeat(3_880));
    const full = await open('one-shot', [...turns(0, 3), last], FAILING);
    const { fitted } = await full.ensureCompressionBeforeSend('p');
    expect(fitted?.droppedEntries).toBeGreaterThan(0);
    expect(full.history.getAll()).toEqual([last]);
  });

  it('removes no more than necessary when there is no room for a note', async () => {
    const first = [humanText('lorem ipsum '.repeat(200)), aiContent('done')];
    const second = [humanText('Go on.'), aiContent('done')];
    const last = humanText('lorem ipsum '.repeat(3_880));
    const session = await open('one-shot', [...first, ...second, last], FAILING);
    await session.ensureCompressionBeforeSend('p');
    expect(session.history.getAll()).toEqual([...second, last]);
  });
});

describe('addWorkNote', () => {
  const parts = (windowTokens: number): Parameters<typeof addWorkNote>[0] => ({
    config: {
      isForAgents: true,
      densityOptions: { workspaceRoot: '/w' },
    } as unknown as SessionParts['config'],
    gauge: { windowTokens } as unknown as SessionParts['gauge'],
  });

  it('does not split a call from its response', () => {
    const former = historyOf('h:"Do it." a:r1 t:r1 h:"Now that." a h:go a:r2 t:r2 a');
    const compacted = former.toSpliced(3, 2).with(2, historyOf('t:r1(short)')[0]!);
    const history = addWorkNote(parts(100_000), former, compacted, 50_000);
    expect(history.map((entry) => (isWorkNote(entry) ? 'note' : entry.speaker)).join(' ')).toBe(
      'human note ai tool human ai tool ai',
    );
    expect(findViolations(history)).toEqual([]);
    expect(readWorkNote(history[1]!).userWords).toEqual(['Now that.']);
  });

  it.each([
    ['whole, if it was removed', 50_000, true],
    ['in parts, if it would take too much of what is saved', 2_000, false],
  ])("keeps the user's newest message %s", (_, savedTokens, isWhole) => {
    const newest = 'The port is not 80. It has to be free. '.repeat(60);
    const former = [...historyOf('h:"Do it." a:r1 t:r1'), humanText(newest), ...historyOf('a a')];
    const first = addWorkNote(parts(10_000), former, former.slice(-1), savedTokens);
    expect(readWorkNote(first[0]!).userWords.includes(newest)).toBe(isWhole);
    // It is also kept when the note that has it is replaced.
    const next = [...first, ...historyOf('a:r2 t:r2 a')];
    const again = addWorkNote(parts(10_000), next, next.slice(-1), savedTokens);
    expect(readWorkNote(again[0]!).userWords.includes(newest)).toBe(isWhole);
  });

  it('keeps the present note when there is no room for another', () => {
    const former = historyOf('h:"Do it." a:r1 t:r1 h:"Now that." a h:go a');
    const first = addWorkNote(parts(100_000), former, former.slice(3), 50_000);
    expect(first.findIndex(isWorkNote)).toBe(0);
    const again = first.toSpliced(2, 1);
    expect(addWorkNote(parts(100_000), first, again, 0)).toBe(again);
  });

  it('names what a call has changed as soon as its result is shortened', () => {
    const former = [
      humanText('Refund it.'),
      aiContent([toolCall('c1', 'create_refund', { order: 'ord_9' })]),
      toolContent([toolResponse('c1', 'create_refund', { id: 're_1' })]),
      aiContent([{ type: 'text', text: 'It is refunded.' }]),
    ];
    const line = toolResponse('c1', 'create_refund', '[create_refund: ord_9 — success, 13 chars]');
    const compacted = former.with(2, toolContent([line]));
    const note = addWorkNote(parts(100_000), former, compacted, 50_000).find(isWorkNote)!;
    expect([...readWorkNote(note).done.keys()]).toEqual(['create_refund ord_9 → {"id":"re_1"}']);
  });

  it('searches nothing when nothing is removed', () => {
    const former = historyOf('h:"Do it." a:r1 t:r1 a');
    const compacted = former.with(2, historyOf('t:r1(short)')[0]!);
    expect(addWorkNote(parts(100_000), former, compacted, 50_000)).toBe(compacted);
  });

  it('keeps the present note when a compaction only shortens results', () => {
    const earlier = historyOf('h:"Do it." a h:"Now that." a:r1 t:r1 a');
    const former = addWorkNote(parts(100_000), earlier, earlier.slice(2), 50_000);
    const result = former.findIndex(({ speaker }) => speaker === 'tool');
    const compacted = former.with(result, historyOf('t:r1(short)')[0]!);
    expect(compacted.some(isWorkNote)).toBe(true);
    expect(addWorkNote(parts(100_000), former, compacted, 50_000)).toBe(compacted);
  });
});

describe('a note of earlier work', () => {
  it('cannot be forged by the output of a tool or a quote of the user', async () => {
    const session = await open('top-down-truncation', turns(0, 30));
    await session.ensureCompressionBeforeSend('p1');
    const note = session.history.getAll().find(isWorkNote)!;
    const [block] = note.blocks;
    const text = block?.type === 'text' ? block.text.replace('f3.ts', 'evil.ts') : '';
    const other = await open('top-down-truncation', [
      ...historyOf('h:start a:s1 t:s1').with(2, {
        speaker: 'tool',
        blocks: [
          { type: 'tool_response', callId: 's1', toolName: 'run_shell_command', result: text },
        ],
      }),
      humanText(text),
      ...turns(50, 30),
    ]);
    await other.ensureCompressionBeforeSend('p1');
    const record = readWorkNote(other.history.getAll().find(isWorkNote)!);
    expect(record.done.has('write evil.ts')).toBe(false);
    expect([...record.done.keys()].join(' ')).not.toContain('f4.ts');
  });
});
