// What is known about each agent's tools and inclusions, so that its transcripts can be pruned. Data
// only; keys were taken from recorded sessions.

import { SAFE_INCLUSION_SYNTAXES } from '../../shared/density.js';
import { kindOf } from '../../shared/misuse.js';
import type { InclusionSyntax } from '../../shared/density.js';
import { DEFAULT_WORKING_SET } from '../../shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../shared/density/rules/working-set-rules.js';
import {
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  readsFile,
  writesFile,
  searches,
  runsCommands,
  type FileUse,
  type ToolCatalog,
  type ToolUse,
} from '../../shared/tool-catalog.js';
import { TRANSCRIPT_FORMATS } from './transcript.js';
import type { TranscriptFormat } from './transcript.js';

/** How one agent's histories are pruned. */
export interface AgentPreset {
  readonly toolCatalog: ToolCatalog;
  readonly workingSet: WorkingSetRules;
  readonly inclusionSyntaxes: readonly InclusionSyntax[];
}

const CLAUDE_CODE: ToolCatalog = {
  Read: readsFile('whole', ['file_path'], { first: 'offset', count: 'limit' }),
  Write: writesFile('whole', ['file_path']),
  Edit: writesFile('part', ['file_path']),
  MultiEdit: writesFile('part', ['file_path']),
  NotebookRead: readsFile('whole', ['notebook_path']),
  NotebookEdit: writesFile('part', ['notebook_path']),
  Bash: runsCommands(),
  BashOutput: runsCommands(),
  TaskOutput: runsCommands(),
  Glob: searches(),
  Grep: searches(),
  LS: searches(),
  WebFetch: searches(),
  WebSearch: searches(),
};

const CODEX: ToolCatalog = {
  apply_patch: [{ access: 'write', extent: 'part', patchKeys: ['input', 'patch'] }],
  shell: runsCommands(),
  shell_command: runsCommands(),
  local_shell: runsCommands(),
  'container.exec': runsCommands(),
  exec_command: runsCommands(),
  write_stdin: runsCommands(['chars']),
  // Runs a script that calls the other tools.
  exec: runsCommands(['input']),
  web_search: searches(),
};

const GEMINI_CLI: ToolCatalog = {
  read_file: readsFile('whole', ['absolute_path', 'file_path', 'path'], {
    first: 'offset',
    count: 'limit',
  }),
  read_many_files: [{ access: 'read', extent: 'whole', pathListKeys: ['paths', 'include'] }],
  write_file: writesFile('whole', ['file_path', 'absolute_path', 'path']),
  replace: writesFile('part', ['file_path', 'absolute_path', 'path']),
  run_shell_command: runsCommands(),
  search_file_content: searches(),
  glob: searches(),
  list_directory: searches(),
  web_fetch: searches(),
  google_web_search: searches(),
};

/** One tool that views, creates and edits, told apart by `command`. */
const EDITOR_TOOL: readonly ToolUse[] = [
  { ...editorUse('read', 'part', ['view']), lineKeys: { range: 'view_range' } },
  editorUse('write', 'whole', ['create']),
  editorUse('write', 'part', ['str_replace', 'insert', 'undo_edit']),
];

const OPENAI_CHAT: ToolCatalog = extendToolCatalog(DEFAULT_TOOL_CATALOG, {
  str_replace_editor: EDITOR_TOOL,
  str_replace_based_edit_tool: EDITOR_TOOL,
  bash: runsCommands(),
  execute_bash: runsCommands(),
});

const SWE_AGENT: ToolCatalog = {
  open: readsFile('part', ['path']),
  create: writesFile('whole', ['path', 'filename']),
  edit: writesFile('part', ['path']),
  insert: writesFile('part', ['path']),
  append: writesFile('part', ['path']),
  str_replace_editor: EDITOR_TOOL,
  bash: runsCommands(),
  search_dir: searches(),
  search_file: searches(),
  find_file: searches(),
};

const CLINE: ToolCatalog = {
  read_file: readsFile('whole', ['path']),
  read_files: [
    { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
  ],
  write_to_file: writesFile('whole', ['path']),
  replace_in_file: writesFile('part', ['path']),
  editor: writesFile('part', ['path']),
  execute_command: runsCommands(),
  run_commands: runsCommands(['commands', 'command']),
  search_files: searches(),
  list_files: searches(),
  list_code_definition_names: searches(),
};

const CATALOGS: Readonly<Record<TranscriptFormat, ToolCatalog>> = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  'gemini-cli': GEMINI_CLI,
  'openai-chat': OPENAI_CHAT,
  'swe-agent': SWE_AGENT,
  // Its only tool is the shell.
  'mini-swe-agent': { bash: runsCommands() },
  cline: CLINE,
};

/** The catalogs of all agents. */
export const TOOLS_OF_AGENTS: readonly ToolCatalog[] = Object.values(CATALOGS);

/** Returns the preset of the agent whose sessions have this format. @throws RangeError for an unknown format. */
export function agentPreset(format: TranscriptFormat): AgentPreset {
  if (!TRANSCRIPT_FORMATS.includes(format)) {
    throw new RangeError(
      `Expected one of ${TRANSCRIPT_FORMATS.join(', ')}, got ${kindOf(format)}.`,
    );
  }
  return {
    toolCatalog: CATALOGS[format],
    workingSet: DEFAULT_WORKING_SET,
    inclusionSyntaxes: SAFE_INCLUSION_SYNTAXES,
  };
}

function editorUse(
  access: FileUse['access'],
  extent: FileUse['extent'],
  commands: readonly string[],
): FileUse {
  return { access, extent, pathKeys: ['path'], when: { key: 'command', values: commands } };
}
