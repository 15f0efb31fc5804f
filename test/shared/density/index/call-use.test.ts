// What an index notes about a call, by each kind of tool in a catalog.

import { describe, expect, it } from 'vitest';
import { callUse } from '../../../../src/shared/density/index/call-use.js';
import { CALL_ACCESS, CALL_KIND } from '../../../../src/shared/density/index/history-columns.js';
import { WHOLE_FILE } from '../../../../src/shared/density/index/command-reading.js';
import {
  readsFile,
  runsCommands,
  searches,
  writesFile,
} from '../../../../src/shared/tool-catalog.js';
import type { ToolUse } from '../../../../src/shared/tool-use.js';
import type { CallUse } from '../../../../src/shared/density/index/call-use.js';

const { none, read, writeWhole, writePart } = CALL_ACCESS;
const UNKNOWN = { access: none, kind: CALL_KIND.unknown, paths: [] };
const VIEWS = readsFile('part', ['path'], { first: 'offset', count: 'limit' });

/** What a call of a tool with these uses does. */
function useBy(uses: readonly ToolUse[], parameters: unknown, readsCommands: boolean): CallUse {
  return callUse(() => uses, { name: 'tool', parameters }, readsCommands);
}

describe('callUse', () => {
  it.each<[string, readonly ToolUse[], unknown, object]>([
    [
      'a read of a file',
      readsFile('whole'),
      { path: 'a.ts' },
      { access: read, kind: CALL_KIND.read, paths: ['a.ts'], lines: WHOLE_FILE },
    ],
    [
      'a read of lines',
      VIEWS,
      { path: 'a.ts', offset: 5, limit: 2 },
      { access: read, kind: CALL_KIND.read, paths: ['a.ts'], lines: { first: 5, last: 6 } },
    ],
    [
      'a read of an unknown part',
      readsFile('part'),
      { path: 'a.ts' },
      { access: read, kind: CALL_KIND.read, paths: ['a.ts'], lines: undefined },
    ],
    [
      'a read of invalid lines',
      VIEWS,
      { path: 'a.ts', offset: 'x' },
      { access: read, kind: CALL_KIND.read, paths: ['a.ts'], lines: undefined },
    ],
    [
      'a read of two files, which have no range in common',
      [{ access: 'read', extent: 'whole', pathListKeys: ['paths'] }],
      { paths: ['a.ts', 'b.ts'] },
      { access: read, kind: CALL_KIND.read, paths: ['a.ts', 'b.ts'], lines: undefined },
    ],
    [
      'a read of unknown files',
      readsFile('whole'),
      { path: 7 },
      { access: none, kind: CALL_KIND.read, paths: [] },
    ],
    [
      'a write of a file',
      writesFile('whole'),
      { path: 'a.ts' },
      { access: writeWhole, kind: CALL_KIND.write, paths: ['a.ts'] },
    ],
    [
      'an edit',
      writesFile('part'),
      { path: 'a.ts' },
      { access: writePart, kind: CALL_KIND.write, paths: ['a.ts'] },
    ],
    [
      'a write of unknown files',
      writesFile('whole'),
      null,
      { access: none, kind: CALL_KIND.write, paths: [] },
    ],
    ['a search', searches(), { path: 'a.ts' }, { access: none, kind: CALL_KIND.search, paths: [] }],
  ])('describes %s', (_, uses, parameters, expected) => {
    expect(useBy(uses, parameters, true)).toEqual(expected);
    expect(useBy(uses, parameters, false)).toEqual(expected);
  });

  it.each<[string, unknown, object]>([
    [
      'a command that shows a file',
      { command: 'cat a.ts' },
      { kind: CALL_KIND.read, paths: ['a.ts'] },
    ],
    [
      'one that writes, which is no certain write',
      { cmd: 'sed -i s,x,y, a.ts' },
      { kind: CALL_KIND.write, paths: ['a.ts'] },
    ],
    ['one that searches', { command: 'rg x a.ts' }, { kind: CALL_KIND.search, paths: ['a.ts'] }],
    [
      'one that does something else',
      { command: 'npm test' },
      { kind: CALL_KIND.command, paths: [] },
    ],
    [
      'one that is a list of words',
      { command: ['cat', 'a.ts', 7, null] },
      { kind: CALL_KIND.read, paths: ['a.ts'] },
    ],
    [
      'a script that a list of words passes to a shell',
      { command: ['bash', '-lc', "sed -n '1,9p' a.ts"] },
      { kind: CALL_KIND.read, paths: ['a.ts'], lines: { first: 1, last: 9 } },
    ],
    [
      'another one',
      { command: ['C:\\Windows\\powershell.exe', '-NoProfile', '-Command', 'gc', 'a.ts'] },
      { kind: CALL_KIND.read, paths: ['a.ts'] },
    ],
    [
      'a list of commands',
      { commands: ['npm test', 'cat a.ts'] },
      { kind: CALL_KIND.read, paths: ['a.ts'] },
    ],
    ['one that is the only parameter', 'cat a.ts', { kind: CALL_KIND.read, paths: ['a.ts'] }],
    [
      'one with a directory',
      { command: 'cat a.ts', workdir: '/there' },
      { kind: CALL_KIND.read, paths: ['/there/a.ts'] },
    ],
    [
      'one with an empty directory',
      { command: 'cat a.ts', workdir: '', cwd: '/here' },
      { kind: CALL_KIND.read, paths: ['/here/a.ts'] },
    ],
    ['none', { other: 'cat a.ts' }, { kind: CALL_KIND.command, paths: [] }],
    ['one that is not a command', { command: 7 }, { kind: CALL_KIND.command, paths: [] }],
    ['nothing', null, { kind: CALL_KIND.command, paths: [] }],
  ])('reads %s', (_, parameters, expected) => {
    const uses = runsCommands(['command', 'cmd', 'commands']);
    expect(useBy(uses, parameters, true)).toMatchObject({ access: none, ...expected });
  });

  it('distinguishes commands by their text and their directory', () => {
    const commandOf = (parameters: unknown): string | undefined =>
      useBy(runsCommands(), parameters, true).command;
    expect(commandOf({ command: 'npm test', timeout: 5 })).toBe(commandOf({ cmd: 'npm test' }));
    expect(commandOf({ command: 'npm test', cwd: '/a' })).not.toBe(
      commandOf({ command: 'npm test', cwd: '/b' }),
    );
    expect(commandOf({ command: 'npm test', cwd: '/a' })).not.toBe(
      commandOf({ command: 'npm test' }),
    );
    expect(commandOf({})).toBeUndefined();
  });

  it('takes options of programs other than shells for words of a command', () => {
    const parameters = { command: ['git', '-c', 'a=b', 'status'] };
    expect(useBy(runsCommands(), parameters, true).command).toBe('git -c a=b status');
  });

  it('notes whether a command that reads also runs other programs, and where it acts', () => {
    const useOf = (parameters: object): object => useBy(runsCommands(), parameters, true);
    expect(useOf({ command: 'cat a.ts && npm test' })).toHaveProperty('runsOthers', true);
    expect(useOf({ command: 'cat a.ts' })).not.toHaveProperty('runsOthers');
    expect(useOf({ command: 'npm test', host: 'a', repo: 7 })).toMatchObject({
      place: 'host=a repo=7',
      command: 'npm test\0host=a repo=7',
    });
    for (const host of ['', 'x'.repeat(201), null, ['a']]) {
      expect(useOf({ command: 'npm test', host })).not.toHaveProperty('place');
    }
    const read = useBy(readsFile('whole'), { path: 'a.ts', host: 'a' }, true);
    expect(read).toHaveProperty('place', 'host=a');
    expect(read).not.toHaveProperty('command');
    expect(useBy(readsFile('whole'), { path: 'a.ts', host: 'a' }, false).place).toBeUndefined();
  });

  it('takes a call without any parameter of its tool for one of another tool', () => {
    const uses = readsFile('whole');
    expect(useBy(uses, { command: 'cat src/b.ts' }, true).paths).toEqual(['src/b.ts']);
    expect(useBy(uses, { command: 'cat src/b.ts' }, false)).toEqual(UNKNOWN);
    expect(useBy(uses, {}, true).kind).toBe(CALL_KIND.read);
  });

  it('knows nothing of commands when they are not to be read', () => {
    expect(useBy(runsCommands(), { command: 'cat a.ts' }, false)).toEqual(UNKNOWN);
  });

  it('knows only that a tool missing from the catalog may show the file it names', () => {
    const { read: kind, unknown } = CALL_KIND;
    for (const parameters of [
      { path: 'a.ts' },
      { target: 'src/a.ts' },
      { target: String.raw`C:\w\a.ts` },
      { targetFile: 'a.ts' },
      { operations: [{ path: 'a.ts' }] },
      { server_name: 'files', tool_name: 'show', arguments: '{"path":"a.ts"}' },
      { name: 'show', arguments: { paths: ['a.ts'] } },
      { name: 'show', args: { operations: [{ path: 'a.ts' }] } },
      'a.ts',
    ]) {
      expect(useBy([], parameters, true)).toEqual({ ...UNKNOWN, kind });
    }
    for (const parameters of [
      { query: 'a.ts' },
      { link: 'https://a.org/b.html' },
      { workdir: '/home/a.b' },
      { target: `${'deep/'.repeat(50)}a.ts` },
      { list: ['path'], first: { path: 'x' }.path },
      { arguments: JSON.stringify({ path: 'a.ts', text: 'x'.repeat(2_000) }) },
      { name: 'ask', arguments: '{"query":"a path"}' },
      { name: 'ask', arguments: '{"path":' },
      {},
    ]) {
      expect(useBy([], parameters, true)).toEqual({ ...UNKNOWN, kind: unknown });
    }
  });

  it.each<[unknown, object]>([
    [{ command: 'cat src/a.ts' }, { kind: CALL_KIND.read, paths: ['src/a.ts'] }],
    [
      { why: 'to see it', shellCmd: ['bash', '-lc', 'sed -n 3,9p a.ts'] },
      { lines: { first: 3, last: 9 } },
    ],
    [{ command: 'rg a src' }, { kind: CALL_KIND.search }],
    [
      { server_name: 'dev', tool_name: 'run', arguments: '{"command":"cat src/a.ts"}' },
      { kind: CALL_KIND.read, paths: ['src/a.ts'] },
    ],
    [{ input: 'run({ cmd: "cat src/a.ts" })' }, { kind: CALL_KIND.read, paths: ['src/a.ts'] }],
    [
      { input: '*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch' },
      { kind: CALL_KIND.write, paths: ['a.ts'] },
    ],
  ])(
    'takes a command that reads, writes or searches files for what it is, whatever the tool: %j',
    (parameters, expected) => {
      expect(useBy([], parameters, true)).toMatchObject(expected);
      expect(useBy([], parameters, false)).toEqual(UNKNOWN);
    },
  );

  it.each([
    { command: 'turn on the lamp' },
    { command: 'more' },
    { command: 'npm test' },
    { command: 'ls' },
    { text: 'cat a.ts' },
  ])('leaves open what an unknown tool does with %j', (parameters) => {
    expect(useBy([], parameters, true)).toEqual(UNKNOWN);
  });

  it.each([
    { head: 20 },
    { start_line_one_indexed: '1', explanation: 'why' },
    { pages: '1-5' },
    { lines: '[1, 5]' },
    { lines: [1, 5] },
    { range: { start: 1, end: 5 } },
    { range: { unit: 'line', start: 1 } },
  ])('does not take a read for one of the whole file if %j may select a part', (part) => {
    for (const uses of [readsFile('whole'), VIEWS]) {
      const linesOf = (parameters: object): unknown => useBy(uses, parameters, true).lines;
      expect(linesOf({ path: '1.ts', ...part })).toBeUndefined();
      expect(linesOf({ path: '1.ts', all: true, why: 'to see it', none: null })).toBe(WHOLE_FILE);
    }
  });

  it('takes the fields of an only parameter for parameters', () => {
    const parameters = { command: 'npm test', host: 'a' };
    const use = useBy(runsCommands(), parameters, true);
    expect(use).toMatchObject({ kind: CALL_KIND.command, place: 'host=a' });
    expect(useBy(runsCommands(), { params: parameters }, true)).toEqual(use);
    expect(useBy(runsCommands(), { params: parameters, id: 1 }, true)).not.toEqual(use);
  });

  it('takes a call that passes its arguments on to a known tool for a call of that one', () => {
    const known: Readonly<Record<string, readonly ToolUse[]>> = {
      a__read: VIEWS,
      b__read: VIEWS,
      a__sh: runsCommands(),
    };
    const passing = (tool: string, passed: unknown, besides: object = {}): CallUse => {
      const parameters = { tool_name: tool, arguments: passed, ...besides };
      return callUse((name) => known[name] ?? [], { name: 'call_tool', parameters }, true);
    };
    const place = 'a__';
    const lines = { first: 5, last: 6 };
    const read = { access: CALL_ACCESS.read, kind: CALL_KIND.read, paths: ['a.ts'], lines, place };
    const part = { path: 'a.ts', offset: 5, limit: 2 };
    expect(passing('a__read', part)).toEqual(read);
    expect(passing('a__read', JSON.stringify(part))).toEqual(read);
    expect(passing('b__read', part)).toEqual({ ...read, place: 'b__' });
    const command = passing('a__sh', { command: 'npm test', host: 'x' }, { server: 'y' });
    expect(command).toMatchObject({ kind: CALL_KIND.command, place: 'a__host=x server=y' });
    const isUnknown = [passing('c__read', { id: 1 }), passing('a__sh', 'npm test')];
    expect(isUnknown).toEqual([UNKNOWN, UNKNOWN]);
    expect(passing('a__sh', { command: 'npm test' }, { context: { id: 1 } })).toEqual(UNKNOWN);
  });

  it('applies the first use whose condition holds', () => {
    const uses: readonly ToolUse[] = [
      { access: 'search', when: { key: 'mode', values: ['find'] } },
      { access: 'run', commandKeys: ['command'], when: { key: 'mode', values: ['run'] } },
      ...writesFile('whole'),
    ];
    const kindOf = (parameters: object): number => useBy(uses, parameters, true).kind;
    expect(kindOf({ mode: 'find', path: 'a.ts' })).toBe(CALL_KIND.search);
    expect(kindOf({ mode: 'run', command: 'ls' })).toBe(CALL_KIND.search);
    expect(kindOf({ mode: 'else', path: 'a.ts' })).toBe(CALL_KIND.write);
  });
});
