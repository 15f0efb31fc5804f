// The documented cases of a density pass, phase by phase, in the mini-notation.

import { describe, expect, it } from 'vitest';
import type { DensityConfig } from '../../../../src/shared/density.js';
import {
  DEFAULT_DENSITY_CONFIG,
  PRUNED_POINTER,
  applyDensityResult,
} from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { ROW_LENGTH } from '../../../../src/shared/density/plan/plan.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../../src/shared/content.js';
import { describeHistory, describeResult, historyOf } from '../../../support/notation.js';

const CONFIG: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/work' };
const RECENT: DensityConfig = { ...CONFIG, recencyPruning: true, recencyRetention: 1 };

function edits(notation: string, config: DensityConfig = CONFIG): string {
  return describeResult(optimize(historyOf(notation), config));
}

function outcome(notation: string, config: DensityConfig = CONFIG): string {
  const history = historyOf(notation);
  applyDensityResult(history, optimize(history, config));
  return describeHistory(history);
}

describe('optimize', () => {
  it.each([
    ['an empty history', ''],
    ['a single entry', 'h'],
    ['human entries only', 'h h:more h'],
    ['ai entries only', 'a a:r1 a'],
    ['a read that nothing writes later', 'h a:r1 t:r1 a'],
    ['a read after the latest write', 'a:w1 t:w1 a:r2 t:r2'],
    ['a write of another file', 'a:r1(a.ts) t:r1 a:w2(b.ts) t:w2'],
    ['a path that differs in case', 'a:r1(a.ts) t:r1 a:w2(A.ts) t:w2'],
    ['a read that ran in parallel with the write', 'a:r1,w2 t:r1,w2'],
    ['a read whose result came after the write', 'a:r1 a:w2 t:w2 t:r1'],
    ['a read that has no response yet', 'a:r1 a:w2 t:w2'],
    ['a read that is still running', 'a:r1 t:r1? a:w2 t:w2'],
    ['a write that failed', 'a:r1 t:r1 a:w2 t:w2!'],
    ['a write that has no response yet', 'a:r1 t:r1 a:w2'],
    ['a write that is still running', 'a:r1 t:r1 a:w2 t:w2?'],
    ['parameters that are null', 'a:r1(=null) t:r1 a:w2 t:w2'],
    ['parameters that are a string', 'a:r1(="a.ts") t:r1 a:w2 t:w2'],
    ['parameters without a path', 'a:r1(={"line":1}) t:r1 a:w2 t:w2'],
    ['calls without a path', 'a:r1(={"line":1}) t:r1 a:w2(={"line":1}) t:w2'],
    ['a path that is no string', 'a:r1(={"file_path":7}) t:r1 a:w2 t:w2'],
    ['an empty path', 'a:r1(={"file_path":""}) t:r1 a:w2(={"file_path":""}) t:w2'],
    [
      'a first key that is no string before one that is',
      'a:r1(={"file_path":7,"path":"a.ts"}) t:r1 a:w2 t:w2',
    ],
    ['a list with a glob', 'a:m1(a.ts|*.md) t:m1 a:w2 t:w2'],
    ['a list with a file that nothing writes', 'a:m1(a.ts|b.ts) t:m1 a:w2 t:w2'],
    ['a list with something that is no string', 'a:m1(={"paths":["a.ts",7]}) t:m1 a:w2 t:w2'],
    ['an empty list', 'a:m1(={"paths":[]}) t:m1 a:w2 t:w2'],
    ['a list that is a string', 'a:m1(={"paths":"a.ts"}) t:m1 a:w2 t:w2'],
    ['tools that the catalog does not know', 'a:s1 t:s1 a:w2 t:w2'],
    ['a response without a call', 't:r1 a:w2 t:w2'],
  ])('keeps %s', (_, notation) => {
    expect(edits(notation)).toBe('');
  });

  it.each([
    ['a read before a write', 'a:r1 t:r1 a:w2 t:w2', 'a:w2 t:w2'],
    ['a read before a partial write', 'a:r1 t:r1 a:e2 t:e2', 'a:e2 t:e2'],
    ['a partial read', 'a:l1 t:l1 a:w2 t:w2', 'a:w2 t:w2'],
    ['all reads before a write', 'a:r1 t:r1 a:x2 t:x2 a:w3 t:w3', 'a:w3 t:w3'],
    ['a failed read', 'a:r1 t:r1! a:w2 t:w2', 'a:w2 t:w2'],
    [
      'the read between two writes',
      'a:w1 t:w1 a:r2 t:r2 a:w3 t:w3 a:r4 t:r4',
      'a:w1 t:w1 a:w3 t:w3 a:r4 t:r4',
    ],
    [
      'only the stale call of three',
      'a:r1(a.ts),r2(b.ts),s3 t:r1,r2,s3 a:w4 t:w4',
      'a:r2(b.ts),s3 t:r2,s3 a:w4 t:w4',
    ],
    [
      'a response in an entry of its own',
      'a:r1(a.ts),r2(b.ts) t:r1 t:r2 a:w3 t:w3',
      'a:r2(b.ts) t:r2 a:w3 t:w3',
    ],
    ['the call but not the text beside it', 'a:reading,r1 t:r1 a:w2 t:w2', 'a:reading a:w2 t:w2'],
    ['an entry that is left with blank text only', 'a:_,r1 t:r1 a:w2 t:w2', 'a:w2 t:w2'],
    ['an entry that is left with reasoning only', 'a:*s1,r1 t:r1 a:w2 t:w2', 'a:w2 t:w2'],
    ['reasoning that led to the call alone', 'a:okay,*s1,r1 t:r1 a:w2 t:w2', 'a:okay a:w2 t:w2'],
    [
      'the reasoning in front of the call, and no other',
      'a:*s1,r1,*s2,s3 t:r1,s3 a:w2 t:w2',
      'a:*s2,s3 t:s3 a:w2 t:w2',
    ],
    [
      'reasoning that led to several calls with the last of them',
      'a:okay,*s1,r1,r2 t:r1,r2 a:w3 t:w3',
      'a:okay a:w3 t:w3',
    ],
    [
      'all of the reasoning in front of a call, and no blank in between',
      'a:okay,*s1,_,*s2,r1 t:r1 a:w2 t:w2',
      'a:okay,_ a:w2 t:w2',
    ],
    [
      'no reasoning that led to another call as well',
      'a:*s1,r1(a.ts),s2 t:r1,s2 a:w3 t:w3',
      'a:*s1,s2 t:s2 a:w3 t:w3',
    ],
    [
      'no reasoning that led to what was said with the call',
      'a:*s1,okay,r1 t:r1 a:w2 t:w2',
      'a:*s1,okay a:w2 t:w2',
    ],
    [
      'no reasoning that led to nothing before either',
      'a:okay,r1,*s1 t:r1 a:w2 t:w2',
      'a:okay,*s1 a:w2 t:w2',
    ],
    [
      'reads under other spellings',
      'a:r1(./a.ts) t:r1 a:r2(/work/a.ts) t:r2 a:r3(x/../a.ts) t:r3 a:w4(a.ts) t:w4',
      'a:w4 t:w4',
    ],
    [
      'a list of which every file was written',
      'a:m1(a.ts|b.ts) t:m1 a:w2(a.ts) t:w2 a:w3(b.ts) t:w3',
      'a:w2 t:w2 a:w3(b.ts) t:w3',
    ],
    [
      'a path under a later key',
      'a:r1(={"path":"a.ts"}) t:r1 a:w2(={"absolute_path":"/work/a.ts"}) t:w2',
      'a:w2(={"absolute_path":"/work/a.ts"}) t:w2',
    ],
    [
      'the nearest call of a repeated id',
      'a:r1(b.ts) t:r1 a:r1 t:r1 a:w2 t:w2',
      'a:r1(b.ts) t:r1 a:w2 t:w2',
    ],
    [
      'the nearest of two open calls of an id',
      'a:r1(b.ts) a:r1 t:r1 a:w2 t:w2',
      'a:r1(b.ts) a:w2 t:w2',
    ],
  ])('removes %s', (_, before, after) => {
    expect(outcome(before)).toBe(describeHistory(historyOf(after)));
  });

  it('counts pairs, not blocks or entries', () => {
    const history = historyOf('a:r1,r2,r3(b.ts) t:r1,r2 t:r3 a:w4 t:w4');
    expect(optimize(history, CONFIG).metadata).toEqual({
      readWritePairsPruned: 2,
      fileDeduplicationsPruned: 0,
      recencyPruned: 0,
    });
  });

  it('lets only whole writes supersede if told so', () => {
    const config = { ...CONFIG, partialWritesSupersede: false };
    expect(edits('a:r1 t:r1 a:e2 t:e2', config)).toBe('');
    expect(edits('a:r1 t:r1 a:w2 t:w2', config)).toBe('-0 -1');
  });

  it('prunes nothing when switched off', () => {
    const off = { ...CONFIG, readWritePruning: false, fileDedupe: false };
    expect(edits('h:@a.ts a:r1 t:r1 a:w2 t:w2 h:@a.ts', off)).toBe('');
  });

  it.each([
    [
      'two of three',
      'h:@a.ts+"one" h:@a.ts+"two" h:@a.ts+"three"',
      'h:"one" h:"two" h:@a.ts+"three"',
    ],
    ['text around it stays', 'h:see+@a.ts+now h:@a.ts', 'h:"see\\nnow" h:@a.ts'],
    ['other spellings', 'h:x+@./a.ts h:@/work/a.ts', 'h:"x\\n" h:@/work/a.ts'],
    ['the earlier in one text', 'h:@a.ts(old)+@a.ts(new)', 'h:@a.ts(new)'],
    ['the earlier of two blocks', 'h:@a.ts(old),@a.ts(new)', 'h:@a.ts(new)'],
    ['only the repeated one', 'h:x+@a.ts+@b.ts h:@a.ts', 'h:x+@b.ts h:@a.ts'],
    ['a block of nothing else', 'h:hi,@a.ts h:@a.ts', 'h:hi h:@a.ts'],
    ['reasoning in front stays', 'h:hi,*,@a.ts h:@a.ts', 'h:hi,* h:@a.ts'],
  ])('cuts superseded inclusions: %s', (_, before, after) => {
    expect(outcome(before)).toBe(describeHistory(historyOf(after)));
  });

  it('leaves a note in place of a human entry that consisted of an inclusion', () => {
    expect(outcome('h:@a.ts h:@a.ts')).toContain('File content removed');
    expect(edits('h:@a.ts h:@a.ts')).toBe('~0');
  });

  it.each([
    ['an opening without a closing', '--- a.ts ---\nold'],
    ['a closing without an opening', 'old\n--- End of content ---'],
    ['a closing too many', '--- a.ts ---\nold\n--- End of content ---\n--- End of content ---'],
    ['an opening too many', '--- a.ts ---\nold\n--- End of content ---\n--- b.ts ---\n'],
    ['markers within a line', 'x --- a.ts ---\nold\n--- End of content ---'],
    ['an opening without a path', '---  ---\nold\n--- End of content ---'],
  ])('leaves text alone whose markers do not pair: %s', (_, text) => {
    const history = [humanText(text), ...historyOf('h:@a.ts h:@b.ts')];
    expect(optimize(history, CONFIG).replacements.has(0)).toBe(false);
  });

  it('treats an opening inside an inclusion as content', () => {
    const nested = '--- a.ts ---\n--- b.ts ---\n--- End of content ---\n';
    const history = [humanText(nested), ...historyOf('h:@b.ts')];
    expect(describeResult(optimize(history, CONFIG))).toBe('');
  });

  it('reads inclusions with Windows line ends', () => {
    const text = 'see\r\n--- a.ts ---\r\nold\r\n--- End of content ---\r\nnow';
    const result = optimize([humanText(text), ...historyOf('h:@a.ts')], CONFIG);
    expect(result.replacements.get(0)).toEqual(humanText('see\r\nnow'));
  });

  it('looks for inclusions in human entries only', () => {
    expect(edits('a:@a.ts h:@a.ts')).toBe('');
  });

  it.each([
    ['keeps results within the retention', 'a:s1 t:s1', ''],
    ['keeps the newest of each tool', 'a:s1 t:s1 a:g2 t:g2 a:s3 t:s3', '~1'],
    ['prunes within one entry', 'a:s1,s2 t:s1,s2', '~1'],
    ['does not prune the pointer again', 'a:s1 t:s1~ a:s2 t:s2', ''],
    ['counts the pointer', 'a:s1 t:s1 a:s2 t:s2~', '~1'],
    ['leaves a running tool alone', 'a:s1 t:s1? a:s2 t:s2', ''],
    ['counts each response of a shared id', 'a:s1 t:s1 a:s1 t:s1', '~1'],
    ['skips what pair pruning removed', 'a:s1 t:s1 a:r2 t:r2 a:w3 t:w3 a:r4 t:r4', '-2 -3'],
  ])('by recency %s', (_, notation, expected) => {
    expect(edits(notation, RECENT)).toBe(expected);
  });

  it.each([0, -3, Number.NaN, 0.5])('treats a retention of %d as 1', (recencyRetention) => {
    expect(edits('a:s1 t:s1 a:s2 t:s2', { ...RECENT, recencyRetention })).toBe('~1');
  });

  it('replaces only the result of a response', () => {
    const failed = toolResponse('s1', 'shell', { output: 'long' }, 'exit 1');
    const history = [
      aiContent([toolCall('s1', 'shell', {})]),
      toolContent([failed]),
      ...historyOf('a:s2'),
    ];
    const newest = toolContent([toolResponse('s2', 'shell', 'new')]);
    const result = optimize([...history, newest], RECENT);
    expect(result.replacements.get(1)).toEqual(
      toolContent([{ ...failed, result: PRUNED_POINTER }]),
    );
  });

  it('reads no parameter and no result without need', () => {
    const trap = {
      get content(): never {
        throw new Error('looked at');
      },
    };
    const history = [
      aiContent([toolCall('s1', 'shell', trap), toolCall('w2', 'write_file', { file_path: 'a' })]),
      toolContent([toolResponse('s1', 'shell', trap), toolResponse('w2', 'write_file', trap)]),
    ];
    expect(() => optimize(history, RECENT)).not.toThrow();
  });
});

describe('optimize with a tool catalog', () => {
  const catalog = {
    Read: [{ access: 'read', extent: 'whole', pathKeys: ['file_path'] }],
    apply_patch: [{ access: 'write', extent: 'part', patchKeys: ['input'] }],
    editor: [
      {
        access: 'read',
        extent: 'part',
        pathKeys: ['path'],
        when: { key: 'command', values: ['view'] },
      },
      {
        access: 'write',
        extent: 'whole',
        pathKeys: ['path'],
        when: { key: 'command', values: ['create'] },
      },
    ],
  } as const;
  const config = { ...CONFIG, toolCatalog: catalog };
  const use = (id: string, tool: string, parameters: unknown) => [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, 'done')]),
  ];

  it('finds the files of a patch in its text', () => {
    const patch =
      '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Move to: b.ts\n*** End Patch';
    const history = [
      ...use('1', 'Read', { file_path: '/work/a.ts' }),
      ...use('2', 'Read', { file_path: 'b.ts' }),
      ...use('3', 'Read', { file_path: 'c.ts' }),
      ...use('4', 'apply_patch', { input: patch }),
    ];
    expect(describeResult(optimize(history, config))).toBe('-0 -1 -2 -3');
  });

  it('distinguishes reading from writing by another parameter', () => {
    const history = [
      ...use('1', 'editor', { command: 'view', path: 'a.ts' }),
      ...use('2', 'editor', { command: 'undo', path: 'a.ts' }),
      ...use('3', 'editor', { command: 'view', path: 'a.ts' }),
    ];
    expect(describeResult(optimize(history, config))).toBe('');
    const written = [...history, ...use('4', 'editor', { command: 'create', path: 'a.ts' })];
    expect(describeResult(optimize(written, config))).toBe('-0 -1 -4 -5');
  });

  it('finds paths in a list of objects', () => {
    const files = [
      { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
    ] as const;
    const listing = { ...config, toolCatalog: { ...catalog, read_files: files } };
    const written = use('2', 'apply_patch', { input: '*** Update File: a.ts' });
    const read = (value: unknown) => [...use('1', 'read_files', { files: value }), ...written];
    expect(describeResult(optimize(read([{ path: 'a.ts', start: 1 }]), listing))).toBe('-0 -1');
    expect(describeResult(optimize(read([{ path: 'a.ts' }, 'a.ts']), listing))).toBe('');
    expect(describeResult(optimize(read([{ path: 'a.ts' }, null]), listing))).toBe('');
  });

  it('knows no tool by an inherited name', () => {
    const history = use('1', 'constructor', { file_path: 'a.ts' });
    expect(describeResult(optimize(history, config))).toBe('');
  });
});

describe('optimize with referenced files', () => {
  const config = { ...CONFIG, inclusionSyntaxes: ['delimited', 'referenced-files'] } as const;
  const group = (...files: readonly (readonly [path: string, content: string])[]) => [
    '\n--- Content from referenced files ---',
    ...files.flatMap(([path, content]) => [`\nContent from @${path}:\n`, content]),
    '\n--- End of content ---',
  ];
  const human = (...texts: readonly string[]) => ({
    speaker: 'human' as const,
    blocks: texts.map((text) => ({ type: 'text' as const, text })),
  });

  it('drops the superseded file and keeps the others', () => {
    const history = [
      human('look', ...group(['a.ts', 'old a'], ['b.ts', 'b'])),
      human('again', ...group(['./a.ts', 'new a'])),
    ];
    const result = optimize(history, config);
    expect(result.replacements.get(0)).toEqual(human('look', ...group(['b.ts', 'b'])));
    expect(result.metadata.fileDeduplicationsPruned).toBe(1);
    expect(result.replacements.has(1)).toBe(false);
  });

  it('drops the earlier of two in the only group, which is that of the first entry', () => {
    const history = [human(...group(['a.ts', 'old'], ['./a.ts', 'new']))];
    const { replacements, rows } = optimize(history, config);
    expect(replacements.get(0)).toEqual(human(...group(['./a.ts', 'new'])));
    expect(rows).toHaveLength(2 * ROW_LENGTH);
  });

  it('drops the frame with the last file in it', () => {
    const history = [human('look', ...group(['a.ts', 'old'])), human(...group(['a.ts', 'new']))];
    expect(optimize(history, config).replacements.get(0)).toEqual(human('look'));
  });

  it('treats markers in a referenced file as content', () => {
    const content = '--- b.ts ---\nx\n--- End of content ---';
    const history = [human(...group(['a.ts', content])), ...historyOf('h:@b.ts')];
    expect(describeResult(optimize(history, config))).toBe('');
  });

  it('keeps a group without an end', () => {
    const history = [
      human(...group(['a.ts', 'old']).slice(0, -1)),
      human(...group(['a.ts', 'new'])),
    ];
    expect(describeResult(optimize(history, config))).toBe('');
  });

  it('is off by default', () => {
    const history = [human(...group(['a.ts', 'old'])), human(...group(['a.ts', 'new']))];
    expect(describeResult(optimize(history, CONFIG))).toBe('');
  });
});
