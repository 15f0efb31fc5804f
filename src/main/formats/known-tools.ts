// The tools of all agents in one catalog: what sessions go by when nobody says which agent they are of. A name means
// something only together with the parameters of a call; where these do not fit, nothing is known of it.

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
] as const;

/** The ways in which calls say which lines they want, beside a path. */
const LINES: readonly LineKeys[] = [
  { first: 'start_line', last: 'end_line' },
  { first: 'startLine', last: 'endLine' },
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

/** Names that no preset has: of editors, of servers for files, of agents without sessions here. */
const OTHERS: ToolCatalog = {
  ...same(['read', 'view', 'view_file', 'readFile', 'read_text_file', 'open_file'], READS),
  read_multiple_files: READS_MANY,
  ...same(['write', 'create_file', 'createFile', 'writeFile'], WRITES_WHOLE),
  ...same(['edit', 'edit_file', 'editFile', 'multiedit', 'search_replace'], WRITES_PART),
  ...same(['str_replace', 'replace_string_in_file', 'insert_edit_into_file'], WRITES_PART),
  ...same(['run_terminal_cmd', 'run_in_terminal', 'runCommand', 'run_command'], runsCommands()),
  ...same(['grep', 'rg', 'ls', 'list', 'find', 'list_dir', 'directory_tree'], searches()),
  ...same(['grep_search', 'file_search', 'codebase_search', 'webfetch', 'fetch'], searches()),
};

/** Of one name the first use that fits a call is taken: those that ask for more stand first. */
function merged(catalogs: readonly ToolCatalog[]): ToolCatalog {
  const uses = new Map<string, readonly ToolUse[]>();
  for (const [tool, known] of catalogs.flatMap((catalog) => Object.entries(catalog))) {
    uses.set(tool, [...(uses.get(tool) ?? []), ...known.map(fitting)]);
  }
  return Object.fromEntries(uses);
}

/** A use that only counts for calls in which a file is named as it says. */
function fitting(use: ToolUse): ToolUse {
  if (use.has !== undefined || use.access === 'search' || use.access === 'run') return use;
  return { ...use, has: fileKeysOf(use) };
}

function same(tools: readonly string[], uses: readonly ToolUse[]): ToolCatalog {
  return Object.fromEntries(tools.map((tool) => [tool, uses]));
}

/**
 * What the tools of all known agents do, told by a tool's name and by which parameters a call has. A call that fits none of a
 * name's uses is one of a tool that is not known: its result stays as long as a read's.
 */
export const KNOWN_TOOL_CATALOG: ToolCatalog = merged([
  same(['read_file', 'Read'], READS),
  ...Object.values(FORMATS).map(({ toolCatalog }) => toolCatalog),
  OTHERS,
]);
