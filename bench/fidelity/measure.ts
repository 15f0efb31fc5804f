// Plays a recorded session through a policy: what each model call is sent, and whether it still shows
// what the agent replaced in its answer.

import type { ContentBlock, IContent } from '../../src/index.js';
import { ContextMeter } from './context-meter.js';
import type { RequestFigures } from './context-meter.js';
import type { Policy } from './policies.js';
import { KEEP_ALL } from './policies.js';
import type { RecordedSession, SessionEdit } from './recorded-session.js';

/** An edit whose text a policy took from view. */
export interface EditAtRisk {
  readonly source: string;
  readonly entry: number;
  readonly callId: string;
  readonly tool: string;
  readonly file: string;
  /** How many lines it replaced, and those of them that were gone. */
  readonly lineCount: number;
  readonly missing: readonly string[];
}

/** What a policy did to some sessions. */
export interface Figures extends RequestFigures {
  /** Edits whose text the unpruned context held in full. */
  readonly edits: number;
  readonly atRisk: readonly EditAtRisk[];
  /** Distinct file and call among the edits at risk: what the agent would have had to read again. */
  readonly rereads: number;
  readonly unprunedTokens: number;
  readonly unprunedInputCost: number;
}

/** Measures a policy on a session. */
export function measure(session: RecordedSession, policy: Policy): Figures {
  const atRisk: EditAtRisk[] = [];
  const requests = play(session, policy, (context, edits) => {
    const shown = new Set<ContentBlock>();
    for (const block of context.flatMap(({ blocks }) => blocks)) {
      session.lines.add(block);
      shown.add(block);
    }
    for (const { lines, ...edit } of edits) {
      const missing = lines.filter((line) => !session.lines.isVisible(line, shown));
      if (missing.length === 0) continue;
      atRisk.push({ source: session.source, ...edit, lineCount: lines.length, missing });
    }
  });
  const unpruned = policy === KEEP_ALL ? requests : play(session, KEEP_ALL);
  return {
    ...requests,
    edits: session.edits.length,
    atRisk,
    rereads: new Set(atRisk.map(({ entry, callId, file }) => JSON.stringify([entry, callId, file])))
      .size,
    unprunedTokens: unpruned.tokens,
    unprunedInputCost: unpruned.inputCost,
  };
}

/** Adds up the figures of several sessions. */
export function sumFigures(figures: readonly Figures[]): Figures {
  const sum = (of: (figures: Figures) => number): number =>
    figures.reduce((total, each) => total + of(each), 0);
  return {
    edits: sum(({ edits }) => edits),
    atRisk: figures.flatMap(({ atRisk }) => atRisk),
    rereads: sum(({ rereads }) => rereads),
    modelCalls: sum(({ modelCalls }) => modelCalls),
    tokens: sum(({ tokens }) => tokens),
    cacheRewrites: sum(({ cacheRewrites }) => cacheRewrites),
    prefixChanges: sum(({ prefixChanges }) => prefixChanges),
    rewrittenTokens: sum(({ rewrittenTokens }) => rewrittenTokens),
    inputCost: sum(({ inputCost }) => inputCost),
    unprunedTokens: sum(({ unprunedTokens }) => unprunedTokens),
    unprunedInputCost: sum(({ unprunedInputCost }) => unprunedInputCost),
  };
}

/** Of the edits, the share whose text stayed in view. 1 where there were none. */
export function retainedShare({ edits, atRisk }: Figures): number {
  return edits === 0 ? 1 : 1 - atRisk.length / edits;
}

/** Of the unpruned input tokens, the share that was not sent. */
export function savedShare({ tokens, unprunedTokens }: Figures): number {
  return unprunedTokens === 0 ? 0 : 1 - tokens / unprunedTokens;
}

/** What the input cost, as a share of what it costs unpruned. */
export function costShare({ inputCost, unprunedInputCost }: Figures): number {
  return unprunedInputCost === 0 ? 1 : inputCost / unprunedInputCost;
}

/** Calls back before each model call that made edits. */
function play(
  session: RecordedSession,
  policy: Policy,
  onEdits?: (context: readonly IContent[], edits: readonly SessionEdit[]) => void,
): RequestFigures {
  const { entries } = session.transcript;
  const send = policy.start(session);
  const meter = new ContextMeter();
  let sentUpTo = 0;
  entries.forEach(({ speaker }, index) => {
    if (speaker !== 'ai') return;
    const context = send(entries.slice(sentUpTo, index));
    sentUpTo = index;
    meter.send(context);
    const edits = session.edits.filter(({ entry }) => entry === index);
    if (edits.length > 0) onEdits?.(context, edits);
  });
  return meter.figures;
}
