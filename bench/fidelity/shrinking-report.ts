// The figures of shrinking: each level, each shrinker alone, and the gain over the defaults of sessions, as a table.
// Plays nothing itself.

import { DEFAULT_WORKING_SET } from '../../src/density.js';
import { SHRINKER_NAMES } from '../../src/shared/shrink/shrink-text.js';
import { SHRINK_LEVELS } from '../../src/shared/shrink/shrinker.js';
import { measure, sumFigures } from './measure.js';
import type { NeedKind } from './needs/need.js';
import { OTHER_IDENTIFIERS } from './needs/need.js';
import { batched, shrinking } from './policies.js';
import type { Policy } from './policy.js';
import { percentText, sessionsText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';
import { costShare, outcomeRatio, savedShare, shareOf } from './shares.js';

const OFF = Object.fromEntries(SHRINKER_NAMES.map((name) => [name, false]));

const POLICIES: readonly Policy[] = [
  ...SHRINK_LEVELS.map((level) => shrinking(`\`'${level}'\``, level)),
  ...SHRINKER_NAMES.map((name) => shrinking(`\`${name}\` alone`, { ...OFF, [name]: true })),
  batched('working set, batched', DEFAULT_WORKING_SET, 'off'),
  ...SHRINK_LEVELS.map((level) =>
    batched(`the same with \`'${level}'\``, DEFAULT_WORKING_SET, level),
  ),
];

const COLUMNS: readonly (readonly [name: string, kinds: readonly NeedKind[]])[] = [
  ['edits', ['edit']],
  ['identifiers of edits', ['id-edit']],
  ['other identifiers', OTHER_IDENTIFIERS],
  ['quotes', ['quote']],
  ['errors', ['error']],
];

/** Measures all levels and shrinkers on sessions with texts. */
export function shrinkingTable(contexts: readonly RecordedSession[]): TextTable {
  const sessions = contexts.filter(({ hasTexts = true }) => hasTexts);
  const names = COLUMNS.map(([name]) => name);
  const rows = POLICIES.map((policy) => {
    const figures = sumFigures(sessions.map((session) => measure(session, policy)));
    const shares = COLUMNS.map(([, kinds]) =>
      percentText(shareOf(outcomeRatio(figures, kinds, 'inView'), 1)),
    );
    const lost = outcomeRatio(
      figures,
      COLUMNS.flatMap(([, kinds]) => kinds),
      'lost',
    ).part;
    const amounts = [percentText(savedShare(figures)), percentText(costShare(figures))];
    return [policy.name, ...amounts, ...shares, lost.toFixed(1)];
  });
  return {
    title: 'Shrinking',
    subtitle: `${sessionsText(sessions)} with texts; what stays in view of each kind of need, and the weight of what is lost`,
    heads: ['shrinking', 'saved', 'cost', ...names, 'lost'],
    rows,
  };
}
