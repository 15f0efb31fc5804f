// Catalog entry of the editor tool that several agents share.

import type { FileUse, ToolUse } from '../../shared/tool-use.js';

/** Views, creates or edits files, depending on `command`. */
export const EDITOR_TOOL: readonly ToolUse[] = [
  { ...editorUse('read', 'part', ['view']), lineKeys: { range: 'view_range' } },
  editorUse('write', 'whole', ['create']),
  editorUse('write', 'part', ['str_replace', 'insert', 'undo_edit']),
];

/** Returns the editor's use of a file for some of its commands. */
export function editorUse(
  access: FileUse['access'],
  extent: FileUse['extent'],
  commands: readonly string[],
): FileUse {
  return { access, extent, pathKeys: ['path'], when: { key: 'command', values: commands } };
}
