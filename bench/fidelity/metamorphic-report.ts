// A metamorphic test of the defaults: sessions after changes that should not matter, against the untouched ones.

import { playSession } from './five-lines.js';
import { measure, sumFigures } from './measure.js';
import type { Figures } from './measure.js';
import { numberText, percentText, sessionsText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import { recordSession } from './recorded-session.js';
import type { RecordedSession } from './recorded-session.js';
import { costShare, retainedShare, savedShare } from './shares.js';
import { TRANSFORMATIONS } from './transformations.js';

/** Plays sessions with texts through a session with its defaults, once for each transformation. */
export async function metamorphicTable(contexts: readonly RecordedSession[]): Promise<TextTable> {
  const sessions = contexts.filter(({ hasTexts = true }) => hasTexts);
  const rows: (readonly string[])[] = [];
  for (const { name, apply } of TRANSFORMATIONS) {
    const figures: Figures[] = [];
    for (const { source, transcript } of sessions) {
      const changed = recordSession(source, apply(transcript));
      const { policy } = await playSession(changed);
      figures.push(measure(changed, policy));
    }
    const sum = sumFigures(figures);
    const shares = [savedShare(sum), costShare(sum), retainedShare(sum)];
    rows.push([name, ...shares.map(percentText), numberText(sum.edits)]);
  }
  return {
    title: 'Transformed sessions',
    subtitle: sessionsText(sessions),
    heads: ['transformation', 'saved', 'cost', 'text of edits in view', 'edits'],
    rows,
  };
}
