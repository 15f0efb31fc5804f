// The shrinker `lineNumbers`: removes the spaces that `cat -n`, `nl` and agents' tools put before line numbers to align them.
// Models do not need this padding, and it costs a token per line. The text of the lines is unchanged.

import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';
import { endOfDigits, lineNumberAt, MIN_NUMBERED_LINES, paddingOf } from './shown-before.js';

/** Removes the spaces before line numbers. */
export const LINE_NUMBERS: Shrinker = {
  name: 'lineNumbers',
  label: 'spaces before line numbers',
  from: 'lossless',
  keepsText: true,
  shrink({ lines }) {
    let kept: string[] | undefined;
    for (let start = 0; start < lines.length;) {
      const end = endOfNumbers(lines, start);
      if (end - start >= MIN_NUMBERED_LINES) {
        kept ??= [...lines];
        for (let at = start; at < end; at += 1) {
          const line = lines[at] ?? '';
          kept[at] = line.slice(paddingOf(line, 0));
        }
      }
      start = Math.max(end, start + 1);
    }
    return kept && Draft.ofLines(kept);
  },
};

/** The end (exclusive) of the consecutively numbered lines from `start` on, with right-aligned numbers; `start` if none. */
function endOfNumbers(lines: readonly string[], start: number): number {
  let [column, number] = [0, 0];
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const padding = paddingOf(line, 0);
    if (padding === 0) return at;
    const end = endOfDigits(line, padding);
    const found = lineNumberAt(line, 0);
    if (at > start && (end !== column || found !== number + 1)) return at;
    [column, number] = [end, found];
  }
  return lines.length;
}
