// The rules by which results leave a context, for comparison: those of the density pass, what APIs
// and frameworks offer, a crude working set, and one that knows the future. All keep calls and text.

import {
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  isEmptyDensityResult,
  optimize,
} from '../../src/index.js';
import type { DensityConfig, IContent } from '../../src/index.js';
import { neededUntil } from './clairvoyant.js';
import type { RecordedSession } from './recorded-session.js';
import { droppingResults } from './results-in-context.js';
import type { ResultInContext } from './results-in-context.js';

/**
 * Told before each model call what was added since the last one; returns what is sent. Entries that did
 * not change keep their identity. What has left does not come back.
 */
export type Sender = (added: readonly IContent[]) => readonly IContent[];

/** One way to prune. */
export interface Policy {
  /** Unique and short: it also stands in the chart. */
  readonly name: string;
  /** Begins with an empty context. */
  readonly start: (session: RecordedSession) => Sender;
}

/** The policy that sends everything. */
export const KEEP_ALL: Policy = { name: 'everything kept', start: () => densitySender(undefined) };

/** The policies that are compared, in the order of the tables. */
export const POLICIES: readonly Policy[] = [
  KEEP_ALL,
  densityPolicy('superseded by any write (specified)', {}),
  densityPolicy('superseded by a full write only', { partialWritesSupersede: false }),
  lastPerTool(3),
  lastPerTool(10),
  lastOfAll(3),
  lastOfAll(20),
  workingSet(40),
  workingSet(80),
  { name: 'clairvoyant bound', start: clairvoyantSender },
];

function densityPolicy(name: string, settings: Partial<DensityConfig>): Policy {
  return {
    name,
    start: ({ transcript }) => {
      const { preset, workspaceRoot = '/' } = transcript;
      return densitySender({ ...DEFAULT_DENSITY_CONFIG, workspaceRoot, ...preset, ...settings });
    },
  };
}

function lastPerTool(recencyRetention: number): Policy {
  return densityPolicy(`last ${recencyRetention} results per tool`, {
    readWritePruning: false,
    fileDedupe: false,
    recencyPruning: true,
    recencyRetention,
  });
}

/** Prunes the history before every call, for good. */
function densitySender(config: DensityConfig | undefined): Sender {
  const history: IContent[] = [];
  return (added) => {
    history.push(...added);
    if (config === undefined) return history;
    const result = optimize(history, config);
    if (!isEmptyDensityResult(result)) applyDensityResult(history, result);
    return history;
  };
}

function lastOfAll(count: number): Policy {
  return {
    name: `last ${count} results`,
    start: ({ transcript }) =>
      droppingResults(transcript, ({ results }) => results.slice(0, -count)),
  };
}

/** Results that are no reads and stay in a crude working set. */
const OTHER_RESULTS = 5;

/** Keeps the newest results that are no reads, and the reads of files that were touched of late. */
function workingSet(calls: number): Policy {
  return {
    name: `crude working set, ${calls} calls`,
    start: ({ transcript }) =>
      droppingResults(transcript, ({ results, call, touchedAt }) => {
        const isOld = ({ readPaths }: ResultInContext): boolean =>
          !readPaths.some((path) => call - (touchedAt.get(path) ?? -Infinity) <= calls);
        const others = results.filter(({ readPaths }) => readPaths.length === 0);
        const reads = results.filter(({ readPaths }) => readPaths.length > 0);
        return [...others.slice(0, -OTHER_RESULTS), ...reads.filter(isOld)];
      }),
  };
}

function clairvoyantSender(session: RecordedSession): Sender {
  const needed = neededUntil(session);
  return droppingResults(session.transcript, ({ results, length }) =>
    results.filter(({ block }) => (needed.get(block) ?? -1) < length),
  );
}
