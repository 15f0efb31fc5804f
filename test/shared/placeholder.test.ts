// How placeholders end, and that each is recognized in its place and nowhere else.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolCall, toolResponse } from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import type { PlaceholderForm } from '../../src/shared/density.js';
import { placeholderEnding, placeholderKind } from '../../src/shared/placeholder.js';
import { summarizeToolResponse } from '../../src/shared/summarize/tool-summary.js';
import { runs } from '../support/scale.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('\n', '\u0085', '\u2028', '\u0000', '\ud800', '"', '\\', 'x'),
  }),
);

describe('placeholderEnding', () => {
  it.each([
    ['pointer', ']'],
    ['informative', '; id "call_1"]'],
    ['recallable', '; recall("call_1") for the original]'],
  ] as const)('of the form %s is %s', (form, ending) => {
    expect(placeholderEnding('call_1', form)).toBe(ending);
  });

  it('quotes any id on one line, so that it can be read back, or omits it', () => {
    fc.assert(
      fc.property(text, (id) => {
        const ending = placeholderEnding(id, 'informative');
        expect(ending).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u);
        const quoted = /^; id (.*)\]$/.exec(ending)?.[1];
        if (quoted === undefined) expect([ending, id.length > 20]).toEqual([']', true]);
        else expect(JSON.parse(quoted)).toBe(id);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('placeholderKind', () => {
  const lineOf = (form: PlaceholderForm): string =>
    summarizeToolResponse(
      toolResponse('call_1', 'read_file', 'a\nb'),
      toolCall('call_1', 'read_file', { path: 'src/a.ts' }),
      form,
    );
  const kindOf = (result: unknown, callId = 'call_1', toolName = 'read_file'): string =>
    placeholderKind(toolResponse(callId, toolName, result));

  it('recognizes each form', () => {
    expect(lineOf('recallable')).toBe(
      '[read_file: src/a.ts — success, 2 lines; recall("call_1") for the original]',
    );
    expect(kindOf(PRUNED_POINTER)).toBe('pointer');
    expect(kindOf(lineOf('recallable'))).toBe('pointer');
    expect(kindOf(lineOf('informative'))).toBe('pointer');
    expect(kindOf(lineOf('pointer'))).toBe('summary');
  });

  it.each([
    ['a line about another call', lineOf('recallable'), 'call_2'],
    ['a line of another tool', lineOf('recallable'), 'call_1', 'grep'],
    ['a line with more behind it', `${lineOf('recallable')}\nand a payload`],
    ['a line with more before it', `look: ${lineOf('recallable')}`],
    ['a line without an outcome', '[read_file: src/a.ts; recall("call_1") for the original]'],
    ['a long line', `[read_file: ${'x'.repeat(200)} — success; recall("call_1") for the original]`],
    ['a line with a control character', lineOf('recallable').replace('src', 's\u0000rc')],
    ['an object that holds a line', { output: lineOf('recallable') }],
    ['an empty text', ''],
    ['brackets', '[]'],
    ['no text', null],
  ])('ignores %s', (_, result, ...place: [callId?: string, toolName?: string]) => {
    expect(kindOf(result, ...place)).toBe('none');
  });

  it('recognizes every placeholder, for any response', () => {
    const forms = fc.constantFrom<PlaceholderForm>('pointer', 'informative', 'recallable');
    fc.assert(
      fc.property(text, text, text, text, forms, (id, name, path, result, form) => {
        const response = toolResponse(id, name, result);
        const line = summarizeToolResponse(response, toolCall(id, name, { path }), form);
        const named = placeholderEnding(id, form) === ']' ? 'summary' : 'pointer';
        const expected = placeholderKind(response) === 'none' ? named : placeholderKind(response);
        expect(kindOf(line, id, name)).toBe(expected);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
