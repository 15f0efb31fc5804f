// The measured figures of a set of sessions, by policy: over all formats, over the target formats, and per format. Plain data,
// which `--json` prints.

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

/** The formats that the targets apply to, as a group. */
const TARGET_FORMATS: readonly string[] = ['claude-code', 'codex'];

/** The figures of one policy. */
export interface PolicyReport extends Figures {
  readonly policy: string;
  readonly role: PolicyRole;
  /** Share of the edits whose text stayed in view. */
  readonly retained: number;
  /** Share of the unpruned input tokens that was not sent. */
  readonly saved: number;
  /** Price of the input as a share of the unpruned price. */
  readonly cost: number;
}

/** What an own policy retains beyond a naive one that drops as many tokens, as shares of the needs in view. */
export interface Lift {
  readonly policy: string;
  readonly over: string;
  /** By kind that has needs: the policy's share, the difference, and their intervals over sessions. */
  readonly kinds: Readonly<Partial<Record<NeedKind, LiftOfKind>>>;
}

export interface LiftOfKind {
  readonly inView: number;
  readonly inViewInterval: Interval;
  readonly lift: number;
  readonly liftInterval: Interval;
}

/** The figures of all policies on a group of sessions. */
export interface GroupReport {
  /** The format, or the name of a combined group. */
  readonly group: string;
  /** The formats of the sessions, sorted. */
  readonly formats: readonly string[];
  readonly sessions: number;
  /** Contexts of the sessions; each session is cut where its agent compacted. */
  readonly contexts: number;
  readonly edits: number;
  /** Edits of lines that the session did not show before; not counted. */
  readonly unseenEdits: number;
  readonly policies: readonly PolicyReport[];
  readonly lifts: readonly Lift[];
}

export interface FidelityReport {
  /** All formats, then the target formats if all are present, then each format with sessions. */
  readonly groups: readonly GroupReport[];
  /** Files without a session of a known format. */
  readonly skipped: readonly string[];
}

/** One session's figures by policy: the unit of the bootstrap. */
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

/** The most informative group: the target formats if present, else all. */
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
