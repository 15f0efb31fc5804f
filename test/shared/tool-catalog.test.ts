// The tools known without configuration: which read, which write, and which parameter names their file.

import { describe, expect, it } from 'vitest';

import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import { DEFAULT_TOOL_CATALOG, extendToolCatalog, usesOf } from '../../src/shared/tool-catalog.js';
import type { ToolCatalog, ToolUse } from '../../src/shared/tool-use.js';
import { describeResult } from '../support/notation.js';

const READ_TOOLS = ['read_file', 'read_line_range', 'read_many_files', 'ast_read_file'];
const WRITE_TOOLS = ['write_file', 'ast_edit', 'replace', 'insert_at_line', 'delete_line_range'];

function use(id: string, tool: string, parameters: unknown): IContent[] {
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, 'done')]),
  ];
}

function read(tool: string): IContent[] {
  return use('1', tool, tool === 'read_many_files' ? { paths: ['a.ts'] } : { file_path: 'a.ts' });
}

function edits(history: readonly IContent[]): string {
  return describeResult(optimize(history, { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/work' }));
}

describe('DEFAULT_TOOL_CATALOG', () => {
  it('knows the documented tools and no others', () => {
    expect(Object.keys(DEFAULT_TOOL_CATALOG).sort()).toEqual(
      [...READ_TOOLS, ...WRITE_TOOLS].sort(),
    );
  });

  it.each(READ_TOOLS.flatMap((reader) => WRITE_TOOLS.map((writer) => [reader, writer] as const)))(
    'has a read by %s superseded by %s',
    (reader, writer) => {
      const history = [...read(reader), ...use('2', writer, { file_path: '/work/a.ts' })];
      expect(edits(history)).toBe('-0 -1');
    },
  );

  it.each([
    [{ file_path: 'a.ts', absolute_path: '/b.ts', path: 'b.ts' }],
    [{ absolute_path: '/work/a.ts', path: 'b.ts' }],
    [{ path: 'a.ts' }],
    [{ file_path: null, path: 'a.ts' }],
  ])('uses the first of file_path, absolute_path and path in %j', (parameters) => {
    const written = use('2', 'write_file', { file_path: 'a.ts' });
    expect(edits([...use('1', 'read_file', parameters), ...written])).toBe('-0 -1');
    const elsewhere = use('2', 'write_file', { file_path: 'b.ts' });
    expect(edits([...use('1', 'read_file', parameters), ...elsewhere])).toBe('');
  });
});

describe('extendToolCatalog', () => {
  it('adds tools, and replaces those in both', () => {
    const additions = { Read: DEFAULT_TOOL_CATALOG['read_file'] ?? [], replace: [] };
    const extended = extendToolCatalog(DEFAULT_TOOL_CATALOG, additions);
    expect(extended).toEqual({ ...DEFAULT_TOOL_CATALOG, ...additions });
    expect(DEFAULT_TOOL_CATALOG['replace']).not.toEqual([]);
  });
});

describe('uses of any tool', () => {
  const [runs, shows, asks] = [
    { access: 'run', commandKeys: ['c'] },
    { access: 'search' },
    { access: 'ask' },
  ] as const;
  const catalog: ToolCatalog = {
    look: [asks],
    '*': [
      { ...runs, words: ['exec', 'run it'] },
      { ...shows, words: ['file'] },
    ],
  };

  it.each([
    ['exec', ['run']],
    ['myExec', ['run']],
    ['box__exec-file', ['run', 'search']],
    ['exec.look_up', []],
    ['executive', []],
    ['run', []],
    ['it_may_run', ['run']],
    ['ListFiles', ['search']],
    ['look', ['ask']],
    ['file_look', ['search']],
  ])('belong to %s by its words', (tool, expected) => {
    expect(usesOf(catalog, tool).map(({ access }) => access)).toEqual(expected);
  });

  it('come behind those of the name, and apply to every tool without words', () => {
    const any = { ...catalog, '*': [runs] };
    expect(usesOf(any, 'look')).toEqual([asks, runs]);
    expect(usesOf(any, 'x')).toEqual([runs]);
  });

  it('are those of the current catalog', () => {
    const changing = { '*': [runs] as readonly ToolUse[] };
    expect(usesOf(changing, 'x')).toEqual([runs]);
    changing['*'] = [shows];
    expect(usesOf(changing, 'x')).toEqual([shows]);
  });
});
