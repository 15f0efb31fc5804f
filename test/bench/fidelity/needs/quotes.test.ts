// Quotes, compared with a search for the longest common text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteNeeds } from '../../../../bench/fidelity/needs/quotes.js';
import { ShownBefore } from '../../../../bench/fidelity/needs/shown-before.js';
import type { IContent } from '../../../../src/index.js';
import { runs } from '../../../support/scale.js';
import { says, shell, user } from '../support/made-session.js';

const SENTENCE = 'the quick brown fox jumps over the lazy dog at noon';

function quotesOf(...parts: readonly (IContent | readonly IContent[])[]): (string | undefined)[] {
  const entries = parts.flat();
  return quoteNeeds(entries, new ShownBefore(entries)).map(({ lines }) => lines[0]);
}

describe('quoteNeeds', () => {
  it('finds quotes of at least 40 characters of a result, at full length', () => {
    const shown = shell('1', 'cat a', `12: ${SENTENCE}, and sleeps`);
    expect(quotesOf(shown, says(`It says "${SENTENCE}".`))).toEqual([SENTENCE]);
    expect(quotesOf(shown, says(`It says "${SENTENCE.slice(0, 39)}".`))).toEqual([]);
    expect(quotesOf(shown, says(`It says ${SENTENCE.slice(0, 40)}!`))).toEqual([
      SENTENCE.slice(0, 40),
    ]);
  });

  it('also finds quotes of calls, and each once per answer', () => {
    const shown = shell('1', 'cat a', SENTENCE);
    const write: IContent = {
      speaker: 'ai',
      blocks: [
        { type: 'text', text: SENTENCE },
        { type: 'tool_call', id: '2', name: 'Write', parameters: { content: `// ${SENTENCE}` } },
      ],
    };
    expect(quotesOf(shown, write)).toEqual([SENTENCE]);
  });

  it('ignores texts of the user and of earlier answers', () => {
    const shown = shell('1', 'cat a', SENTENCE);
    expect(quotesOf(user(SENTENCE), shown, says(SENTENCE))).toEqual([]);
    expect(quotesOf(shown, says(SENTENCE), says(SENTENCE))).toEqual([SENTENCE]);
  });

  it('ignores separator lines and numbers', () => {
    const ruler = `1${' - 22'.repeat(20)}`;
    expect(quotesOf(shell('1', 'cat a', ruler), says(ruler))).toEqual([]);
  });

  it('finds quotes wherever 40 characters from the start of a word are equal', () => {
    const word = fc.constantFrom('alphabetical', 'be', 'characteristic', 'd.', 'e-');
    const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(' '));
    const text = fc.array(line, { maxLength: 3 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (result, answer) => {
        const quotes = quotesOf(shell('1', 'run', result), says(answer));
        const windows = answer.split('\n').flatMap((each) =>
          Array.from(each.matchAll(/(?<!\w)\w/g), ({ index }) =>
            each.slice(index, index + 40),
          ).filter((window) => {
            const isWhole = window.length === 40;
            return isWhole && result.split('\n').some((other) => other.includes(window));
          }),
        );
        for (const quote of quotes) {
          expect(quote?.length).toBeGreaterThanOrEqual(40);
          expect(result).toContain(quote);
          expect(answer).toContain(quote);
        }
        // One of the quotes begins at the first match.
        const [first] = windows;
        if (first === undefined) expect(quotes).toEqual([]);
        else expect(quotes[0]?.startsWith(first)).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });
});
