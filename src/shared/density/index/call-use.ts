// Determines what a call does and which files it touches: by the tool catalog, for commands by their
// text, and for unknown tools by the names of their parameters.

import { asArray, asRecord, asText, tryParseJson } from '../../json.js';
import type { JsonRecord } from '../../json.js';
import type { ToolCallBlock } from '../../content.js';
import { serverOf } from '../../tool-catalog.js';
import { saysWhere } from '../../tool-words.js';
import { wordList } from '../../word-lists.js';
import type { CommandUse, FileUse, LineKeys, ToolUse } from '../../tool-use.js';
import { contradicts, fileKeysOf, isFileUse, pathsOf, useOf } from './file-access.js';
import { MAX_LINE, rangeOf, readCommand, WHOLE_FILE } from './command-reading.js';
import { CALL_ACCESS, CALL_KIND } from './history-columns.js';
import type { LineRange } from './command-reading.js';

/** What is known of one call. */
export interface CallUse {
  /** One of `CALL_ACCESS`; `none` if the parameters do not tell for certain. */
  readonly access: number;
  /** One of `CALL_KIND`. */
  readonly kind: number;
  /** The files that it touches or names. */
  readonly paths: readonly string[];
  /** The lines of its only file that it reads. */
  readonly lines?: LineRange | undefined;
  /** The parameters that say where it acts, as a text; absent if there are none. */
  readonly place?: string;
  /** A command, its directory and its place; identifies repeated calls. */
  readonly command?: string;
  /** Whether a command that reads also runs other programs. */
  readonly runsOthers?: boolean;
}

const NO_PATHS: readonly string[] = [];
const UNKNOWN: CallUse = { access: CALL_ACCESS.none, kind: CALL_KIND.unknown, paths: NO_PATHS };
const DIRECTORY_KEYS = wordList(
  'workdir cwd Cwd cd directory dir_path working_directory workingDirectory working_dir workingDir',
);

/**
 * Returns what a call does, given the uses of tools.
 *
 * @param readsCommands whether to analyze commands and calls of unknown tools; otherwise nothing is
 *   known about them
 */
export function callUse(
  usesOf: (tool: string) => readonly ToolUse[],
  { name, parameters }: Pick<ToolCallBlock, 'name' | 'parameters'>,
  readsCommands: boolean,
): CallUse {
  const given = readsCommands ? unwrapped(parameters) : parameters;
  const own = useOf(usesOf(name), given);
  const passed = readsCommands && own === undefined ? passedTo(usesOf, given) : undefined;
  const told = usedBy(passed?.use ?? own, passed?.parameters ?? given, readsCommands);
  const isUntold = readsCommands && told.access === CALL_ACCESS.none && told.paths.length === 0;
  const use = (isUntold ? listedUse(usesOf(name), given) : undefined) ?? told;
  const mayBeElsewhere = readsCommands && (use.paths.length > 0 || use.command !== undefined);
  const server = passed?.server ?? '';
  const place = mayBeElsewhere
    ? server + placeOf({ ...passed?.parameters, ...asRecord(given) })
    : '';
  if (place === '') return use;
  const { command } = use;
  return { ...use, place, ...(command !== undefined && { command: `${command}\0${place}` }) };
}

/** The parameters of a tool that takes one object with all of them, else those given. */
function unwrapped(parameters: unknown): unknown {
  const [only, ...others] = Object.values(asRecord(parameters) ?? {});
  return others.length > 0 ? parameters : (asRecord(only) ?? parameters);
}

/** Longer lists in a call's arguments are not searched for files. */
const MAX_LISTED = 100;

/**
 * Returns what a call does with the files that the objects in its only list name, as in `{ edits: [{ path, search, replace }] }`: what it
 * would do if it were called with each object. `undefined` if an object names no file.
 */
function listedUse(uses: readonly ToolUse[], parameters: unknown): CallUse | undefined {
  const lists = Object.values(asRecord(parameters) ?? {}).filter((value) => Array.isArray(value));
  const [list = []] = lists;
  if (lists.length !== 1 || list.length === 0 || list.length > MAX_LISTED) return undefined;
  const each = list.map((item) => {
    const use = asRecord(item) && useOf(uses, item);
    return use !== undefined && isFileUse(use) ? fileUse(use, item) : UNKNOWN;
  });
  const { kind, access, lines } = each[0] ?? UNKNOWN;
  if (each.some((use) => use.access === CALL_ACCESS.none || use.kind !== kind)) return undefined;
  return {
    // Of files that are written as a whole and others that are written in part, nothing more is known.
    access: each.every((use) => use.access === access) ? access : CALL_ACCESS.writePart,
    kind,
    paths: [...new Set(each.flatMap(({ paths }) => paths))],
    lines: each.length === 1 ? lines : undefined,
  };
}

/** What a tool that calls others is given: the use and the server of the tool that it calls, and the arguments for it. */
interface Passed {
  readonly use: ToolUse;
  readonly server: string;
  readonly parameters: JsonRecord;
}

/** Returns what a call passes on to a known tool, as in `{ tool_name: 'read_file', arguments: { path } }`. */
function passedTo(
  usesOf: (tool: string) => readonly ToolUse[],
  parameters: unknown,
): Passed | undefined {
  const values = asRecord(parameters) ?? {};
  const [passed, ...others] = passedOn(values);
  if (passed === undefined || others.length > 0) return undefined;
  for (const [key, tool] of Object.entries(values)) {
    if (!/name|tool|function|method/i.test(key) || !isShortText(tool)) continue;
    const use = useOf(usesOf(tool), passed);
    if (use !== undefined) return { use, server: serverOf(tool), parameters: passed };
  }
  return undefined;
}

function usedBy(use: ToolUse | undefined, parameters: unknown, readsCommands: boolean): CallUse {
  if (use === undefined) return readsCommands ? unknownUse(parameters) : UNKNOWN;
  switch (use.access) {
    case 'search':
    case 'ask':
    case 'instruct':
      return { ...UNKNOWN, kind: CALL_KIND[use.access] };
    case 'run':
      return readsCommands ? commandUse(use, parameters) : UNKNOWN;
    case 'read':
    case 'write':
      if (contradicts(use, parameters)) return readsCommands ? unknownUse(parameters) : UNKNOWN;
      return fileUse(use, parameters);
  }
}

/**
 * An unknown tool that is given a command that reads, writes or searches files does so, whatever its name is; other commands of
 * unknown tools may be no shell's. One that takes a path or file may show it, so its result is treated like that of a read. The same holds for a
 * tool that passes such arguments on to another tool, as wrappers of MCP tools do.
 */
function unknownUse(parameters: unknown): CallUse {
  const values = asRecord(parameters);
  if (values === undefined) return { ...UNKNOWN, kind: CALL_KIND.read };
  const given = [values, ...passedOn(values)];
  const use = given.map(commandGiven).find((each) => each !== undefined);
  if (use !== undefined) return use;
  const tellsOfFile = given.some((each) => namesFile(each) || listsFiles(each));
  return tellsOfFile ? { ...UNKNOWN, kind: CALL_KIND.read } : UNKNOWN;
}

function commandGiven(values: JsonRecord): CallUse | undefined {
  return Object.keys(values)
    .filter((key) => /command|cmd|^script|code|^input/i.test(key))
    .map((key) => commandUse({ access: 'run', commandKeys: [key] }, values))
    .find(({ kind, paths, command = '' }) =>
      kind === CALL_KIND.search
        ? runIn(command).includes(' ')
        : kind !== CALL_KIND.command && paths.length > 0,
    );
}

/** UTF-16 units of JSON text parsed as arguments for another tool. Longer texts are content. */
const MAX_ARGUMENTS = 2_000;

/** The parameters that are arguments for another tool, as objects or as their JSON. */
function passedOn(values: JsonRecord): readonly JsonRecord[] {
  return Object.values(values).flatMap((value) => {
    const isJson =
      typeof value === 'string' && value.startsWith('{') && value.length <= MAX_ARGUMENTS;
    const passed = asRecord(isJson ? tryParseJson(value) : value);
    return passed === undefined ? [] : [passed];
  });
}

function namesFile(values: JsonRecord): boolean {
  return Object.entries(values).some(
    ([key, value]) =>
      /path|file|uri/i.test(key) ||
      (typeof value === 'string' && isPath(value) && !/dir|cwd/i.test(key)),
  );
}

function isPath(text: string): boolean {
  return text.length <= MAX_PLACE && /^(?:[A-Za-z]:)?[^\s:]*[\\/][^\s:]*\.\w{1,8}$/.test(text);
}

/** Whether a list among the parameters starts with an object that names a file. */
function listsFiles(values: JsonRecord): boolean {
  return Object.values(values).some(
    (value) => Array.isArray(value) && namesFile(asRecord(value[0]) ?? {}),
  );
}

function fileUse(use: FileUse, parameters: unknown): CallUse {
  const isRead = use.access === 'read';
  const paths = pathsOf(use, parameters);
  if (paths === undefined) return { ...UNKNOWN, kind: isRead ? CALL_KIND.read : CALL_KIND.write };
  if (!isRead) {
    const access = use.extent === 'whole' ? CALL_ACCESS.writeWhole : CALL_ACCESS.writePart;
    return { access, kind: CALL_KIND.write, paths };
  }
  const isOne = paths.length === 1;
  return {
    access: CALL_ACCESS.read,
    kind: CALL_KIND.read,
    paths,
    lines: isOne ? linesOfUse(use, parameters) : undefined,
  };
}

function linesOfUse(use: FileUse, parameters: unknown): LineRange | undefined {
  const { extent, lineKeys } = use;
  const lines = lineKeys === undefined ? undefined : linesRead(lineKeys, parameters);
  const isWhole = lineKeys === undefined ? extent === 'whole' : lines === WHOLE_FILE;
  if (!isWhole) return lines;
  return namesNumbers(parameters, fileKeysOf(use)) ? undefined : WHOLE_FILE;
}

/** Whether a parameter that the catalog does not know may select lines or pages: it is a number, starts with one or contains one. */
function namesNumbers(parameters: unknown, known: readonly string[]): boolean {
  return Object.entries(asRecord(parameters) ?? {}).some(
    ([key, value]) =>
      !known.includes(key) &&
      (isNumber(value) ||
        (typeof value === 'object' &&
          value !== null &&
          Object.values(value).slice(0, 2).some(isNumber))),
  );
}

function isNumber(value: unknown): boolean {
  return typeof value === 'string' ? /^[[(]?-?\d/.test(value) : typeof value === 'number';
}

/** The lines that a call asks for; `undefined` if the parameters do not match the keys. */
export function linesRead(keys: LineKeys, parameters: unknown): LineRange | undefined {
  const values = asRecord(parameters);
  if (values === undefined) return undefined;
  const valueOf = (key: string | undefined): unknown =>
    key === undefined ? undefined : (values[key] ?? undefined);
  const pair = valueOf(keys.range);
  if (pair !== undefined) return rangeOfPair(pair);
  const first = valueOf(keys.first);
  const last = valueOf(keys.last);
  const count = valueOf(keys.count);
  if (first === undefined && last === undefined && count === undefined) return WHOLE_FILE;
  const from = first === undefined ? 1 : lineOf(first);
  if (from === undefined) return undefined;
  if (last !== undefined) return rangeOf(from, lineOf(last));
  const lines = count === undefined ? WHOLE_FILE.last : lineOf(count);
  return lines === undefined ? undefined : rangeOf(from, from + lines - 1);
}

/** The range of a `[first, last]` pair, which some tools take as text. A `last` of -1 means the end of the file. */
function rangeOfPair(value: unknown): LineRange | undefined {
  const pair =
    typeof value === 'string'
      ? /^\s*\[\s*(\d+)\s*,\s*(-?\d+)\s*\]\s*$/.exec(value)?.slice(1)
      : value;
  if (!Array.isArray(pair)) return undefined;
  const [first = NaN, last] = pair.map(Number);
  if (!Number.isSafeInteger(first)) return undefined;
  return rangeOf(Math.max(1, first), last === -1 ? MAX_LINE : last);
}

/** A line number, counted from 1. It may be given as text; 0 becomes 1, because some tools count from 0. */
function lineOf(value: unknown): number | undefined {
  const line = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof line === 'number' && Number.isSafeInteger(line) && line >= 0
    ? Math.max(1, line)
    : undefined;
}

function commandUse({ commandKeys }: CommandUse, parameters: unknown): CallUse {
  const command = commandOf(commandKeys, parameters);
  if (command === undefined) return { ...UNKNOWN, kind: CALL_KIND.command };
  const directory = directoryOf(parameters);
  const { kind, files, lines, runsOthers = false } = readCommand(command, directory);
  return {
    access: CALL_ACCESS.none,
    kind: CALL_KIND[kind],
    paths: files,
    lines,
    command: directory === undefined ? command : `${command}\0${directory}`,
    ...(runsOthers && { runsOthers }),
  };
}

/** In UTF-16 units. A longer text is content. */
const MAX_PLACE = 200;

/** Returns the parameters of a call that say where it acts: the same path or command means something else there. */
function placeOf(parameters: unknown): string {
  const named: string[] = [];
  const values = asRecord(parameters) ?? {};
  for (const name of Object.keys(values)) {
    if (!saysWhere(name)) continue;
    const value = values[name];
    if (isShortText(value) || typeof value === 'number') named.push(`${name}=${value}`);
  }
  return named.sort().join(' ');
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_PLACE;
}

/** Returns what the `command` of a use runs, without the directory and the place; empty if there is none. */
export function runIn(command: string = ''): string {
  return command.split('\0', 1)[0] ?? '';
}

function commandOf(keys: readonly string[], parameters: unknown): string | undefined {
  if (typeof parameters === 'string') return parameters;
  const values = asRecord(parameters);
  if (values === undefined) return undefined;
  for (const key of keys) {
    const value = values[key];
    if (typeof value === 'string') return [value, ...wordsIn(values['args'])].join(' ');
    if (!Array.isArray(value)) continue;
    const words = wordsIn(value);
    return key === LIST_KEY ? words.join('\n') : commandOfWords(words);
  }
  return undefined;
}

function wordsIn(list: unknown): readonly string[] {
  return asArray(list).filter((word) => typeof word === 'string');
}

/** A list under this key holds several commands; a list under any other key holds the words of one command. */
const LIST_KEY = 'commands';
const SHELL = /(?:^|[\\/])(?:(?:ba|da|fi|k|z)?sh|cmd|powershell|pwsh)(?:\.exe)?$/i;
const BEFORE_SCRIPT = /^(?:-\w*c|-command|\/c)$/i;

/** Joins the words of a command; for a shell that runs a script (`bash -lc …`), returns only the script. */
function commandOfWords(words: readonly string[]): string {
  const option = SHELL.test(words[0] ?? '')
    ? words.findIndex((word) => BEFORE_SCRIPT.test(word))
    : -1;
  return words.slice(option + 1).join(' ');
}

function directoryOf(parameters: unknown): string | undefined {
  const values = asRecord(parameters) ?? {};
  const given = DIRECTORY_KEYS.map((key) => asText(values[key]));
  return given.find((directory) => directory !== undefined && directory !== '');
}
