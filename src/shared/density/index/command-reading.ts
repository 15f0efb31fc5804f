// Recognizes from the text of a shell command, or of a script that runs some, which files it shows
// or changes. Runs nothing.

import { posix } from 'node:path';
import { opensScript, purposeOf } from './command-programs.js';

/** What a command is for, as far as its text tells. */
export interface CommandReading {
  /** One of `CALL_KIND`: `command` for anything else. `write` has at least one file. */
  readonly kind: 'read' | 'write' | 'search' | 'command';
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

/** A target without a letter is a number that something is compared with. */
const REDIRECTED = /(?<=\s)>>?\s*([\w./~-]*[A-Za-z][\w./~-]*)(?![\w(])/g;
const QUOTED = /"(?:\\[^]|[^"\\])*"|'[^']*'/g;
/** A quoted name; other quoted text behind a program that writes is what it is to do. */
const QUOTED_NAME = /^.[\w@%+.~-]*[./][\w@%+./~-]*.$/;
/** What `sed` is to do, which looks like a path. */
const SED_SCRIPT = /^(?:[sy]\/|\/[^/]*\/[a-z]$)/;
/**
 * Patch headers, also inside scripts. The match ends past the header so that none is read twice.
 */
const PATCHED_FILE = /\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]+?)(?:\\n|\r?\n|$)/g;
const DIRECTORY =
  /(?:^|[;&(\n"'`])[ \t]*(?:cd(?:[ \t]+\/d)?|Set-Location(?:[ \t]+-\w+)?)[ \t]+["']?((?<=["'])[^"'\n]+|[^\s;&|"'`)]+)/i;
const WORKING_DIRECTORY = /\b(?:workdir|cwd)\\?["']?\s*:\s*\\?["']([^"'\\]+)/;
/** What may be a name as Windows spells it. */
const BACKSLASHED =
  /(?<![\w./\\@%+-])(?:[A-Za-z]:|[\w.@%+][\w.@%+-]*)(?:\\+(?:\.\.(?=\\)|[\w@%+-][\w.@%+-]*))+/g;
/** Without a drive or an extension it may be a pattern, such as `a\b`. */
const SURELY_NAME = /^[A-Za-z]:|\.[A-Za-z]\w{0,7}$/;
const ABSOLUTE = /^(?:[A-Za-z]:)?\//;
/** Names with a directory or an extension. */
const FILE_NAME =
  /(?<![\w./~@%+-])(?:(?:~|[A-Za-z]:(?=\/))?[\w.@%+-]*\/[\w.@%+/-]*|[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,7})(?![\w(])/g;
const HERE_DOCUMENT = /<<-?\s*\\?["']?\w+/;
/** Member access in a script is not a file name. */
const MEMBER = /^(?:r|tools|JSON|console|result|text)\.\w+$/;
/** The start of a command that reads a file itself, or what `cat` or `nl` shows of it. */
const ON_FILE = /(?:^|[;&(\n"'`{])[ \t]*(?:(?:cat|nl)(?:[ \t]+-\w+)*[ \t]+[^\s|;&]+[ \t]*\|[ \t]*)?/
  .source;
/** A single range of `sed -n`. */
const SED_LINES = new RegExp(
  String.raw`${ON_FILE}sed\s+-n\s+\\?["']?(\d+)(?:,(\d+))?p(?!\w|\s*;)`,
  'g',
);
const HEAD_LINES = new RegExp(String.raw`${ON_FILE}head[ \t]+(?:-n[ \t]*|-)(\d+)\b`);
/** A pipe after the command: the next program filters what is shown. */
const PIPED = /(?<!\|)\|(?!\|)/;
const ONE_FILE = /^\s*(?:cat|nl|type|gc|Get-Content)(?:\s+-[a-z]+)*\s+[^\s-]\S*(?:\s+-Raw)?\s*$/i;
const SELECTED_LINES =
  /^\s*(?:cat|gc|Get-Content)\s[^|;\n]*\|\s*Select(?:-Object)?(?:\s+-Skip\s+(\d+))?\s+-First\s+(\d+)(?:\s+-Skip\s+(\d+))?\s*$/i;

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
  const text = withSlashes(scannedPart(command));
  const [purpose, words] = purposeOf(text);
  // Fast path: most commands without files need no further search.
  const namesFiles = text.includes('/') || text.includes('.') || text.includes('>');
  const base = namesFiles ? baseOf(text, directory) : undefined;
  if (purpose === 'write') return reading(purpose, filesNamed(namesIn(words)), base);
  const written = filesWritten(text);
  if (written.length > 0) return reading('write', written, base);
  const files = namesFiles ? filesNamed(text) : [];
  // `cat` shows a here-document otherwise.
  if (files.length === 0 && text.includes('<<')) return { kind: 'command', files };
  const lines = purpose === 'read' && files.length === 1 ? linesShown(text) : undefined;
  return { ...reading(purpose ?? 'command', files, base), ...(lines !== undefined && { lines }) };
}

function reading(
  kind: CommandReading['kind'],
  files: readonly string[],
  base: string | undefined,
): CommandReading {
  if (files.length === 0) return { kind: kind === 'write' ? 'command' : kind, files };
  if (base === undefined) return { kind, files };
  return { kind, files: files.map((file) => joined(base, file)) };
}

function joined(base: string, file: string): string {
  return ABSOLUTE.test(file) ? posix.normalize(file) : posix.join(base, file);
}

/** Names of Windows with slashes, which mean the same there. */
function withSlashes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(BACKSLASHED, (name) =>
    SURELY_NAME.test(name) ? name.replaceAll(/\\+/g, '/') : name,
  );
}

function scannedPart(command: string): string {
  const start = command.length > MAX_SCANNED ? command.slice(0, MAX_SCANNED) : command;
  if (!start.includes('<<')) return start;
  const document = HERE_DOCUMENT.exec(start);
  if (document === null) return start;
  const end = start.indexOf('\n', document.index);
  return end === -1 ? start : start.slice(0, end);
}

/** The directory that names are relative to; `undefined` for the workspace. */
function baseOf(text: string, directory: string | undefined): string | undefined {
  const working =
    directory ??
    (text.includes('workdir') || text.includes('cwd')
      ? WORKING_DIRECTORY.exec(text)?.[1]
      : undefined);
  const base = working?.replaceAll('\\', '/');
  const changed = DIRECTORY.exec(text)?.[1]?.replaceAll('\\', '/');
  if (changed === undefined) return base;
  if (base !== undefined) return joined(base, changed);
  return ABSOLUTE.test(changed) ? changed : undefined;
}

function filesWritten(text: string): readonly string[] {
  if (!text.includes('>')) return [];
  const commands = text.replace(QUOTED, (quoted, at: number) =>
    opensScript(text, at) ? quoted : ' ',
  );
  return Array.from(commands.matchAll(REDIRECTED), ([, file = '']) => file)
    .filter((file) => !file.startsWith('/dev/'))
    .slice(0, MAX_FILES);
}

/** The words behind a program that writes, without what it is to do. */
function namesIn(words: string): string {
  const plain = words.replace(QUOTED, (quoted) => (QUOTED_NAME.test(quoted) ? quoted : ' '));
  return plain
    .replaceAll(/["']/g, ' ')
    .split(' ')
    .filter((word) => !SED_SCRIPT.test(word))
    .join(' ');
}

function filesNamed(text: string): readonly string[] {
  const named = text.replace(DIRECTORY, ' ').replace(WORKING_DIRECTORY, ' ');
  const files = new Set<string>();
  for (const [name] of named.matchAll(FILE_NAME)) {
    if (
      name.startsWith('-') ||
      name.startsWith('//') ||
      name.startsWith('/dev/') ||
      !/\w/.test(name)
    )
      continue;
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
  const selected = SELECTED_LINES.exec(text);
  if (selected !== null) {
    const [, before, count, after = before ?? 0] = selected;
    return rangeOf(Number(after) + 1, Number(after) + Number(count));
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
