// Recognizes from the text of a shell command, or of a script that runs some, which files it shows
// or changes. Runs nothing.

import { posix } from 'node:path';
import { purposeOf } from './command-programs.js';
import {
  filesBehind,
  filesNamed,
  filesWritten,
  MAX_FILES,
  withPlainNames,
} from './names-in-command.js';

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
  /** Whether a read also runs other programs, such as a build. */
  readonly runsOthers?: boolean;
}

/** Only this many UTF-16 units of a command are scanned. Longer ones are scripts or documents whose purpose shows at the start. */
const MAX_SCANNED = 4_000;
/**
 * Patch headers, also inside scripts. The match ends past the header so that none is read twice.
 */
const PATCHED_FILE = /\*\*\* (?:(?:Add|Update|Delete) File|Move to): ([^\n]+?)(?:\\n|\r?\n|$)/g;
const DIRECTORY =
  /(?:^|[;&(\n"'`])[ \t]*(?:cd(?:[ \t]+\/d)?|pushd|(?:Set|Push)-Location(?:[ \t]+-\w+)?)[ \t]+["']?((?<=["'])[^"'\n]+|[^\s;&|"'`)]+)/i;
const WORKING_DIRECTORY = /\b(?:workdir|cwd)\\?["']?\s*:\s*\\?["']([^"'\\]+)/;
const ABSOLUTE = /^(?:[A-Za-z]:)?\//;
const HERE_DOCUMENT = /<<-?\s*\\?["']?\w+/;
/** Not `"$@"` or `"user@"` at the end of a line, as in Bash. */
const HERE_STRING = /(?<![^\s=(,+{;|&])@(["'])[ \t]*\r?\n/g;
/** A single range of `sed -n`, which reads a file directly, or gets it from `cat` or `nl` through a pipe. */
const SED_LINES =
  /(?:^|[;&(\n"'`{])[ \t]*(?:(?:cat|nl)(?:[ \t]+-\w+)*[ \t]+[^\s|;&]+[ \t]*\|[ \t]*)?sed\s+-n\s+\\?["']?(\d+)(?:,(\d+))?p(?!\w|\s*;)/g;
/** A pipe after the command: the next program filters what is shown. */
const PIPED = /(?<!\|)\|(?!\|)/;

/**
 * Returns what a command is for. Patches in the `apply_patch` format name their files in headers;
 * here-documents and here-strings are ignored.
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
  const text = withPlainNames(scannedPart(command));
  const { purpose, words = '', runsOthers = false } = purposeOf(text);
  // Fast path: most commands without files need no further search.
  const namesFiles = text.includes('/') || text.includes('.') || text.includes('>');
  const base = namesFiles ? baseOf(text, directory) : undefined;
  if (purpose === 'write') return reading(purpose, filesBehind(words), base);
  const written = filesWritten(text);
  if (written.length > 0) return reading('write', written, base);
  const files = namesFiles ? filesNamed(withoutDirectories(text)) : [];
  // Without a file, `cat` shows the here-document.
  if (files.length === 0 && text.includes('<<')) return { kind: 'command', files };
  const lines = purpose === 'read' && files.length === 1 ? linesShown(text) : undefined;
  return {
    ...reading(purpose ?? 'command', files, base),
    ...(lines !== undefined && { lines }),
    ...(purpose === 'read' && runsOthers && { runsOthers }),
  };
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

function scannedPart(command: string): string {
  const start = withoutHereStrings(command).slice(0, MAX_SCANNED);
  const document = HERE_DOCUMENT.exec(start);
  if (document === null) return start;
  const end = start.indexOf('\n', document.index);
  return end === -1 ? start : start.slice(0, end);
}

/** Empties the here-strings of PowerShell. The program that takes one stands behind it. */
function withoutHereStrings(command: string): string {
  let kept = '';
  let from = 0;
  for (const { 0: open, 1: quote = '', index } of command.matchAll(HERE_STRING)) {
    if (index < from) continue;
    const end = command.indexOf(`\n${quote}@`, index + open.length - 1);
    kept += `${command.slice(from, index)}''`;
    if (end === -1) return kept;
    from = end + 3;
  }
  return kept + command.slice(from);
}

/** The directory that names are relative to; `undefined` for the workspace. */
function baseOf(text: string, directory: string | undefined): string | undefined {
  const working = directory ?? WORKING_DIRECTORY.exec(text)?.[1];
  const base = working?.replaceAll('\\', '/');
  const changed = DIRECTORY.exec(text)?.[1]?.replaceAll('\\', '/');
  if (changed === undefined) return base;
  if (base !== undefined) return joined(base, changed);
  return ABSOLUTE.test(changed) ? changed : undefined;
}

function withoutDirectories(text: string): string {
  return text.replace(DIRECTORY, ' ').replace(WORKING_DIRECTORY, ' ');
}

/** The lines that the only `sed -n` of a command prints, unless another program filters them. */
function linesShown(text: string): LineRange | undefined {
  const [range, another] = text.matchAll(SED_LINES);
  if (range === undefined || another !== undefined) return undefined;
  const { 0: shown, 1: first, 2: last = first, index } = range;
  const isFiltered = PIPED.test(text.slice(index + shown.length));
  return isFiltered ? undefined : rangeOf(Number(first), Number(last));
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

/** The range between two lines; `undefined` if it is empty, or one of them is no number. */
export function rangeOf(first: number, last: number | undefined): LineRange | undefined {
  if (last === undefined || !(last >= first)) return undefined;
  return { first: Math.min(first, MAX_LINE), last: Math.min(last, MAX_LINE) };
}
