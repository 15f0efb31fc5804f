// Tells from the text of a shell command, or of a script that runs some, which files it shows or changes.
// Knows the few programs that agents read files with; what it cannot tell, it leaves out. Runs nothing.

import { posix } from 'node:path';

/** What a command is for, as far as its text says so. */
export interface CommandReading {
  /** `read` and `write` name at least one file. */
  readonly kind: 'read' | 'write' | 'search' | 'other';
  /** As they are spelled, behind the directory that the command changes to. At most `MAX_FILES`. */
  readonly files: readonly string[];
  /** The lines of the one file that it reads. */
  readonly lines?: LineRange;
}

/** Longer commands are scripts or documents; what they are for stands at their start. */
const MAX_SCANNED = 4_000;
const MAX_FILES = 16;

type Purpose = 'read' | 'write' | 'search';

/** Programs by what they are for, with the option or the command behind it where that decides. */
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
/** As patches name files in scripts, too. It ends behind any header, so that none is read twice. */
const PATCHED_FILE = /\*\*\* (?:Add|Update|Delete) File: ([^\n]+?)(?:\\n|\r?\n|$)/g;
const DIRECTORY = /(?:^|[;&(\n"'`])[ \t]*cd[ \t]+([^\s;&|"'`)]+)/;
const WORKING_DIRECTORY = /\b(?:workdir|cwd)\\?["']?\s*:\s*\\?["']([^"'\\]+)/;
/** Names with a directory, or with an extension. */
const FILE_NAME =
  /(?<![\w./~@%+-])(?:~?[\w.@%+-]*\/[\w.@%+/-]*|[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,7})(?![\w(])/g;
const HERE_DOCUMENT = /<<-?\s*\\?["']?\w+/;
/** A member of an object in a script is none. */
const MEMBER = /^(?:r|tools|JSON|console|result|text)\.\w+$/;
/** Not one of several ranges. */
const SED_LINES = /\bsed\s+-n\s+\\?["']?(\d+)(?:,(\d+))?p(?!\w|\s*;)/g;
/** Of a file, or of what shows one from its start. */
const HEAD_LINES =
  /(?:^|[;&(\n"'`{])[ \t]*(?:(?:cat|nl)(?:[ \t]+-\w+)*[ \t]+[^\s|;&]+[ \t]*\|[ \t]*)?head[ \t]+(?:-n[ \t]*|-)(\d+)\b/;
/** Behind what shows lines: another program lets through what it likes of them. */
const PIPED = /(?<!\|)\|(?!\|)/;
const ONE_FILE = /^\s*(?:cat|nl(?:\s+-\w+)*)\s+\S+\s*$/;

/**
 * Returns what a command is for. A patch in the `apply_patch` format names its files in its headers; what
 * stands in a here-document is no file.
 *
 * @param directory where relative names start, if that is not the workspace
 */
export function readCommand(command: string, directory?: string): CommandReading {
  const patch = command.indexOf('*** Begin Patch');
  if (patch !== -1) {
    const end = Math.max(patch, command.lastIndexOf('*** End Patch'));
    // A patch may be one of scripts that change directories.
    const around = `${command.slice(0, patch)}\n${command.slice(end)}`;
    const base = baseOf(around, directory);
    const files = Array.from(command.matchAll(PATCHED_FILE), ([, file = '']) => file.trim());
    return reading('write', files.slice(0, MAX_FILES), base);
  }
  const text = scannedPart(command);
  // Most commands that name no file are told by that, without looking for what they are.
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

/** What the programs of a command are for: a write counts before a read, and that before a search. */
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

/** Letters, digits, and what stands in names, paths and options. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57) ||
    code === 95
  );
}

/** A program may stand behind an operator, or the quote that a script opens; not behind a pipe: there it filters. */
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

/** Where the names start; `undefined` for the workspace. */
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

/** Lines counted from 1, both ends included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a read without a range shows. Agents' tools stop at about this line (Claude Code and Codex at 2,000), so that such a
 * read does not stand for one of lines further down.
 */
export const WHOLE_FILE: LineRange = { first: 1, last: 2_000 };

/** Larger line numbers are not told apart. */
export const MAX_LINE = 2 ** 30;

/** The range from one line to another; `undefined` when that is none. */
export function rangeOf(first: number, last: number | undefined): LineRange | undefined {
  if (last === undefined || last < first) return undefined;
  return { first: Math.min(first, MAX_LINE), last: Math.min(last, MAX_LINE) };
}
