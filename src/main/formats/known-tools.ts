// A single catalog of all agents' tools, the default for sessions whose agent is not given. Agents use the same name for different
// tools, so a use applies only to calls with its parameters.

import { fileKeysOf, isFileUse } from '../../shared/density/index/file-access.js';
import {
  ANY_TOOL,
  readsFile,
  runsCommands,
  searches,
  writesFile,
} from '../../shared/tool-catalog.js';
import {
  type FileUse,
  type LineKeys,
  type ToolCatalog,
  type ToolUse,
} from '../../shared/tool-use.js';
import { wordList } from '../../shared/word-lists.js';
import { EDITOR_TOOL, editorUse } from './editor-tool.js';
import { FORMATS } from './formats.js';

const PATH_KEYS = wordList(
  'file_path absolute_path path filePath target_file filename filepath AbsolutePath TargetFile relative_path pathInProject file',
);

/** The parameters by which calls select lines of a file. */
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
  ...LINES.flatMap((lineKeys) =>
    only({ has: Object.values(lineKeys) }, readsFile('part', PATH_KEYS, lineKeys)),
  ),
  ...readsFile('whole', PATH_KEYS, { first: 'offset', count: 'limit' }),
];
/** For tools whose parameter `mode` says what they show of a file: also what is found in it, or its beginning. */
const READS_BY_MODE: readonly ToolUse[] = [
  ...only(
    { when: { key: 'mode', values: wordList('Directory Search find search stats diff') } },
    searches(),
  ),
  ...only(
    { when: { key: 'mode', values: wordList('preview chunk time_machine') } },
    readsFile('part', PATH_KEYS),
  ),
  ...READS,
];
const READS_MANY: readonly FileUse[] = [
  { access: 'read', extent: 'whole', pathListKeys: ['paths', 'file_paths', 'filePaths'] },
];
/** For tools that find files by a query and show parts of them. */
const READS_FOUND: readonly FileUse[] = [{ access: 'read', extent: 'part', has: ['query'] }];

/** For tools that list places in the code, such as those of language servers: the call names the file that it begins at. */
const LISTS_PLACES = only({ has: [...PATH_KEYS, 'files', 'uri'] }, searches());
/** The operations of tools that pass on to language servers. Others may change files, such as `rename`. */
const SHOWING_OPERATIONS = wordList(
  'goToDefinition goToImplementation findReferences hover documentSymbol workspaceSymbol prepareCallHierarchy incomingCalls outgoingCalls',
);
const LISTS_PLACES_IF_TOLD = only(
  { when: { key: 'operation', values: SHOWING_OPERATIONS } },
  searches(),
);
const SYMBOL_KEYS = ['name_path', 'name_path_pattern'] as const;
/** For tools that list symbols, or show the text of one if told so. */
const LISTS_SYMBOLS: readonly ToolUse[] = [
  {
    ...{ access: 'read', extent: 'part', has: SYMBOL_KEYS },
    when: { key: 'include_body', values: ['true'] },
  },
  ...only({ has: SYMBOL_KEYS }, searches()),
];

const WRITES_PART = writesFile('part', PATH_KEYS);
/** For tools that edit or show a file, as a parameter says. */
const SHOWS = ['command', 'action', 'operation', 'mode'].flatMap((key) =>
  only({ when: { key, values: wordList('view read show open') } }, readsFile('part', PATH_KEYS)),
);
const APPENDS = [
  ...only({ when: { key: 'mode', values: ['append'] } }, WRITES_PART),
  ...only({ when: { key: 'append', values: ['true'] } }, WRITES_PART),
];
/** The parameters that hold the text of a file. */
const TEXT_KEYS = wordList(
  'content contents text file_text file_content fileContent new_content code data body',
);
/** The parameters that hold what an edit puts in the place of a text. */
const REPLACEMENT_KEYS = wordList(
  'new_string new_str new_text newString newText replace replacement',
);
const WRITES_WHOLE = writesFile('whole', PATH_KEYS);

const RUNS = runsCommands(['command', 'cmd', 'CommandLine', 'commands']);
/** For tool names that other services use too: counts as a command only if the call has a command parameter. */
const RUNS_IF_TOLD: readonly ToolUse[] = RUNS.map((use) => ({ ...use, has: use.commandKeys }));

/** For tools that return reports of other agents, which cannot be read again. */
const REPORTS: readonly FileUse[] = [
  { access: 'read', extent: 'part', has: ['prompt', 'message', 'description', 'task', 'agent_id'] },
];
const ASKS: readonly ToolUse[] = [{ access: 'ask' }];
const INSTRUCTS: readonly ToolUse[] = [{ access: 'instruct' }];

const PATCHES: readonly FileUse[] = [
  { access: 'write', extent: 'part', patchKeys: ['patchText', 'patch', 'input'] },
];

/** The editor of agents that write whole files with the command `write` instead of `create`. */
const OTHER_EDITOR: readonly ToolUse[] = [
  ...EDITOR_TOOL,
  editorUse('write', 'whole', ['write']),
  editorUse('write', 'part', ['append', 'edit_file']),
];

/** Tools that presets have too, but with other parameters. They come first, so that they win over the presets' uses. */
const VARIANTS: ToolCatalog = {
  read_file: [
    ...READS,
    { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
  ],
  Read: READS,
  exec: RUNS_IF_TOLD,
  ...same(['write', 'write_file', 'write_to_file'], APPENDS),
};

/**
 * Heuristics for tools that no catalog lists: by words in their names and by their parameters. Tools that show files are not
 * included: an unknown tool that is given a path counts as one that may show the file, whereas a listed one would count as showing
 * certain lines of it.
 */
const MATCHED_BY_WORDS: readonly ToolUse[] = [
  ...named(['write file', 'write text'], APPENDS),
  ...named(
    ['write file', 'write text', 'create file', 'save file', 'fs write'],
    only({ has: TEXT_KEYS }, WRITES_WHOLE),
  ),
  ...named(
    ['edit', 'replace', 'insert', 'append', 'modify', 'patch', 'update file', 'multiedit'],
    [...SHOWS, ...WRITES_PART],
  ),
  ...only({ has: REPLACEMENT_KEYS }, WRITES_PART),
  ...named(['apply diff', 'delete line'], WRITES_PART),
  ...named(['patch'], PATCHES),
  ...named(
    ['bash', 'shell', 'sh', 'powershell', 'terminal', 'console', 'command', 'cmd', 'process'],
    RUNS_IF_TOLD,
  ),
  ...named(['exec', 'execute', 'run'], RUNS_IF_TOLD),
  ...named(['background job', 'background output', 'terminal output'], RUNS),
  ...named(['process output', 'job output', 'command status'], RUNS),
  ...named(['grep', 'rg', 'ripgrep', 'glob', 'ls', 'directory tree', 'list dir'], searches()),
  ...named(['list file', 'list directory', 'list folder', 'find path'], searches()),
  ...named(['find file', 'search file', 'search code', 'search codebase'], searches()),
  ...named(
    ['find name', 'search pattern', 'search directory', 'search workspace', 'search project'],
    searches(),
  ),
  // With a verb each, because language servers rename symbols and fix problems, too.
  ...named(['find reference', 'find referencing', 'get symbol overview'], LISTS_PLACES),
  ...named(['list symbol', 'get document symbol', 'prepare call hierarchy'], LISTS_PLACES),
  ...named(['get diagnostic', 'get file problem'], LISTS_PLACES),
  ...named(['find workspace symbol'], searches()),
  ...named(['ask user', 'ask human', 'ask question', 'ask followup'], ASKS),
  ...named(['agent', 'subagent'], REPORTS),
  ...named(['load skill', 'use skill', 'read skill', 'get skill'], INSTRUCTS),
  ...named(['fetch rule', 'fetch instruction', 'initial instruction'], INSTRUCTS),
];

/** Tools of editors, file servers and agents without a preset here, whose names alone do not tell what they do. */
const OTHERS: ToolCatalog = {
  ...same(['read', 'view', 'view_file', 'view_line_range', 'open_file'], READS),
  ...same(['readFile', 'ReadFile', 'read_file_range', 'read_text_file'], READS),
  get_file_text_by_path: READS,
  ...same(['fs_read', 'file_read'], READS_BY_MODE),
  ...same(['read_multiple_files', 'readMultipleFiles', 'read_files'], READS_MANY),
  ...same(['codebase_search', 'semantic_search'], READS_FOUND),

  ...same(['Write', 'write', 'Create', 'write_to_file'], WRITES_WHOLE),
  str_replace_editor: only({ has: ['old_str', 'old_string'] }, WRITES_PART),
  multi_replace_string_in_file: [
    {
      access: 'write',
      extent: 'part',
      pathListKeys: ['replacements'],
      pathListItemKey: 'filePath',
    },
  ],
  ...same(['apply_patch', 'ApplyPatch'], PATCHES),
  ...same(['file_editor', 'memory'], EDITOR_TOOL),
  ...same(['text_editor', 'str-replace-editor', 'fs_write'], OTHER_EDITOR),

  find_symbol: LISTS_SYMBOLS,
  ...same(['lsp', 'LSP'], LISTS_PLACES_IF_TOLD),
  ...same(['lsp_goto_definition', 'lsp_find_references', 'lsp_references'], LISTS_PLACES),
  ...same(['lsp_document_symbols', 'lsp_workspace_symbols', 'lsp_symbols'], LISTS_PLACES),
  ...same(['lsp_hover', 'lsp_diagnostics', 'diagnostics', 'go_diagnostics'], LISTS_PLACES),
  go_symbol_references: LISTS_PLACES,
  getDiagnostics: searches(),

  monitor: RUNS_IF_TOLD,
  ...same(['find', 'list', 'List'], searches()),

  ...same(['Task', 'task', 'new_task'], REPORTS),
  ...same(['exit_plan_mode', 'AskQuestion'], ASKS),
  question: only({ has: ['question', 'questions'] }, ASKS),
  ...same(['skill', 'Skills', 'tool_search', 'tool_describe'], INSTRUCTS),
};

/**
 * Merges catalogs. The first use that fits a call wins, so more specific uses must come first. Tools share lists of uses to keep the
 * catalog small, because it is copied to a worker for each session.
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

/** Tool names that databases and other services use too, and the parameters by which such a call counts as a file search. */
const COMMON_NAMES: ReadonlySet<string> = new Set(['find', 'list', 'List']);
const SEARCH_KEYS = [...wordList('pattern glob name dir directory dirpath'), ...PATH_KEYS];

/** Restricts a use to calls that have one of its parameters, and extends it to tools prefixed by the name of an MCP server. */
function fitting(use: ToolUse, isCommon: boolean): readonly ToolUse[] {
  if (use.has !== undefined) return [{ ...use, anyServer: true }];
  if (isFileUse(use)) return [{ ...use, has: fileKeysOf(use), anyServer: true }];
  // A call without a command may show more output of the last command.
  if (use.access === 'run') return [{ ...use, has: use.commandKeys, anyServer: true }, use];
  return [isCommon ? { ...use, has: SEARCH_KEYS } : { ...use, anyServer: true }];
}

/** Restricts uses to calls that meet a condition. */
function only<Use extends ToolUse>(
  condition: Pick<ToolUse, 'has' | 'when' | 'words'>,
  uses: readonly Use[],
): readonly Use[] {
  return uses.map((use) => ({ ...use, ...condition }));
}

/** Restricts uses to tools with one of these words in their names. */
function named(words: readonly string[], uses: readonly ToolUse[]): readonly ToolUse[] {
  return only({ words }, uses);
}

function same(tools: readonly string[], uses: readonly ToolUse[]): ToolCatalog {
  return Object.fromEntries(tools.map((tool) => [tool, uses]));
}

/**
 * The tools of all known agents, matched by name and by the parameters of a call. A call that fits no use counts as a call of an
 * unknown tool: if it names a file, its result is kept as long as the result of a read.
 */
export const KNOWN_TOOL_CATALOG: ToolCatalog = merged([
  VARIANTS,
  ...Object.values(FORMATS).map(({ toolCatalog }) => toolCatalog),
  OTHERS,
  { [ANY_TOOL]: MATCHED_BY_WORDS },
]);
