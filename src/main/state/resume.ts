// Continues a history from the saved state of an earlier session: finds how much of it is unchanged, and replays the journal
// over that. In slices, so that the event loop gets its turns; counts nothing.

import type { IContent } from '../../shared/content.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { elementAt } from '../../shared/misuse.js';
import { foldJournal, isSendable } from '../../shared/state/fold-journal.js';
import type { Fold } from '../../shared/state/fold-journal.js';
import { readJournal } from '../../shared/state/journal-record.js';
import type { JournalRecord } from '../../shared/state/journal-record.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import { firstDifference } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';
import { inTurns } from '../waiting/event-loop-turn.js';
import { Journal } from './journal.js';
import type { KnownTokens } from '../tokens/token-ledger.js';
import type { SessionMemory, OpenState } from './session-state.js';
import { brokenState } from './session-state.js';

/**
 * How a history differs from the one that a state is of. `edited`: an entry changed. `shortened`: entries are missing at the
 * end. `foreign`: not even the first entry is the same. `not-followed`: its edits cannot be repeated, since another version of
 * this library made them.
 */
export interface StateDivergence {
  readonly reason: 'edited' | 'shortened' | 'foreign' | 'not-followed';
  /** Index of the first changed entry, among the added ones; for `not-followed`, the number of entries added by then. */
  readonly entry: number;
  /** Edits and summaries that could be repeated, and those that could not. */
  readonly followed: number;
  readonly left: number;
}

/** A history that continues from a state. */
export interface Resumed {
  /** The journal of the entries that the state covers. */
  readonly journal: Journal;
  /** The entries after the replayed edits. */
  readonly entries: readonly IContent[];
  /** Token counts of the first of them. */
  readonly tokens: KnownTokens;
  readonly memory: SessionMemory;
  /** Number of given entries that it covers; those behind them are new. */
  readonly taken: number;
  /** Absent if nothing differed. */
  readonly divergence?: StateDivergence;
}

export interface ResumeOptions {
  /** All entries as they were added; possibly more than the state covers. */
  readonly given: readonly IContent[];
  readonly toolCatalog: ToolCatalog | undefined;
  /** Known hashes of them. */
  readonly digests?: EntryDigests | undefined;
  /** Whether the journal is to keep the entries. */
  readonly keepsAdded: boolean;
}

/**
 * Continues a history from a state.
 *
 * @returns just the divergence if nothing of the state is usable
 * @throws TypeError for an entry that a history cannot hold.
 */
export function resume(
  state: OpenState,
  options: ResumeOptions,
): Promise<Resumed | StateDivergence> {
  return inTurns(resumeInSlices(state, options));
}

function* resumeInSlices(
  state: OpenState,
  { given, toolCatalog, digests: hashes, keepsAdded }: ResumeOptions,
): Generator<void, Resumed | StateDivergence, undefined> {
  const { digests, memory } = state;
  const taken = Math.min(digests.entries, given.length);
  const journal = new Journal(keepsAdded, hashes);
  const raw: IContent[] = [];
  for (let at = 0; at < taken; at += 1) {
    const entry = elementAt('history', given, at);
    assertIngestible(entry, at);
    raw.push(entry);
    journal.add(entry);
    if (at % 8 === 0) yield;
  }
  yield* journal.digest.settleInSlices();
  const known = firstDifference(digests, journal.digest.digests);
  const isShort = taken < digests.entries;
  if (known === 0 && digests.entries > 0)
    return { reason: 'foreign', entry: 0, followed: 0, left: 1 };
  let at = 0;
  const records = yield* readAll(state);
  const total = records.filter(({ kind }) => kind !== 'settings').length;
  const fold = yield* foldJournal(raw, known, records, toolCatalog);
  if (!(yield* isSendable(fold, raw)))
    return { reason: 'foreign', entry: 0, followed: 0, left: total };
  for (const record of fold.followed) {
    journal.note(record);
    if (record.kind !== 'settings') at = record.at;
  }
  journal.noteStanding(fold.entries);
  const followed = journal.count;
  const { entries } = fold;
  const isSame = known === taken && fold.isWhole && !isShort;
  if (isSame) return { journal, entries, tokens: state.tokens, memory, taken };
  const reason = known < taken ? 'edited' : isShort ? 'shortened' : ('not-followed' as const);
  return {
    journal,
    entries,
    tokens: state.tokens.slice(0, fold.intactEntries),
    memory: memoryOf(memory, fold),
    taken,
    divergence: {
      reason,
      entry: reason === 'not-followed' ? at : known,
      followed,
      left: total - followed,
    },
  };
}

/** @throws CtxfoldError `STATE_BROKEN` */
function* readAll({ journal }: OpenState): Generator<void, readonly JournalRecord[], undefined> {
  const records: JournalRecord[] = [];
  try {
    for (const record of readJournal(journal)) {
      records.push(record);
      if (records.length % 64 === 0) yield;
    }
  } catch (cause) {
    throw brokenState({ cause });
  }
  return records;
}

/** What stays valid of a session's memory when its history has changed. */
function memoryOf({ sent, costs, passes }: SessionMemory, fold: Fold): SessionMemory {
  return {
    sent: { ...sent, intactEntries: Math.min(sent.intactEntries, fold.intactEntries) },
    costs,
    passes: { ...passes, isSettled: false },
    floorTokens: 0,
    request: null,
  };
}
