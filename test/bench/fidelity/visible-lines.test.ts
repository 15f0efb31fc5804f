// The index of lines, compared with a search of all texts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VisibleLines } from '../../../bench/fidelity/visible-lines.js';
import type { ContentBlock } from '../../../src/index.js';
import { naiveText } from './naive-fidelity.js';
import { runs } from '../../support/scale.js';

/** Few and similar pieces, so that lines match words, parts of words and each other. */
const piece = fc.constantFrom('a', 'ab', 'let', ' ', '.', '(', '}', 'é', '"', '\\', '7→', '_x');
const line = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const text = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
const payload = fc.oneof(
  text,
  text.map((content) => ({ output: content, count: 1, parts: [{ content }] })),
  text.map((content) => JSON.stringify({ output: content })),
);
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  text.map((content): ContentBlock => ({ type: 'text', text: content })),
  text.map((content): ContentBlock => ({ type: 'thinking', thought: content })),
  payload.map((parameters): ContentBlock => ({
    type: 'tool_call',
    id: '1',
    name: 'Edit',
    parameters,
  })),
  payload.map((result): ContentBlock => ({
    type: 'tool_response',
    callId: '1',
    toolName: 'Edit',
    result,
    error: 'let it be',
  })),
);

describe('VisibleLines', () => {
  it('finds the lines that a search of all texts finds, while blocks are added', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(block, fc.array(line, { maxLength: 3 })), { maxLength: 12 }),
        fc.array(line, { minLength: 1, maxLength: 6 }),
        (steps, lines) => {
          const visible = new VisibleLines();
          const added: ContentBlock[] = [];
          for (const [next, asked] of steps) {
            visible.add(next);
            added.push(next);
            for (const each of [...lines, ...asked]) {
              const shown = added.filter((candidate) => naiveText(candidate).includes(each));
              expect(visible.holders(each)).toEqual(shown);
            }
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('indexes a block once, however often it is added', () => {
    const visible = new VisibleLines();
    const only: ContentBlock = { type: 'text', text: 'let a = 1;' };
    visible.add(only);
    visible.add(only);
    expect(visible.holders('let a')).toEqual([only]);
  });
});
