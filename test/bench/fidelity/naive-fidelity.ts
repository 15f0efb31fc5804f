// A second implementation of the measurement, for comparison: it joins all texts of a context and searches them. Shares
// no code with the first one, and need not be fast.

import { estimateEntryTokens } from '../../../src/index.js';
import type { ContentBlock, IContent } from '../../../src/index.js';
import type { Policy } from '../../../bench/fidelity/policy.js';
import type { RecordedSession } from '../../../bench/fidelity/recorded-session.js';

/** All texts of a block that a model can read; for a string of JSON, also the encoded values. */
export function naiveText(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'code') return block.code;
  if (block.type === 'tool_call') return naiveStrings(block.parameters);
  if (block.type !== 'tool_response') return '';
  return `${naiveStrings(block.result)}\n${block.error ?? ''}`;
}

function naiveStrings(value: unknown): string {
  if (typeof value === 'string') {
    if (!value.trimStart().startsWith('{') && !value.trimStart().startsWith('[')) return value;
    try {
      return `${value}\n${naiveStrings(JSON.parse(value))}`;
    } catch {
      return value;
    }
  }
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(naiveStrings).join('\n');
}

/** The counts of `measure`, with the lost edits as `entry/call/file`. */
export interface NaiveFigures {
  readonly lost: string[];
  /** Retained needs by kind, without identifiers, which take more than a search for text. */
  readonly inView: Readonly<Record<string, number>>;
  readonly modelCalls: number;
  readonly tokens: number;
  readonly cacheRewrites: number;
  readonly prefixChanges: number;
  readonly rewrittenTokens: number;
  readonly inputCost: number;
}

/** Compares each whole context with the previous one. */
export function naiveMeasure(session: RecordedSession, policy: Policy): NaiveFigures {
  const { entries } = session.transcript;
  const send = policy.start(session);
  const figures = {
    lost: [] as string[],
    inView: { edit: 0, quote: 0, error: 0, words: 0 } as Record<string, number>,
    modelCalls: 0,
    tokens: 0,
    cacheRewrites: 0,
    prefixChanges: 0,
    rewrittenTokens: 0,
    inputCost: 0,
  };
  let previous: readonly IContent[] = [];
  let from = 0;
  for (let at = 0; at < entries.length; at += 1) {
    if (entries[at]!.speaker !== 'ai') continue;
    const context = [...send(entries.slice(from, at))];
    from = at;

    const differs = previous.findIndex((entry, index) => entry !== context[index]);
    const isChanged = differs !== -1;
    const firstNew = isChanged ? differs : previous.length;
    const again = context.slice(firstNew).filter((entry) => previous.includes(entry));
    figures.modelCalls += 1;
    figures.tokens += tokensOf(context);
    figures.prefixChanges += isChanged ? 1 : 0;
    figures.cacheRewrites += isChanged && tokensOf(previous.slice(firstNew)) > 8_000 ? 1 : 0;
    figures.rewrittenTokens += tokensOf(again);
    figures.inputCost += 0.1 * tokensOf(context.slice(0, firstNew));
    figures.inputCost += 1.25 * tokensOf(context.slice(firstNew));
    previous = context;

    const text = context.flatMap(({ blocks }) => blocks.map(naiveText)).join('\n');
    for (const { kind, lines } of session.needsOf.get(at) ?? []) {
      const met = lines.every((line) => text.includes(line)) && !kind.startsWith('id-');
      if (met) figures.inView[kind] = (figures.inView[kind] ?? 0) + 1;
    }
    for (const { entry, callId, file, lines } of session.edits) {
      if (entry === at && !lines.every((line) => text.includes(line))) {
        figures.lost.push(`${entry}/${callId}/${file}`);
      }
    }
  }
  return figures;
}

function tokensOf(entries: readonly IContent[]): number {
  return entries.map(estimateEntryTokens).reduce((sum, each) => sum + each, 0);
}
