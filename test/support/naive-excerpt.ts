// A second implementation of excerpts, written from the rules. Shares no code with src/shared/density/ (failures are
// recognized by src/shared/shrink/), and is not meant to be fast.

import { REMOVED_POINTER } from '../../src/shared/density.js';
import { withoutCodes } from '../../src/shared/shown-text.js';
import { toolResponse } from '../../src/shared/content.js';
import { exitCodeOf, hasFailed, isOfHost } from '../../src/shared/outcome.js';
import {
  countsFailures,
  locationAfter,
  reportsFailure,
} from '../../src/shared/shrink/failures-first.js';

/** The pointer, followed by the names in a result, and its failures or outcome. */
export function naiveExcerpt(result: unknown, tool = 'run', error?: string): string {
  const given = textOf(result);
  const text = unescaped(
    withoutCodes(given).replace(/\n\[Shortened from \d+ characters: [^\n]{0,1240}\]$/, ''),
  );
  const room = Math.min(400, text.length / 10);
  const isOneLine = /^[{[]/.test(text) && !text.includes('\n');
  const whole = isOneLine ? text.slice(0, 65_536).replace(/,(?=["{])/g, ',\n') : text;
  const lines = linesOf(whole.slice(0, 65_536)).filter(
    (line) => line.length <= 1_000 && !(line.startsWith('[… ') && line.endsWith(' …]')),
  );
  const words = lines
    .flatMap((line) =>
      line
        .replace(/\[ref=[\w$]+(?![\w$@.~/\\+À-ԯḀ-῿-])/g, '[ref=')
        .replace(/(?<![\w$@.~/\\+À-ԯḀ-῿-])([A-Za-zÀ-ԯḀ-῿]):(?=\\)/g, `$1${DRIVE}`)
        .split(/%[0-9A-F]{2}|[^\w$@.~/\\+À-ԯḀ-῿\uE000-]/),
    )
    .filter((word) => word !== '' && word.length <= 120);
  const paths = words
    .map(withoutEnds)
    .filter(isPath)
    .map((path) => path.replace(DRIVE, ':'));
  const kept: string[] = [];
  const room1 = takeInto(kept, unique(paths), room / 2);
  const shown = kept.join(' ');
  const names = words
    .flatMap((word) => word.split(/[/\\@~+\uE000]/))
    .map(trimmed)
    .filter(isTelling);
  const weight = (name: string): number =>
    names.filter((other) => other === name).length / Math.sqrt(name.length);
  const others = unique(names)
    .map((name, at) => ({ name, at, weight: weight(name) }))
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .map(({ name }) => name)
    .filter((name) => !shown.includes(name) && !isQuantity(name));
  takeInto(kept, others, room - Math.max(0, room1));
  const named = kept.length === 0 ? '' : `\nIt named: ${kept.join(' ')}`;
  const reports = lines
    .flatMap((line, at) =>
      reportsFailure(line.slice(0, 400)) && !isNumbered(line) ? [report(lines, at)] : [],
    )
    .slice(0, 100);
  const isHeading = (line: string): boolean =>
    /:[^A-Za-z0-9_]*$/.test(line) || line.split(/[^A-Za-z0-9_]+/).filter(Boolean).length === 1;
  const telling = unique(reports.filter((line) => !isHeading(line)));
  const failures = (telling.length === 0 ? reports : telling)
    .slice(0, 2)
    .map((line) => cut(onOneLine(line), 120));
  const isFailed = hasFailed(toolResponse('c1', tool, result, error));
  let came = outcome(text);
  if (came[1] === '' && isFailed && error === undefined) {
    const code = exitCodeOf(result) ?? 0;
    came[1] = code === 0 ? cut(onOneLine(text.slice(0, 2_000)), 100) : `exit code ${code}`;
  }
  const sum = isFailed || failures.length > 0 ? sumOfFailures(text) : '';
  if (sum !== '') came = ['\nIt ended with: ', sum];
  const all = failures.map((line) => `\nIt ${isFailed ? 'failed with' : 'reported'}: ${line}`);
  const end = isFailed ? `\nIt failed with: ${came[1]}` : came.join('');
  const isNew = !failures.some((line) => line.slice(0, 40) === came[1].slice(0, 40));
  const sumsUp = sum !== '' || (!isFailed && (/began|held/.test(came[0]) || SUMS_UP.test(came[1])));
  if (came[1] !== '' && isNew && (failures.length === 0 || sumsUp)) {
    if (!isFailed) all.splice(1);
    all.push(end);
  }
  const excerpt = REMOVED_POINTER + named + all.join('');
  const sent = typeof result === 'string' ? result : JSON.stringify(result);
  return excerpt.length < sent.length ? excerpt : REMOVED_POINTER;
}

/** The text of a result, or of its text parts. */
function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  const { content } = Object(result) as { content?: unknown };
  const parts: unknown = Array.isArray(content) ? content : result;
  if (!Array.isArray(parts)) return JSON.stringify(result);
  const texts = parts.map((part: unknown) => {
    const { text, type = 'text' } = Object(part) as { text?: unknown; type?: unknown };
    return typeof part === 'string' ? part : type === 'text' ? text : undefined;
  });
  return texts.every((text) => typeof text === 'string')
    ? texts.join('\n')
    : JSON.stringify(result);
}

/** Stands for the colon of a drive. */
const DRIVE = '\uE000';

/** The lines of a text, also of one in JSON. In other texts, `\n` begins the name of a folder. */
function linesOf(text: string): readonly string[] {
  const runs = text.match(/\\+[A-Za-z]/g) ?? [];
  const first = runs.find((run) => run.length < 4 && !/[bfnrtuvx]$/.test(run));
  const breaks = first === undefined ? 'all' : first.length === 2 ? 'none' : 'single';
  return text
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    .flatMap((line) => {
      if (breaks === 'none') return [line];
      return breaks === 'all' ? line.split('\\n') : line.split(/(?<!\\)\\n/);
    });
}

/** The line that reports a failure, and its index. */
function report(lines: readonly string[], at: number): string {
  const line = lines[at] ?? '';
  if (line.startsWith('Traceback ')) {
    return (
      lines.slice(at + 1, at + 200).find((each) => /^[a-zA-Z_][a-zA-Z0-9_.]*(:|$)/.test(each)) ??
      line
    );
  }
  if (/^\s*\{?\s*"\w{1,20}": ?("\w{1,20}"|\d{1,3}),?\s*$/.test(line)) {
    return message(
      lines
        .slice(at, at + 4)
        .map((each) => each.trim())
        .join(''),
    );
  }
  return locationAfter(lines, at) === at ? message(line) : `${line} ${lines[at + 1]?.trim()}`;
}

const SUMS_UP =
  /\b(passed|passing|failed|failing|failure|failures|fail|error|errors|problem|problems|vulnerabilities|success|successful|successfully|succeeded|complete|completed|finished(?! at)|done|ok|added|applied|changed|changes|created|updated|deleted|destroy|destroyed|row|rows|\d to add|\d to change|\d to remove)\b/i;

/** Replaces escapes by their characters, and invisible ones by a space. */
function unescaped(text: string): string {
  return text
    .split(/(?=\\[/u])/)
    .map((part) => {
      if (part.startsWith('\\/')) return part.slice(1);
      const [escape = '', digits = ''] = /^\\u([0-9a-fA-F]{4})/.exec(part) ?? [];
      if (escape === '') return part;
      const seen = String.fromCodePoint(Number(`0x${digits}`));
      return (/[\p{Cc}"\\]/u.test(seen) ? ' ' : seen) + part.slice(escape.length);
    })
    .join('')
    .replace(/\p{Surrogate}/gu, ' ');
}

/** The meaningful texts of a JSON line. */
function message(line: string): string {
  if (!line.startsWith('{')) return line;
  const said: string[] = [];
  for (const part of line.split(/(?="[\w.@-]{1,40}": ?")/)) {
    const [, name = '', text = ''] = /^"([^"]*)": ?"((?:[^"\\]|\\.)+)/.exec(part) ?? [];
    const isMessage = ['msg', 'message', 'err', 'error', 'output', 'reason'].includes(
      name.toLowerCase(),
    );
    if (text.trim() !== '' && (isMessage || reportsFailure(text))) said.push(text.trim());
  }
  return said.length === 0 ? line : said.join('; ');
}

function outcome(text: string): [label: string, said: string] {
  const room = Math.floor(text.length / 4);
  if (
    text.startsWith('{') &&
    !text.slice(0, 65_536).includes('}\n{') &&
    !/^\{("[^"]{0,80}":\{)?"columns":\[/.test(text) &&
    !text.slice(0, 65_536).includes('\\n')
  ) {
    return ['\nIt began with: ', cut(onOneLine(text.slice(0, 400)), Math.min(140, room))];
  }
  const lines = lastStatements(text);
  const sums = lines.filter((line) => SUMS_UP.test(line));
  const line = onOneLine(sums.at(-1) ?? lines.at(-1) ?? '');
  return ['\nIt ended with: ', cut(line, Math.min(100, room))];
}

/** The last line that counts failures, or else the exception at the end of a traceback. */
function sumOfFailures(text: string): string {
  const lines = lastStatements(text);
  const counts = lines.filter(countsFailures);
  const end = lines.at(-1) ?? '';
  const isThrown = /^[a-zA-Z_][a-zA-Z0-9_.]*(:|$)/.test(end);
  const hasTraceback = text.includes('Traceback (most recent call last):');
  return cut(onOneLine(counts.at(-1) ?? (isThrown && hasTraceback ? end : '')), 120);
}

function lastStatements(text: string): readonly string[] {
  const end = text.slice(-2_000);
  const feed = end.indexOf('\n');
  const lines = linesOf(end === text || feed === -1 ? end : end.slice(feed + 1))
    .join('\n')
    .split(/(?:^|\n)\[… (?:\d+ lines|lines \d+-\d+) (?:as in|unchanged,) [^\n]* …\](?=\n|$)/)
    .slice(-1)
    .join('')
    .split('\n')
    .filter((line) => line.length <= 1_000 && !isNumbered(line) && !isOfHost(line))
    .filter((line) => /^\[?[\d-]+(T\d+)?:/.test(line) || !/^[^\s:]{1,300}:\d{1,7}[:-]/.test(line))
    .filter((line) => !(line.startsWith('[… ') && line.endsWith(' …]')))
    .filter((line) => {
      const words = line.trim().split(/\s+/);
      const hasWord = words.some((word) => /\p{L}{2}/u.test(word));
      return (hasWord && words.length > 1) || /\p{Lo}{2}/u.test(line);
    });
  const full = lines.filter((line) => !line.trimEnd().endsWith(':'));
  return (full.length > 0 ? full : lines).slice(-12);
}

/** Whether a line is numbered, as by editors and searches. */
function isNumbered(line: string): boolean {
  return /^ {0,12}\d{1,9}(?:[\t→:|]| \| )/.test(line);
}

function isQuantity(name: string): boolean {
  return (
    /^v?\d+(\.\d+)+[a-zA-Z]?[a-zA-Z]?$/.test(name) ||
    /^\d+(\.\d+)?e-\d+$/.test(name) ||
    /^(\d+(d|h|ms|m|s))+$|^\d{4}-\d\d-\d\dT[\d.-]*Z?$/.test(name) ||
    /^[dlrwxst-]*r[w-][xst-]?[rwxst-]*$/.test(name)
  );
}

function onOneLine(text: string): string {
  return text
    .slice(0, 400)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
}

function cut(line: string, length: number): string {
  return line.length <= length
    ? line
    : `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Returns the number of UTF-16 units taken, without the last space. */
function takeInto(kept: string[], words: readonly string[], room: number): number {
  let length = 0;
  for (const word of words) {
    if (length + word.length + 1 > room) continue;
    kept.push(word);
    length += word.length + 1;
  }
  return length - 1;
}

function isPath(word: string): boolean {
  return /[\wÀ-ԯḀ-῿$-][.][A-Za-zÀ-ԯḀ-῿]{1,4}$/.test(word);
}

function withoutEnds(word: string): string {
  let path = /^\.[/\\]/.test(word) ? word.slice(2) : word;
  while (/[.\\]$/.test(path)) path = path.slice(0, -1);
  return path;
}

function trimmed(part: string): string {
  let name = part;
  while (/^[.-]/.test(name)) name = name.slice(1);
  while (/[.-]$/.test(name)) name = name.slice(0, -1);
  return name;
}

function isTelling(name: string): boolean {
  if (name.length < 5 || name.length > 80 || !/[A-Za-zÀ-ԯḀ-῿]/.test(name)) return false;
  return /[_$0-9.-]/.test(name) || /[A-Z]/.test(name.slice(1));
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
