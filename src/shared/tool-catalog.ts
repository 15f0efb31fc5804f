// What is known about an agent's tools: which read files, which write them, and where their calls
// name the paths. Plain data, so that a catalog can cross threads and be written as JSON.

/** One way in which a tool touches files. */
export interface ToolUse {
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
  /** Restricts this use to calls whose parameter `key` holds one of `values`. */
  readonly when?: { readonly key: string; readonly values: readonly string[] };
}

/** By tool name, the ways in which the tool touches files; the first use whose `when` holds is the one that counts. */
export type ToolCatalog = Readonly<Record<string, readonly ToolUse[]>>;

const PATH_KEYS = ['file_path', 'absolute_path', 'path'] as const;

/** Makes the entry of a tool that reads. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function readsFile(
  extent: ToolUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
): readonly ToolUse[] {
  return [{ access: 'read', extent, pathKeys }];
}

/** Makes the entry of a tool that writes. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function writesFile(
  extent: ToolUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
): readonly ToolUse[] {
  return [{ access: 'write', extent, pathKeys }];
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

/** Returns a catalog with the tools of both; where both know a tool, `additions` wins. */
export function extendToolCatalog(base: ToolCatalog, additions: ToolCatalog): ToolCatalog {
  return { ...base, ...additions };
}
