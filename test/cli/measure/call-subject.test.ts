// The subject of a call, by catalog and by common keys.

import { describe, expect, test } from 'vitest';
import { agentPreset, toolCall } from '../../../src/index.js';
import { namePaths, subjectOfCall } from '../../../src/cli/measure/call-subject.js';

const CODEX = agentPreset('codex').toolCatalog;
const PATCH = '*** Begin Patch\n*** Update File: a.ts\n+x\n*** Add File: b.ts\n+y\n*** End Patch';

describe('subjectOfCall', () => {
  test.each([
    ['a path', 'Read', { file_path: '/a' }, '/a', null],
    ['the files of a patch', 'apply_patch', { input: PATCH }, 'a.ts +1', null],
    ['a list of paths', 'read_many', { paths: ['a', 'b', 'c'] }, 'a +2', null],
    ['a command', 'shell', { timeout: 1, command: 'ls' }, null, 'ls'],
    ['the words of a command', 'shell', { command: ['ls', '-l'] }, null, 'ls -l'],
    ['any text', 'odd', { first: 1, second: 'two' }, null, 'two'],
    ['text parameters', 'odd', 'raw', null, 'raw'],
    ['nothing', 'odd', {}, null, null],
    ['nothing', 'constructor', null, null, null],
    ['an empty path', 'Read', { file_path: '' }, null, null],
  ])('is %s', (_, name, parameters, path, excerpt) => {
    expect(subjectOfCall(toolCall('1', name, parameters), CODEX)).toEqual({ path, excerpt });
  });

  test('shortens long parameters', () => {
    const { excerpt } = subjectOfCall(toolCall('1', 'shell', { command: 'x'.repeat(9_000) }), {});
    expect(excerpt).toHaveLength(200);
  });
});

describe('namePaths', () => {
  test('counts each file once', () => {
    expect(namePaths(['a', 'a'])).toBe('a');
    expect(namePaths(['a', 'b', 'a', 'c'])).toBe('a +2');
    expect(namePaths([])).toBeNull();
  });
});
