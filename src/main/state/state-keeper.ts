// Saves the state of one session, and tool results that edits removed, in a store for other processes. A slow, full or unreachable
// store costs one timeout and one warning: the turn continues, and the state is saved once the store is back.

import { hash } from 'node:crypto';
import { isToolResponseBlock } from '../../shared/content.js';
import type { IContent, ToolResponseBlock } from '../../shared/content.js';
import { CtxfoldError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type { Logger } from '../host/logger.js';
import { withDeadline } from '../waiting/abortable.js';
import type { Journal } from './journal.js';
import { isNewer, newerState } from './session-state.js';
import { DEFAULT_LIMITS, readStored, storeFailed } from './state-store.js';
import type { StateStore, StoredState } from './state-store.js';

export interface StateKeeperOptions {
  readonly store: StateStore;
  /** Names the conversation. @default it is identified by its first entries */
  readonly conversationId?: string | undefined;
  readonly logger: Logger;
  /** Shared by all keepers of a store. @default not shared */
  readonly outage?: Outage | undefined;
}

/** After a failure, the store is not used for this long. */
const PAUSE_MS = 5_000;

/** A state of a newer format version is not overwritten until it is this old. */
const PROTECTED_MS = 3_600_000;

/**
 * Index of the first key under which a state stays when its conversation grows beyond it: that of the first 16 entries. A branch of the
 * conversation goes on from there. Fewer entries may be those of other conversations, which only begin alike.
 */
const BRANCHING_FROM = 4;

const MAX_CONCURRENT_PUTS = 8;

/** The two kinds of content in a store. */
export type Kept = 'state' | 'originals';

/** What a store fails to keep at present, by the keeper that failed last, and until when no keeper asks the store. Only one of them warns. */
export type Outage = Map<Kept, { readonly by: StateKeeper; readonly untilMs: number }>;

const WARNINGS: Readonly<Record<Kept, string>> = {
  state: 'the state of a session is not kept; it goes on without',
  originals: 'results that an edit removed are not kept for other processes yet',
};

/** The outcome of a save: saved, not saved, or the state that another process has saved first. */
export type KeepOutcome = { readonly overtakenBy: unknown } | 'kept' | 'not-kept';

/** The state of one conversation in a store. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #key: string | undefined;
  #version: number | null = null;
  /** When the state that was loaded or saved last was made, in milliseconds since the epoch. */
  #stateAt = 0;
  /** Digests of states whose save was not answered; they may have been saved nevertheless. */
  readonly #unanswered = new Set<string>();
  #keptEntries = 0;
  readonly #removedCallIds = new Set<string>();
  #putting: Promise<void> = Promise.resolve();
  readonly #warned = new Set<'newer' | 'size' | Kept>();
  /** What this keeper's last calls of the store failed to save or load, or left out during a pause. */
  readonly #failing = new Set<Kept>();
  /** On the monotonic clock. Separate by kind, because a full disk may still take a state but no original. */
  readonly #pausedUntilMs: Record<Kept, number> = { state: 0, originals: 0 };
  readonly #outage: Outage;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
    this.#outage = options.outage ?? (new Map() as Outage);
  }

  /** Whether a call of the store has failed or was left out, and no write of the same kind has succeeded since. */
  get isFailing(): boolean {
    return this.#failing.size > 0;
  }

  /** Whether the conversation has a name, under which every process finds its state and originals. */
  get isNamed(): boolean {
    return this.#options.conversationId !== undefined;
  }

  /** Ends the pause after a failure, so that the next call reaches the store. */
  endPause(): void {
    this.#pausedUntilMs.state = this.#pausedUntilMs.originals = 0;
    for (const what of this.#outage.keys()) this.#outage.set(what, { by: this, untilMs: 0 });
  }

  /** Number of added entries that the last saved state covers. */
  get keptEntries(): number {
    return this.#keptEntries;
  }

  /**
   * Returns the conversation's saved state; `undefined` if there is none, this keeper saved it itself in a call that was not
   * answered, or the store does not answer.
   *
   * @param names keys for prefixes of the history, from its digest
   */
  async load(names: readonly string[]): Promise<unknown> {
    for (const key of this.#keysOf(names)) {
      const stored = await this.#read(key);
      if (stored === undefined) return undefined;
      if (stored === null) continue;
      const state = parse(stored);
      this.#key = key;
      this.#version = mayNotOverwrite(state) ? null : stored.version;
      if (this.#isOwn(stored)) return undefined;
      this.#stateAt = atOf(state);
      return state;
    }
    return undefined;
  }

  /**
   * Returns the conversation's state if another process has saved one since. The next save then replaces that state.
   *
   * @param names as for `load` @default none, which finds only a named conversation
   */
  async loadNewer(names: readonly string[] = []): Promise<unknown> {
    const [key, known, knownAt] = [this.#key, this.#version, this.#stateAt];
    const state = await this.load(names);
    if (this.#key !== key) return state;
    // The version may be lower: a store that lost its last saves has an older state; one that lost the key restarted its versions.
    const isNewer = (this.#version ?? 0) > (known ?? 0) || this.#stateAt > knownAt;
    return isNewer ? state : undefined;
  }

  /**
   * Saves a state, and the originals of results removed since the last save. If another process has saved a state since, returns
   * that state instead, and the next save replaces it.
   *
   * @param journal the journal of the history that the state describes
   * @param isLate whether another process may serve the conversation by now: then only the keeper's own key is written @default false
   */
  async save(
    state: object,
    { digest, length, added = [] }: Journal,
    isLate: boolean = false,
  ): Promise<KeepOutcome> {
    const outcome = await this.#save(state, digest.names, isLate);
    if (outcome !== 'kept') return outcome;
    this.#stateAt = atOf(state);
    this.#keptEntries = length;
    // In the background; only `settled` waits for it.
    const named = this.#namedKey;
    if (named !== undefined) this.#putting = this.#putting.then(() => this.#putEach(named, added));
    return outcome;
  }

  async #save(state: object, names: readonly string[], isLate: boolean): Promise<KeepOutcome> {
    const [key] = this.#keysOf(names);
    if (key === undefined) return 'not-kept';
    const { store } = this.#options;
    const text = JSON.stringify(state);
    const maxBytes = store.limits?.maxBytes ?? DEFAULT_LIMITS.maxBytes;
    if (Buffer.byteLength(text) > maxBytes) {
      const message = `The state takes more than ${maxBytes} bytes: raise \`maxBytes\` of the store.`;
      this.#warnOnce('size', new CtxfoldError(message, 'STORE_FAILED'));
      return 'not-kept';
    }
    const former = this.#key;
    if (former === key) return this.#saveAs(key, text, isLate);
    if (isLate) return 'not-kept';
    // The history has grown, so the key is of a longer prefix now. Another process may have saved under the former, shorter one.
    const saved = former === undefined ? 'not-kept' : await this.#saveAs(former, text, true);
    if (typeof saved === 'object') return saved;
    const isLost = saved === 'not-kept' && this.#options.conversationId === undefined;
    const found = isLost ? await this.load(names) : undefined;
    if (found !== undefined) return { overtakenBy: found };
    const version = this.#version;
    this.#version = null;
    const outcome = await this.#saveAs(key, text);
    if (outcome === 'not-kept') this.#version = version;
    else this.#key = key;
    if (outcome !== 'kept' || former === undefined) return outcome;
    const isForBranches = this.#keysOf(names.slice(BRANCHING_FROM)).includes(former);
    if (!isForBranches) await this.#callStore((open) => open.delete(former));
    return outcome;
  }

  /** @param isFormer whether another process may have moved the state of this key to that of a longer prefix @default false */
  async #saveAs(key: string, text: string, isFormer = false): Promise<KeepOutcome> {
    const outcome = await this.#swap(key, text, isFormer);
    const again = outcome === 'outdated' ? await this.#swap(key, text, isFormer) : outcome;
    return again === 'outdated' ? 'not-kept' : again;
  }

  /** Compare-and-swap against the known version. `outdated`: that version was wrong, but no other process has saved; retry. */
  async #swap(key: string, text: string, isFormer: boolean): Promise<KeepOutcome | 'outdated'> {
    const known = this.#version;
    const asked: StateStore[] = [];
    const outcome = await this.#callStore(async (store) => {
      asked.push(store);
      const saved: unknown = await store.save(key, text, known);
      // A store of the host may return nothing, or a number as text, as PostgreSQL's clients do with BIGINT.
      if (saved === 'conflict' || typeof saved === 'number') return saved;
      throw new TypeError("Expected save to return a version, a number, or 'conflict'.");
    });
    if (outcome === undefined) {
      // Only if the store was called: during a pause it is not.
      if (asked.length > 0) this.#unanswered.add(hash('sha256', text));
      return 'not-kept';
    }
    this.#noteWritten('state');
    if (outcome !== 'conflict') {
      this.#version = outcome;
      this.#unanswered.clear();
      return 'kept';
    }
    return this.#meetConflict(key, text, known, isFormer);
  }

  /** Reads the state that stands in the way of a save, and decides whether to save again, as in `#swap`. */
  async #meetConflict(
    key: string,
    text: string,
    known: number | null,
    isFormer: boolean,
  ): Promise<KeepOutcome | 'outdated'> {
    const winner = await this.#read(key);
    const state = winner ? parse(winner) : undefined;
    if (mayNotOverwrite(state)) {
      this.#version = null;
      this.#warnOnce('newer', newerState());
      return 'not-kept';
    }
    // Keep the known version: with `null`, the next save would create the key again.
    const isMoved = isFormer && this.#options.conversationId === undefined;
    if (winner === null && isMoved) return 'not-kept';
    this.#version = winner?.version ?? null;
    if (winner === undefined) return 'not-kept';
    if (winner === null) return 'outdated';
    // Conflicts without another process: the store's client retried a save that had succeeded, the answer to an earlier save was
    // lost, or the store came back with older data.
    if (winner.state === text) return 'kept';
    const isOlder = known !== null && winner.version < known && atOf(state) <= this.#stateAt;
    if (isOlder || this.#isOwn(winner)) return 'outdated';
    this.#stateAt = atOf(state);
    return { overtakenBy: state };
  }

  /** Whether this keeper saved a state itself, in a call that was not answered. */
  #isOwn({ state }: StoredState): boolean {
    return this.#unanswered.size > 0 && this.#unanswered.has(hash('sha256', state));
  }

  /** Notes calls whose results were removed: their originals are saved with the next state. */
  noteRemoved(callIds: Iterable<string>): void {
    if (this.#options.conversationId === undefined) return;
    for (const callId of callIds) this.#removedCallIds.add(callId);
  }

  /**
   * Puts originals, a few at a time: an edit may remove hundreds of results, and a file or query for each at once would exhaust the process's
   * files or connections. Originals that the store does not take are put again after the next save.
   */
  async #putEach(key: string, added: readonly IContent[]): Promise<void> {
    const callIds = new Set(this.#removedCallIds);
    if (callIds.size === 0) return;
    this.#removedCallIds.clear();
    const results = added.flatMap(({ blocks }) => blocks.filter(isToolResponseBlock));
    // A store keeps the first result that it gets for a call.
    const isFinal = ({ callId, isComplete }: ToolResponseBlock): boolean =>
      callIds.has(callId) && isComplete !== false;
    const rest = results.filter(isFinal).values();
    const putRest = async (): Promise<void> => {
      for (const block of rest) {
        const original = JSON.stringify(block);
        const isPut = await this.#callStore(async (store) => {
          await store.put?.(key, nameOf(block.callId), original);
          return true;
        }, 'originals');
        if (isPut === undefined) this.#removedCallIds.add(block.callId);
        else this.#noteWritten('originals');
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_PUTS }, putRest));
  }

  /** Resolves when no write of originals is pending. */
  async settled(): Promise<void> {
    await this.#putting;
  }

  /** Returns an original result of this conversation, or `undefined`. */
  async get(callId: string): Promise<string | undefined> {
    const key = this.#namedKey;
    if (key === undefined) return undefined;
    const name = nameOf(callId);
    const found = await this.#callStore(async (store) => store.get?.(key, name));
    return found ?? undefined;
  }

  /** The key of a named conversation. Other conversations store no originals, because several may share their first entries. */
  get #namedKey(): string | undefined {
    return this.#options.conversationId === undefined ? undefined : this.#keysOf([])[0];
  }

  /** The keys under which the conversation may be stored: of the longest prefix first. */
  #keysOf(names: readonly string[]): readonly string[] {
    const { conversationId } = this.#options;
    if (conversationId === undefined) return names.toReversed().map((name) => `begins-${name}`);
    return [`named-${nameOf(conversationId)}`];
  }

  /**
   * Loads a state; `null` if there is none, `undefined` if the store fails or is paused. A store that rejects is asked once more: a
   * lost connection is usually replaced at once, and a process that goes on without the state rewrites the prompt cache.
   */
  #read(key: string): Promise<StoredState | null | undefined> {
    return this.#callStore(async (store) => {
      const load = async (): Promise<StoredState | null> => store.load(key);
      // A store written in JavaScript may return `undefined` for an unknown key.
      const stored = (await load().catch(load)) ?? null;
      return stored && readStored(stored);
    });
  }

  /** Calls the store; `undefined` if it fails, or is paused after a failure. */
  async #callStore<Answer>(
    ask: (store: StateStore) => Promise<Answer>,
    what: Kept = 'state',
  ): Promise<Answer | undefined> {
    const { store } = this.#options;
    const { untilMs = 0 } = this.#outage.get(what) ?? {};
    if (performance.now() < Math.max(this.#pausedUntilMs[what], untilMs)) {
      this.#failing.add(what);
      return undefined;
    }
    const deadlineMs = store.limits?.deadlineMs ?? DEFAULT_LIMITS.deadlineMs;
    let isLate = false as boolean;
    const late = (): Error => {
      isLate = true;
      return new CtxfoldError(`The store gave no answer within ${deadlineMs} ms.`, 'STORE_FAILED');
    };
    try {
      return await withDeadline(deadlineMs, undefined, late, async () => ask(store));
    } catch (thrown) {
      const pausedUntilMs = performance.now() + PAUSE_MS;
      this.#pausedUntilMs[what] = pausedUntilMs;
      this.#failing.add(what);
      const former = this.#outage.get(what);
      // If two get no answer, and no write succeeds in between, the others need not wait for one, too.
      const isForAll = isLate && former !== undefined && former.by !== this;
      this.#outage.set(what, { by: this, untilMs: isForAll ? pausedUntilMs : 0 });
      if (former === undefined) this.#warnOnce(what, storeFailed(thrown));
      return undefined;
    }
  }

  /** Ends an outage. Only a write does: a store that can be read may still refuse writes (a full disk, a replica). */
  #noteWritten(what: Kept): void {
    this.#failing.delete(what);
    this.#warned.delete(what);
    this.#outage.delete(what);
  }

  #warnOnce(what: 'newer' | 'size' | Kept, error: Error): void {
    const warning = WARNINGS[what === 'originals' ? what : 'state'];
    if (!this.#warned.has(what)) this.#options.logger.warn(warning, { error });
    this.#warned.add(what);
  }
}

/**
 * Whether a state must not be overwritten, because it belongs to servers that already run a newer version of this library: they
 * would lose their decisions. An hour after the last of them has saved it, it may be replaced.
 */
function mayNotOverwrite(state: unknown): boolean {
  if (!isRecord(state) || !isNewer(state)) return false;
  return Math.abs(Date.now() - atOf(state)) < PROTECTED_MS;
}

/** When a state was made, in milliseconds since the epoch; 0 for anything that is no state. */
function atOf(state: unknown): number {
  return isRecord(state) && typeof state['at'] === 'number' ? state['at'] : 0;
}

/**
 * The name of a conversation or a call in the store. Hashed, because some databases limit length and characters, and a call id may
 * contain a signature of a kilobyte. UTF-8 maps all lone surrogates to one character, so ids with surrogates are hashed as UTF-16.
 */
function nameOf(id: string): string {
  return hash('sha256', /\p{Surrogate}/u.test(id) ? Buffer.from(id, 'utf16le') : id);
}

/** Invalid JSON is passed on as it is: `openState` rejects it. */
function parse({ state }: StoredState): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}
