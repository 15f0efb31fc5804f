// What calls of agents without a preset are taken for, by the tool's name and the call's parameters.

import { expect, it } from 'vitest';
import { KNOWN_TOOL_CATALOG } from '../../../src/main/formats/known-tools.js';
import { callUse } from '../../../src/shared/density/index/call-use.js';
import { CALL_KIND } from '../../../src/shared/density/index/history-columns.js';

const { read, write, search, command, unknown } = CALL_KIND;
const lines = (first: number, last: number): object => ({ lines: { first, last } });

it.each<[agent: string, tool: string, parameters: object, expected: object]>([
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
  ['Kiro', 'fs_read', { operations: [{ mode: 'Line', path: 'a.ts' }] }, { kind: read, paths: [] }],
  ['goose', 'developer__shell', { command: 'npm test' }, { kind: command }],
  ['pi', 'find', { pattern: '*.ts' }, { kind: search }],
  ['a database', 'find', { collection: 'users', filter: {} }, { kind: unknown }],
  ['a web page', 'webfetch', { url: 'https://example.com' }, { kind: unknown }],
])('knows of %s what %s does', (_, tool, parameters, expected) => {
  expect(callUse(KNOWN_TOOL_CATALOG[tool], parameters, true)).toMatchObject(expected);
});
