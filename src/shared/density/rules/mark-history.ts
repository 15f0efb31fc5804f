// Runs the phases of a density pass in their fixed order over what an index holds. Marks rows; what
// becomes of what is marked is decided elsewhere.

import type { DensityResultMetadata, PassSettings } from '../../density.js';
import type { HistoryIndex } from '../index/history-index.js';
import { markOutsideWorkingSet } from './working-set.js';
import type { OutsideWorkingSet } from './working-set.js';
import { markStaleReads } from './read-write.js';
import type { PairMarks } from './read-write.js';
import { markOldResults } from './recency.js';
import { markSupersededInclusions } from './file-dedupe.js';

/** What the phases marked, by row of an index's tables. */
export interface HistoryMarks {
  /** 1 for reads that a later write supersedes, and for calls that the working set has forgotten. */
  readonly stale: PairMarks;
  /** 1 for inclusions that a later one supersedes. */
  readonly superseded: Uint8Array;
  /** By row of responses, one of `RESULT_MARK`. */
  readonly results: Uint8Array;
  /** What the working set has to do with that; `undefined` when there is none. */
  readonly outside: OutsideWorkingSet | undefined;
  readonly metadata: DensityResultMetadata;
}

/** Marks what is stale. The index notes what the settings ask for. */
export function markHistory(index: HistoryIndex, config: PassSettings): HistoryMarks {
  const { calls, responses, inclusions } = index;
  const stale = {
    calls: new Uint8Array(calls.length),
    responses: new Uint8Array(responses.length),
  };
  const superseded = new Uint8Array(inclusions.length);
  const results = new Uint8Array(responses.length);
  const counts = {
    readWritePairsPruned: config.readWritePruning
      ? markStaleReads(index, doPartialWritesSupersede(config), stale)
      : 0,
    fileDeduplicationsPruned: config.fileDedupe ? markSupersededInclusions(index, superseded) : 0,
    recencyPruned: config.recencyPruning
      ? markOldResults(index, config, stale.responses, results)
      : 0,
  };
  const outside =
    config.workingSet === undefined
      ? undefined
      : markOutsideWorkingSet(index, config.workingSet, { ...stale, results });
  const metadata = outside ? { ...counts, workingSetPruned: outside.marked } : counts;
  return { stale, superseded, results, outside, metadata };
}

/** A working set knows better what an edit leaves of an earlier read. */
export function doPartialWritesSupersede(config: PassSettings): boolean {
  return config.partialWritesSupersede ?? config.workingSet === undefined;
}
