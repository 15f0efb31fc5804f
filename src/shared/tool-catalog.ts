// Describes an agent's tools: which read or write files, which parameters hold the paths, and which tools search or run
// commands. Plain data, so that a catalog can be passed to threads and written as JSON.

import { assertToolCatalog, assertToolUse } from './density-options.js';

/** One way in which a tool touches files. */
export interface FileUse extends UseCondition {
  readonly access: 'read' | 'write';
  /** Whether the whole file is read or written, or a part of it. */
  readonly extent: 'whole' | 'part';
  /** Parameter keys that hold one path; the first one present is used. */
  readonly pathKeys?: readonly string[];
  /** Parameter keys that hold a list of paths or glob patterns; the first one present is used. */
  readonly pathListKeys?: readonly string[];
  /** For lists of objects, the key of each object's path. @default the elements are paths */
  readonly pathListItemKey?: string;
  /** Parameter keys that hold a patch in the `apply_patch` format, which names its files; the first one present is used. */
  readonly patchKeys?: readonly string[];
  /** Which parameters hold the lines to read. Without it, the lines of a partial read are unknown. */
  readonly lineKeys?: LineKeys;
}

/** Parameter keys of the lines that are read, counted from 1; an absent one leaves that end of the range open. */
export interface LineKeys {
  /** Holds the first line. */
  readonly first?: string;
  /** Holds the last line. */
  readonly last?: string;
  /** Holds the number of lines. */
  readonly count?: string;
  /** Holds first and last line as a list or its JSON; -1 as the last line means the end. */
  readonly range?: string;
}

/**
 * A tool that touches no file. `search`: its results become stale sooner than those of reads. `ask`: they are the words of the
 * user, which stay in view, and are noted by compactions. `instruct`: they are instructions for the agent, which stay.
 */
export interface ResultUse extends UseCondition {
  readonly access: 'search' | 'ask' | 'instruct';
}

/** A tool that runs shell commands, or scripts that do. The command's text tells what it reads and writes. */
export interface CommandUse extends UseCondition {
  readonly access: 'run';
  /**
   * Parameter keys that hold the command, as text or as a list of words; the first one present is used. If none is, the
   * parameters themselves are the command.
   */
  readonly commandKeys: readonly string[];
}

/** Restricts a use to some calls of a tool. */
interface UseCondition {
  /** Restricts this use to calls whose parameter `key` has one of `values`; of a boolean, `true` or `false`. */
  readonly when?: { readonly key: string; readonly values: readonly string[] };
  /** Restricts this use to calls that have one of these parameters. */
  readonly has?: readonly string[];
  /**
   * Extends this use to tools that have the name behind that of a server, as clients of MCP spell them:
   * `mcp__files__read_file`, `files.read_file`. @default false
   */
  readonly anyServer?: boolean;
  /**
   * For uses under `'*'`: restricts this one to tools whose name has one of these words. Several words in one text must all be in
   * the name: `'find file'` are those of `findFilesByGlob`. Plurals count as singulars, and the name of a server does not count.
   */
  readonly words?: readonly string[];
}

/** What a tool call does. */
export type ToolUse = FileUse | ResultUse | CommandUse;

/** What calls do, by tool name, then under `'*'` for any tool; the first use whose `when` and `has` apply is taken. */
export type ToolCatalog = Readonly<Record<string, readonly ToolUse[]>>;

const PATH_KEYS = ['file_path', 'absolute_path', 'path'] as const;

/** Makes the entry of a tool that reads files. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function readsFile(
  extent: FileUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
  lineKeys?: LineKeys,
): readonly FileUse[] {
  return checked({
    access: 'read',
    extent,
    pathKeys,
    ...(lineKeys !== undefined && { lineKeys }),
  });
}

/** Makes the entry of a tool that writes files. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function writesFile(
  extent: FileUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
): readonly FileUse[] {
  return checked({ access: 'write', extent, pathKeys });
}

/** Makes the entry of a tool that searches. */
export function searches(): readonly ResultUse[] {
  return [{ access: 'search' }];
}

/** Makes the entry of a tool that runs commands. `commandKeys` defaults to `command`, `cmd`. */
export function runsCommands(
  commandKeys: readonly string[] = ['command', 'cmd'],
): readonly CommandUse[] {
  return checked({ access: 'run', commandKeys });
}

/** Checked here, because a mistake would otherwise only show as calls that are not recognized. */
function checked<Use extends ToolUse>(use: Use): readonly Use[] {
  assertToolUse(use);
  return [use];
}

/** The read and write tools named by the specification. */
export const DEFAULT_TOOL_CATALOG: ToolCatalog = {
  read_file: readsFile('whole'),
  read_line_range: readsFile('part'),
  read_many_files: [{ access: 'read', extent: 'whole', pathListKeys: ['paths'] }],
  ast_read_file: readsFile('part'),
  write_file: writesFile('whole'),
  ast_edit: writesFile('part'),
  replace: writesFile('part'),
  insert_at_line: writesFile('part'),
  delete_line_range: writesFile('part'),
};

/** Merges two catalogs; for a tool in both, `additions` wins. @throws TypeError if one is not a catalog. */
export function extendToolCatalog(base: ToolCatalog, additions: ToolCatalog): ToolCatalog {
  assertToolCatalog('base', base);
  assertToolCatalog('additions', additions);
  return { ...base, ...additions };
}

/** Key of the uses of any tool. */
export const ANY_TOOL = '*';
/** Longer names are names of nothing that is known. */
const MAX_NAME = 200;
const SEPARATOR = /__|[_.:/-]/g;
/** The name of a server, where it certainly precedes that of a tool. */
const SERVER = /^.*(?:__|[.:/])/s;

/**
 * Returns the uses that a catalog has of a tool: those of its name, else of the end of its name behind that of a server, and then
 * those of any tool whose words it has. One word behind a single `_` or `-` is no such end: `mark_read` is not `read`.
 */
export function usesOf(
  catalog: ToolCatalog | undefined = DEFAULT_TOOL_CATALOG,
  tool: string,
): readonly ToolUse[] {
  const byName = usesByName(catalog, tool);
  const ofAny = Object.hasOwn(catalog, ANY_TOOL) ? catalog[ANY_TOOL] : undefined;
  const byWords = ofAny === undefined ? [] : usesByWords(ofAny, tool);
  if (byWords.length === 0) return byName;
  return byName.length === 0 ? byWords : [...byName, ...byWords];
}

function usesByName(catalog: ToolCatalog, tool: string): readonly ToolUse[] {
  if (Object.hasOwn(catalog, tool)) return catalog[tool] ?? [];
  if (tool.length > MAX_NAME) return [];
  for (const { index, 0: separator } of tool.matchAll(SEPARATOR)) {
    const name = tool.slice(index + separator.length);
    const isCertain = !/^[_-]$/.test(separator) || tool.startsWith('mcp_') || name.includes('_');
    if (!isCertain || !Object.hasOwn(catalog, name)) continue;
    const uses = catalog[name]?.filter(({ anyServer }) => anyServer === true);
    if (uses !== undefined && uses.length > 0) return uses;
  }
  return [];
}

/** By tool, for calls are many and tools are few. */
const USES_BY_WORDS = new WeakMap<readonly ToolUse[], Map<string, readonly ToolUse[]>>();
const MAX_KNOWN = 1_000;

function usesByWords(uses: readonly ToolUse[], tool: string): readonly ToolUse[] {
  if (tool.length > MAX_NAME) return [];
  let known = USES_BY_WORDS.get(uses);
  if (known === undefined || known.size >= MAX_KNOWN) {
    known = new Map();
    USES_BY_WORDS.set(uses, known);
  }
  let fitting = known.get(tool);
  if (fitting === undefined) {
    const inName = wordsOf(tool);
    fitting = uses.filter(
      ({ words }) =>
        words?.some((text) => text.split(' ').every((word) => inName.has(word))) !== false,
    );
    known.set(tool, fitting);
  }
  return fitting;
}

/** The words of a tool's name, in small letters and as singulars. */
function wordsOf(tool: string): ReadonlySet<string> {
  const name = tool.replace(SERVER, '').replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
  const words = name.toLowerCase().match(/[a-z]+/g) ?? [];
  return new Set(words.map((word) => word.replace(/ies$/, 'y').replace(/(?<=..[^s])s$/, '')));
}
