// The shrinker `lineNumbers`: removes the spaces that `cat -n`, `nl` and the tools of agents put before line numbers to align
// them. A model can read the numbers without them, and they cost a token per line. The text of the lines is unchanged.

import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';
import { MIN_NUMBERED_LINES } from './shown-before.js';

/** Captures the padding, the number and what separates it from the line. */
const NUMBERED = /^( {0,12})(\d{1,9})([\t→:|]| \| )/;
/** Text of files hardly has these behind a number. Others must show by a longer number that the padding aligns: YAML indents, too. */
const CERTAIN = /[\t→]/;

/** Removes the spaces before line numbers. */
export const LINE_NUMBERS: Shrinker = {
  name: 'lineNumbers',
  label: 'spaces before line numbers',
  from: 'lossless',
  keepsText: true,
  shrink({ lines }) {
    let kept: string[] | undefined;
    for (let start = 0; start < lines.length;) {
      const paddings = paddingsFrom(lines, start);
      for (const [at, padding] of paddings.entries()) {
        if (padding === 0) continue;
        kept ??= [...lines];
        kept[start + at] = (lines[start + at] ?? '').slice(padding);
      }
      start += paddings.length;
    }
    return kept && Draft.ofLines(kept);
  },
};

/** How many spaces to remove of the lines from `start` on whose consecutive numbers end in one column: 0 each if that may be text. */
function paddingsFrom(lines: readonly string[], start: number): readonly number[] {
  const paddings: number[] = [];
  let [column, number, separator] = [0, 0, ''];
  for (let at = start; at < lines.length; at += 1) {
    const [, padding = '', digits = '', behind = ''] = NUMBERED.exec(lines[at] ?? '') ?? [];
    const isNext = padding.length + digits.length === column && Number(digits) === number + 1;
    if (at > start && !isNext) break;
    [column, number, separator] = [padding.length + digits.length, Number(digits), behind];
    paddings.push(padding.length);
  }
  const isAligned = CERTAIN.test(separator) || paddings[0] !== paddings.at(-1);
  return isAligned && paddings.length >= MIN_NUMBERED_LINES ? paddings : paddings.map(() => 0);
}
