// A recorded session as the measurement sees it: its entries, and what the agent needed of them. Reads no file.

import type { ContentBlock } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';
import { gapsOf } from './gaps.js';
import { recoveryKeys } from './recovery.js';
import type { RecoveryKeys } from './recovery.js';
import { editNeeds } from './needs/edits.js';
import { errorNeeds } from './needs/errors.js';
import { identifierNeeds } from './needs/identifiers.js';
import type { Need } from './needs/need.js';
import { quoteNeeds } from './needs/quotes.js';
import { ShownBefore } from './needs/shown-before.js';
import { userWordNeeds } from './needs/user-words.js';

/** One context of a session: from its start, or from where the agent compacted, to the next such place. */
export interface RecordedSession {
  /** Where it was read from; several contexts of one session share it. */
  readonly source: string;
  /** Which agent it is of: a transcript's format, or what a trace names. */
  readonly format: string;
  readonly transcript: Transcript;
  /** Whether it holds what was said: of a trace there are lengths alone. @default true */
  readonly hasTexts?: boolean;
  /** Of all kinds, by the entry with the answer. */
  readonly needsOf: ReadonlyMap<number, readonly Need[]>;
  /** Those of kind `edit`. */
  readonly edits: readonly Need[];
  /** How many other edits there were: of lines that came from nowhere in the context, as from a summary. */
  readonly unseenEdits: number;
  /** By model call, milliseconds since the one before. */
  readonly gapsMs: readonly number[];
  /** All blocks: what a policy sends besides them, it has made. */
  readonly blocks: ReadonlySet<ContentBlock>;
  /** By id of a call, what has to be named to make it again. */
  readonly recovery: RecoveryKeys;
}

/** Takes a session as one context for measuring. Edits that the session tells to have failed replaced nothing and are left out. */
export function recordSession(source: string, transcript: Transcript): RecordedSession {
  const { entries, format } = transcript;
  const shown = new ShownBefore(entries);
  const { needs: edits, unseen } = editNeeds(transcript, shown);
  const others = [
    ...identifierNeeds(transcript),
    ...quoteNeeds(entries, shown),
    ...errorNeeds(transcript, shown),
    ...userWordNeeds(entries, shown),
  ];
  return contextOf(source, format, transcript, [...edits, ...others], unseen);
}

/** A context whose needs are known. */
export function contextOf(
  source: string,
  format: string,
  transcript: Transcript,
  needs: readonly Need[],
  unseenEdits: number,
): RecordedSession {
  const needsOf = new Map<number, Need[]>();
  for (const need of needs) {
    const others = needsOf.get(need.entry);
    if (others === undefined) needsOf.set(need.entry, [need]);
    else others.push(need);
  }
  return {
    source,
    format,
    transcript,
    needsOf,
    edits: needs.filter(({ kind }) => kind === 'edit'),
    unseenEdits,
    gapsMs: gapsOf(transcript.entries),
    blocks: new Set(transcript.entries.flatMap(({ blocks }) => blocks)),
    recovery: recoveryKeys(transcript),
  };
}

/** Takes a session for measuring, cut where the agent itself compacted: what stood before a summary is gone with it. */
export function recordContexts(source: string, transcript: Transcript): readonly RecordedSession[] {
  const { entries } = transcript;
  const starts = entries.flatMap(({ speaker, metadata }, at) =>
    at > 0 && speaker === 'human' && metadata?.isSummary === true ? [at] : [],
  );
  return [0, ...starts].map((start, at) =>
    recordSession(source, { ...transcript, entries: entries.slice(start, starts[at]) }),
  );
}
