// Begins and ends the sessions of a compactor, with a state that the host passes, a store keeps, or this process remembers.

import type { IContent } from '../../shared/content.js';
import type { HistoryService } from '../history-service.js';
import type { Logger } from '../host/logger.js';
import type { EditPolicy } from '../preflight/edit-options.js';
import type { RestoredResponse } from '../removal-log/restore.js';
import type { TokenCalibration } from '../tokens/token-calibration.js';
import { inTurns } from '../waiting/event-loop-turn.js';
import { findOriginal } from './find-original.js';
import { HistoryDigest } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';
import { HistoryTrace } from './journal.js';
import { presentEntriesOf } from './present-entries.js';
import { checkEach, startHistory } from './resume.js';
import type { HistoryStart, HistoryStartOptions } from './resume.js';
import type { SessionState } from './session-state.js';
import { StateKeeper } from './state-keeper.js';
import type { Outage } from './state-keeper.js';
import type { StateStore } from './state-store.js';

export interface SessionStatesOptions {
  /** @default this process remembers states, up to a size limit */
  readonly store?: StateStore | undefined;
  readonly calibration: TokenCalibration;
  readonly logger: Logger;
}

/** The inputs with which a session begins. */
interface Beginning extends Pick<HistoryStartOptions, 'state' | 'given' | 'toolCatalog'> {
  /** The name of the conversation. @default it is identified by its first entries */
  readonly conversationId?: string | undefined;
  readonly edits: EditPolicy;
}

/** The saved states of a compactor's sessions. */
export class SessionStates {
  readonly #options: SessionStatesOptions;
  readonly #former = new FormerSessions();
  readonly #outage: Outage = new Map();

  constructor(options: SessionStatesOptions) {
    this.#options = options;
  }

  /** Initializes a history. @throws TypeError for an entry that a history cannot hold. */
  async begin(
    history: HistoryService,
    { state, given, conversationId, toolCatalog, edits }: Beginning,
  ): Promise<HistoryStart & { readonly keeper?: StateKeeper | undefined }> {
    const { store, calibration, logger } = this.#options;
    let digests: EntryDigests | undefined;
    const outage = this.#outage;
    const keeper = store && new StateKeeper({ store, conversationId, logger, outage });
    let known: unknown = state ?? undefined;
    // If the entries are added later, the first save finds the stored state.
    if (keeper !== undefined && given.length > 0) {
      if (conversationId === undefined) digests = new WeakMap();
      const names =
        digests === undefined ? [] : await inTurns(namesOf(given, digests), given.length);
      const kept = await keeper.load(names);
      known ??= kept;
    } else if (this.#remembers(edits))
      known ??= await inTurns(this.#former.find(given), given.length);
    const about = { state: known, given, toolCatalog, calibration, digests };
    return { ...(await startHistory(history, about)), keeper };
  }

  /** Returns what a call of a named conversation answered, if the store has it. The conversation may be open in other processes only. */
  async findOriginal(
    callId: string,
    conversationId: string,
  ): Promise<RestoredResponse | undefined> {
    const { store, logger } = this.#options;
    const outage = this.#outage;
    const keeper = store && new StateKeeper({ store, conversationId, logger, outage });
    return findOriginal(callId, conversationId, [], keeper);
  }

  /** Remembers a closed session if there is no store. Yields to the event loop while it hashes the remaining entries. */
  async end(
    history: HistoryService,
    edits: EditPolicy,
    snapshot: () => SessionState,
  ): Promise<void> {
    if (!this.#remembers(edits)) return;
    await inTurns(history.journal.digest.settleInSlices());
    await inTurns(presentEntriesOf(history).hashInSlices());
    this.#former.keep(history.journal.trace, snapshot());
  }

  /** Whether this process remembers states. Not under `every-turn`, where former edits matter only to hosts that pass a state. */
  #remembers(edits: EditPolicy): boolean {
    return this.#options.store === undefined && edits !== 'every-turn';
  }
}

function* namesOf(
  given: readonly IContent[],
  digests: EntryDigests,
): Generator<void, readonly string[], undefined> {
  const digest = new HistoryDigest(digests);
  yield* checkEach(given, (entry) => {
    digest.add(entry);
  });
  yield* digest.settleInSlices();
  return digest.names;
}

/** Maximum total length of the remembered states, in characters: tens of thousands of short sessions, or hundreds of long ones. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/**
 * States of closed sessions, so that a new session with the same entries sends what they sent. Used without a store. Bounded:
 * evicts the state kept longest ago. Retains no entries.
 */
class FormerSessions {
  /** States as JSON, which takes a third of the memory of the objects. */
  readonly #states = new Map<number, string>();
  #characters = 0;

  /** Remembers a closed session. */
  keep({ key }: HistoryTrace, state: SessionState): void {
    this.#delete(key);
    const json = JSON.stringify(state);
    // Makes V8 flatten the string, which was built from pieces.
    json.charCodeAt(0);
    this.#states.set(key, json);
    this.#characters += json.length;
    for (const oldest of this.#states.keys()) {
      if (this.#characters <= MAX_CHARACTERS) break;
      this.#delete(oldest);
    }
  }

  /**
   * Returns the state of the longest prefix of these entries, in slices.
   *
   * @throws TypeError for an entry that a history cannot hold.
   */
  *find(entries: readonly IContent[]): Generator<void, SessionState | undefined, undefined> {
    if (this.#states.size === 0) return undefined;
    const trace = new HistoryTrace();
    let found: string | undefined;
    yield* checkEach(entries, (entry) => {
      trace.add(entry);
      found = this.#states.get(trace.key) ?? found;
    });
    return found === undefined ? undefined : (JSON.parse(found) as SessionState);
  }

  #delete(key: number): void {
    const state = this.#states.get(key);
    if (state !== undefined) this.#characters -= state.length;
    this.#states.delete(key);
  }
}
