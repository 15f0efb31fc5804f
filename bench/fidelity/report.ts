// What the measurement found out about a set of sessions: figures by policy, over all, over the formats
// that the targets are set for, and per format. Plain data, as `--json` prints it.

import type { TranscriptFormat } from '../../src/transcripts.js';
import { costShare, measure, retainedShare, savedShare, sumFigures } from './measure.js';
import type { Figures } from './measure.js';
import { POLICIES } from './policies.js';
import type { PolicyRole } from './policies.js';
import type { RecordedSession } from './recorded-session.js';

/** The formats that targets are set for, taken together. */
const TARGET_FORMATS: readonly TranscriptFormat[] = ['claude-code', 'codex'];

/** How one policy did. */
export interface PolicyReport extends Figures {
  readonly policy: string;
  readonly role: PolicyRole;
  /** Of the edits, the share whose text stayed in view. */
  readonly retained: number;
  /** Of the unpruned input tokens, the share that was not sent. */
  readonly saved: number;
  /** What the input cost, as a share of what it costs unpruned. */
  readonly cost: number;
}

/** How the policies did on some sessions. */
export interface GroupReport {
  /** The formats, or `all`. */
  readonly group: string;
  /** Those of the sessions, sorted. */
  readonly formats: readonly TranscriptFormat[];
  readonly sessions: number;
  readonly edits: number;
  /** Edits that do not count: of lines that the session does not show before. */
  readonly unseenEdits: number;
  readonly policies: readonly PolicyReport[];
}

export interface FidelityReport {
  /** All formats first, then the target formats together if all are there, then one for each format that has sessions. */
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
  const groupOf = (group: string, formats: readonly TranscriptFormat[]): GroupReport => {
    const members = measured.filter(({ session }) => formats.includes(session.transcript.format));
    const count = (of: (session: RecordedSession) => number): number =>
      members.reduce((sum, { session }) => sum + of(session), 0);
    return {
      group,
      formats,
      sessions: members.length,
      edits: count(({ edits }) => edits.length),
      unseenEdits: count(({ unseenEdits }) => unseenEdits),
      policies: POLICIES.map(({ name, role = 'compared' }, at) => {
        const figures = sumFigures(members.flatMap((member) => member.figures[at] ?? []));
        return {
          policy: name,
          role,
          retained: retainedShare(figures),
          saved: savedShare(figures),
          cost: costShare(figures),
          ...figures,
        };
      }),
    };
  };
  const formats = [...new Set(sessions.map(({ transcript }) => transcript.format))].sort();
  const hasTargets = TARGET_FORMATS.every((format) => formats.includes(format));
  return {
    groups: [
      groupOf('all', formats),
      ...(hasTargets ? [groupOf(TARGET_FORMATS.join(' + '), TARGET_FORMATS)] : []),
      ...formats.map((format) => groupOf(format, [format])),
    ],
    skipped,
  };
}

/** The group that says most: of the target formats together where there is one, else of all. */
export function mainGroup({ groups }: FidelityReport): GroupReport | undefined {
  const targets = TARGET_FORMATS.join();
  return groups.findLast(({ formats }) => formats.join() === targets) ?? groups[0];
}
