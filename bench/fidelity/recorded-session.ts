// A recorded session as measured: its entries, and what the agent needed of them. Reads no files.

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

/** One context of a session: from its start or a compaction by the agent to the next compaction. */
export interface RecordedSession {
  /** The file it was read from; several contexts of one session share it. */
  readonly source: string;
  /** Its agent: the format of the transcript, or the name in a trace. */
  readonly format: string;
  readonly transcript: Transcript;
  /** Whether it holds texts; a trace holds only lengths. @default true */
  readonly hasTexts?: boolean;
  /** Needs of all kinds, by the entry with the answer. */
  readonly needsOf: ReadonlyMap<number, readonly Need[]>;
  /** The needs of kind `edit`. */
  readonly edits: readonly Need[];
  /** The number of edits whose lines were not in the context before, as after a summary. */
  readonly unseenEdits: number;
  /** Milliseconds since the previous model call, by call. */
  readonly gapsMs: readonly number[];
  /** All recorded blocks: any other block that is sent was made by a policy. */
  readonly blocks: ReadonlySet<ContentBlock>;
  /** By call id: what a new call has to name to get the result again. */
  readonly recovery: RecoveryKeys;
}

/** Prepares a session for measuring as one context. Edits that failed are ignored, because they replaced nothing. */
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

/** A context with known needs. */
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

/** Prepares a session for measuring, cut where the agent compacted, because its old context ends there. */
export function recordContexts(source: string, transcript: Transcript): readonly RecordedSession[] {
  const { entries } = transcript;
  const starts = entries.flatMap(({ speaker, metadata }, at) =>
    at > 0 && speaker === 'human' && metadata?.isSummary === true ? [at] : [],
  );
  return [0, ...starts].map((start, at) =>
    recordSession(source, { ...transcript, entries: entries.slice(start, starts[at]) }),
  );
}
