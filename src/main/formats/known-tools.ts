// One catalog of the tools of all agents, the default for sessions whose agent is not given. Agents use the same name for
// different tools, so a use applies only to calls that have its parameters.

import { fileKeysOf } from '../../shared/density/index/call-use.js';
import {
  runsCommands,
  searches,
  type FileUse,
  type LineKeys,
  type ToolCatalog,
  type ToolUse,
} from '../../shared/tool-catalog.js';
import { FORMATS } from './formats.js';

const PATH_KEYS = [
  'file_path',
  'absolute_path',
  'path',
  'filePath',
  'target_file',
  'filename',
  'filepath',
  'AbsolutePath',
] as const;

/** The parameters, beside a path, by which calls select lines. */
const LINES: readonly LineKeys[] = [
  { first: 'start_line', last: 'end_line' },
  { first: 'startLine', last: 'endLine' },
  { first: 'StartLine', last: 'EndLine' },
  { first: 'start_line_one_indexed', last: 'end_line_one_indexed_inclusive' },
  { range: 'view_range' },
];

const READS: readonly FileUse[] = [
  ...LINES.map((lineKeys): FileUse => {
    const has = Object.values(lineKeys) as readonly string[];
    return { access: 'read', extent: 'part', pathKeys: PATH_KEYS, lineKeys, has };
  }),
  {
    access: 'read',
    extent: 'whole',
    pathKeys: PATH_KEYS,
    lineKeys: { first: 'offset', count: 'limit' },
  },
];
const READS_MANY: readonly FileUse[] = [
  { access: 'read', extent: 'whole', pathListKeys: ['paths'] },
];
const WRITES_WHOLE: readonly FileUse[] = [
  { access: 'write', extent: 'whole', pathKeys: PATH_KEYS },
];
const WRITES_PART: readonly FileUse[] = [{ access: 'write', extent: 'part', pathKeys: PATH_KEYS }];

const RUNS = runsCommands(['command', 'cmd', 'CommandLine']);

/** Tools that no preset has: of editors, of file servers, of agents whose sessions are not read here. */
const OTHERS: ToolCatalog = {
  ...same(
    ['read', 'view', 'view_file', 'readFile', 'ReadFile', 'read_text_file', 'open_file'],
    READS,
  ),
  read_multiple_files: READS_MANY,
  ...same(['write', 'create_file', 'createFile', 'writeFile', 'WriteFile'], WRITES_WHOLE),
  ...same(['edit', 'edit_file', 'editFile', 'multiedit', 'search_replace'], WRITES_PART),
  ...same(['str_replace', 'replace_string_in_file', 'insert_edit_into_file'], WRITES_PART),
  ...same(['apply_diff', 'insert_content', 'search_and_replace', 'StrReplaceFile'], WRITES_PART),
  ...same(['run_terminal_cmd', 'run_in_terminal', 'runCommand', 'run_command'], RUNS),
  ...same(['Shell', 'terminal', 'developer__shell', 'execute_shell_command'], RUNS),
  ...same(['grep', 'rg', 'ls', 'list', 'find', 'list_dir', 'directory_tree'], searches()),
  ...same(['grep_search', 'file_search', 'codebase_search'], searches()),
};

/** Merges catalogs. The first use that fits a call wins, so more specific uses must come first. */
function merged(catalogs: readonly ToolCatalog[]): ToolCatalog {
  const uses = new Map<string, readonly ToolUse[]>();
  for (const [tool, known] of catalogs.flatMap((catalog) => Object.entries(catalog))) {
    uses.set(tool, [...(uses.get(tool) ?? []), ...known.map((use) => fitting(tool, use))]);
  }
  return Object.fromEntries(uses);
}

/** Names that databases and other services use too, and the parameters of those that search files. */
const COMMON_NAMES: ReadonlySet<string> = new Set(['find', 'list']);
const SEARCH_KEYS = ['pattern', 'glob', 'name', ...PATH_KEYS, 'dir', 'directory'] as const;

/** Restricts a use to calls that have one of its parameters. */
function fitting(tool: string, use: ToolUse): ToolUse {
  if (use.has !== undefined || use.access === 'run') return use;
  if (use.access !== 'search') return { ...use, has: fileKeysOf(use) };
  return COMMON_NAMES.has(tool) ? { ...use, has: SEARCH_KEYS } : use;
}

function same(tools: readonly string[], uses: readonly ToolUse[]): ToolCatalog {
  return Object.fromEntries(tools.map((tool) => [tool, uses]));
}

/**
 * The tools of all known agents, matched by name and by the parameters of a call. A call that fits no use counts as one of an
 * unknown tool: if it names a file, its result stays as long as that of a read.
 */
export const KNOWN_TOOL_CATALOG: ToolCatalog = merged([
  same(['read_file', 'Read'], READS),
  ...Object.values(FORMATS).map(({ toolCatalog }) => toolCatalog),
  OTHERS,
]);
