// The edits of a session grouped by reason, described without the names of rules.

import type { WorkingSetReason } from '../../density.js';
import { itemsOf } from '../measure/attribution.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { groupBy, largestFirst, sumOf } from '../measure/aggregate.js';
import { reclaimedBy } from '../replay/edit-row.js';
import type { EditRow } from '../replay/edit-row.js';

/** All edits of a session that have the same reason. */
export interface EditGroup {
  readonly rule: ReclaimRule;
  readonly title: string;
  /** Why, in one sentence. */
  readonly text: string;
  /** Largest first. */
  readonly rows: readonly EditRow[];
  readonly tokens: number;
}

type Words = readonly [title: string, text: string];

/** The reasons for which results leave the working set. */
type LeavingReason = Exclude<WorkingSetReason, 'unsent' | 'small' | 'fresh'>;

/** Title of the edits, and why they were safe. Keyed by rule, or by rule and reason. */
const WORDS: Readonly<Record<string, Words> & Record<`working-set ${LeavingReason}`, Words>> = {
  shrink: [
    'Results shortened before they were first sent',
    'This rewrites nothing that is cached.',
  ],
  'read-write written-later': [
    'Reads of files that were changed later',
    'The file is no longer what the model read.',
  ],
  'file-dedupe included-again': [
    'Files included again later',
    'Only the newest copy of a file stays.',
  ],
  'recency old': ['Results beyond the number to keep', 'The newest results of each tool stay.'],
  'working-set aged': [
    'Long outputs, cut to an excerpt',
    'The model has read them; the most informative lines stay.',
  ],
  'working-set expired': ['Results no longer used', 'One line stays and says what was there.'],
  'working-set repeated': [
    'Results of calls that were made again',
    'The same call has a newer result further down.',
  ],
  'working-set read-again': [
    'Lines that were read again',
    'A newer read further down has the same lines.',
  ],
  'working-set spent': [
    'Arguments of earlier calls',
    'Their text is no longer in the file, or was written or read again.',
  ],
  'summarized-result': [
    'Results cut to one line, to make room',
    'The history had reached its threshold.',
  ],
  'folded-entry': [
    'Messages that a model summarized, to make room',
    'The history had reached its threshold.',
  ],
  'dropped-entry': [
    'Oldest messages, dropped to make room',
    'The history had reached its threshold.',
  ],
};

/** Groups edits by reason, most reclaimed tokens first. */
export function editGroups(rows: readonly EditRow[]): readonly EditGroup[] {
  const groups = groupBy(
    rows,
    ({ rule, why }) => `${rule} ${why?.rule === rule ? why.reason : ''}`,
  );
  const described = Array.from(groups, ([key, group]): EditGroup => {
    const [{ rule, why }] = group;
    const [title, text] = WORDS[key.trim()] ?? [itemsOf(rule), why?.text ?? ''];
    return {
      ...{ rule, title, text },
      rows: largestFirst(group, reclaimedBy),
      tokens: sumOf(group, reclaimedBy),
    };
  });
  return largestFirst(described, ({ tokens }) => tokens);
}
