// Builds catalogs of an agent's tools, and looks up the uses of a tool in one.

import { PATH_KEYS } from './call-name.js';
import { assertToolCatalog, assertToolUse } from './density-options.js';
import { withoutUndefined } from './json.js';
import type { CommandUse, FileUse, LineKeys, ResultUse, ToolCatalog, ToolUse } from './tool-use.js';

/** Makes the entry of a tool that reads files. `pathKeys` defaults to `file_path`, `absolute_path`, `path`. */
export function readsFile(
  extent: FileUse['extent'],
  pathKeys: readonly string[] = PATH_KEYS,
  lineKeys?: LineKeys,
): readonly FileUse[] {
  return checked({ access: 'read', extent, pathKeys, ...withoutUndefined({ lineKeys }) });
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

/** Key of the uses that may apply to any tool. */
export const ANY_TOOL = '*';
/** Longer names are matched exactly only. In UTF-16 units. */
const MAX_NAME = 200;
const SEPARATOR = /__|[_.:/-]/g;
/** The server's part of a tool's name, up to a separator that certainly ends it. */
const SERVER = /^.*(?:__|[.:/])/s;

/**
 * Returns the uses of a tool: those under its full name, or else under its name without a server's prefix; then those under `'*'` whose
 * words are in its name. A single word after `_` or `-` is not taken for a name with a prefix: `mark_read` is not `read`.
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

/** A cache by tool name, because calls are many and tools are few. */
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

/** The part of a tool's name that names its server; empty if there is none. */
export function serverOf(tool: string): string {
  return tool.length > MAX_NAME ? '' : (SERVER.exec(tool)?.[0] ?? '');
}

/** The words of a tool's name without the server's part, in lower case and singular. */
function wordsOf(tool: string): ReadonlySet<string> {
  const name = tool.replace(SERVER, '').replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ');
  const words = name.toLowerCase().match(/[a-z]+/g) ?? [];
  return new Set(words.map((word) => word.replace(/ies$/, 'y').replace(/(?<=..[^s])s$/, '')));
}
