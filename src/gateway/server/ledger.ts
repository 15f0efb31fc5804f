// Records a gateway's conversations with their calls, edits and usage, and the gateway's failures. Holds names and numbers, but no
// content, headers or keys.

import { EventEmitter } from 'node:events';
import { safeLogger } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import type { CostReport } from '../../main/preflight/cost-meter.js';
import { judgeCacheRead } from '../../main/preflight/prompt-cache.js';
import type { CacheMissCause } from '../../main/preflight/session-events.js';
import { modelPrice } from '../../main/models/model-prices.js';
import { CacheTerms } from '../../main/models/session-model.js';
import { conversationName } from '../engine/conversation-name.js';
import type {
  AnsweredUsage,
  EditReport,
  EngineAnswer,
  ConversationState,
} from '../engine/protocol.js';
import type { CompleteGatewayOptions, GatewayMode } from './options.js';

/** A call, with its original size and its compacted size. */
export interface CallRecord {
  readonly at: number;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly edits: number;
  mode?: GatewayMode | undefined;
  status?: number | undefined;
  usage?: AnsweredUsage | undefined;
  /** Why less than the previous prompt was read from the provider's cache. */
  miss?: CacheMiss;
}

/** Why a prompt was not read from the provider's cache. */
export type CacheMiss = CacheMissCause | 'first call' | 'changed by the host';

/** A conversation, with its totals. */
interface Conversation {
  /** The conversation, as the engine last reported it. */
  line: ConversationState;
  readonly since: number;
  calls: number;
  /** Bytes of all requests, original and compacted (in mode `observe`: as they would be compacted). */
  bytes: number;
  compactedBytes: number;
  readonly recent: CallRecord[];
  readonly edits: EditReport[];
  usage: AnsweredUsage;
  /**
   * Whether the conversation stays compacted to its end, in any mode: its model has reasoned about edited messages, and would refuse
   * that reasoning after the original ones.
   */
  isHeld: boolean;
  /** Mode that the user set for this conversation; `undefined` if the gateway's mode applies. */
  ownMode: GatewayMode | undefined;
  /** What the last reported prompt left in the provider's cache: how many tokens, and for how long. */
  promptTokens: number;
  cacheTtlMs: number;
}

/** A conversation as the gateway's page shows it. */
export interface ConversationRecord extends Readonly<Conversation> {
  readonly mode: GatewayMode;
}

/** The status of a gateway as a whole. */
export interface GatewayStatus {
  readonly mode: GatewayMode;
  readonly since: number;
  readonly passed: Readonly<Record<string, number>>;
  /** Equal ones are counted together. `at`: the last time; the list is in this order. */
  readonly failures: readonly Readonly<{ at: number; message: string; count: number }>[];
  readonly failureCount: number;
}

const MAX_RECENT_CALLS = 50;
const MAX_EDITS = 200;
const MAX_FAILURES = 20;
const MAX_REASONS = 64;
const LOG_EVERY_MS = 60_000;
const NO_USAGE = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

/** Events that are emitted after changes, and when the gateway ends. */
export interface LedgerEvents {
  conversation: [id: string];
  status: [];
  end: [];
}

export class Ledger extends EventEmitter<LedgerEvents> {
  readonly #dry: ReadonlySet<string | undefined>;
  readonly #maxConversations: number;
  readonly #conversations = new Map<string, Conversation>();
  readonly #passed = new Map<string, number>();
  readonly #failures: { at: number; message: string; count: number }[] = [];
  readonly #since = Date.now();
  readonly #logger: Logger;
  /** Message → when it was last logged, by `performance.now()`. */
  readonly #logged = new Map<string, number>();
  #failureCount = 0;
  #mode: GatewayMode;

  constructor({ mode, dry, maxConversations, logger }: CompleteGatewayOptions) {
    super();
    this.#logger = safeLogger(logger);
    this.setMaxListeners(0);
    this.#mode = mode;
    // People name a conversation as its host does, which may not be the name it is shown by.
    const asSent = dry.flatMap((name) => [{ session_id: name }, { metadata: { user_id: name } }]);
    this.#dry = new Set(asSent.map(conversationName));
    this.#maxConversations = maxConversations;
  }

  /** Whether any conversation is compacted, so that requests must wait until their conversation is known. */
  get mayCompact(): boolean {
    if (this.#mode === 'compact') return true;
    for (const { ownMode, isHeld } of this.#conversations.values()) {
      if (ownMode === 'compact' || isHeld) return true;
    }
    return false;
  }

  modeOf({ id, name }: Pick<ConversationState, 'id' | 'name'>): GatewayMode {
    const { ownMode, isHeld = false } = this.#conversations.get(id) ?? {};
    if (isHeld) return 'compact';
    if (ownMode !== undefined) return ownMode;
    const isDry = this.#dry.has(id) || (name !== undefined && this.#dry.has(name));
    return isDry ? 'observe' : this.#mode;
  }

  /**
   * Sets the mode of the gateway or of one conversation. Held conversations are compacted in any mode.
   *
   * @returns ids of the conversations that are compacted now but were not before; `undefined` if there is no conversation `id`
   */
  setMode(mode: GatewayMode, id?: string): readonly string[] | undefined {
    const before = new Set(this.#compacted);
    if (id === undefined) this.#mode = mode;
    else {
      const conversation = this.#conversations.get(id);
      if (conversation === undefined) return undefined;
      conversation.ownMode = mode;
    }
    this.emit('status');
    for (const known of this.#conversations.keys()) this.emit('conversation', known);
    return this.#compacted.filter((compacted) => !before.has(compacted));
  }

  get #compacted(): readonly string[] {
    const conversations = Array.from(this.#conversations.values());
    return conversations.flatMap(({ line }) => (this.modeOf(line) === 'compact' ? line.id : []));
  }

  /**
   * Records the engine's answer to a request.
   *
   * @returns the call, to be told its usage; `undefined` if the request is no turn of a conversation
   */
  recordAnswer(answer: EngineAnswer, bytes: number): CallRecord | undefined {
    const { outcome, reason, editedBytes, conversation: state, edits, failures = [] } = answer;
    for (const failure of failures) this.recordFailure(failure);
    if (outcome === 'failed')
      this.recordFailure(`compaction failed (${reason ?? 'unknown'}); the request left as it came`);
    if (outcome === 'passed') this.recordPassed(reason ?? 'other requests');
    if (state === undefined) return undefined;
    const conversation = this.#conversationOf(state);
    const sentBytes = editedBytes ?? bytes;
    conversation.line = state;
    conversation.calls += 1;
    conversation.bytes += bytes;
    conversation.compactedBytes += sentBytes;
    const call = { at: Date.now(), bytes, sentBytes, edits: edits.length };
    keepLast(conversation.recent, [call], MAX_RECENT_CALLS);
    keepLast(conversation.edits, edits, MAX_EDITS);
    this.emit('conversation', state.id);
    return call;
  }

  /**
   * Records the usage, mode and status of a call. Requests of a conversation may overlap, so it need not be the last one.
   *
   * @param id the conversation's
   */
  recordUsage(
    id: string,
    call: CallRecord,
    { usage, mode, status }: Pick<CallRecord, 'usage' | 'mode' | 'status'>,
  ): void {
    const conversation = this.#conversations.get(id);
    if (conversation === undefined) return;
    Object.assign(call, { usage, mode, status });
    const isEdited = mode === 'compact' && call.sentBytes !== call.bytes;
    conversation.isHeld ||= isEdited && conversation.line.bindsReasoning && status === 200;
    if (usage !== undefined) {
      const miss = usage.isSum === true ? undefined : missOf(conversation, call, usage);
      if (miss !== undefined) call.miss = miss;
      conversation.promptTokens = usage.isSum === true ? 0 : promptOf(usage);
      conversation.cacheTtlMs = termsOf(conversation.line).ttlMs;
      conversation.usage = sumOf(conversation.usage, usage);
    }
    this.emit('conversation', id);
  }

  /** Counts a request that was forwarded without being compacted. */
  recordPassed(reason: string): void {
    if (this.#passed.size < MAX_REASONS || this.#passed.has(reason)) {
      this.#passed.set(reason, (this.#passed.get(reason) ?? 0) + 1);
    }
    this.emit('status');
  }

  /** @param message must not quote content */
  recordFailure(message: string): void {
    this.#failureCount += 1;
    const known = this.#failures.findIndex((failure) => failure.message === message);
    const [{ count } = { count: 0 }] = known === -1 ? [] : this.#failures.splice(known, 1);
    keepLast(this.#failures, [{ at: Date.now(), message, count: count + 1 }], MAX_FAILURES);
    this.emit('status');
    this.warn(message);
  }

  /** Logs a message, but the same one at most once a minute: all requests may fail for the same reason. */
  warn(message: string): void {
    const now = performance.now();
    if (now - (this.#logged.get(message) ?? -Infinity) < LOG_EVERY_MS) return;
    if (this.#logged.size >= MAX_REASONS) this.#logged.clear();
    this.#logged.set(message, now);
    this.#logger.warn(message);
  }

  get status(): GatewayStatus {
    return {
      mode: this.#mode,
      since: this.#since,
      passed: Object.fromEntries(this.#passed),
      failures: this.#failures,
      failureCount: this.#failureCount,
    };
  }

  /** What each conversation costs; observed ones as if they were compacted. */
  get costs(): readonly CostReport[] {
    return Array.from(this.#conversations.values(), ({ line }) => line.costs);
  }

  /** All conversations, least recently used first. */
  get conversations(): readonly ConversationRecord[] {
    return Array.from(this.#conversations.keys()).flatMap((id) => this.conversation(id) ?? []);
  }

  conversation(id: string): ConversationRecord | undefined {
    const conversation = this.#conversations.get(id);
    return conversation && { ...conversation, mode: this.modeOf(conversation.line) };
  }

  #conversationOf(state: ConversationState): Conversation {
    const known = this.#conversations.get(state.id);
    this.#conversations.delete(state.id);
    const conversation = known ?? {
      line: state,
      ownMode: undefined,
      since: Date.now(),
      calls: 0,
      bytes: 0,
      compactedBytes: 0,
      recent: [],
      edits: [],
      usage: NO_USAGE,
      promptTokens: 0,
      cacheTtlMs: 0,
      isHeld: false,
    };
    this.#conversations.set(state.id, conversation);
    if (this.#conversations.size > this.#maxConversations) this.#forgetOne();
    return conversation;
  }

  /**
   * Evicts the least recently used conversation (LRU). Held conversations are evicted only if all are held: in mode `observe`, a
   * forgotten one would be sent unedited, and its model would refuse it.
   */
  #forgetOne(): void {
    const former = Array.from(this.#conversations.values()).slice(0, -1);
    const forgotten = (former.find(({ isHeld }) => !isHeld) ?? former[0])?.line.id ?? '';
    this.#conversations.delete(forgotten);
    this.emit('conversation', forgotten);
  }
}

/** Returns the cause of a cache miss; `undefined` if everything in the cache was read. */
function missOf(
  { line, recent, promptTokens, cacheTtlMs }: Conversation,
  call: CallRecord,
  usage: AnsweredUsage,
): CacheMiss | undefined {
  const position = recent.indexOf(call);
  if (position === 0) return 'first call';
  const before = recent[position - 1];
  if (before === undefined) return undefined;
  const missed = judgeCacheRead({
    formerTokens: promptTokens,
    inputTokens: promptOf(usage),
    readTokens: usage.cacheReadTokens,
    elapsedMs: call.at - before.at,
    ttlMs: cacheTtlMs,
    isRewritten: call.mode === 'compact' && call.edits > 0,
    price: termsOf(line).price,
  });
  if (missed === null) return undefined;
  if (line.isRewritten) return 'changed by the host';
  const isShorter = missed.cause === 'changed-request' && call.bytes < before.bytes;
  return isShorter ? 'changed by the host' : missed.cause;
}

function termsOf({ model, cacheTtlMs }: ConversationState): CacheTerms {
  return new CacheTerms(cacheTtlMs, () => modelPrice(model ?? ''));
}

function promptOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: AnsweredUsage): number {
  return inputTokens + cacheReadTokens + cacheWriteTokens;
}

function sumOf(a: AnsweredUsage, b: AnsweredUsage): AnsweredUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}

function keepLast<Item>(items: Item[], added: readonly Item[], count: number): void {
  items.push(...added.slice(-count));
  items.splice(0, items.length - count);
}
