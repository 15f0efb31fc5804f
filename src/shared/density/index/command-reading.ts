// Recognizes from the text of a shell command, or of a script that runs some, which files it shows
// or changes. Knows the few programs that agents read files with and ignores the rest. Runs
// nothing.

import { posix } from 'node:path';

/** What a command is for, as far as its text tells. */
export interface CommandReading {
  /** `read` and `write` have at least one file. */
  readonly kind: 'read' | 'write' | 'search' | 'other';
  /**
   * As spelled, resolved against the directory that the command changes to. At most `MAX_FILES`.
   */
  readonly files: readonly string[];
  /** The lines of its only file that it reads. */
  readonly lines?: LineRange;
}

/** Longer commands are scripts or documents whose purpose shows at the start. */
const MAX_SCANNED = 4_000;
const MAX_FILES = 16;

type Purpose = 'read' | 'write' | 'search';

/** Programs by purpose, with the option or subcommand where that decides. */
const PURPOSES: ReadonlyMap<string, Purpose> = new Map([
  ...['cat', 'nl', 'bat', 'less', 'head', 'tail', 'sed -n', 'git diff', 'git show'].map(
    (program) => [program, 'read'] as const,
  ),
  ...['sed -i', 'perl -i', 'perl -pi', 'perl -pe'].map((program) => [program, 'write'] as const),
  ...['rg', 'grep', 'egrep', 'ag', 'find', 'fd', 'ls', 'tree', 'git grep'].map(
    (program) => [program, 'search'] as const,
  ),
]);
const DECIDED_BY_NEXT_WORD: ReadonlySet<string> = new Set(['sed', 'perl', 'git']);

const REDIRECTED = /(?<=\s)>>?\s*([\w./~-]+)/g;
/**
 * Patch headers, also inside scripts. The match ends past the header so that none is read twice.
 */
const PATCHED_FILE = /\*\*\* (?:Add|Update|Delete) File: ([^\n]+?)(?:\\n|\r?\n|$)/g;
const DIRECTORY = /(?:^|[;&(\n"'`])[ \t]*cd[ \t]+([^\s;&|"'`)]+)/;
const WORKING_DIRECTORY = /\b(?:workdir|cwd)\\?["']?\s*:\s*\\?["']([^"'\\]+)/;
/** Names with a directory or an extension. */
const FILE_NAME =
  /(?<![\w./~@%+-])(?:~?[\w.@%+-]*\/[\w.@%+/-]*|[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,7})(?![\w(])/g;
const HERE_DOCUMENT = /<<-?\s*\\?["']?\w+/;
/** Member access in a script is not a file name. */
const MEMBER = /^(?:r|tools|JSON|console|result|text)\.\w+$/;
/** A single range of `sed -n`. */
const SED_LINES = /\bsed\s+-n\s+\\?["']?(\d+)(?:,(\d+))?p(?!\w|\s*;)/g;
/** `head` of a file, or of `cat`/`nl`. */
const HEAD_LINES =
  /(?:^|[;&(\n"'`{])[ \t]*(?:(?:cat|nl)(?:[ \t]+-\w+)*[ \t]+[^\s|;&]+[ \t]*\|[ \t]*)?head[ \t]+(?:-n[ \t]*|-)(\d+)\b/;
/** A pipe after the command: the next program filters what is shown. */
const PIPED = /(?<!\|)\|(?!\|)/;
const ONE_FILE = /^\s*(?:cat|nl(?:\s+-\w+)*)\s+\S+\s*$/;

/**
 * Returns what a command is for. Patches in the `apply_patch` format name their files in headers;
 * here-documents are ignored.
 *
 * @param directory where relative names start, if not the workspace
 */
export function readCommand(command: string, directory?: string): CommandReading {
  const patch = command.indexOf('*** Begin Patch');
  if (patch !== -1) {
    const end = Math.max(patch, command.lastIndexOf('*** End Patch'));
    // The script around the patch may change directories.
    const around = `${command.slice(0, patch)}\n${command.slice(end)}`;
    const base = baseOf(around, directory);
    const files = Array.from(command.matchAll(PATCHED_FILE), ([, file = '']) => file.trim());
    return reading('write', files.slice(0, MAX_FILES), base);
  }
  const text = scannedPart(command);
  // Fast path: most commands without files need no further search.
  const namesFiles = text.includes('/') || text.includes('.');
  const purpose = purposeOf(text);
  if (!namesFiles) return reading(purpose === 'search' ? purpose : 'other', [], undefined);
  const base = baseOf(text, directory);
  if (purpose === 'write') return reading(purpose, filesNamed(text), base);
  const written = filesWritten(text);
  if (written.length > 0) return reading('write', written, base);
  const files = filesNamed(text);
  const lines = purpose === 'read' && files.length === 1 ? linesShown(text) : undefined;
  return { ...reading(purpose ?? 'other', files, base), ...(lines !== undefined && { lines }) };
}

function reading(
  kind: CommandReading['kind'],
  files: readonly string[],
  base: string | undefined,
): CommandReading {
  if (files.length === 0) return { kind: kind === 'search' ? kind : 'other', files };
  if (base === undefined) return { kind, files };
  return { kind, files: files.map((file) => posix.resolve(base, file)) };
}

function scannedPart(command: string): string {
  const start = command.length > MAX_SCANNED ? command.slice(0, MAX_SCANNED) : command;
  if (!start.includes('<<')) return start;
  const document = HERE_DOCUMENT.exec(start);
  if (document === null) return start;
  const end = start.indexOf('\n', document.index);
  return end === -1 ? start : start.slice(0, end);
}

/** The strongest purpose of its programs: write, then read, then search. */
function purposeOf(text: string): Purpose | undefined {
  let found: Purpose | undefined;
  let isStart = true;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (isWordCharacter(character)) {
      const end = wordEnd(text, at);
      if (isStart) {
        const purpose = purposeOfProgram(text, at, end);
        if (purpose === 'write') return purpose;
        if (purpose === 'read' || found === undefined) found = purpose ?? found;
      }
      isStart = false;
      at = end - 1;
    } else if (isStarting(character)) isStart = true;
    else if (!isSpace(character)) isStart = false;
  }
  return found;
}

function purposeOfProgram(text: string, start: number, end: number): Purpose | undefined {
  const slash = text.lastIndexOf('/', end - 1);
  const name = text.slice(Math.max(start, slash + 1), end);
  if (!DECIDED_BY_NEXT_WORD.has(name)) return PURPOSES.get(name);
  let next = end;
  while (isSpace(text.charCodeAt(next))) next += 1;
  return PURPOSES.get(`${name} ${text.slice(next, wordEnd(text, next))}`);
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isWordCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

/** Letters, digits, and characters of names, paths and options. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57) ||
    code === 95
  );
}

/**
 * Whether a program may follow: after an operator or the quote that opens a script. Not after a
 * pipe, where it only filters.
 */
function isStarting(code: number): boolean {
  switch (code) {
    case 10: // new line
    case 34: // "
    case 38: // &
    case 39: // '
    case 40: // (
    case 59: // ;
    case 96: // `
    case 123: // {
      return true;
    default:
      return false;
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

/** The directory that names are relative to; `undefined` for the workspace. */
function baseOf(text: string, directory: string | undefined): string | undefined {
  const working =
    directory ??
    (text.includes('workdir') || text.includes('cwd')
      ? WORKING_DIRECTORY.exec(text)?.[1]
      : undefined);
  const changed = text.includes('cd ') ? DIRECTORY.exec(text)?.[1] : undefined;
  if (changed === undefined) return working;
  if (changed.startsWith('/')) return changed;
  return working === undefined ? undefined : posix.join(working, changed);
}

function filesWritten(text: string): readonly string[] {
  if (!text.includes('>')) return [];
  return Array.from(text.matchAll(REDIRECTED), ([, file = '']) => file)
    .filter((file) => file !== '' && !file.startsWith('/dev/'))
    .slice(0, MAX_FILES);
}

function filesNamed(text: string): readonly string[] {
  const named = text.replace(DIRECTORY, ' ').replace(WORKING_DIRECTORY, ' ');
  const files = new Set<string>();
  for (const [name] of named.matchAll(FILE_NAME)) {
    if (name.startsWith('//') || name.startsWith('/dev/') || !/\w/.test(name)) continue;
    if (name.endsWith('/') || MEMBER.test(name)) continue;
    files.add(name);
    if (files.size === MAX_FILES) break;
  }
  return [...files];
}

function linesShown(text: string): LineRange | undefined {
  const [range, another] = text.matchAll(SED_LINES);
  if (range !== undefined) {
    const [, first, last = first] = range;
    const isWhole = another === undefined && !isFilteredBehind(range, text);
    return isWhole ? rangeOf(Number(first), Number(last)) : undefined;
  }
  const head = HEAD_LINES.exec(text);
  if (head !== null) {
    return isFilteredBehind(head, text) ? undefined : rangeOf(1, Number(head[1]));
  }
  return ONE_FILE.test(text) ? WHOLE_FILE : undefined;
}

function isFilteredBehind({ 0: shown, index }: RegExpExecArray, text: string): boolean {
  return PIPED.test(text.slice(index + shown.length));
}

/** Lines counted from 1, both ends inclusive. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The lines that a read without a range shows. Agents' tools stop at about this line (Claude Code
 * and Codex at 2,000), so such a read does not cover lines further down.
 */
export const WHOLE_FILE: LineRange = { first: 1, last: 2_000 };

/** Larger line numbers are clamped. */
export const MAX_LINE: number = 2 ** 30;

/** The range between two lines; `undefined` if it is empty. */
export function rangeOf(first: number, last: number | undefined): LineRange | undefined {
  if (last === undefined || last < first) return undefined;
  return { first: Math.min(first, MAX_LINE), last: Math.min(last, MAX_LINE) };
}
