// One catalog of the tools of all agents, the default for sessions whose agent is not given. Agents use the same name for
// different tools, so a use applies only to calls that have its parameters.

import { fileKeysOf, isFileUse } from '../../shared/density/index/call-use.js';
import {
  runsCommands,
  searches,
  type FileUse,
  type LineKeys,
  type ToolCatalog,
  type ToolUse,
} from '../../shared/tool-catalog.js';
import { EDITOR_TOOL, editorUse } from './editor-tool.js';
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
  'TargetFile',
  'relative_path',
  'pathInProject',
  'file',
] as const;

/** The parameters, beside a path, by which calls select lines. */
const LINES: readonly LineKeys[] = [
  { first: 'start_line', last: 'end_line' },
  { first: 'startLine', last: 'endLine' },
  { first: 'StartLine', last: 'EndLine' },
  { first: 'start_line_one_indexed', last: 'end_line_one_indexed_inclusive' },
  { first: 'line_offset', count: 'n_lines' },
  { range: 'view_range' },
  { range: 'read_range' },
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
  { access: 'read', extent: 'whole', pathListKeys: ['paths', 'file_paths', 'filePaths'] },
];
/** Shows parts of files that it finds by itself. */
const READS_FOUND: readonly FileUse[] = [{ access: 'read', extent: 'part', has: ['query'] }];

const WRITES_PART: readonly FileUse[] = [{ access: 'write', extent: 'part', pathKeys: PATH_KEYS }];
const APPENDS: readonly FileUse[] = WRITES_PART.flatMap((use) => [
  { ...use, when: { key: 'mode', values: ['append'] } },
  { ...use, when: { key: 'append', values: ['true'] } },
]);
const WRITES_WHOLE: readonly FileUse[] = [
  { access: 'write', extent: 'whole', pathKeys: PATH_KEYS },
];

const RUNS = runsCommands(['command', 'cmd', 'CommandLine', 'commands']);
/** For names that other services use, too. */
const RUNS_IF_TOLD: readonly ToolUse[] = RUNS.map((use) => ({ ...use, has: use.commandKeys }));

/** Reports of other agents, which cannot be read again. */
const REPORTS: readonly FileUse[] = [
  { access: 'read', extent: 'part', has: ['prompt', 'message', 'description', 'task', 'agent_id'] },
];
const ASKS: readonly ToolUse[] = [{ access: 'ask' }];
const INSTRUCTS: readonly ToolUse[] = [{ access: 'instruct' }];

/** The editor of agents that write whole files by another command than `create`. */
const OTHER_EDITOR: readonly ToolUse[] = [
  ...EDITOR_TOOL,
  editorUse('write', 'whole', ['write']),
  editorUse('write', 'part', ['append', 'edit_file']),
];

/** Tools that presets have, too, called in another way. They come first. */
const VARIANTS: ToolCatalog = {
  read_file: [
    ...READS,
    { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
  ],
  Read: READS,
  exec: RUNS_IF_TOLD,
  ...same(['write', 'write_file', 'write_to_file'], APPENDS),
};

/** Tools that no preset has: of editors, of file servers, of agents whose sessions are not read here. */
const OTHERS: ToolCatalog = {
  ...same(['read', 'view', 'view_file', 'view_line_range', 'open_file', 'file_read'], READS),
  ...same(['readFile', 'ReadFile', 'read_file_range', 'read_text_file'], READS),
  get_file_text_by_path: READS,
  fs_read: [{ access: 'search', when: { key: 'mode', values: ['Directory', 'Search'] } }, ...READS],
  ...same(['read_multiple_files', 'readMultipleFiles', 'read_files'], READS_MANY),
  ...same(['codebase_search', 'semantic_search'], READS_FOUND),

  ...same(['Write', 'write', 'write_to_file', 'save-file', 'fsWrite', 'Create'], WRITES_WHOLE),
  ...same(['create_file', 'createFile', 'create_new_file', 'create_text_file'], WRITES_WHOLE),
  ...same(['writeFile', 'WriteFile', 'file_write'], [...APPENDS, ...WRITES_WHOLE]),
  ...same(['edit', 'edit_file', 'editFile', 'edit_existing_file', 'edit_block'], WRITES_PART),
  ...same(['Edit', 'MultiEdit', 'multiedit', 'multi_edit'], WRITES_PART),
  ...same(['search_replace', 'single_find_and_replace'], WRITES_PART),
  ...same(['str_replace', 'strReplace', 'StrReplaceFile', 'file_str_replace'], WRITES_PART),
  ...same(['replace_string_in_file', 'replace_text_in_file'], WRITES_PART),
  ...same(['replace_file_content', 'multi_replace_file_content'], WRITES_PART),
  ...same(['replace_content', 'replace_regex', 'replace_lines', 'delete_lines'], WRITES_PART),
  ...same(['replace_symbol_body', 'insert_after_symbol', 'insert_before_symbol'], WRITES_PART),
  ...same(['insert_edit_into_file', 'insert_content', 'insert_at_line', 'fsAppend'], WRITES_PART),
  ...same(['apply_diff', 'search_and_replace'], WRITES_PART),
  str_replace_editor: WRITES_PART.map((use) => ({ ...use, has: ['old_str', 'old_string'] })),
  multi_replace_string_in_file: [
    {
      access: 'write',
      extent: 'part',
      pathListKeys: ['replacements'],
      pathListItemKey: 'filePath',
    },
  ],
  ...same(
    ['apply_patch', 'ApplyPatch', 'patch'],
    [{ access: 'write', extent: 'part', patchKeys: ['patchText', 'patch', 'input'] }],
  ),
  ...same(['file_editor', 'memory'], EDITOR_TOOL),
  ...same(['text_editor', 'str-replace-editor', 'fs_write'], OTHER_EDITOR),

  ...same(['run_terminal_cmd', 'run_in_terminal', 'run_terminal_command', 'shell_exec'], RUNS),
  ...same(['runCommand', 'run_command', 'launch-process', 'start_process', 'Shell'], RUNS),
  ...same(['execute_shell_command', 'execute_terminal_command', 'executeBash'], RUNS),
  ...same(['CheckBackgroundJob', 'read_background_output'], RUNS),
  ...same(['terminal', 'execute', 'Execute', 'monitor'], RUNS_IF_TOLD),

  ...same(['grep', 'rg', 'ls', 'list', 'find', 'list_dir', 'directory_tree'], searches()),
  ...same(['grep_search', 'grepSearch', 'file_search', 'fileSearch', 'find_path'], searches()),
  ...same(['glob_file_search', 'file_glob_search', 'find_files_by_glob'], searches()),
  ...same(['find_by_name', 'search_in_files_by_text', 'listDirectory', 'List'], searches()),
  search_codebase: searches(),

  ...same(['Task', 'Agent', 'task', 'agent', 'spawn_agent', 'wait_agent', 'new_task'], REPORTS),
  invoke_agent: REPORTS,
  ...same(['ask_user_question', 'askQuestions', 'ask_questions', 'ask_human'], ASKS),
  ...same(['ask_question', 'askQuestion', 'AskQuestion'], ASKS),
  exit_plan_mode: ASKS,
  question: ASKS.map((use) => ({ ...use, has: ['question', 'questions'] })),
  ...same(['skill', 'load_skill', 'use_skill', 'Skills'], INSTRUCTS),
  ...same(['tool_search', 'tool_describe'], INSTRUCTS),
  ...same(['fetch_rules', 'fetch_instructions', 'initial_instructions'], INSTRUCTS),
};

/**
 * Merges catalogs. The first use that fits a call wins, so more specific uses must come first. Tools share their uses, so that a
 * catalog is small where it is copied: each session has one on a worker.
 */
function merged(catalogs: readonly ToolCatalog[]): ToolCatalog {
  const byTool = new Map<string, readonly ToolUse[]>();
  const shared = new Map<readonly ToolUse[], readonly ToolUse[]>();
  for (const [tool, given] of catalogs.flatMap((catalog) => Object.entries(catalog))) {
    const isCommon = COMMON_NAMES.has(tool);
    const known = isCommon ? undefined : shared.get(given);
    const uses = known ?? given.flatMap((use) => fitting(use, isCommon));
    if (!isCommon) shared.set(given, uses);
    const earlier = byTool.get(tool);
    byTool.set(tool, earlier === undefined ? uses : [...earlier, ...uses]);
  }
  return Object.fromEntries(byTool);
}

/** Names that databases and other services use too, and the parameters of those that search files. */
const COMMON_NAMES: ReadonlySet<string> = new Set(['find', 'list', 'List']);
const SEARCH_KEYS = [
  'pattern',
  'glob',
  'name',
  ...PATH_KEYS,
  'dir',
  'directory',
  'dirpath',
] as const;

/** Restricts a use to calls that have one of its parameters, and extends it to servers of tools. */
function fitting(use: ToolUse, isCommon: boolean): readonly ToolUse[] {
  if (use.has !== undefined) return [{ ...use, anyServer: true }];
  if (isFileUse(use)) return [{ ...use, has: fileKeysOf(use), anyServer: true }];
  // A call without a command may show more of the last one's output.
  if (use.access === 'run') return [{ ...use, has: use.commandKeys, anyServer: true }, use];
  return [isCommon ? { ...use, has: SEARCH_KEYS } : { ...use, anyServer: true }];
}

function same(tools: readonly string[], uses: readonly ToolUse[]): ToolCatalog {
  return Object.fromEntries(tools.map((tool) => [tool, uses]));
}

/**
 * The tools of all known agents, matched by name and by the parameters of a call. A call that fits no use counts as one of an
 * unknown tool: if it names a file, its result stays as long as that of a read.
 */
export const KNOWN_TOOL_CATALOG: ToolCatalog = merged([
  VARIANTS,
  ...Object.values(FORMATS).map(({ toolCatalog }) => toolCatalog),
  OTHERS,
]);
