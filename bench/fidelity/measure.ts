// Plays a recorded session through a policy: what each model call is sent, and whether it still shows
// what the agent replaced in its answer.

import { estimateEntryTokens } from '../../src/index.js';
import type { ContentBlock, IContent } from '../../src/index.js';
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
export interface Figures {
  /** Edits whose text the unpruned context held in full. */
  readonly edits: number;
  readonly atRisk: readonly EditAtRisk[];
  /** Distinct file and call among the edits at risk: what the agent would have had to read again. */
  readonly rereads: number;
  readonly modelCalls: number;
  /** Estimated input tokens, summed over all model calls. */
  readonly tokens: number;
  readonly unprunedTokens: number;
  /** Calls before which the context changed ahead of the last entry that the previous call was sent. */
  readonly cacheRewrites: number;
}

/** Measures a policy on a session. */
export function measure(session: RecordedSession, policy: Policy): Figures {
  const atRisk: EditAtRisk[] = [];
  const { modelCalls, tokens, cacheRewrites } = play(session, policy, (context, edits) => {
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
  const unpruned = policy === KEEP_ALL ? { tokens } : play(session, KEEP_ALL);
  return {
    edits: session.edits.length,
    atRisk,
    rereads: new Set(atRisk.map(({ entry, callId, file }) => JSON.stringify([entry, callId, file])))
      .size,
    modelCalls,
    tokens,
    unprunedTokens: unpruned.tokens,
    cacheRewrites,
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
    unprunedTokens: sum(({ unprunedTokens }) => unprunedTokens),
    cacheRewrites: sum(({ cacheRewrites }) => cacheRewrites),
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

type Played = Pick<Figures, 'modelCalls' | 'tokens' | 'cacheRewrites'>;

/** Calls back before each model call that made edits. */
function play(
  session: RecordedSession,
  policy: Policy,
  onEdits?: (context: readonly IContent[], edits: readonly SessionEdit[]) => void,
): Played {
  const { entries } = session.transcript;
  const send = policy.start(session);
  const meter = new ContextMeter();
  const played = { modelCalls: 0, tokens: 0, cacheRewrites: 0 };
  let sentUpTo = 0;
  entries.forEach(({ speaker }, index) => {
    if (speaker !== 'ai') return;
    const context = send(entries.slice(sentUpTo, index));
    sentUpTo = index;
    const { tokens, isRewritten } = meter.send(context);
    played.modelCalls += 1;
    played.tokens += tokens;
    if (isRewritten) played.cacheRewrites += 1;
    const edits = session.edits.filter(({ entry }) => entry === index);
    if (edits.length > 0) onEdits?.(context, edits);
  });
  return played;
}

/** Estimates what each call is sent, and looks at entries from the first one that changed only. */
class ContextMeter {
  readonly #sent: IContent[] = [];
  /** Tokens before the entry of that index. */
  readonly #tokensBefore: number[] = [0];

  send(context: readonly IContent[]): { readonly tokens: number; readonly isRewritten: boolean } {
    const sent = this.#sent;
    const before = this.#tokensBefore;
    let same = 0;
    while (same < sent.length && same < context.length && sent[same] === context[same]) same += 1;
    const isRewritten = same < sent.length - 1;
    sent.length = same;
    before.length = same + 1;
    let tokens = before[same] ?? 0;
    for (const entry of context.slice(same)) {
      tokens += estimateEntryTokens(entry);
      sent.push(entry);
      before.push(tokens);
    }
    return { tokens, isRewritten };
  }
}
