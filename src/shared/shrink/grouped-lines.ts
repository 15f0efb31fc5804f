// The shrinker `grouping`: shortens lists of files and of matches in files. A path that consecutive lines share is written once.
// A very long list is cut to the first lines of each file or folder, followed by its last lines. Applies to searches
// only and keeps the order of lines.

import { countBehind, Draft, leftOut } from './shrinker.js';
import type { Shrinker, ShrinkLevel, ShrinkSubject } from './shrinker.js';

/** Lines to keep of a list. Lists of up to 1.5 times as many lines are kept whole. */
const MAX_LINES: Readonly<Record<ShrinkLevel, number>> = {
  lossless: Infinity,
  default: 200,
  strong: 80,
};
/** Maximum lines to keep per file or folder. */
const MOST_OF_GROUP = 64;
/** Groups with fewer lines are unchanged. */
const MIN_GROUP = 2;
/** Maximum number of last lines to keep of a list. */
const MOST_BEHIND = 10;

/** UTF-16 units at the start of a line that are searched for a path. */
const MAX_SCANNED = 400;
/** `MATCH` captures the file of a match with file and line number; `FOLDER`, the folder of a line that is only a path. */
const MATCH = /^((?:[A-Za-z]:[\\/]|[./~])[^:]{0,300}?|[^\s:]{1,300}):\d{1,7}:/;
/** A line that is only a path; captures the folder. */
const FOLDER = /^((?:(?:[A-Za-z]:[\\/]|[./~])[^:]{0,300}?|[^\s:]{0,300}?)[\\/])[^\\/\s:]+\r?$/;
/** What a file name must contain to count as a path: other words before `:12:` belong to timestamps, as in logs. */
const PATH = /[./\\]/;
/** Matches the end of the file name in a context line of `grep`, which has dashes where a match has colons. */
const CONTEXT = /-(?=\d{1,7}-)/g;

/** Consecutive lines that start with the same path, or one line without a path. */
interface Group {
  readonly path: string;
  readonly lines: readonly string[];
}

/** Writes common paths once and cuts very long lists. */
export const GROUPING: Shrinker = {
  name: 'grouping',
  label: 'paths of lists and the rest of long ones',
  from: 'lossless',
  shrink(draft, subject) {
    const { purpose, level } = subject;
    if (purpose !== 'search') return undefined;
    const groups = groupsOf(draft.lines);
    const most = MAX_LINES[level];
    const isLong = draft.lines.length > 1.5 * most;
    const kept = (isLong ? shortened(groups, most, subject) : groups).flatMap(linesOf);
    const shorter = Draft.ofLines(kept);
    return shorter.text.length < draft.text.length ? shorter : undefined;
  },
};

function groupsOf(lines: readonly string[]): readonly Group[] {
  const groups: { readonly path: string; readonly lines: string[] }[] = [];
  const starts = lines.map((line) => line.slice(0, MAX_SCANNED));
  const matches = starts.map(fileOfMatch);
  const files = new Set(matches);
  for (const [at, line] of lines.entries()) {
    const start = starts[at] ?? '';
    const path = matches[at] || fileOfContext(start, files) || (FOLDER.exec(start)?.[1] ?? '');
    const last = groups.at(-1);
    if (path !== '' && last?.path === path) last.lines.push(line);
    else groups.push({ path, lines: [line] });
  }
  return groups;
}

/** Returns the file of a match, or an empty string for other lines. */
function fileOfMatch(start: string): string {
  const file = MATCH.exec(start)?.[1] ?? '';
  return PATH.test(file) ? file : '';
}

/** Returns the file of a context line, or an empty string. File names may contain `-12-` too, so only files with matches count. */
function fileOfContext(start: string, files: ReadonlySet<string>): string {
  for (const { index } of start.matchAll(CONTEXT)) {
    const path = start.slice(0, index);
    if (files.has(path)) return path;
  }
  return '';
}

/** Returns the common path of a group, then its lines without that path. A space replaces the colon after a file name. */
function linesOf({ path, lines }: Group): readonly string[] {
  if (lines.length < MIN_GROUP) return lines;
  return [path, ...lines.map((line) => ` ${line.slice(path.length).replace(/^:/, '')}`)];
}

/** Returns the last groups of a list that have at most `MOST_BEHIND` lines together: totals, and what tools say behind a list. */
function linesBehind(groups: readonly Group[]): readonly Group[] {
  let from = groups.length;
  let count = 0;
  while (from > 0) {
    count += groups[from - 1]?.lines.length ?? 0;
    if (count > MOST_BEHIND) break;
    from -= 1;
  }
  return groups.slice(from);
}

/** Keeps the first lines of each group, up to `most` lines in total, and the last lines. Notes say how many lines were cut. */
function shortened(all: readonly Group[], most: number, subject: ShrinkSubject): readonly Group[] {
  const behind = linesBehind(all);
  const groups = all.slice(0, all.length - behind.length);
  const perGroup = linesPerGroup(groups, most);
  const kept: Group[] = [];
  let shown = 0;
  for (const [at, { path, lines }] of groups.entries()) {
    if (shown >= most) {
      const left = groups.slice(at);
      const rest = left.reduce((sum, { lines }) => sum + countBehind(lines, subject), 0);
      const named = new Set(left.flatMap(({ path }) => (path === '' ? [] : [path]))).size;
      const of = named === 0 ? '' : `, of ${named} files or folders,`;
      kept.push({ path: '', lines: [leftOut(`${rest} more lines${of}`)] });
      break;
    }
    const isWhole = lines.length <= perGroup + 1;
    const count = isWhole ? lines.length : perGroup;
    shown += count;
    kept.push({ path, lines: lines.slice(0, count) });
    if (!isWhole) {
      const rest = countBehind(lines.slice(count), subject);
      kept.push({ path: '', lines: [leftOut(`${rest} more of these`)] });
    }
  }
  return [...kept, ...behind];
}

/** Returns the largest power of two, from 1 to `MOST_OF_GROUP`, of lines per group that keeps the list within `most` lines. */
function linesPerGroup(groups: readonly Group[], most: number): number {
  for (let perGroup = MOST_OF_GROUP; perGroup > 1; perGroup >>= 1) {
    const shown = groups.reduce((sum, { lines }) => sum + Math.min(lines.length, perGroup + 1), 0);
    if (shown <= most) return perGroup;
  }
  return 1;
}
