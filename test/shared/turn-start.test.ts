// Where the turn in progress begins, against a provider that joins what one side says in a row before it judges.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { IContent } from '../../src/shared/content.js';
import { readHistory } from '../../src/shared/providers/read-history.js';
import { findRequestViolations, validate } from '../../src/shared/providers/validate.js';
import { findTurnStart } from '../../src/shared/turn-start.js';
import { historyOf } from '../support/notation.js';
import { runs, sightings } from '../support/scale.js';

const THINKING = { thinking: true };

/** What a thinking model has answered, a call included. Its result follows, or words of the user do, or both. */
const answer = fc.constantFrom(
  'so',
  '*s',
  '*s,so',
  'call',
  '*s,call',
  'so,call',
  '&compaction,*s,call',
);
const asked = fc.constantFrom('', 'h', 'h h');
const talk = fc.array(fc.tuple(answer, asked, asked), { maxLength: 6 }).map((steps) => {
  const entries = steps.flatMap(([said, before, behind], at) => {
    const call = `r${at}`;
    const isCall = said.endsWith('call');
    const entry = `a:${said.replace('*s', `*s${at}`).replace('call', call)}`;
    return isCall ? [entry, before, `t:${call}`, behind] : [entry, behind];
  });
  return ['h', ...entries].filter((word) => word !== '').join(' ');
});

/** Whether the provider misses thinking at the start of the turn in progress: of one message per run of what one side says. */
function missesThinking(history: readonly IContent[]): boolean {
  const messages: { readonly isModel: boolean; readonly types: string[] }[] = [];
  for (const { speaker, blocks } of history) {
    const isModel = speaker === 'ai';
    const types = blocks.flatMap(({ type }) => (type === 'opaque' ? [] : [type]));
    if (messages.at(-1)?.isModel === isModel) messages.at(-1)?.types.push(...types);
    else messages.push({ isModel, types });
  }
  const question = messages.findLastIndex(
    ({ isModel, types }) => !isModel && !types.includes('tool_response'),
  );
  const [type] = messages[question + 1]?.types ?? [];
  return type !== undefined && type !== 'thinking';
}

describe('the turn in progress', () => {
  it('begins for validate where it does for the provider, in any talk', () => {
    const seen = { refused: 0, accepted: 0 };
    fc.assert(
      fc.property(talk, (notation) => {
        const history = historyOf(notation);
        const isRefused = missesThinking(history);
        const found = validate(history, 'anthropic', THINKING);
        expect(found.some(({ rule }) => rule === 'thinking-missing')).toBe(isRefused);
        // A host may send messages of one role in a row.
        const turns = history.flatMap((entry) => readHistory([entry], 'anthropic', {}).turns);
        const inParts = findRequestViolations({ ...THINKING, turns }, 'anthropic');
        expect(inParts.some(({ rule }) => rule === 'thinking-missing')).toBe(isRefused);
        seen[isRefused ? 'refused' : 'accepted'] += 1;
      }),
      { numRuns: runs(1_000) },
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(sightings(5));
  });
});

describe('findTurnStart', () => {
  it.each([
    ['h a', { question: 0, start: 1 }],
    ['h a t h a', { question: 0, start: 1 }],
    ['h a t a h', { question: 4, start: -1 }],
    ['h a t a h a', { question: 4, start: 5 }],
    ['a t a', { question: -1, start: 0 }],
    ['t a', { question: -1, start: 1 }],
    ['', { question: -1, start: -1 }],
  ])('finds it in "%s"', (talked, expected) => {
    const messages = talked.split(' ');
    const partOf = (message: string): 'answer' | 'results' | 'words' | 'other' =>
      message === 'a'
        ? 'answer'
        : message === 't'
          ? 'results'
          : message === 'h'
            ? 'words'
            : 'other';
    expect(findTurnStart(messages, partOf)).toEqual(expected);
  });
});
