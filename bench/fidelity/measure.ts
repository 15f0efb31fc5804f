// Plays a recorded session through a policy: what each model call is sent, and whether what the agent needed is still in view.

import { isAnswer } from '../../src/cli/replay/session-player.js';
import type { IContent } from '../../src/index.js';
import { ContextMeter } from './context-meter.js';
import type { RequestFigures } from './context-meter.js';
import { NEED_KINDS, USED_KINDS } from './needs/need.js';
import type { Need, NeedKind } from './needs/need.js';
import { KEEP_ALL } from './policies.js';
import type { Policy } from './policy.js';
import { ReadingAgain } from './reading-again.js';
import type { ReadingFigures } from './reading-again.js';
import type { RecordedSession } from './recorded-session.js';
import { OUTCOMES, View } from './recovery.js';
import type { Outcome } from './recovery.js';

/** An edit whose text a policy removed from view. */
export interface EditAtRisk {
  readonly source: string;
  readonly entry: number;
  readonly callId: string;
  readonly tool: string;
  readonly file: string;
  /** The number of lines it replaced, and how many of them were gone. */
  readonly lineCount: number;
  readonly missing: readonly string[];
}

/** The weight of a kind's needs, by outcome. */
export type OutcomeWeights = Readonly<Record<Outcome, number>>;

/** What a policy did to some sessions. */
export interface Figures extends RequestFigures, ReadingFigures {
  readonly needs: Readonly<Record<NeedKind, OutcomeWeights>>;
  /** Edits whose text the unpruned context held in full. */
  readonly edits: number;
  readonly atRisk: readonly EditAtRisk[];
  /** Distinct pairs of file and call among the edits at risk: what the agent would have had to read again. */
  readonly rereads: number;
  /** The requests of the unpruned session. */
  readonly unpruned: RequestFigures;
}

const NO_REQUESTS: RequestFigures = new ContextMeter().figures;
const NOTHING_READ: ReadingFigures = new ReadingAgain().figures;

/** Measures a policy on a session. */
export function measure(session: RecordedSession, policy: Policy): Figures {
  const needs = noNeeds();
  const atRisk: EditAtRisk[] = [];
  const reading = new ReadingAgain();
  const calls = session.transcript.entries.filter(isAnswer).length;
  const requests = play(session, policy, (context, asked, tokens, call) => {
    const view = new View(context, session.blocks);
    for (const need of asked) {
      const missing = view.missing(need);
      needs[need.kind][outcomeOf(view, need, missing, session)] += need.weight;
      if (missing.length === 0) continue;
      if (need.kind === 'edit') atRisk.push(editAtRisk(session.source, need, missing));
      if (!USED_KINDS.has(need.kind)) continue;
      for (const at of missing) reading.pay(need.shownBy[at] ?? [], call, calls - call, tokens);
    }
  });
  return {
    ...requests,
    ...reading.figures,
    needs,
    edits: session.edits.length,
    atRisk,
    rereads: new Set(atRisk.map(({ entry, callId, file }) => JSON.stringify([entry, callId, file])))
      .size,
    unpruned: policy === KEEP_ALL ? requests : unprunedOf(session),
  };
}

/** Adds up the figures of several sessions. */
export function sumFigures(figures: readonly Figures[]): Figures {
  const needs = noNeeds();
  for (const kind of NEED_KINDS) {
    for (const outcome of OUTCOMES) {
      for (const each of figures) needs[kind][outcome] += each.needs[kind][outcome];
    }
  }
  return {
    ...sumFields(NO_REQUESTS, figures),
    ...sumFields(NOTHING_READ, figures),
    needs,
    edits: figures.reduce((sum, { edits }) => sum + edits, 0),
    atRisk: figures.flatMap(({ atRisk }) => atRisk),
    rereads: figures.reduce((sum, { rereads }) => sum + rereads, 0),
    unpruned: sumFields(
      NO_REQUESTS,
      figures.map(({ unpruned }) => unpruned),
    ),
  };
}

/** Adds up the fields of `zero`. */
function sumFields<T extends object>(zero: T, parts: readonly T[]): T {
  const sums: Record<string, number> = {};
  for (const field of Object.keys(zero)) {
    sums[field] = parts.reduce((sum, part) => sum + Number(part[field as keyof T]), 0);
  }
  return { ...zero, ...sums };
}

function noNeeds(): Record<NeedKind, Record<Outcome, number>> {
  const none = NEED_KINDS.map((kind) => [kind, { inView: 0, recoverable: 0, lost: 0 }] as const);
  return Object.fromEntries(none) as Record<NeedKind, Record<Outcome, number>>;
}

function outcomeOf(
  view: View,
  need: Need,
  missing: readonly number[],
  { recovery }: RecordedSession,
): Outcome {
  if (missing.length === 0) return 'inView';
  return view.isRecoverable(need, missing, recovery) ? 'recoverable' : 'lost';
}

function editAtRisk(
  source: string,
  { entry, callId, tool, file, lines }: Need,
  missing: readonly number[],
): EditAtRisk {
  const gone = missing.map((at) => lines[at] ?? '');
  return { source, entry, callId, tool, file, lineCount: lines.length, missing: gone };
}

const UNPRUNED = new WeakMap<RecordedSession, RequestFigures>();

function unprunedOf(session: RecordedSession): RequestFigures {
  const figures = UNPRUNED.get(session) ?? play(session, KEEP_ALL);
  UNPRUNED.set(session, figures);
  return figures;
}

/** Calls back before each model call that has needs. */
function play(
  session: RecordedSession,
  policy: Policy,
  onNeeds?: (
    context: readonly IContent[],
    needs: readonly Need[],
    tokens: number,
    call: number,
  ) => void,
): RequestFigures {
  const { entries } = session.transcript;
  const send = policy.start(session);
  const meter = new ContextMeter();
  let sentUpTo = 0;
  let call = 0;
  entries.forEach((entry, index) => {
    if (!isAnswer(entry)) return;
    const context = send(entries.slice(sentUpTo, index));
    sentUpTo = index;
    meter.send(context, session.gapsMs[call]);
    const needs = session.needsOf.get(index);
    if (needs !== undefined) onNeeds?.(context, needs, meter.lastTokens, call);
    call += 1;
  });
  return meter.figures;
}
