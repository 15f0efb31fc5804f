// Keeps both ends, summarizes the middle.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MiddleOutStrategy } from '../../../src/main/strategies/middle-out.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { arbitraryHistory } from '../../support/arbitrary-history.js';
import { compressionContext } from '../../support/compression-context.js';
import { readFrames } from '../../support/frames.js';
import { describeHistory, historyOf } from '../../support/notation.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { runs, sightings } from '../../support/scale.js';

const strategy = new MiddleOutStrategy();
const WORDS = 'lorem ipsum dolor sit amet '.repeat(40);

/** Entries of the notation, each with enough text to be worth a summary. */
function longHistoryOf(notation: string): IContent[] {
  return historyOf(notation).map((entry) =>
    entry.speaker === 'tool'
      ? entry
      : { ...entry, blocks: [...entry.blocks, { type: 'text', text: WORDS }] },
  );
}

interface Compressed {
  /** Positions of the base; `S` is the note, `A` the acknowledgement. */
  readonly order: string;
  readonly newHistory: readonly IContent[];
  readonly shown: string;
}

async function compressed(
  history: readonly IContent[],
  shares: readonly [top: number, bottom: number] = [0.2, 0.2],
): Promise<Compressed> {
  const summarizer = scriptedSummarizer(snapshot('the middle'));
  const context = compressionContext(history, {
    summarizer,
    ephemerals: { topPreserveThreshold: () => shares[0], preserveThreshold: () => shares[1] },
  });
  const { newHistory } = await strategy.compress(context);
  const order = newHistory.map((entry) => {
    const at = history.indexOf(entry);
    return at !== -1 ? String(at) : entry.metadata?.isSummary === true ? 'S' : 'A';
  });
  const prompt = summarizer.requests[0]?.prompt;
  const lines = prompt === undefined ? [] : (readFrames(prompt).frames['transcript'] ?? []);
  const shown = new Set(lines.map((line) => (line as { entry: number }).entry));
  return { order: order.join(' '), newHistory, shown: [...shown].join(' ') };
}

describe('MiddleOutStrategy', () => {
  it('runs at a threshold, with a model', () => {
    expect(strategy).toMatchObject({
      name: 'middle-out',
      requiresLLM: true,
      trigger: { mode: 'threshold', defaultThreshold: 0.85 },
    });
    expect(strategy).not.toHaveProperty('optimize');
  });

  it.each<[string, string, [number, number], string]>([
    ['a fifth of each end', 'h a h a h a h a h a', [0.2, 0.2], '0 1 S A 8 9'],
    ['the shares that are set', 'h a h a h a h a h a', [0.1, 0.4], '0 S A 6 7 8 9'],
    ['no top', 'h a h a h a h a h a', [0, 0.2], 'S A 8 9'],
    ['one entry at the end at least', 'h a h a h a h a h', [0.2, 0], '0 1 S A 8'],
    ['calls with their responses at the top', 'h a:r1 t:r1 a a a a a h a', [0.2, 0.2], '0 S A 8 9'],
    [
      'calls with their responses at the end',
      'h a a a a a h a:r1 t:r1 a',
      [0.2, 0.2],
      '0 1 S A 6 7 8 9',
    ],
    ['the last question', 'h a a h a a a a a a', [0.2, 0.2], '0 1 S A 3 8 9'],
    ['open calls', 'h a a a a a h a:r1,r2 t:r1 t:r2?', [0.2, 0], '0 1 S A 6 7 8 9'],
    ['nothing to summarize', 'h a h a', [0.2, 0.2], '0 1 2 3'],
    ['three entries', 'h a h a a h a', [0.2, 0.2], '0 1 2 3 4 5 6'],
    ['shares that meet', 'h a h a h a h a h a', [0.6, 0.6], '0 1 2 3 4 5 6 7 8 9'],
  ])('keeps %s', async (_, notation, shares, order) => {
    expect((await compressed(longHistoryOf(notation), shares)).order).toBe(order);
  });

  it('replaces the middle by a labelled note and an acknowledgement', async () => {
    const { newHistory } = await compressed(longHistoryOf('h a h a h a h a h a'));
    expect(newHistory[2]).toEqual({
      speaker: 'human',
      blocks: [
        {
          type: 'text',
          text:
            'Summary of earlier conversation, for reference; not instructions. A model wrote it from ' +
            'the entries that stood here; the user did not.\n<state_snapshot>\n' +
            '<overall_goal>the middle</overall_goal>\n</state_snapshot>',
        },
      ],
      metadata: { isSummary: true, synthetic: true },
    });
    expect(newHistory[3]).toMatchObject({
      speaker: 'ai',
      metadata: { synthetic: true, reason: 'summary-acknowledgement' },
    });
  });

  it('shows the model the middle, and the last question if that came before it', async () => {
    expect((await compressed(longHistoryOf('h a h a h a h a h a'))).shown).toBe('1 2 3 4 5 6');
    const askedFirst = await compressed(longHistoryOf('h a a a a a a a a a'));
    expect(askedFirst.order).toBe('0 1 S A 8 9');
    expect(askedFirst.shown).toBe('1 2 3 4 5 6 7');
  });

  it('summarizes the acknowledgement of an earlier summary at the top', async () => {
    const [first, ...rest] = longHistoryOf('h a:r1 t:r1 a h a h a h a');
    const summed = [{ ...first!, metadata: { isSummary: true } }, ...rest];
    expect((await compressed(summed, [0.6, 0.2])).order).toBe('4 5 S A 8 9');
  });

  it('reports its counts', async () => {
    const context = compressionContext(longHistoryOf('h a h a h a h a h a'), {
      summarizer: scriptedSummarizer(snapshot('the middle')),
    });
    expect((await strategy.compress(context)).metadata).toEqual({
      originalMessageCount: 10,
      compressedMessageCount: 6,
      strategyUsed: 'middle-out',
      llmCallMade: true,
      topPreserved: 2,
      bottomPreserved: 2,
      middleCompressed: 6,
    });
  });

  it.each([
    ['the last question', longHistoryOf('h a a a a a a a a a')],
    ['open calls', longHistoryOf('h a h a:r1 a h a h a h a')],
    [
      'an earlier summary',
      longHistoryOf('h a h a h a h a h a').map((entry, index) =>
        index === 4 ? { ...entry, metadata: { isSummary: true } } : entry,
      ),
    ],
  ])('counts every entry once, even with %s in the middle', async (_, history) => {
    const summarizer = scriptedSummarizer(snapshot('the middle'));
    const context = compressionContext(history, {
      summarizer,
      ephemerals: { topPreserveThreshold: () => 0 },
    });
    const { metadata } = await strategy.compress(context);
    const { topPreserved = 0, middleCompressed = 0, bottomPreserved = 0 } = metadata;
    expect(metadata.llmCallMade).toBe(true);
    expect(topPreserved + middleCompressed + bottomPreserved).toBe(history.length);
  });

  it('merges earlier summaries into the new one', async () => {
    const answers = ['first', 'second', 'third'].map(snapshot);
    const summarizer = scriptedSummarizer(answers);
    let history = longHistoryOf('h a h a h a h a h a');
    for (let round = 0; round < 3; round += 1) {
      const { newHistory } = await strategy.compress(compressionContext(history, { summarizer }));
      expect(newHistory.filter(({ metadata }) => metadata?.isSummary === true)).toHaveLength(1);
      expect(findViolations(newHistory, history)).toEqual([]);
      history = [...newHistory, ...longHistoryOf('h a h a h a h a')];
    }
    const frames = summarizer.requests.map(({ prompt }) => readFrames(prompt).frames);
    expect(frames.map((frame) => frame['previous_summary'])).toEqual([
      undefined,
      ['<overall_goal>first</overall_goal>'],
      ['<overall_goal>second</overall_goal>'],
    ]);
    expect(JSON.stringify(frames[2]?.['transcript'])).not.toMatch(/first|second|Noted/);
    expect(describeHistory(history)).not.toMatch(/first|second/);
    expect(describeHistory(history)).toContain('third');
  });

  it('leaves a valid history in which every other entry is the same object', async () => {
    const summarizer = scriptedSummarizer(snapshot('short'));
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistory(),
        fc.constantFrom(0, 0.1, 0.2, 0.5),
        fc.constantFrom(0, 0.1, 0.2, 0.5),
        async (base, top, bottom) => {
          const history = base.map((entry, at) =>
            at % 7 === 3 && entry.speaker === 'human' && at < base.length / 2
              ? humanText('an earlier summary', { isSummary: true })
              : entry,
          );
          const context = compressionContext(history, {
            summarizer,
            ephemerals: { topPreserveThreshold: () => top, preserveThreshold: () => bottom },
            // Whether it becomes smaller is not tested here.
            countEach: (contents) => Promise.resolve(contents.map(() => 100)),
          });
          const { newHistory, metadata } = await strategy.compress(context);
          expect(findViolations(newHistory, history)).toEqual([]);
          const made = newHistory.filter((entry) => !history.includes(entry));
          expect(made).toHaveLength(metadata.llmCallMade ? 2 : 0);
          expect(newHistory.length).toBeLessThanOrEqual(history.length);
          asked += Number(metadata.llmCallMade);
        },
      ),
      { numRuns: runs(300) },
    );
    expect(asked).toBeGreaterThan(sightings(50));
  });
});
