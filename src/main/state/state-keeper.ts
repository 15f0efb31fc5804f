// Saves the state of one session, and tool results that edits removed, in a store for other processes. A slow, full or unreachable
// store costs one wait and one warning: the turn goes on, and the state is saved once the store is back.

import { hash } from 'node:crypto';
import type { IContent, ToolResponseBlock } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import type { Logger } from '../host/logger.js';
import { withDeadline } from '../waiting/abortable.js';
import type { Journal } from './journal.js';
import { DEFAULT_LIMITS } from './state-store.js';
import type { StateStore, StoredState } from './state-store.js';

export interface StateKeeperOptions {
  readonly store: StateStore;
  /** Names the conversation. @default it is identified by its first entries */
  readonly conversationId?: string | undefined;
  readonly logger: Logger;
}

/** After a failure, the store is not used for this long. */
const PAUSE_MS = 5_000;

/** The outcome of a save: saved, not saved, or the state of the process that was faster. */
export type KeepOutcome = { readonly overtakenBy: unknown } | 'kept' | 'not-kept';

/** The state of one conversation in a store. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #key: string | undefined;
  #version: number | null = null;
  /** A state whose save was not answered; it may have been saved all the same. */
  #unanswered: string | undefined;
  #keptEntries = 0;
  readonly #removedCallIds = new Set<string>();
  /** By call id, originals that the store does not have yet. */
  readonly #originals = new Map<string, ToolResponseBlock>();
  readonly #puts = new Set<Promise<unknown>>();
  /** A disk that is full may still take a state, but no original. */
  readonly #ofStates: Patience = { isFailing: false, pausedUntilMs: -Infinity };
  readonly #ofOriginals: Patience = { isFailing: false, pausedUntilMs: -Infinity };

  constructor(options: StateKeeperOptions) {
    this.#options = options;
  }

  /** Whether the store failed when it was used last. */
  get isFailing(): boolean {
    return this.#ofStates.isFailing || this.#ofOriginals.isFailing;
  }

  /** Has the next call reach the store, however short ago it has failed. */
  endPause(): void {
    for (const patience of [this.#ofStates, this.#ofOriginals]) patience.pausedUntilMs = -Infinity;
  }

  /** Number of added entries that the last saved state covers. */
  get keptEntries(): number {
    return this.#keptEntries;
  }

  /**
   * Returns the conversation's saved state; `undefined` if there is none, or the store does not answer.
   *
   * @param names keys for prefixes of its history, from its digest
   */
  async load(names: readonly string[]): Promise<unknown> {
    for (const key of this.#keysOf(names)) {
      const stored = await this.#read(key);
      if (stored === undefined) return undefined;
      if (stored === null) continue;
      this.#key = key;
      this.#version = stored.version;
      return parse(stored);
    }
    return undefined;
  }

  /**
   * Returns the conversation's state if another process has saved one since; the next save goes on top of it.
   *
   * @param names as for `load`; none if only a named conversation is to be found
   */
  async loadNewer(names: readonly string[] = []): Promise<unknown> {
    const [key, known] = [this.#key, this.#version];
    const state = await this.load(names);
    if (this.#key !== key) return state;
    // A store that lost its last saves has an older one.
    return (this.#version ?? 0) > (known ?? 0) ? state : undefined;
  }

  /**
   * Saves a state, and the originals of what was removed since the last one was saved. If another process has saved since,
   * returns that state instead, and the next save goes on top of it.
   *
   * @param journal what the state is of
   */
  async save(state: object, { digest, length, added = [] }: Journal): Promise<KeepOutcome> {
    const outcome = await this.#save(state, digest.names);
    if (outcome !== 'kept') return outcome;
    this.#keptEntries = length;
    this.#putOriginals(added);
    return outcome;
  }

  async #save(state: object, names: readonly string[]): Promise<KeepOutcome> {
    const [key] = this.#keysOf(names);
    if (key === undefined) return 'not-kept';
    const { store } = this.#options;
    const text = JSON.stringify(state);
    const maxBytes = store.limits?.maxBytes ?? DEFAULT_LIMITS.maxBytes;
    if (Buffer.byteLength(text) > maxBytes) {
      this.#fail(this.#ofStates, new RangeError(`The state takes more than ${maxBytes} bytes.`));
      return 'not-kept';
    }
    const former = this.#key;
    if (former === key) return this.#saveAs(key, text);
    // From now on it is identified by a longer prefix. Another process may have saved under a shorter one.
    const ceded = former === undefined ? 'not-kept' : await this.#saveAs(former, text);
    if (typeof ceded === 'object') return ceded;
    const isLost = ceded === 'not-kept' && this.#options.conversationId === undefined;
    const found = isLost ? await this.load(names) : undefined;
    if (found !== undefined) return { overtakenBy: found };
    const version = this.#version;
    this.#version = null;
    const outcome = await this.#saveAs(key, text);
    if (outcome === 'not-kept') this.#version = version;
    else this.#key = key;
    if (outcome === 'kept' && former !== undefined)
      await this.#callStore((open) => open.delete(former));
    return outcome;
  }

  async #saveAs(key: string, text: string): Promise<KeepOutcome> {
    const outcome = await this.#swap(key, text);
    const again = outcome === 'outdated' ? await this.#swap(key, text) : outcome;
    return again === 'outdated' ? 'not-kept' : again;
  }

  /** Saves over the known version. `outdated`: nobody was faster, the store just has another version than this knew. */
  async #swap(key: string, text: string): Promise<KeepOutcome | 'outdated'> {
    const unanswered = this.#unanswered;
    const known = this.#version;
    const outcome = await this.#callStore((store) => {
      this.#unanswered = text;
      return store.save(key, text, known);
    });
    if (outcome === undefined) return 'not-kept';
    this.#unanswered = undefined;
    if (outcome !== 'conflict') {
      this.#version = outcome;
      return 'kept';
    }
    const winner = await this.#read(key);
    this.#version = winner?.version ?? null;
    // Without a name, it may have been moved to a longer prefix.
    const isMoved = winner === null && this.#options.conversationId === undefined;
    if (winner === undefined || isMoved) return 'not-kept';
    if (winner === null) return 'outdated';
    // The store saved it when it was asked twice, the answer to the last save was lost, or the store was older when it came back.
    if (winner.state === text) return 'kept';
    const isOwn = winner.state === unanswered || (known !== null && winner.version < known);
    return isOwn ? 'outdated' : { overtakenBy: parse(winner) };
  }

  /** Notes calls whose results were removed: their originals are saved with the next state. */
  noteRemoved(callIds: Iterable<string>): void {
    if (this.#options.conversationId === undefined) return;
    for (const callId of callIds) this.#removedCallIds.add(callId);
  }

  /** Saves originals of a named conversation in the background; only `settled` waits for it. */
  #putOriginals(added: readonly IContent[]): void {
    const key = this.#namedKey;
    if (key === undefined) return;
    for (const { blocks } of this.#removedCallIds.size === 0 ? [] : added) {
      for (const block of blocks) {
        if (block.type !== 'tool_response' || !this.#removedCallIds.has(block.callId)) continue;
        this.#originals.set(block.callId, block);
      }
    }
    this.#removedCallIds.clear();
    for (const original of this.#originals.values()) this.#put(key, original);
  }

  #put(key: string, original: ToolResponseBlock): void {
    const name = nameOf(original.callId);
    const put = this.#callStore(async (store) => {
      await store.put?.(key, name, JSON.stringify(original));
      this.#originals.delete(original.callId);
    }, this.#ofOriginals);
    this.#puts.add(put);
    void put.then(() => this.#puts.delete(put));
  }

  /** Resolves when no write is pending. */
  async settled(): Promise<void> {
    await Promise.all(this.#puts);
  }

  /** Returns an original result of this conversation, or `undefined`. */
  async get(callId: string): Promise<string | undefined> {
    const key = this.#namedKey;
    if (key === undefined) return undefined;
    const name = nameOf(callId);
    const found = await this.#callStore((store) => store.get?.(key, name) ?? Promise.resolve(null));
    return found ?? undefined;
  }

  /** The key of a named conversation. Others have none here: conversations may share their first entries. */
  get #namedKey(): string | undefined {
    return this.#options.conversationId === undefined ? undefined : this.#keysOf([])[0];
  }

  /** The keys that the conversation may be stored under, most likely first. */
  #keysOf(names: readonly string[]): readonly string[] {
    const { conversationId } = this.#options;
    if (conversationId === undefined) return names.toReversed().map((name) => `begins-${name}`);
    return [`named-${hash('sha256', conversationId)}`];
  }

  /** Loads a state; `null` if there is none, else as `#callStore`. */
  #read(key: string): Promise<StoredState | null | undefined> {
    return this.#callStore(async (store) => {
      // In JavaScript, a store may well answer `undefined` for a key that it does not have.
      const stored = (await store.load(key)) ?? null;
      // Read here, where failures are expected.
      return stored && { state: stored.state, version: stored.version };
    });
  }

  /** Calls the store; `undefined` if it fails, or has just failed. */
  async #callStore<Answer>(
    ask: (store: StateStore) => Promise<Answer>,
    patience: Patience = this.#ofStates,
  ): Promise<Answer | undefined> {
    const { store } = this.#options;
    if (performance.now() < patience.pausedUntilMs) return undefined;
    const deadlineMs = store.limits?.deadlineMs ?? DEFAULT_LIMITS.deadlineMs;
    const late = (): Error =>
      new CtxfoldError(`The store gave no answer within ${deadlineMs} ms.`, 'STORE_FAILED');
    try {
      const answer = await withDeadline(deadlineMs, undefined, late, async () => ask(store));
      patience.isFailing = false;
      return answer;
    } catch (thrown) {
      patience.pausedUntilMs = performance.now() + PAUSE_MS;
      this.#fail(patience, asError(thrown));
      return undefined;
    }
  }

  /** Warns once, until the store works again. */
  #fail(patience: Patience, error: Error): void {
    const wasFailing = this.isFailing;
    patience.isFailing = true;
    if (wasFailing) return;
    this.#options.logger.warn('the state of a session is not kept; it goes on without', { error });
  }
}

/** What one kind of call to a store has come to. */
interface Patience {
  isFailing: boolean;
  /** On a clock that nobody can set back. */
  pausedUntilMs: number;
}

/** The name of an original. Some databases limit length and characters; a call id may be a kilobyte of signature. */
function nameOf(callId: string): string {
  return hash('sha256', callId);
}

/** Invalid JSON is passed on as it is: `openState` rejects it. */
function parse({ state }: StoredState): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}
