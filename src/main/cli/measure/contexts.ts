// Where an agent compacted its own history, and so began with a context anew: what stands before made nothing after it stale.

import type { IContent } from '../../../index.js';
import type { Transcript } from '../../../transcripts.js';

/** The entries of one context. */
export interface Context {
  /** Index of the first one in the transcript. */
  readonly start: number;
  readonly entries: readonly IContent[];
}

/** Returns the contexts of a transcript in their order; one, when the agent never compacted. */
export function contextsOf({
  entries,
  contextStarts = [],
}: Pick<Transcript, 'entries' | 'contextStarts'>): readonly [Context, ...Context[]] {
  const [first = entries.length] = contextStarts;
  return [
    { start: 0, entries: entries.slice(0, first) },
    ...contextStarts.map((start, at) => ({
      start,
      entries: entries.slice(start, contextStarts[at + 1]),
    })),
  ];
}

/** Returns the context that holds an entry. */
export function contextAt<Part extends Context>(
  contexts: readonly [Part, ...Part[]],
  index: number,
): Part {
  return contexts.findLast(({ start }) => start <= index) ?? contexts[0];
}

const NOTHING: IContent = { speaker: 'human', blocks: [] };

/** Returns the entries up to the end of the context that holds one of them, with nothing in those before it: indices stay. */
export function historyAround(
  transcript: Pick<Transcript, 'entries' | 'contextStarts'>,
  index: number,
): readonly IContent[] {
  const { start, entries } = contextAt(contextsOf(transcript), index);
  return [...Array.from({ length: start }, () => NOTHING), ...entries];
}
