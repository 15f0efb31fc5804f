// The shrinker `grouping`: lists of files, and of matches in files. A path that several lines begin with is written once;
// of a list that is longer than anyone reads the first lines of each file or folder stay, with how many more there are.
// Looks at searches only; the order of what stays does not change.

import { Draft, leftOut } from './shrinker.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';

/** So many lines of a list stay; a list of up to half as many again stays whole. */
const MAX_LINES: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 200,
  strong: 80,
};
/** Of one file or folder no more than this stay, and fewer when that is too many for all of them. */
const MOST_OF_GROUP = 64;
/** A path that fewer lines begin with stays where it is. */
const MIN_GROUP = 2;

/** Longer paths are none. */
const MAX_SCANNED = 400;
/** The file of a match with its line, and the folder of a path that is the whole line. */
const MATCH = /^([^\s:][^:]{0,300}?)[:-]\d{1,7}[:-]/;
const FOLDER = /^([^\s:]{0,300}\/)[^/\s:]+\r?$/;

/** Lines one behind the other that begin with the same path, or one line that begins with none. */
interface Group {
  readonly path: string;
  readonly lines: readonly string[];
}

/** Writes paths once, and takes what is beyond what anyone reads. */
export const GROUPING: Shrinker<'grouping'> = {
  name: 'grouping',
  says: 'paths of lists and the rest of long ones',
  from: 'lossless',
  shrink(draft, { purpose, level }) {
    if (purpose !== 'search') return undefined;
    const groups = groupsOf(draft.lines);
    const most = MAX_LINES[level];
    const isLong = draft.lines.length > 1.5 * most;
    const kept = (isLong ? shortened(groups, most) : groups).flatMap(linesOf);
    const shorter = Draft.ofLines(kept);
    return shorter.text.length < draft.text.length ? shorter : undefined;
  },
};

function groupsOf(lines: readonly string[]): readonly Group[] {
  const groups: { readonly path: string; readonly lines: string[] }[] = [];
  for (const line of lines) {
    const path = pathOf(line);
    const last = groups.at(-1);
    if (path !== '' && last?.path === path) last.lines.push(line);
    else groups.push({ path, lines: [line] });
  }
  return groups;
}

/** The path that a line begins with: of a match its file, of a file its folder; empty for other lines. */
function pathOf(line: string): string {
  const start = line.length > MAX_SCANNED ? line.slice(0, MAX_SCANNED) : line;
  return MATCH.exec(start)?.[1] ?? FOLDER.exec(start)?.[1] ?? '';
}

/** The lines of a group, below their path where that takes less; what goes with a colon stands behind a space. */
function linesOf({ path, lines }: Group): readonly string[] {
  if (path === '' || lines.length < MIN_GROUP) return lines;
  const isFolder = path.endsWith('/');
  return [
    path,
    ...lines.map((line) => {
      const rest = line.startsWith(path) ? line.slice(path.length) : undefined;
      if (rest === undefined) return line;
      return ` ${!isFolder && rest.startsWith(':') ? rest.slice(1) : rest}`;
    }),
  ];
}

/** The first lines of each group, and of the groups that the list has room for. */
function shortened(groups: readonly Group[], most: number): readonly Group[] {
  const perGroup = linesPerGroup(groups, most);
  const kept: Group[] = [];
  let shown = 0;
  for (const [at, group] of groups.entries()) {
    if (shown >= most) {
      const rest = groups.slice(at).reduce((sum, { lines }) => sum + lines.length, 0);
      const what = `${rest} more lines, of ${groups.length - at} files or folders,`;
      kept.push({ path: '', lines: [leftOut(what)] });
      break;
    }
    const { path, lines } = group;
    const isWhole = lines.length <= perGroup + 1;
    const count = isWhole ? lines.length : perGroup;
    shown += count;
    kept.push(isWhole ? group : { path, lines: lines.slice(0, count) });
    if (!isWhole) {
      kept.push({ path: '', lines: [leftOut(`${lines.length - count} more of these`)] });
    }
  }
  return kept;
}

/** The largest number of lines per group with which the list is short enough; at least 1. */
function linesPerGroup(groups: readonly Group[], most: number): number {
  for (let perGroup = MOST_OF_GROUP; perGroup > 1; perGroup >>= 1) {
    const shown = groups.reduce((sum, { lines }) => sum + Math.min(lines.length, perGroup + 1), 0);
    if (shown <= most) return perGroup;
  }
  return 1;
}
