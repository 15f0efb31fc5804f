// What is known about each agent's tools and inclusions, so that its transcripts can be pruned. Data
// only; keys were taken from recorded sessions.

import type { InclusionSyntax } from '../../shared/density.js';
import {
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  readsFile,
  writesFile,
  type ToolCatalog,
  type ToolUse,
} from '../../shared/tool-catalog.js';
import type { TranscriptFormat } from './transcript.js';

/** How one agent's histories are pruned. */
export interface AgentPreset {
  readonly toolCatalog: ToolCatalog;
  /** Absent where the default of `DensityConfig` fits. */
  readonly inclusionSyntaxes?: readonly InclusionSyntax[];
}

const CLAUDE_CODE: ToolCatalog = {
  Read: readsFile('whole', ['file_path']),
  Write: writesFile('whole', ['file_path']),
  Edit: writesFile('part', ['file_path']),
  MultiEdit: writesFile('part', ['file_path']),
  NotebookRead: readsFile('whole', ['notebook_path']),
  NotebookEdit: writesFile('part', ['notebook_path']),
};

const CODEX: ToolCatalog = {
  apply_patch: [{ access: 'write', extent: 'part', patchKeys: ['input', 'patch'] }],
};

const GEMINI_CLI: ToolCatalog = {
  read_file: readsFile('whole', ['absolute_path', 'file_path', 'path']),
  read_many_files: [{ access: 'read', extent: 'whole', pathListKeys: ['paths', 'include'] }],
  write_file: writesFile('whole', ['file_path', 'absolute_path', 'path']),
  replace: writesFile('part', ['file_path', 'absolute_path', 'path']),
};

/** One tool that views, creates and edits, told apart by `command`. */
const EDITOR_TOOL: readonly ToolUse[] = [
  editorUse('read', 'part', ['view']),
  editorUse('write', 'whole', ['create']),
  editorUse('write', 'part', ['str_replace', 'insert', 'undo_edit']),
];

const OPENAI_CHAT: ToolCatalog = extendToolCatalog(DEFAULT_TOOL_CATALOG, {
  str_replace_editor: EDITOR_TOOL,
  str_replace_based_edit_tool: EDITOR_TOOL,
});

const SWE_AGENT: ToolCatalog = {
  open: readsFile('part', ['path']),
  create: writesFile('whole', ['path', 'filename']),
  edit: writesFile('part', ['path']),
  insert: writesFile('part', ['path']),
  append: writesFile('part', ['path']),
  str_replace_editor: EDITOR_TOOL,
};

const CLINE: ToolCatalog = {
  read_file: readsFile('whole', ['path']),
  read_files: [
    { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
  ],
  write_to_file: writesFile('whole', ['path']),
  replace_in_file: writesFile('part', ['path']),
  editor: writesFile('part', ['path']),
};

const PRESETS: Readonly<Record<TranscriptFormat, AgentPreset>> = {
  'claude-code': { toolCatalog: CLAUDE_CODE },
  codex: { toolCatalog: CODEX },
  'gemini-cli': {
    toolCatalog: GEMINI_CLI,
    inclusionSyntaxes: ['delimited', 'referenced-files'],
  },
  'openai-chat': { toolCatalog: OPENAI_CHAT },
  'swe-agent': { toolCatalog: SWE_AGENT },
  // Its only tool is the shell.
  'mini-swe-agent': { toolCatalog: {} },
  cline: { toolCatalog: CLINE, inclusionSyntaxes: ['delimited'] },
};

/** Returns the preset of the agent whose sessions have this format. */
export function agentPreset(format: TranscriptFormat): AgentPreset {
  return PRESETS[format];
}

function editorUse(
  access: ToolUse['access'],
  extent: ToolUse['extent'],
  commands: readonly string[],
): ToolUse {
  return { access, extent, pathKeys: ['path'], when: { key: 'command', values: commands } };
}
