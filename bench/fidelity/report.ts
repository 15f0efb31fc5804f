// What the measurement found out about a set of sessions: figures by policy, over all, over the formats
// that the targets are set for, and per format. Plain data, as `--json` prints it.

import { costShare, retainedShare, savedShare, outcomeRatio, shareOf } from './shares.js';
import { measure, sumFigures } from './measure.js';
import type { Figures } from './measure.js';
import { POLICIES, BASELINES } from './policies.js';
import type { PolicyRole } from './policy.js';
import type { RecordedSession } from './recorded-session.js';
import { bootstrap } from './bootstrap.js';
import type { Interval } from './bootstrap.js';
import { NEED_KINDS } from './needs/need.js';
import type { NeedKind } from './needs/need.js';

/** The formats that targets are set for, taken together. */
const TARGET_FORMATS: readonly string[] = ['claude-code', 'codex'];

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

/** What an own policy has above one that drops as many tokens without a thought, as shares of the needs in view. */
export interface Lift {
  readonly policy: string;
  readonly over: string;
  /** By kind that has needs: the share of the policy, the difference, and their intervals over sessions. */
  readonly kinds: Readonly<Partial<Record<NeedKind, LiftOfKind>>>;
}

export interface LiftOfKind {
  readonly inView: number;
  readonly inViewInterval: Interval;
  readonly lift: number;
  readonly liftInterval: Interval;
}

/** How the policies did on some sessions. */
export interface GroupReport {
  /** The formats, or `all`. */
  readonly group: string;
  /** Those of the sessions, sorted. */
  readonly formats: readonly string[];
  readonly sessions: number;
  /** Of the sessions: each is cut where its agent compacted. */
  readonly contexts: number;
  readonly edits: number;
  /** Edits that do not count: of lines that the session does not show before. */
  readonly unseenEdits: number;
  readonly policies: readonly PolicyReport[];
  readonly lifts: readonly Lift[];
}

export interface FidelityReport {
  /** All formats first, then the target formats together if all are there, then one for each format that has sessions. */
  readonly groups: readonly GroupReport[];
  /** Files that hold no session of a known format. */
  readonly skipped: readonly string[];
}

/** One session with its figures by policy; what the bootstrap draws. */
type Measured = ReadonlyMap<string, Figures>;

/** Measures all policies on all sessions. */
export function reportFidelity(
  contexts: readonly RecordedSession[],
  skipped: readonly string[],
): FidelityReport {
  const measured = contexts.map((context) => {
    const figures = POLICIES.map((policy) => [policy.name, measure(context, policy)] as const);
    return { context, figures: new Map(figures) };
  });
  const groupOf = (group: string, formats: readonly string[]): GroupReport => {
    const members = measured.filter(({ context }) => formats.includes(context.format));
    const bySource = new Map<string, Measured[]>();
    for (const { context, figures } of members) {
      bySource.set(context.source, [...(bySource.get(context.source) ?? []), figures]);
    }
    const sessions = [...bySource.values()].map(sumOfContexts);
    return {
      group,
      formats,
      sessions: sessions.length,
      contexts: members.length,
      edits: members.reduce((sum, { context }) => sum + context.edits.length, 0),
      unseenEdits: members.reduce((sum, { context }) => sum + context.unseenEdits, 0),
      policies: POLICIES.map(({ name, role = 'compared' }) => {
        const figures = sumFigures(sessions.flatMap((session) => session.get(name) ?? []));
        return {
          policy: name,
          role,
          retained: retainedShare(figures),
          saved: savedShare(figures),
          cost: costShare(figures),
          ...figures,
        };
      }),
      lifts: BASELINES.flatMap(({ own, random, oldest }) =>
        [random, oldest].map((baseline) => liftOf(sessions, own.name, baseline.name)),
      ),
    };
  };
  const formats = [...new Set(contexts.map(({ format }) => format))].sort();
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

function sumOfContexts(contexts: readonly Measured[]): Measured {
  return new Map(
    POLICIES.map(({ name }) => {
      return [name, sumFigures(contexts.flatMap((context) => context.get(name) ?? []))];
    }),
  );
}

function liftOf(sessions: readonly Measured[], policy: string, over: string): Lift {
  const shareIn = (drawn: readonly Measured[], name: string, kind: NeedKind): number => {
    let [part, whole] = [0, 0];
    for (const session of drawn) {
      const figures = session.get(name);
      if (figures === undefined) continue;
      const ratio = outcomeRatio(figures, [kind], 'inView');
      part += ratio.part;
      whole += ratio.whole;
    }
    return shareOf({ part, whole }, NaN);
  };
  const kinds: Partial<Record<NeedKind, LiftOfKind>> = {};
  for (const kind of NEED_KINDS) {
    const inView = (drawn: readonly Measured[]): number => shareIn(drawn, policy, kind);
    const lift = (drawn: readonly Measured[]): number => inView(drawn) - shareIn(drawn, over, kind);
    if (Number.isNaN(inView(sessions))) continue;
    kinds[kind] = {
      inView: inView(sessions),
      inViewInterval: bootstrap(sessions, inView),
      lift: lift(sessions),
      liftInterval: bootstrap(sessions, lift),
    };
  }
  return { policy, over, kinds };
}
