// Saves the state of one session, and tool results that edits removed, in a store for other processes. A slow, full or unreachable
// store costs one wait and one warning: the turn goes on, and the state is saved once the store is back.

import { createHash } from 'node:crypto';
import { isToolCallBlock } from '../../shared/content.js';
import type { IContent, ToolResponseBlock } from '../../shared/content.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { isRecord, tryParseJson } from '../../shared/json.js';
import type { Logger } from '../host/logger.js';
import type { RestoredResponse } from '../removal-log/restore.js';
import { endsWithin } from '../waiting/abortable.js';
import type { StateStore, StoredState } from './state-store.js';

export interface StateKeeperOptions {
  readonly store: StateStore;
  /** Names the conversation. @default it is identified by its first entries */
  readonly conversationId?: string | undefined;
  readonly logger: Logger;
}

const DEFAULT_DEADLINE_MS = 1_000;
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;
/** After a failure, the store is not used for this long. */
const PAUSE_MS = 5_000;

/** The outcome of a save: saved, not saved, or the state of the process that was faster. */
export type KeepOutcome = { readonly overtakenBy: unknown } | 'kept' | 'not-kept';

/** The state of one conversation in a store. */
export class StateKeeper {
  readonly #options: StateKeeperOptions;
  #key: string | undefined;
  #version: number | null = null;
  readonly #puts = new Set<Promise<unknown>>();
  #isFailing = false;
  #pausedUntilMs = 0;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
  }

  /**
   * Returns the conversation's saved state; `undefined` if there is none, or the store does not answer.
   *
   * @param names keys for prefixes of its history, from its digest
   */
  async load(names: readonly string[]): Promise<unknown> {
    for (const key of this.#keysOf(names)) {
      const stored = await this.#callStore((store) => store.load(key));
      if (stored === undefined) return undefined;
      if (stored === null) continue;
      this.#key = key;
      this.#version = stored.version;
      return parse(stored);
    }
    return undefined;
  }

  /** Saves a state. If another process has saved since, returns that state instead, and the next save goes on top of it. */
  async save(state: object, names: readonly string[]): Promise<KeepOutcome> {
    const [key] = this.#keysOf(names);
    if (key === undefined) return 'not-kept';
    const former = this.#key;
    if (key !== former) {
      this.#key = key;
      this.#version = null;
    }
    const { store, logger } = this.#options;
    const text = JSON.stringify(state);
    const maxBytes = store.limits?.maxBytes ?? DEFAULT_MAX_BYTES;
    if (Buffer.byteLength(text) > maxBytes) {
      this.#warnOnce(logger, new RangeError(`The state takes more than ${maxBytes} bytes.`));
      return 'not-kept';
    }
    const outcome = await this.#callStore((open) => open.save(key, text, this.#version));
    if (outcome === undefined) return 'not-kept';
    if (outcome === 'conflict') {
      const winner = await this.#callStore((open) => open.load(key));
      this.#version = winner?.version ?? null;
      return winner ? { overtakenBy: parse(winner) } : 'not-kept';
    }
    this.#version = outcome;
    // From now on it is identified by a longer prefix.
    if (former !== undefined && former !== key)
      await this.#callStore((open) => open.delete(former));
    return 'kept';
  }

  /** Saves an original result of a named conversation in the background; only `settled` waits for it. */
  put(callId: string, original: string): void {
    const key = this.#namedKey;
    if (key === undefined) return;
    const put = this.#callStore((store) => store.put?.(key, callId, original) ?? Promise.resolve());
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
    const found = await this.#callStore(
      (store) => store.get?.(key, callId) ?? Promise.resolve(null),
    );
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
    return [`named-${createHash('sha256').update(conversationId).digest('hex')}`];
  }

  /** Calls the store; `undefined` if it fails, or has just failed. */
  async #callStore<Answer>(
    ask: (store: StateStore) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const { store, logger } = this.#options;
    if (Date.now() < this.#pausedUntilMs) return undefined;
    const deadlineMs = store.limits?.deadlineMs ?? DEFAULT_DEADLINE_MS;
    const late = (): Error =>
      new CtxfoldError(`The store gave no answer within ${deadlineMs} ms.`, 'STORE_FAILED');
    try {
      const answer = await endsWithin(deadlineMs, late, Promise.resolve(ask(store)));
      this.#isFailing = false;
      return answer;
    } catch (thrown) {
      this.#pausedUntilMs = Date.now() + PAUSE_MS;
      this.#warnOnce(logger, asError(thrown));
      return undefined;
    }
  }

  #warnOnce(logger: Logger, error: Error): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    logger.warn('the state of a session is not kept; it goes on without', { error });
  }
}

/** Invalid JSON is passed on as it is: `openState` rejects it. */
function parse({ state }: StoredState): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return state;
  }
}

/** Saves the results of calls for other processes, as far as they are among the entries. */
export function keepOriginals(
  keeper: StateKeeper,
  added: readonly IContent[],
  callIds: ReadonlySet<string>,
): void {
  if (callIds.size === 0) return;
  for (const { blocks } of added) {
    for (const block of blocks) {
      if (block.type !== 'tool_response' || !callIds.has(block.callId)) continue;
      keeper.put(block.callId, JSON.stringify(block));
    }
  }
}

/** Returns the result of a call; `undefined` if it is unknown. */
export async function findOriginal(
  callId: string,
  sessionId: string,
  added: readonly IContent[],
  keeper: StateKeeper | undefined,
): Promise<RestoredResponse | undefined> {
  for (let at = added.length - 1; at >= 0; at -= 1) {
    const { blocks, metadata } = added[at] ?? NO_ENTRY;
    for (const response of blocks) {
      if (response.type !== 'tool_response' || response.callId !== callId) continue;
      const call = added
        .slice(0, at)
        .findLast((entry) =>
          entry.blocks.some((block) => isToolCallBlock(block) && block.id === callId),
        )
        ?.blocks.filter(isToolCallBlock)
        .find(({ id }) => id === callId);
      const recordedAt = metadata?.timestamp ?? 0;
      return { response, sessionId, recordedAt, ...(call !== undefined && { call }) };
    }
  }
  const response = responseOf(await keeper?.get(callId), callId);
  return response && { response, sessionId, recordedAt: 0 };
}

const NO_ENTRY: IContent = { speaker: 'human', blocks: [] };

/** Validated: a store may return anything. */
function responseOf(json: string | undefined, callId: string): ToolResponseBlock | undefined {
  const block = json === undefined ? undefined : tryParseJson(json);
  if (!isRecord(block) || block['type'] !== 'tool_response' || block['callId'] !== callId)
    return undefined;
  const entry: unknown = { speaker: 'tool', blocks: [block] };
  try {
    assertIngestible(entry, 0);
  } catch {
    return undefined;
  }
  const [response] = entry.blocks;
  return response?.type === 'tool_response' ? response : undefined;
}
