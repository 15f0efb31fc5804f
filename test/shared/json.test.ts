import { describe, expect, it } from 'vitest';
import { errorLine, textOfParts } from '../../src/shared/json.js';

describe('errorLine', () => {
  it.each([
    ['\n  first \r\nsecond', 'first'],
    [[{ type: 'text', text: 'first' }], 'first'],
    ['', 'The tool failed.'],
    [{ output: 1 }, 'The tool failed.'],
    ['x'.repeat(201), `${'x'.repeat(199)}…`],
  ])('returns for %j what fits on one line', (output, line) => {
    expect(errorLine(output)).toBe(line);
  });
});

describe('textOfParts', () => {
  it.each([
    ['a', 'a'],
    [[{ type: 'text', text: 'a' }, { type: 'input_text', text: 'b' }, 'c'], 'a\nb\nc'],
    [[], ''],
    [[{ type: 'text', text: 'a' }, { type: 'image' }], undefined],
    [[null], undefined],
    [7, undefined],
  ])('reads %j', (content, text) => {
    expect(textOfParts(content)).toBe(text);
  });
});
