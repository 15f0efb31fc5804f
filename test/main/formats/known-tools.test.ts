// The use that calls of agents without a preset are assumed to have, by the tool's name and the call's parameters.

import { expect, it } from 'vitest';
import { KNOWN_TOOL_CATALOG } from '../../../src/main/formats/known-tools.js';
import { callUse } from '../../../src/shared/density/index/call-use.js';
import { CALL_ACCESS, CALL_KIND } from '../../../src/shared/density/index/history-columns.js';
import { DEFAULT_TOOL_CATALOG, usesOf } from '../../../src/shared/tool-catalog.js';
import type { ToolUse } from '../../../src/shared/tool-use.js';

const { read, write, search, command, ask, instruct, unknown } = CALL_KIND;
const lines = (first: number, last: number): object => ({ lines: { first, last } });
const paths = ['a.ts'];
const whole = { kind: write, access: CALL_ACCESS.writeWhole, paths };
const part = { kind: write, access: CALL_ACCESS.writePart, paths };
const reads = { kind: read, access: CALL_ACCESS.read, paths };
const both = ['a.ts', 'b.ts'];
const partOfBoth = { ...part, paths: both };
const runs = { kind: command, command: 'npm test' };

it.each<[agent: string, tool: string, parameters: object, expected: object]>([
  ['Cursor', 'read_file', { target_file: 'a.ts', should_read_entire_file: true }, reads],
  ['Cursor', 'codebase_search', { query: 'where?', target_directories: [] }, { kind: read }],
  ['Cursor', 'search_replace', { file_path: 'a.ts', old_string: 'a', new_string: 'b' }, part],
  ['Copilot', 'read_file', { filePath: 'a.ts', startLine: 1, endLine: 9 }, reads],
  ['Copilot', 'multi_replace_string_in_file', { replacements: [{ filePath: 'a.ts' }] }, part],
  ['Copilot', 'run_in_terminal', { command: 'npm test', isBackground: false }, runs],
  ['Windsurf', 'write_to_file', { TargetFile: 'a.ts', CodeContent: 'x' }, whole],
  ['Windsurf', 'replace_file_content', { TargetFile: 'a.ts', ReplacementChunks: [] }, part],
  ['Windsurf', 'find_by_name', { Pattern: '*.ts', SearchDirectory: '/w' }, { kind: search }],
  ['Roo', 'read_file', { files: [{ path: 'a.ts', line_ranges: ['1-9'] }] }, reads],
  ['Roo', 'read_file', { args: { file: [{ path: 'a.ts' }] } }, { ...reads, ...lines(1, 2_000) }],
  ['Warp', 'read_files', { files: [{ path: 'a.ts', line_ranges: ['1-9'] }] }, reads],
  [
    'Warp',
    'read_files',
    { files: [{ path: 'a.ts' }, { path: 'b.ts' }] },
    { ...reads, paths: both },
  ],
  ['Warp', 'edit_files', { file_edits: [{ file_path: 'a.ts', search: 'a', replace: '' }] }, part],
  [
    'nobody yet',
    'edit',
    { files: [{ path: 'a.ts' }, { path: 'b.ts' }, { path: 'a.ts' }] },
    partOfBoth,
  ],
  ['nobody yet', 'create_files', { todo: [{ path: 'a.ts', content: 'x' }] }, whole],
  [
    'nobody yet',
    'save',
    { a: [{ file: 'a.ts', new_text: 'x' }], b: [] },
    { kind: read, paths: [] },
  ],
  [
    'nobody yet',
    'edit_files',
    { edits: [{ path: 'a.ts' }, { text: 'x' }] },
    { kind: read, paths: [] },
  ],
  ['nobody yet', 'edit_files', { edits: [{ path: 'a.ts' }, 'b.ts'] }, { kind: read, paths: [] }],
  [
    'nobody yet',
    'write_files',
    {
      files: [
        { path: 'a.ts', text: 'x' },
        { path: 'b.ts', replace: 'x' },
      ],
    },
    partOfBoth,
  ],
  ['a tracker', 'tag', { items: [{ path: 'a.ts' }] }, { kind: read, paths: [] }],
  ['Cline', 'write_to_file', { path: 'a.ts', content: 'x' }, whole],
  ['Continue', 'read_file_range', { filepath: 'a.ts', startLine: 2, endLine: 3 }, reads],
  ['Continue', 'create_new_file', { filepath: 'a.ts', contents: 'x' }, whole],
  ['OpenClaw', 'exec', { command: 'npm test', yieldMs: 1 }, runs],
  ['OpenClaw', 'tool_describe', { id: 'x' }, { kind: instruct }],
  ['Gemini CLI', 'invoke_agent', { agent_name: 'x', prompt: 'look' }, { kind: read }],
  ['Gemini CLI', 'read_background_output', { pid: 1 }, { kind: command }],
  ['Continue', 'Read', { filepath: 'a.ts' }, reads],
  ['Continue', 'Write', { filepath: 'a.ts', content: 'x' }, whole],
  ['Continue', 'MultiEdit', { filepath: 'a.ts', edits: [] }, part],
  ['Continue', 'List', { dirpath: 'src' }, { kind: search }],
  ['a mailbox', 'List', { label: 'inbox' }, { kind: unknown }],
  ['Continue', 'AskQuestion', { question: 'Which?', options: [] }, { kind: ask }],
  ['Continue', 'Skills', { skill_name: 'x' }, { kind: instruct }],
  ['Cline', 'ask_question', { question: 'Which?', options: [] }, { kind: ask }],
  ['Cline', 'search_codebase', { queries: ['x'] }, { kind: search }],
  ['Cline', 'spawn_agent', { systemPrompt: 'x', task: 'look' }, { kind: read }],
  ['Qwen Code', 'agent', { description: 'x', prompt: 'look' }, { kind: read }],
  ['Qwen Code', 'tool_search', { query: 'x' }, { kind: instruct }],
  ['Nanocoder', 'string_replace', { path: 'a.ts', old_str: 'a', new_str: 'b' }, part],
  ['Nanocoder', 'execute_bash', { command: 'npm test' }, runs],
  ['Nanocoder', 'search_file_contents', { query: 'x', path: 'src' }, { kind: search }],
  ['Nanocoder', 'find_files', { pattern: '*.ts' }, { kind: search }],
  ['Nanocoder', 'ask_user', { question: 'Which?', options: [] }, { kind: ask }],
  ['nobody yet', 'patchFile', { file: 'a.ts', patches: [] }, part],
  ['nobody yet', 'overwriteTextFile', { path: 'a.ts' }, { kind: read, paths: [] }],
  ['nobody yet', 'workspace.create_files', { path: 'a.ts', content: 'x' }, whole],
  ['nobody yet', 'dev.StrReplaceEditor', { command: 'view', path: 'a.ts' }, reads],
  ['nobody yet', 'edit_document', { action: 'read', path: 'a.ts' }, reads],
  ['nobody yet', 'edit_document', { action: 'change', path: 'a.ts' }, part],
  ['nobody yet', 'RunShellCommand', { command: 'cat a.ts' }, { kind: read, paths }],
  ['nobody yet', 'sandbox__list-directories', { path: 'src' }, { kind: search }],
  ['nobody yet', 'delegate_to_agent', { task: 'look' }, { kind: read }],
  ['nobody yet', 'change', { file: 'a.ts', search: 'a', replace: 'b' }, part],
  ['nobody yet', 'change', { file: 'a.ts', search: 'a' }, { kind: read }],
  ['Strands', 'file_read', { path: 'a.ts', mode: 'view' }, { ...reads, ...lines(1, 2_000) }],
  ['Strands', 'file_read', { path: 'a.ts', mode: 'preview' }, { ...reads, lines: undefined }],
  ['Strands', 'file_read', { path: 'a.ts', mode: 'search', search_pattern: 'x' }, { kind: search }],
  ['Serena', 'search_for_pattern', { substring_pattern: 'x' }, { kind: search }],
  ['Serena', 'get_symbols_overview', { relative_path: 'a.ts' }, { kind: search }],
  ['Serena', 'find_referencing_symbols', { relative_path: 'a.ts' }, { kind: search }],
  ['Serena', 'find_symbol', { name_path: 'f', relative_path: 'a.ts' }, { kind: search }],
  ['Serena', 'find_symbol', { name_path: 'f', include_body: true }, { kind: read }],
  ['Serena', 'rename_symbol', { name_path: 'f', relative_path: 'a.ts' }, { kind: read }],
  ['cclsp', 'mcp__cclsp__get_diagnostics', { file_path: 'a.ts' }, { kind: search }],
  ['cclsp', 'mcp__cclsp__find_workspace_symbols', { query: 'f' }, { kind: search }],
  ['cclsp', 'mcp__cclsp__prepare_call_hierarchy', { file_path: 'a.ts' }, { kind: search }],
  ['mcp-language-server', 'mcp__ls__diagnostics', { filePath: 'a.ts' }, { kind: search }],
  ['gopls', 'go_symbol_references', { file: 'a.go', symbol: 'f' }, { kind: search }],
  ['JetBrains', 'get_file_problems', { filePath: 'a.ts' }, { kind: search }],
  ['OpenCode', 'lsp_document_symbols', { filePath: 'a.ts' }, { kind: search }],
  ['OpenCode', 'lsp', { operation: 'findReferences', filePath: 'a.ts' }, { kind: search }],
  ['OpenCode', 'lsp', { operation: 'rename', filePath: 'a.ts', newName: 'g' }, { kind: read }],
  ['Claude Code', 'mcp__ide__getDiagnostics', { uri: 'file:///a.ts' }, { kind: search }],
  ['Claude Code', 'LSP', { operation: 'hover', filePath: 'a.ts', line: 3 }, { kind: search }],
  ['a market', 'find_symbol', { market: 'x' }, { kind: unknown }],
  ['a market', 'list_symbols', { exchange: 'x' }, { kind: unknown }],
  ['a library', 'find_references', { doi: '10.1' }, { kind: unknown }],
  ['a clinic', 'get_diagnostic_report', { patient_id: 7 }, { kind: unknown }],
  ['Copilot', 'get_terminal_output', { id: '1' }, { kind: command }],
  ['Crush', 'job_output', { shell_id: '1' }, { kind: command }],
  ['a shop', 'search_orders', { query: 'late' }, { kind: unknown }],
  ['a shop', 'update_order', { id: 7, text: 'x' }, { kind: unknown }],
  ['a tracker', 'create_issue', { title: 'x', body: 'y' }, { kind: unknown }],
  ['a bank', 'run_report', { month: 7 }, { kind: unknown }],
  ['Zed', 'edit_file', { display_description: 'x', path: 'a.ts', mode: 'edit' }, part],
  ['Zed', 'terminal', { command: 'npm test', cd: 'web' }, { kind: command }],
  ['Kiro', 'fsWrite', { path: 'a.ts', text: 'x' }, whole],
  ['Kiro', 'strReplace', { path: 'a.ts', oldStr: 'a', newStr: 'b' }, part],
  ['Amazon Q', 'fs_write', { command: 'create', path: 'a.ts', file_text: 'x' }, whole],
  ['Amazon Q', 'fs_write', { command: 'append', path: 'a.ts', new_str: 'x' }, part],
  ['Amazon Q', 'fs_read', { mode: 'Directory', path: 'src' }, { kind: search }],
  ['Amazon Q', 'fs_read', { mode: 'Line', path: 'a.ts', start_line: 1, end_line: 9 }, reads],
  ['goose', 'developer__text_editor', { command: 'write', path: 'a.ts', file_text: 'x' }, whole],
  ['Augment', 'str-replace-editor', { command: 'str_replace', path: 'a.ts' }, part],
  ['Augment', 'save-file', { path: 'a.ts', file_content: 'x' }, whole],
  ['Augment', 'launch-process', { command: 'npm test', wait: true }, runs],
  ['OpenHands', 'file_editor', { command: 'view', path: 'a.ts', view_range: [1, 9] }, reads],
  ['Grok', 'str_replace_editor', { path: 'a.ts', old_str: 'a', new_str: 'b' }, part],
  ['Droid', 'ApplyPatch', { input: '*** Begin Patch\n*** Update File: a.ts\n' }, part],
  ['Droid', 'Execute', { command: 'npm test', timeout: 60 }, runs],
  ['OpenCode', 'read', { filePath: 'a.ts', offset: 4, limit: 2 }, { ...reads, ...lines(4, 5) }],
  ['OpenCode', 'write', { filePath: 'a.ts', content: 'x' }, whole],
  ['OpenCode', 'edit', { filePath: 'a.ts', oldString: 'a', newString: 'b' }, part],
  ['OpenCode', 'apply_patch', { patchText: '*** Begin Patch\n*** Add File: a.ts\n' }, part],
  ['Amp', 'Read', { path: 'a.ts', read_range: [5, 9] }, { ...reads, ...lines(5, 9) }],
  ['Kimi', 'ReadFile', { path: 'a.ts', line_offset: 5, n_lines: 5 }, { ...reads, ...lines(5, 9) }],
  ['Kimi', 'WriteFile', { path: 'a.ts', content: 'x', mode: 'append' }, part],
  ['LangChain', 'write_file', { file_path: 'a.ts', text: 'x', append: true }, part],
  ['LangChain', 'write_file', { file_path: 'a.ts', text: 'x', append: false }, whole],
  ['LangChain', 'terminal', { commands: ['npm test'] }, runs],
  ['Desktop Commander', 'edit_block', { file_path: 'a.ts', old_string: 'a' }, part],
  ['Serena', 'mcp__serena__read_file', { relative_path: 'a.ts' }, reads],
  ['Serena', 'replace_symbol_body', { name_path: 'f', relative_path: 'a.ts' }, part],
  ['JetBrains', 'get_file_text_by_path', { pathInProject: 'a.ts' }, reads],
  ['Claude Code', 'mcp__files__read_text_file', { path: 'a.ts' }, reads],
  ['Claude Code', 'mcp__files__write_file', { path: 'a.ts', content: 'x' }, whole],
  ['Claude Code', 'mcp__files__edit', { path: 'a.ts', edits: [] }, part],
  ['Codex', 'files.read_multiple_files', { paths: ['a.ts'] }, reads],
  ['OpenCode', 'my-files_read_text_file', { path: 'a.ts' }, reads],
  ['VS Code', 'mcp_box_exec_command', { cmd: 'npm test' }, runs],
  ['Claude Code', 'AskUserQuestion', { questions: [] }, { kind: ask }],
  ['Claude Code', 'ExitPlanMode', { plan: 'x' }, { kind: ask }],
  ['Claude Code', 'Skill', { skill: 'pdf' }, { kind: instruct }],
  ['Claude Code', 'Task', { description: 'x', prompt: 'y' }, { kind: read, paths: [] }],
  ['Cline', 'ask_followup_question', { question: 'x' }, { kind: ask }],
  ['Codex', 'request_user_input', { questions: [] }, { kind: ask }],
  ['OpenCode', 'question', { questions: [] }, { kind: ask }],
  ['OpenCode', 'skill', { name: 'pdf' }, { kind: instruct }],
  ['a quiz', 'question', { number: 7 }, { kind: unknown }],
  ['a mailbox', 'mail_read', { path: 'inbox/1' }, { kind: read, access: CALL_ACCESS.none }],
  ['a planner', 'mcp__plan__edit', { id: 7, text: 'x' }, { kind: unknown }],
  ['a database', 'mcp__db__execute', { sql: 'select 1' }, { kind: unknown }],
  ['a database', 'mcp__db__list', { table: 'users' }, { kind: unknown }],
  ['a database', 'db.exec', { sql: 'select 1' }, { kind: unknown }],
  ['an address book', 'contacts__find', { name: 'Ada' }, { kind: unknown }],
  ['a shell', 'bash', { restart: true }, { kind: command }],
  [
    'Cursor',
    'read_file',
    { target_file: 'a.ts', start_line_one_indexed: 1, end_line_one_indexed_inclusive: 200 },
    { kind: read, paths: ['a.ts'], ...lines(1, 200) },
  ],
  [
    'Windsurf',
    'view_file',
    { AbsolutePath: '/w/a.ts', StartLine: 5, EndLine: 9 },
    { kind: read, paths: ['/w/a.ts'], ...lines(5, 9) },
  ],
  ['Windsurf', 'run_command', { CommandLine: 'npm test', Cwd: '/w' }, { kind: command }],
  ['Roo', 'apply_diff', { path: 'a.ts', diff: 'x' }, { kind: write, paths: ['a.ts'] }],
  [
    'the file server',
    'read_text_file',
    { path: 'a.ts', head: 20 },
    { kind: read, paths: ['a.ts'], lines: undefined },
  ],
  ['Kiro', 'fs_read', { operations: [{ mode: 'Line', path: 'a.ts' }] }, reads],
  ['goose', 'developer__shell', { command: 'npm test' }, { kind: command }],
  ['pi', 'find', { pattern: '*.ts' }, { kind: search }],
  ['a database', 'find', { collection: 'users', filter: {} }, { kind: unknown }],
  ['a web page', 'webfetch', { url: 'https://example.com' }, { kind: unknown }],
])('knows of %s what %s does', (_, tool, parameters, expected) => {
  const uses = (name: string): readonly ToolUse[] => usesOf(KNOWN_TOOL_CATALOG, name);
  expect(callUse(uses, { name: tool, parameters }, true)).toMatchObject(expected);
});

it.each([
  ...['lsp_rename', 'lsp_rename_symbol', 'lsp_apply_code_action', 'lsp_code_action_resolve'],
  ...['lsp_format_document', 'lsp_fix_diagnostics', 'mcp__lsp__rename_workspace_symbol'],
  ...['fix_diagnostics', 'apply_diagnostic_fix', 'fix_file_problem', 'delete_document_symbol'],
  ...['run_diagnostics', 'clear_diagnostics', 'create_diagnostic_report', 'order_diagnostic_test'],
])('takes %s for no search: it acts, and what it has done is to be recorded', (name) => {
  const uses = (tool: string): readonly ToolUse[] => usesOf(KNOWN_TOOL_CATALOG, tool);
  for (const parameters of [{ path: 'a.ts' }, { filePath: 'a.ts', newName: 'g' }, { id: 7 }])
    expect(callUse(uses, { name, parameters }, true).kind).not.toBe(search);
});

it.each(['constructor', '__proto__', 'mcp__constructor', '_'.repeat(100_000)])(
  'finds no known tool for the name %.20s',
  (tool) => {
    const ofAny = tool.length > 200 ? [] : usesOf(KNOWN_TOOL_CATALOG, 'nobody yet');
    expect(usesOf(KNOWN_TOOL_CATALOG, tool)).toEqual(ofAny);
  },
);

it('knows tools of servers only from catalogs that name them', () => {
  expect(usesOf(DEFAULT_TOOL_CATALOG, 'mcp__files__read_file')).toEqual([]);
  expect(usesOf(undefined, 'read_file')).toBe(DEFAULT_TOOL_CATALOG['read_file']);
});
