// Which files a call touches, and which use of its tool tells.

import { describe, expect, it } from 'vitest';
import {
  isFileUse,
  patchedPaths,
  pathsOf,
  useOf,
} from '../../../../src/shared/density/index/file-access.js';
import type { ToolUse } from '../../../../src/shared/tool-use.js';

const USES: readonly ToolUse[] = [
  { access: 'read', extent: 'part', pathKeys: ['file'], when: { key: 'isPart', values: ['true'] } },
  { access: 'search', has: ['pattern'] },
  { access: 'write', extent: 'part', pathListKeys: ['files'], has: ['files'] },
  { access: 'read', extent: 'whole', pathKeys: ['file'], pathListKeys: ['list'] },
];

function fileAccess(uses: readonly ToolUse[], parameters: unknown): object | undefined {
  const use = useOf(uses, parameters);
  if (use === undefined || !isFileUse(use)) return undefined;
  const { access, extent } = use;
  const paths = pathsOf(use, parameters);
  return paths && { access, extent, paths };
}

describe('useOf and pathsOf', () => {
  it.each<[unknown, object | undefined]>([
    [
      { file: 'a.ts', isPart: true },
      { access: 'read', extent: 'part', paths: ['a.ts'] },
    ],
    [
      { file: 'a.ts', isPart: 'true' },
      { access: 'read', extent: 'part', paths: ['a.ts'] },
    ],
    [
      { file: 'a.ts', isPart: false },
      { access: 'read', extent: 'whole', paths: ['a.ts'] },
    ],
    [
      { file: 'a.ts', isPart: 1 },
      { access: 'read', extent: 'whole', paths: ['a.ts'] },
    ],
    [{ file: 'a.ts', pattern: 'x' }, undefined],
    [{ files: ['a.ts', '*.md'] }, { access: 'write', extent: 'part', paths: ['a.ts'] }],
    [{ files: 'a.ts' }, undefined],
    [{ list: { length: 1 } }, undefined],
    [{ list: ['a.ts', '*.md'] }, undefined],
    ['a.ts', undefined],
    [null, undefined],
  ])('tell of %j: %j', (parameters, expected) => {
    expect(fileAccess(USES, parameters)).toEqual(expected);
  });

  it('tell nothing without a use that applies', () => {
    expect(fileAccess(USES.slice(0, 2), { file: 'a.ts' })).toBeUndefined();
  });
});

describe('patchedPaths', () => {
  it('refuses what is no string', () => {
    expect(() => patchedPaths(7 as unknown as string)).toThrow(TypeError);
    expect(patchedPaths('*** Update File: a.ts \n*** Move to: b.ts')).toEqual(['a.ts', 'b.ts']);
  });
});
