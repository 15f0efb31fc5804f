// The rule `file-dedupe`: of several inclusions of one file, only the latest stays.

import type { BlockPlace } from './finding.js';
import { includedPath } from '../index/file-inclusions.js';
import { NONE } from '../index/history-columns.js';
import type { DensityRule, RulePass } from './density-rule.js';
import { ACTION } from './marks.js';

/** Finding on the inclusion of a file. */
export interface FileDedupeFinding {
  readonly rule: 'file-dedupe';
  readonly reason: 'included-again' | 'newest';
  /** The newest inclusion of the file; `null` if this is it. */
  readonly by: BlockPlace | null;
}

/** Removes repeated inclusions. */
export const FILE_DEDUPE: DensityRule<FileDedupeFinding> = {
  name: 'file-dedupe',
  item: 'repeated inclusion',
  counter: 'fileDeduplicationsPruned',
  settings: [
    {
      field: 'fileDedupe',
      description: 'Enable duplicate @ file inclusion deduplication',
      type: 'boolean',
    },
  ],
  reads: ['inclusions'],
  mark: (pass) => {
    const newest = markSupersededInclusions(pass);
    const { path } = pass.index.inclusions;
    return {
      ofInclusion: (row, { inclusionAt }) => {
        const by = newest[path.at(row)] ?? NONE;
        return by === row
          ? { rule: 'file-dedupe', reason: 'newest', by: null }
          : { rule: 'file-dedupe', reason: 'included-again', by: inclusionAt(by) };
      },
    };
  },
  say: ({ by }) =>
    by === null
      ? 'This is the newest inclusion of the file.'
      : `The file is included again in entry ${by.entry}.`,
  pathOf: includedPath,
};

/**
 * Marks every inclusion that a later one of the same file supersedes. Returns the newest row by
 * path.
 */
function markSupersededInclusions({ index, marks, mark }: RulePass): Int32Array {
  const { inclusions } = index;
  const newest = new Int32Array(index.pathCount).fill(NONE);
  const [dropped, cut] = [mark(ACTION.drop), mark(ACTION.cut)];
  for (let row = inclusions.length - 1; row >= 0; row -= 1) {
    const path = inclusions.path.at(row);
    if (newest[path] === NONE) newest[path] = row;
    else marks.inclusions[row] = inclusions.start.at(row) === NONE ? dropped : cut;
  }
  return newest;
}
