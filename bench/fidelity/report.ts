// What the measurement found out about a set of sessions: figures by policy, over all and per format.
// Plain data, as `--json` prints it.

import type { TranscriptFormat } from '../../src/index.js';
import { measure, retainedShare, savedShare, sumFigures } from './measure.js';
import type { Figures } from './measure.js';
import { POLICIES } from './policies.js';
import type { RecordedSession } from './recorded-session.js';

/** How one policy did. */
export interface PolicyReport extends Figures {
  readonly policy: string;
  /** Of the edits, the share whose text stayed in view. */
  readonly retained: number;
  /** Of the unpruned input tokens, the share that was not sent. */
  readonly saved: number;
}

/** How the policies did on some sessions. */
export interface GroupReport {
  /** The format, or `all`. */
  readonly group: TranscriptFormat | 'all';
  readonly sessions: number;
  readonly edits: number;
  /** Edits that do not count: of lines that the session does not show before. */
  readonly unseenEdits: number;
  readonly policies: readonly PolicyReport[];
}

export interface FidelityReport {
  /** All formats first. One for each format that has sessions. */
  readonly groups: readonly GroupReport[];
  /** Files that hold no session of a known format. */
  readonly skipped: readonly string[];
}

/** Measures all policies on all sessions. */
export function reportFidelity(
  sessions: readonly RecordedSession[],
  skipped: readonly string[],
): FidelityReport {
  const measured = sessions.map((session) => {
    return { session, figures: POLICIES.map((policy) => measure(session, policy)) };
  });
  const groupOf = (group: GroupReport['group']): GroupReport => {
    const members = measured.filter(
      ({ session }) => group === 'all' || session.transcript.format === group,
    );
    const count = (of: (session: RecordedSession) => number): number =>
      members.reduce((sum, { session }) => sum + of(session), 0);
    return {
      group,
      sessions: members.length,
      edits: count(({ edits }) => edits.length),
      unseenEdits: count(({ unseenEdits }) => unseenEdits),
      policies: POLICIES.map(({ name }, at) => {
        const figures = sumFigures(members.flatMap((member) => member.figures[at] ?? []));
        return {
          policy: name,
          retained: retainedShare(figures),
          saved: savedShare(figures),
          ...figures,
        };
      }),
    };
  };
  const formats = new Set(sessions.map(({ transcript }) => transcript.format));
  return { groups: (['all', ...[...formats].sort()] as const).map(groupOf), skipped };
}
