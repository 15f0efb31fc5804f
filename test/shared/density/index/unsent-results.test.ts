// Which results were not sent yet and what they share with earlier ones: after any edits the same as in a new index of the history.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../../src/shared/content.js';
import { PRUNED_POINTER } from '../../../../src/shared/density.js';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfSession } from '../../../../src/shared/density/index/index-scope.js';
import { stretchesOfEdit } from '../../../../src/shared/density/index/stretches.js';
import { outOfReachLength } from '../../../../src/shared/density/index/unsent-results.js';
import { markedAsShrunk } from '../../../../src/shared/shrink/shown-before.js';
import { runs } from '../../../support/scale.js';

const SCOPE = scopeOfSession({ workspaceRoot: '/work' });
const KINDS = ['long', 'long', 'long', 'failed', 'seen', 'running', 'pruned', 'short'] as const;

interface Turn {
  readonly parts: readonly number[];
  readonly kind: (typeof KINDS)[number];
  /** Whether an answer follows. */
  readonly isSent: boolean;
}

/** Lines that only results with this part have. */
function linesOfPart(part: number): string {
  return Array.from({ length: 6 }, (_, at) => `line ${at} of part ${'abcdefgh'.charAt(part)}, `)
    .map((line) => line + 'which is long enough to be compared with others')
    .join('\n');
}

function entriesOf({ parts, kind, isSent }: Turn, id: string): readonly IContent[] {
  const text = kind === 'short' ? 'ok' : parts.map(linesOfPart).join('\n');
  const response = toolResponse(id, 'run', kind === 'pruned' ? PRUNED_POINTER : text);
  const marks = {
    ...(kind === 'failed' && { error: 'failed' }),
    ...(kind === 'seen' && { mediaTokens: 9 }),
    ...(kind === 'running' && { isComplete: false }),
  };
  return [
    aiContent([toolCall(id, 'run', { command: id })]),
    toolContent([{ ...response, ...marks }]),
    ...(isSent ? [aiContent('so')] : []),
  ];
}

/** The call that a block makes or answers. */
function idOf(block: ContentBlock): string | null {
  if (block.type === 'tool_call') return block.id;
  return block.type === 'tool_response' ? block.callId : null;
}

function unsentIn(index: HistoryIndex): readonly unknown[] {
  return Array.from(index.unsentResults().values(), (result) => {
    const { row, call, response } = result;
    return [row, call.id, response, index.shownOf(result, () => true)];
  });
}

function indexOf(history: readonly IContent[]): HistoryIndex {
  const index = new HistoryIndex(SCOPE);
  index.extend(history);
  return index;
}

const turns = fc.array(
  fc.record<Turn>({
    parts: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
    kind: fc.constantFrom(...KINDS),
    isSent: fc.boolean(),
  }),
  { maxLength: 8 },
);
/** Turns to add, which turns to remove before that, and whether to shrink what was not sent. */
const step = fc.tuple(turns, fc.array(fc.nat(30), { maxLength: 4 }), fc.boolean());

describe('unsentResults', () => {
  it('has the same results, with the same lines shown elsewhere, as the index of the edited history', () => {
    let shown = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (steps) => {
        let index = new HistoryIndex(SCOPE);
        let history: readonly IContent[] = [];
        let made = 0;
        const check = (): void => {
          const unsent = unsentIn(index);
          expect(unsent).toEqual(unsentIn(indexOf(history)));
          shown += JSON.stringify(unsent).split('"start"').length - 1;
        };
        for (const [added, removed, isShrunk] of steps) {
          // Passes remove nothing that was not sent.
          const sent = history.slice(
            0,
            history.findLastIndex(({ speaker }) => speaker === 'ai'),
          );
          const ids = new Set(
            sent
              .filter(({ speaker }) => speaker === 'tool')
              .flatMap(({ blocks }) => blocks.map(idOf))
              .filter((id) => removed.some((turn) => id === `c${turn}`)),
          );
          const isGone = ({ blocks: [block] }: IContent): boolean =>
            block !== undefined && ids.has(idOf(block));
          const removals = Int32Array.from(
            [...history.entries()].flatMap(([at, entry]) => (isGone(entry) ? [at] : [])),
          );
          const left = stretchesOfEdit(history.length, removals, new Int32Array());
          ({ index } = index.chosen(left));
          history = history.filter((entry) => !isGone(entry));
          check();
          const more = added.flatMap((turn) => entriesOf(turn, `c${(made += 1)}`));
          for (const entry of more) index.append(entry);
          history = [...history, ...more];
          check();
          if (!isShrunk) continue;
          for (const { row, response, text } of [...index.unsentResults().values()]) {
            const entry = index.responses.entry.at(row);
            const result = markedAsShrunk(text.slice(0, text.length / 2), text, ['lines'], ']');
            const shrunk = toolContent([{ ...response, result }]);
            index.noteShrunk(entry, shrunk);
            history = history.with(entry, shrunk);
          }
          check();
        }
      }),
      { numRuns: runs(2_000, 60) },
    );
    expect(shown).toBeGreaterThan(10);
  });
});

describe('outOfReachLength', () => {
  it('is the length of what 600 results and then an answer follow', () => {
    const turn: Turn = { parts: [1], kind: 'short', isSent: false };
    const history = (count: number, last: Turn = turn): readonly IContent[] => [
      ...Array.from({ length: count }, (_, at) => entriesOf(turn, `c${at}`)).flat(),
      ...entriesOf(last, 'last'),
      aiContent('so'),
      ...entriesOf(turn, 'unsent'),
    ];
    expect(outOfReachLength(history(598))).toBe(0);
    expect(outOfReachLength(history(599))).toBe(1);
    expect(outOfReachLength(history(699))).toBe(201);
    expect(outOfReachLength(history(699), 202)).toBe(0);
    expect(outOfReachLength(history(599, { ...turn, kind: 'running' }))).toBe(0);
    expect(outOfReachLength([])).toBe(0);
  });
});
