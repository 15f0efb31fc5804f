// The shrinker `failuresFirst`: reduces long output of builds and tests to its first failures and warnings, its head and its tail.
// Recognizes commands by name; other output is shrunk at level `strong` only.

import { isOfHost } from '../outcome.js';
import { onlyShowsByCommand } from '../showing-commands.js';
import {
  countBehind,
  Draft,
  leftOut,
  MAX_SCANNED_OF_LINE,
  mentionsFailure,
  saysLeftOut,
} from './shrinker.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';
import { searchFor } from './word-search.js';

/** What is kept, in lines. */
interface Extent {
  /** Shorter outputs are unchanged. */
  readonly minLines: number;
  readonly head: number;
  readonly tail: number;
  /** Budget, in lines, for failures that are kept with the lines around them. */
  readonly around: number;
  /** How many further failures and warnings are kept with their location only. */
  readonly moreFailures: number;
}

const EXTENTS: Readonly<Record<ShrinkLevel, Extent>> = {
  lossless: { minLines: Infinity, head: 0, tail: 0, around: 0, moreFailures: 0 },
  default: { minLines: 120, head: 15, tail: 45, around: 96, moreFailures: 40 },
  strong: { minLines: 60, head: 8, tail: 24, around: 48, moreFailures: 20 },
};
const BEFORE_FAILURE = 3;
const BEHIND_FAILURE = 24;
/** How many lines `headOf` looks back for the heading of an indented line. */
const MAX_LISTED = 64;

const BUILD_OR_TEST =
  /(?:^|[\s;&|(/"'])(?:(?:mise|just|task|turbo|nx)\s+(?:run\b|[a-z])|(?:npm|pnpm|yarn|bun)\s+(?:(?:run\s+)?(?:test|build|lint|check|typecheck|compile)\b|ci\b|i\b|install\b|add\b)|npx\s+(?:jest|vitest|mocha|ava|tap|tsc|vue-tsc|eslint|oxlint|biome|stylelint|webpack|cypress|playwright)\b|(?:node\s[^\n;&|]{0,80}--test|(?:ng|next|vite)\s+build)\b|(?:jest|vitest|mocha|ava|tap|tsc|vue-tsc|eslint|oxlint|biome|stylelint|webpack|cypress|pytest|tox|nox|idf\.py|west|pio|platformio|meson|scons|py\.test|ruff|mypy|flake8|pylint|cmake|make|ninja|bazel|gradlew?|mvn|sbt|rspec|rake|phpunit|ctest|xcodebuild|[Mm][Ss][Bb]uild|gcc|g\+\+|clang)(?=\s|$)|(?:cargo|go|dotnet|swift|zig|mix|stack|cabal|deno|bun)\s+(?:test|build|check|clippy|vet|install|compile)\b|pip3?\s+install\b|(?:apt|apt-get|brew|gem|bundle|composer|poetry|uv)\s+(?:install|update|upgrade|add|sync)\b|docker(?:\s+compose)?\s+(?:build|up|pull)\b|docker-compose\s+(?:build|up|pull)\b|python3?\s+(?:-m\s+(?:pytest|unittest|build|pip\s+install)|setup\.py|manage\.py\s+test)\b)/;
/** The extension of a program on Windows, and the quote behind a program whose path has spaces. */
const WINDOWS_EXTENSION = /\.(?:bat|cmd|exe)\b"?/gi;
const LOG_OF_BUILD = /(?:^|[\s;&|(/])gh\s+run\s+view\b[^\n;&|]{0,200}--log/;
/** Options and subcommands that make a build tool only list or query something: then its whole output was asked for. */
const LISTS =
  /\s--(?:collect-only|list\w*|help|show-?config|print-config)\b|\s-(?:list|show\w*)\b|\s(?:query|cquery|dependencies|dependency:\S+|tasks)\b/i;
/** Only the start of a long command is searched. */
const MAX_SCANNED = 4_000;

/** Removes everything between head, failures and tail of long outputs. */
export const FAILURES_FIRST: Shrinker = {
  name: 'failuresFirst',
  label: 'the middle of a long output',
  from: 'default',
  shrink(draft, subject) {
    const { purpose, command, level } = subject;
    if (purpose !== 'command') return undefined;
    if (level !== 'strong' && !isBuildOrTest(command.slice(0, MAX_SCANNED))) return undefined;
    const extent = EXTENTS[level];
    const { lines } = draft;
    if (lines.length < extent.minLines) return undefined;
    const isKept = keptLines(lines, extent);
    const kept: string[] = [];
    for (let start = 0; start < lines.length;) {
      let end = start + 1;
      while (isKept[end] === isKept[start]) end += 1;
      if (isKept[start] === 1 || end - start < 3) kept.push(...lines.slice(start, end));
      else kept.push(leftOut(`${countBehind(lines.slice(start, end), subject)} lines`));
      start = end;
    }
    return kept.length < lines.length ? Draft.ofLines(kept) : undefined;
  },
};

/** Excludes commands that only show something, such as `git log webpack`, but includes those that show the log of a build. */
function isBuildOrTest(given: string): boolean {
  const command = given.replaceAll('\\', '/').replaceAll(WINDOWS_EXTENSION, '');
  if (LOG_OF_BUILD.test(command)) return true;
  return BUILD_OR_TEST.test(command) && !LISTS.test(command) && !onlyShowsByCommand(command);
}

function keptLines(lines: readonly string[], extent: Extent): Uint8Array {
  const isKept = new Uint8Array(lines.length);
  isKept.fill(1, 0, extent.head);
  const tail = Math.max(0, lines.length - extent.tail);
  isKept.fill(1, tail);
  isKept[headOf(lines, tail)] = 1;
  const { failures, warnings } = importantLines(lines, extent);
  let { around, moreFailures: more } = extent;
  for (const at of [...failures, ...warnings]) {
    if (more === 0) break;
    if (isKept[at] === 1) continue;
    const end = failures.has(at) && around > 0 ? endOfReport(lines, at) : at + 1;
    if (end > at + 1) {
      const start = startOfReport(lines, at);
      isKept.fill(1, start, end);
      isKept[headOf(lines, start)] = 1;
      around -= end - at;
    } else {
      for (const line of [headOf(lines, at), at, locationAfter(lines, at)]) isKept[line] = 1;
      more -= 1;
    }
  }
  return isKept;
}

/** The first of the lines that may belong to a failure: at most `BEFORE_FAILURE` before it, and none up to a success. */
function startOfReport(lines: readonly string[], at: number): number {
  let start = at;
  while (at - start < BEFORE_FAILURE && !PASSED.test(startOf(lines, start - 1))) {
    start -= 1;
  }
  return start;
}

/** The end (exclusive) of the lines after a failure that may belong to it. A success ends them. */
function endOfReport(lines: readonly string[], at: number): number {
  const most = Math.min(lines.length, at + BEHIND_FAILURE);
  let end = at + 1;
  while (end < most && !PASSED.test(startOf(lines, end))) end += 1;
  return end;
}

/** The heading that an indented line is listed under, such as a file above its problems; `at` if none is near. */
function headOf(lines: readonly string[], at: number): number {
  const indent = indentOf(startOf(lines, at));
  for (let head = at - 1; head >= Math.max(0, at - MAX_LISTED); head -= 1) {
    const line = startOf(lines, head);
    if (line !== '' && indentOf(line) < indent && !saysLeftOut(line)) return head;
  }
  return at;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The index of the next line if that is only the location of a failure, such as `--> src/main.rs:3:5`; else `at`. */
export function locationAfter(lines: readonly string[], at: number): number {
  return PLACE.test(startOf(lines, at + 1)) ? at + 1 : at;
}

function startOf(lines: readonly string[], at: number): string {
  return (lines[at] ?? '').slice(0, MAX_SCANNED_OF_LINE);
}

/**
 * Finds telling lines between head and tail. `failures`: first the lines that report a failure, one of each kind before the second
 * of any, then lines that mention one, perhaps only in a name.
 */
function importantLines(
  lines: readonly string[],
  { head, tail }: Extent,
): Readonly<Record<'failures' | 'warnings', ReadonlySet<number>>> {
  const reports = new LinesByKind();
  const mentions = new LinesByKind();
  const warnings: number[] = [];
  const alike = new Map<string, number>();
  const isNew = (said: string): boolean => {
    const count = alike.get(said) ?? 0;
    alike.set(said, count + 1);
    return count < MOST_ALIKE;
  };
  for (let at = head; at < lines.length - tail && !reports.isFull; at += 1) {
    const line = startOf(lines, at);
    if (!hasSign(line) || PASSED.test(line)) continue;
    if (isReport(line)) {
      reports.add(line, at, () => isNew(line) || locationAfter(lines, at) !== at);
    } else if (mentionsFailure(line)) mentions.add(line, at, () => true);
    else if (
      warnings.length < MAX_USED &&
      WARNING.test(line) &&
      isNew(line.replace(BEFORE_WARNING, ''))
    )
      warnings.push(at);
  }
  return {
    failures: new Set([...reports.roundRobin(), ...mentions.roundRobin()]),
    warnings: new Set(warnings),
  };
}

/** Groups lines that differ only in numbers, so that a failure that occurs sixty times leaves room for one that occurs once. */
class LinesByKind {
  readonly #counts = new Map<string, number>();
  /** At index n, the lines that are the nth of their kind. */
  readonly #turns: number[][] = [];

  add(line: string, at: number, isWanted: () => boolean): void {
    const kind = kindOf(line);
    const count = this.#counts.get(kind) ?? 0;
    const turn = (this.#turns[count] ??= []);
    if (count >= MAX_USED || turn.length >= MAX_USED || !isWanted()) return;
    this.#counts.set(kind, count + 1);
    turn.push(at);
  }

  /** Whether enough kinds are known to fill any excerpt, so that the search can stop. */
  get isFull(): boolean {
    return (this.#turns[0]?.length ?? 0) >= MAX_USED;
  }

  roundRobin(): readonly number[] {
    return this.#turns.flat();
  }
}

/** More lines than any excerpt shows, including those around failures: further lines need not be collected. */
const MAX_USED = 1_000;
const MAX_KIND = 160;
/** A file name before a line number; digits, and the spaces that align them. */
const OF_PLACE = /^[^:]+(?=:\d)|[\d ]+/g;

/** The start of a line without what differs between failures of the same kind. */
function kindOf(line: string): string {
  return line.slice(0, MAX_KIND).replace(OF_PLACE, '');
}

/** Does not match code such as `warn(`, which compilers quote below a warning. */
const WARNING = /\bwarn(?:ing|ings|ed)?\b(?![.(])|\w{3}Warning:|\bdeprecated\b|^\s*⚠/i;
/** The location in front of a warning's message. */
const BEFORE_WARNING = /^\s*\S{1,200}:\d+(?::\d+)?:\s/;
/** How many warnings or failures with the same message are shown. */
const MOST_ALIKE = 8;
const PLACE = /^\s*(?:[^\s\w]{1,4}\s)?\s*\S{1,200}:\d+(?::\d+)?\S{0,2}\s*$/;

/** Whether a line reports a failure; its start suffices. Our own notes do not count, though the calls they name may sound so. */
export function reportsFailure(line: string): boolean {
  return hasSign(line) && isReport(line) && !reportsNoFailure(line) && !isOfHost(line);
}

function reportsNoFailure(line: string): boolean {
  return PASSED.test(line) || FOUND.test(line) || saysLeftOut(line);
}

/** A search match, `file:line:text`. In a compiler's report, a space or a column number follows the line number instead. */
const FOUND = /^(?=[^\s:]{0,300}[./\\])[^\s:]{1,300}:\d{1,7}:(?:\t| {2}|[^\s\d])/;

function isReport(line: string): boolean {
  return REPORT.test(line) || (THROWN.test(line) && !CODE.test(line));
}

/** A cheap check whether any line of a text could report a failure. Line breaks may be escaped, as in JSON. */
export function mayReportFailure(text: string): boolean {
  return hasSign(text);
}

/** Whether a line states a number of failures above zero. */
export function countsFailures(line: string): boolean {
  return COUNT.test(line) && !reportsNoFailure(line);
}

/** A fast prefilter: each line about a failure or a warning contains one of these strings, and most lines contain none. */
const hasSign = searchFor([
  ...['err', 'exception', 'warn', 'deprecated', 'denied', 'fail', 'fatal', 'panic', 'traceback'],
  ...['assert', 'undefined', 'unexpected', 'critical', 'cannot', 'core dumped', 'conflict'],
  ...['not found', 'not ok', 'segfault', 'segmentation fault', 'out of memory', 'oomkill'],
  ...['backoff', '***', '✗', '✕', '✘', '×', '✖', '❌', '●', '⚠'],
  ...['fehler', 'ошибка', '错误', '錯誤', 'エラー', '오류'],
  ...['rejected]', 'curl: (', '[emerg]', '[alert]', '[crit]'],
  // Line starts of pytest and of Kotlin's compiler, also with line breaks escaped in JSON.
  ...['\ne  ', '\ne: ', '\\ne  ', '\\ne: '],
  ...['0.9', '1.0', '1.1', '2', '2.0', '3', '3.0'].flatMap((of) => [
    `http/${of} 4`,
    `http/${of} 5`,
  ]),
]);
/** Matches a count of failures before or after the word, but not a time or a size in front of a file name. */
const COUNT =
  /(?<!\d|\d[:.-])[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b(?![-./]\w)|(?<![\w"'-]|expected )(?:[Ff]ail(?:ed|ures)|[Ee]rrors|unreachable) {0,2}[:=] {0,6}[1-9]\d*\b(?![.:]\d)|(?:[#ℹ]|<!--) fail [1-9]\d*\b|\bfail: [1-9]\d*\b(?<=\btotal: .{0,40})/;
/** How programs report failures. Matching the bare words would also match names of tests, files and options. */
const REPORT = new RegExp(
  [
    // Marks in front of a failed test. × counts only at a line's start (elsewhere it stands between numbers), ● only behind two
    // spaces (at the start it may be a bullet).
    /(?:^|\s)(?:[✗✕✘✖❌]|not ok)(?=\s)|^\s*×(?=\s)|\s{2}●(?=\s)/,
    /##\[error\]|\bFAIL(?:S|ED|URES?)?\b|^\s*Failed [\w.]+\.\w|\*\*\*(?: \[|Failed)/,
    /\b(?:error|fatal|panic)(?: ?\[?[A-Z]+\d+\]?)?:(?!:|\s{0,2}["'(]?(?:[Nn]one|[Nn]ull|nil|false|0)\b)|\bERR(?:OR)?\b/,
    /(?:[Ff]ehler|[Ee]rreur|[Оо]шибка|错误|錯誤|エラー|오류) ?[:：](?! *0\b)/,
    /^npm error (?!A complete log)|\bpanicked at\b|^Traceback|^E {2}|^[Ee]: |Failure\/Error|AssertionError|Failed asserting/,
    /undefined reference|\b[Ss]egmentation fault\b|\bcore dumped\b/,
    COUNT,
    // Merges, and clients of servers.
    /^CONFLICT \(|^Automatic merge failed|^(?:< )?HTTP\/[\d.]+ [45]\d\d\b|^\(error\) |^ ! \[(?:remote )?rejected\]/,
    /^curl: \(\d|\bAn error occurred \(|\[(?:emerg|alert|crit)\]|\bActive: failed\b|\bcompleted with 'failure'/,
    // Kernels and clusters.
    /\bI\/O error\b|\bsegfault at\b|\b[Oo]ut of memory\b|\bOOMKill(?:ed|ing)\b|\b(?:CrashLoop|ImagePull)BackOff\b/,
    // Lines of logs.
    /"(?:level|levelname|lvl|severity)": ?(?:"(?:error|fatal|critical|panic)"|[56]0\b)|\blevel=(?:error|fatal|critical|panic)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
);
/** The name of a thrown error. `CODE` excludes source lines that only catch, import or define it. */
const THROWN = /(?:Error|Exception)(?::(?!:|\s{0,2}["'(]?(?:[Nn]one|[Nn]ull|nil|false|0)\b)|$)/;
const CODE =
  /^\s*(?:(?:except|from|import|raise|throw|class|def|catch|return|if|elif|case|export|interface)\b|#|\/\/|\*)/;
/** Successes: passed tests and commits, whose names may mention a failure. Also skipped and unfinished tests, which are `not ok`. */
const PASSED =
  /^\[[\w/.-]{1,80} (?:\(root-commit\) )?[\da-f]{7,40}\] |^HEAD is now at |^(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,10} (?!\[?(?:ERR(?:OR)?|FATAL|FAIL(?:ED)?|error|fatal|panic)\b)|^\s*not ok\b.*# (?:TODO|SKIP)\b|^\s*(?:[✓✔√]|ok\b|(?:--- )?PASS(?:ED)?\b|Passed\b)|(?:\.\.\. ?ok|\bPASSED|\bPassed +[\d.]+ sec|' passed \([^)]*\)\.?)\s*(?:\[[^\]]*\])?\s*$/;
