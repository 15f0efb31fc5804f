// The shrinker `grouping`: of a long list of files, or of matches in files, the first ones of each folder or file, and how
// many more there are. Looks at searches only; the order of what stays does not change.

import { Draft } from './draft.js';
import { leftOut } from './shrinker.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';

/** So many lines of a list stay; a list of up to half as many again stays whole. */
const MAX_LINES: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 200,
  strong: 80,
};
/** Of one file or folder no more than this stay, and fewer when that is too many for all of them. */
const MOST_OF_GROUP = 64;

const MATCH = /^([^\s:][^:\n]{0,400}?)[:-]\d+[:-]/;
const PATH = /^(?:\S.{0,400})?\//;

/** Takes what is beyond what anyone reads of lists and matches. */
export const GROUPING: Shrinker<'grouping'> = {
  name: 'grouping',
  says: 'the rest of long lists',
  from: 'default',
  shrink(draft, { purpose, level }) {
    if (purpose !== 'search') return undefined;
    const { lines } = draft;
    const most = MAX_LINES[level];
    if (lines.length <= 1.5 * most) return undefined;
    const groups = groupsOf(lines);
    const perGroup = linesPerGroup(groups, most);
    const kept: string[] = [];
    let from = 0;
    for (const [at, count] of groups.entries()) {
      if (kept.length >= most) {
        const rest = groups.length - at;
        kept.push(leftOut(`${lines.length - from} more lines, of ${rest} files or folders,`));
        break;
      }
      const shown = count <= perGroup + 1 ? count : perGroup;
      for (let line = from; line < from + shown; line += 1) kept.push(lines[line] ?? '');
      if (shown < count) kept.push(leftOut(`${count - shown} more of these`));
      from += count;
    }
    return kept.length < lines.length ? Draft.ofLines(kept) : undefined;
  },
};

/** How many lines there are of each file or folder, one group behind the other. */
function groupsOf(lines: readonly string[]): readonly number[] {
  const counts: number[] = [];
  let last: string | undefined;
  for (const line of lines) {
    const key = keyOf(line);
    if (last !== undefined && (key === undefined || key === last)) {
      counts.push((counts.pop() ?? 0) + 1);
      continue;
    }
    counts.push(1);
    last = key ?? '';
  }
  return counts;
}

/** The file of a match, or the folder of a path; a line that is neither goes with the one before. */
function keyOf(line: string): string | undefined {
  const start = line.length > 500 ? line.slice(0, 500) : line;
  return MATCH.exec(start)?.[1] ?? PATH.exec(start)?.[0];
}

/** The largest number of lines per group with which the list is short enough; at least 1. */
function linesPerGroup(counts: readonly number[], most: number): number {
  for (let perGroup = MOST_OF_GROUP; perGroup > 1; perGroup >>= 1) {
    const shown = counts.reduce((sum, count) => sum + Math.min(count, perGroup + 1), 0);
    if (shown <= most) return perGroup;
  }
  return 1;
}
