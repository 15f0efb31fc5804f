// The package's pure functions and the workers' state as subjects.

import { estimateEntryTokens } from '../../src/index.js';
import {
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  DEFAULT_WORKING_SET,
  explainDensity,
  mapIndex,
  optimize,
  validateDensityResult,
} from '../../src/density.js';
import { findViolations, PROVIDER_PROFILES, validate } from '../../src/validate.js';
import type { IContent } from '../../src/index.js';
import type { DensityConfig } from '../../src/density.js';
import type { ProviderProfile } from '../../src/validate.js';
import { countEntryTokens } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import type { DensityBase } from '../../src/shared/density.js';
import type { CompressionRequest, HistoryDelta } from '../../src/shared/resident-protocol.js';
import type { Subject } from './subject.js';

const DEFAULTS: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/work' };

const AGENT = {
  workspaceRoot: '/work',
  inclusionSyntaxes: ['delimited', 'referenced-files'],
} as const;

/** Every rule on. */
const EVERYTHING: DensityConfig = {
  ...DEFAULTS,
  ...AGENT,
  recencyPruning: true,
  workingSet: DEFAULT_WORKING_SET,
  shrink: 'strong',
  placeholder: 'recallable',
};

/** A shorter history, as after a compaction that keeps every second entry. */
function halfOf(history: readonly IContent[]): IContent[] {
  return history.filter((_, at) => at % 2 === 0);
}

function validateSubject(profile: ProviderProfile): Subject {
  return {
    name: `validate for ${profile}`,
    prepare: (history) => () => validate(history, profile),
  };
}

/** A counter whose time grows like the real one's, without the token file. */
const countText = (piece: string): number => Math.ceil(piece.length / 4);

export const PURE_SUBJECTS: readonly Subject[] = [
  { name: 'optimize', prepare: (history) => () => optimize(history, DEFAULTS) },
  {
    name: 'optimize by all rules',
    prepare: (history) => () => optimize(history, EVERYTHING),
  },
  {
    name: 'explainDensity of each entry',
    prepare: (history) => () => {
      const { explain } = explainDensity(history, EVERYTHING);
      return history.map((_, index) => explain(index));
    },
  },
  {
    name: 'applyDensityResult',
    prepare: (history) => {
      const result = optimize(history, EVERYTHING);
      return () => {
        validateDensityResult(result, history.length);
        mapIndex(result, history.length - 1);
        applyDensityResult(history, result);
      };
    },
  },
  { name: 'findViolations', prepare: (history) => () => findViolations(history) },
  {
    name: 'findViolations with a base',
    prepare: (history) => () => findViolations(halfOf(history), history),
  },
  ...PROVIDER_PROFILES.map(validateSubject),
  {
    name: 'estimateEntryTokens of each entry',
    prepare: (history) => () => history.map((entry) => estimateEntryTokens(entry)),
  },
  {
    name: 'tokens of each entry',
    prepare: (history) => () => history.map((entry) => countEntryTokens(entry, countText)),
  },
  {
    name: 'a resident history',
    prepare: (history) => () => {
      playResident(history);
    },
  },
];

/** Transfers a history, plans, edits it, and compresses it, as a worker does. */
function playResident(history: readonly IContent[]): void {
  const resident = new ResidentHistory({ agent: AGENT, countsTokens: true }, countText);
  let base: DensityBase = { revision: 0, length: 0 };
  let sequence = 0;
  const receive = (
    after: DensityBase,
    steps: HistoryDelta['steps'],
    compression?: CompressionRequest,
  ): void => {
    sequence += 1;
    const plans = compression === undefined ? { pass: EVERYTHING } : { compression };
    resident.receive({ sequence, before: base, after, steps, ...plans });
    base = after;
  };
  const half = history.length >> 1;
  for (const contents of [history.slice(0, half), history.slice(half)]) {
    if (contents.length === 0) continue;
    const knownTokens = new Int32Array(contents.length).fill(-1);
    receive({ revision: 0, length: base.length + contents.length }, [
      { kind: 'stage', contents, knownTokens },
    ]);
  }
  const removals = Int32Array.from(history.flatMap((_, at) => (at % 3 === 2 ? [at] : [])));
  receive({ revision: 1, length: history.length - removals.length }, [
    { kind: 'edit', removals, replaced: new Int32Array() },
  ]);
  receive(base, [], { preserveThreshold: 0.2, targetTokens: 100, placeholder: 'recallable' });
}
