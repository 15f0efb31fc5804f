// Random tool uses and results for random histories: a few files, odd parameters, results of every shape.

import fc from 'fast-check';

import { PRUNED_POINTER } from '../../src/shared/density.js';

/** A tool and its parameters. */
interface ToolUse {
  readonly name: string;
  readonly parameters: unknown;
}

/** A list of uniform length; fast-check's default size limits it to about ten. */
export function listOf<T>(
  item: fc.Arbitrary<T>,
  maxLength: number,
  minLength = 0,
): fc.Arbitrary<T[]> {
  return fc.array(item, { minLength, maxLength, size: 'max' });
}

/** Different spellings of a few files, and names that a careless lookup would find on a prototype. */
export const arbitraryPath: fc.Arbitrary<string> = fc.constantFrom(
  'a.ts',
  'a.ts',
  './a.ts',
  '/work/a.ts',
  'src/../a.ts',
  'src/b.ts',
  '/work/src//b.ts',
  './src/b.ts',
  'A.ts',
  'constructor',
  '__proto__',
);
const glob = fc.constantFrom('src/*.ts', '**/*', 'a.?s');

const pathParameters = fc.oneof(
  { weight: 8, arbitrary: arbitraryPath.map((file_path) => ({ file_path })) },
  { weight: 2, arbitrary: arbitraryPath.map((absolute_path) => ({ absolute_path })) },
  { weight: 2, arbitrary: arbitraryPath.map((file) => ({ path: file })) },
  {
    weight: 1,
    arbitrary: fc.tuple(arbitraryPath, arbitraryPath).map(([a, b]) => ({ path: a, file_path: b })),
  },
  { weight: 1, arbitrary: arbitraryPath.map((file) => ({ file_path: null, path: file })) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      'a.ts',
      ['a.ts'],
      7,
      {},
      { file_path: '' },
      { file_path: 7 },
      { file_path: ['a.ts'] },
      { name: 'a.ts' },
    ),
  },
);

const listParameters = fc.oneof(
  { weight: 6, arbitrary: listOf(arbitraryPath, 3, 1).map((paths) => ({ paths })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(listOf(arbitraryPath, 2), glob)
      .map(([paths, last]) => ({ paths: [...paths, last] })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(
      null,
      { paths: [] },
      { paths: 'a.ts' },
      { paths: ['a.ts', 7] },
      { paths: ['a.ts', null] },
      { file_path: 'a.ts' },
    ),
  },
);

/** Tool uses that read, write or do neither, with all kinds of parameters. */
export const arbitraryToolUse: fc.Arbitrary<ToolUse> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ name: fc.constant('read_file'), parameters: pathParameters }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constantFrom('read_line_range', 'ast_read_file'),
      parameters: pathParameters,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ name: fc.constant('read_many_files'), parameters: listParameters }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      name: fc.constantFrom(
        'write_file',
        'write_file',
        'replace',
        'ast_edit',
        'insert_at_line',
        'delete_line_range',
      ),
      parameters: pathParameters,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant('run_shell_command'),
      parameters: fc.constantFrom({ command: 'npm test' }, { command: 'ls' }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constantFrom('get_weather', 'constructor', '__proto__', 'toString'),
      parameters: pathParameters,
    }),
  },
);

/** Results of tools. */
export const arbitraryResult: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  'one line',
  'first line\nsecond line\n',
  '',
  'a face 😀 and more',
  PRUNED_POINTER,
  null,
  42,
  true,
  { output: 'text', exitCode: 0 },
  { output: PRUNED_POINTER },
  ['a', 'b', ['c']],
  { nested: { deeper: [{ still: 'text' }] }, empty: {} },
);
