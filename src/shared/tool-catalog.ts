// What is known about an agent's tools: which read files, which write them, where their calls name the
// paths, and which search or run commands. Plain data, so that a catalog can cross threads and be written as JSON.

import { assertToolCatalog, assertToolUse } from './density-problems.js';

/** One way in which a tool touches files. */
export interface FileUse extends UseCondition {
  readonly access: 'read' | 'write';
  /** Whether the whole file is read or written, or a part of it. */
  readonly extent: 'whole' | 'part';
  /** Parameter keys that hold one path; the first one present is taken. */
  readonly pathKeys?: readonly string[];
  /** Parameter keys that hold a list of paths or glob patterns; the first one present is taken. */
  readonly pathListKeys?: readonly string[];
  /** For lists of objects, the key under which each holds its path. @default the elements are paths */
  readonly pathListItemKey?: string;
  /** Parameter keys that hold a patch in the `apply_patch` format, which names its files; the first one present is taken. */
  readonly patchKeys?: readonly string[];
  /** Where a read says which lines it wants. Without it a read of a part wants lines that are not known. */
  readonly lineKeys?: LineKeys;
}

/** Parameter keys that say which lines of a file are read, counted from 1; one that is not given opens the range. */
export interface LineKeys {
  /** Holds the first line. */
  readonly first?: string;
  /** Holds the last line. */
  readonly last?: string;
  /** Holds how many lines. */
  readonly count?: string;
  /** Holds first and last line as a list, or as the JSON of one; -1 for the last line is the end. */
  readonly range?: string;
}

/** A tool that searches: its results age faster than reads. */
export interface SearchUse extends UseCondition {
  readonly access: 'search';
}

/** A tool that runs commands of a shell, or scripts that do: what they read and write is told by their text. */
export interface CommandUse extends UseCondition {
  readonly access: 'run';
  /** Parameter keys that hold the command, as text or as a list of words; the first one present is taken. Without one: the parameters themselves. */
  readonly commandKeys: readonly string[];
}

/** Restricts a use to some calls of a tool. */
interface UseCondition {
  /** Restricts this use to calls whose parameter `key` holds one of `values`. */
  readonly when?: { readonly key: string; readonly values: readonly string[] };
  /** Restricts this use to calls that have one of these parameters. */
  readonly has?: readonly string[];
}

/** What a call of a tool does. */
export type ToolUse = FileUse | SearchUse | CommandUse;

/** By tool name, what its calls do; the first use whose `when` and `has` hold is the one that counts. */
export type ToolCatalog = Readonly<Record<string, readonly ToolUse[]>>;

const PATH_KEYS = ['file_path', 'absolute_path', 'path'] as const;

/** Makes the entry of a tool that reads. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
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

/** Makes the entry of a tool that writes. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function writesFile(
  extent: FileUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
): readonly FileUse[] {
  return checked({ access: 'write', extent, pathKeys });
}

/** Makes the entry of a tool that searches. */
export function searches(): readonly SearchUse[] {
  return [{ access: 'search' }];
}

/** Makes the entry of a tool that runs commands. `commandKeys` defaults to `command`, `cmd`. */
export function runsCommands(
  commandKeys: readonly string[] = ['command', 'cmd'],
): readonly CommandUse[] {
  return checked({ access: 'run', commandKeys });
}

/** What is written in code may be wrong as well, and would show only when no call is recognized. */
function checked<Use extends ToolUse>(use: Use): readonly Use[] {
  assertToolUse(use);
  return [use];
}

/** The read and write tools that the specification names, and no others. */
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

/** Returns a catalog with the tools of both; where both know a tool, `additions` wins. @throws TypeError for what is no catalog. */
export function extendToolCatalog(base: ToolCatalog, additions: ToolCatalog): ToolCatalog {
  assertToolCatalog('base', base);
  assertToolCatalog('additions', additions);
  return { ...base, ...additions };
}
