// The tool of several agents that views, creates and edits files. Data only.

import type { FileUse, ToolUse } from '../../shared/tool-catalog.js';

/** One tool that views, creates and edits, told apart by `command`. */
export const EDITOR_TOOL: readonly ToolUse[] = [
  { ...editorUse('read', 'part', ['view']), lineKeys: { range: 'view_range' } },
  editorUse('write', 'whole', ['create']),
  editorUse('write', 'part', ['str_replace', 'insert', 'undo_edit']),
];

function editorUse(
  access: FileUse['access'],
  extent: FileUse['extent'],
  commands: readonly string[],
): FileUse {
  return { access, extent, pathKeys: ['path'], when: { key: 'command', values: commands } };
}
