// Printed text fits its width, and keeps its words.

import fc from 'fast-check';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fitLines, printCode } from '../../../src/cli/terminal/print.js';
import { createPaint } from '../../../src/cli/terminal/terminal-layout.js';
import { columnsOf } from '../../../src/cli/terminal/text-layout.js';
import { runs } from '../../support/scale.js';

/** Lines of words, some of them long, with indents and gaps between columns. */
const arbitraryText = fc
  .array(
    fc
      .array(fc.stringMatching(/^(?:[a-z,.:/\-读🙂]{1,30}| {1,6})$/u), { maxLength: 12 })
      .map((parts) => parts.join(' ')),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));

const arbitraryWidth = fc.integer({ min: 24, max: 90 });

/** A text without its layout. */
function said(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s/g, '');
}

describe('fitLines', () => {
  it('makes no line wider than allowed, and loses no word', () => {
    fc.assert(
      fc.property(arbitraryText, arbitraryWidth, (text, width) => {
        const fitted = fitLines(text, width);
        for (const line of fitted.split('\n')) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(said(fitted)).toBe(said(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('keeps lines that fit, with their colours', () => {
    const line = createPaint(true)('cyan', 'x'.repeat(30));
    expect(fitLines(`${line}\n  a   b`, 30)).toBe(`${line}\n  a   b`);
  });

  it('puts a term on its own line, and its description below', () => {
    expect(fitLines('  --format <name>  the format of what is read', 30)).toBe(
      '  --format <name>\n    the format of what is read',
    );
  });
});

describe('printCode', () => {
  it.each(['"', "'"])('breaks no text in %s, and lets no control character through', (quote) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    onTestFinished(() => {
      write.mockRestore();
    });
    const long = '/home/somebody/a project/'.repeat(9);
    const wide = 'f, '.repeat(40);
    printCode(`f({\n  workspaceRoot: ${quote}${long}\u009b${quote},\n});\n${wide}\n`);
    const printed = write.mock.calls.map(([text]) => String(text)).join('');
    const code = `f({\n  workspaceRoot: ${quote}${long}\\u009b${quote},\n});\n`;
    expect([printed.slice(0, code.length), printed.split('\n').length]).toEqual([code, 6]);
  });
});
