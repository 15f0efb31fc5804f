// What went through a gateway: conversations, their calls, edits and what was reported of them, and what failed. Holds names
// and numbers; no content, no header, no key.

import { EventEmitter } from 'node:events';
import type { RequestTokens } from '../../main/preflight/token-tally.js';
import { judgeCacheRead } from '../../main/preflight/prompt-cache.js';
import type { CacheMissCause } from '../../main/preflight/prompt-cache.js';
import { CacheTerms, inputCost, modelPrice } from '../../main/models/model-prices.js';
import type { AnsweredUsage, EditReport, EngineAnswer, LineReport } from '../engine/protocol.js';
import type { CompleteGatewayOptions, GatewayMode } from './options.js';

/** What a call was sent, and would have been. */
export interface CallRecord {
  readonly at: number;
  readonly bytes: number;
  readonly sentBytes: number;
  readonly edits: number;
  mode?: GatewayMode | undefined;
  status?: number | undefined;
  usage?: AnsweredUsage | undefined;
  /** Why the provider's cache held less of the prompt than the one before had. */
  miss?: CacheMiss;
}

/** Why a prompt was not read from a cache. */
export type CacheMiss = 'first call' | 'idle' | 'edited' | 'changed by the host' | 'unknown';

/** A conversation as the page shows it. */
export interface ConversationRecord {
  readonly line: LineReport;
  readonly mode: GatewayMode;
  readonly since: number;
  readonly calls: number;
  /** Bytes of all requests, as they came and as they would be compacted. */
  readonly bytes: number;
  readonly compactedBytes: number;
  readonly recent: readonly CallRecord[];
  readonly edits: readonly EditReport[];
  readonly usage: AnsweredUsage;
  /** What the input comes to by estimate, where the price of the model is known. */
  readonly dollars?: InputDollars | undefined;
}

/** Dollars for input, with edits and without. */
export interface InputDollars {
  readonly with: number;
  readonly without: number;
}

/** What there is to say about a gateway as a whole. */
export interface GatewayStatus {
  readonly mode: GatewayMode;
  readonly since: number;
  readonly passed: Readonly<Record<string, number>>;
  readonly failures: readonly { readonly at: number; readonly message: string }[];
  readonly failureCount: number;
}

interface Conversation {
  line: LineReport;
  /** Set by hand; otherwise that of the gateway. */
  own: GatewayMode | undefined;
  readonly since: number;
  calls: number;
  bytes: number;
  compactedBytes: number;
  readonly recent: CallRecord[];
  readonly edits: EditReport[];
  usage: AnsweredUsage;
  /** What was reported last has left so many tokens in the provider's cache, for so long. */
  promptTokens: number;
  cacheTtlMs: number;
  dollars: InputDollars | undefined;
}

const MAX_RECENT_CALLS = 50;
const MAX_EDITS = 200;
const MAX_FAILURES = 20;
const MAX_REASONS = 64;
const NO_USAGE = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

/** Events by what has changed; of a conversation its id. */
export interface LedgerEvents {
  conversation: [id: string];
  status: [];
}

/** Keeps the books. */
export class Ledger extends EventEmitter<LedgerEvents> {
  readonly #dry: ReadonlySet<string>;
  readonly #maxConversations: number;
  readonly #conversations = new Map<string, Conversation>();
  readonly #passed = new Map<string, number>();
  readonly #failures: { at: number; message: string }[] = [];
  readonly #since = Date.now();
  #failureCount = 0;
  #mode: GatewayMode;

  constructor({ mode, dry, maxConversations }: CompleteGatewayOptions) {
    super();
    this.setMaxListeners(0);
    this.#mode = mode;
    this.#dry = new Set(dry);
    this.#maxConversations = maxConversations;
  }

  /** Whether any conversation is compacted, so that requests have to wait until it is known whose they are. */
  get mayCompact(): boolean {
    if (this.#mode === 'compact') return true;
    return Array.from(this.#conversations.values()).some(({ own }) => own === 'compact');
  }

  /** Whether a conversation is compacted. */
  modeOf({ id, name }: Pick<LineReport, 'id' | 'name'>): GatewayMode {
    const own = this.#conversations.get(id)?.own;
    if (own !== undefined) return own;
    const isDry = this.#dry.has(id) || (name !== undefined && this.#dry.has(name));
    return isDry ? 'observe' : this.#mode;
  }

  /** Sets the mode of all conversations that have none of their own, or of one. Returns whether there is such a one. */
  setMode(mode: GatewayMode, id?: string): boolean {
    if (id === undefined) this.#mode = mode;
    else {
      const conversation = this.#conversations.get(id);
      if (conversation === undefined) return false;
      conversation.own = mode;
    }
    this.emit('status');
    for (const known of this.#conversations.keys()) this.emit('conversation', known);
    return true;
  }

  /** Takes note of what the engine made of a request. */
  noteAnswer({ outcome, reason, body, line, edits }: EngineAnswer, bytes: number): void {
    if (outcome === 'failed')
      this.noteFailure(`compaction failed (${reason ?? 'unknown'}); the request left as it came`);
    if (outcome === 'passed') this.notePassed(reason ?? 'other requests');
    if (line === undefined) return;
    const conversation = this.#conversationOf(line);
    const sentBytes = body?.length ?? bytes;
    conversation.dollars = addDollars(conversation, line);
    conversation.line = line;
    conversation.calls += 1;
    conversation.bytes += bytes;
    conversation.compactedBytes += sentBytes;
    keepLast(
      conversation.recent,
      [{ at: Date.now(), bytes, sentBytes, edits: edits.length }],
      MAX_RECENT_CALLS,
    );
    keepLast(conversation.edits, edits, MAX_EDITS);
    this.emit('conversation', line.id);
  }

  /** Takes note of what was reported of the last request of a conversation. */
  noteUsage(
    id: string,
    { usage, mode, status }: Pick<CallRecord, 'usage' | 'mode' | 'status'>,
  ): void {
    const conversation = this.#conversations.get(id);
    const call = conversation?.recent.at(-1);
    if (conversation === undefined || call === undefined) return;
    Object.assign(call, { usage, mode, status });
    if (usage !== undefined) {
      const miss = missOf(conversation, call, usage);
      if (miss !== undefined) call.miss = miss;
      conversation.promptTokens = promptOf(usage);
      conversation.cacheTtlMs = termsOf(conversation.line).ttlMs;
      conversation.usage = sumOf(conversation.usage, usage);
    }
    this.emit('conversation', id);
  }

  /** Takes note of a request that was not looked at. */
  notePassed(reason: string): void {
    if (this.#passed.size < MAX_REASONS || this.#passed.has(reason)) {
      this.#passed.set(reason, (this.#passed.get(reason) ?? 0) + 1);
    }
    this.emit('status');
  }

  /** Takes note of what went wrong, without content. */
  noteFailure(message: string): void {
    this.#failureCount += 1;
    keepLast(this.#failures, [{ at: Date.now(), message }], MAX_FAILURES);
    this.emit('status');
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

  /** The conversations; the one that was used last comes last. */
  get conversations(): readonly ConversationRecord[] {
    return Array.from(this.#conversations.keys()).flatMap((id) => this.conversation(id) ?? []);
  }

  conversation(id: string): ConversationRecord | undefined {
    const conversation = this.#conversations.get(id);
    if (conversation === undefined) return undefined;
    const { own: _, promptTokens: _tokens, cacheTtlMs: _ttl, ...record } = conversation;
    return { ...record, mode: this.modeOf(conversation.line) };
  }

  #conversationOf(line: LineReport): Conversation {
    const known = this.#conversations.get(line.id);
    this.#conversations.delete(line.id);
    const conversation = known ?? {
      ...{ line, own: undefined, since: Date.now(), calls: 0, bytes: 0, compactedBytes: 0 },
      ...{
        recent: [],
        edits: [],
        usage: NO_USAGE,
        promptTokens: 0,
        cacheTtlMs: 0,
        dollars: undefined,
      },
    };
    this.#conversations.set(line.id, conversation);
    const [oldest] = this.#conversations.keys();
    if (oldest !== undefined && this.#conversations.size > this.#maxConversations) {
      this.#conversations.delete(oldest);
    }
    return conversation;
  }
}

/** What a call adds: prices go by the length of a prompt. */
function addDollars(
  { line: before, calls, dollars }: Conversation,
  line: LineReport,
): InputDollars | undefined {
  const price = modelPrice(line.model ?? '');
  if (price === undefined) return undefined;
  const cost = (now: RequestTokens, then: RequestTokens | undefined): number => {
    const sent = Math.max(0, now.sentTokens - (then?.sentTokens ?? 0));
    const read = Math.max(0, now.cacheReadTokens - (then?.cacheReadTokens ?? 0));
    return inputCost(price, sent, Math.min(sent, read));
  };
  const then = calls === 0 ? undefined : before.costs;
  return {
    with: (dollars?.with ?? 0) + cost(line.costs, then),
    without: (dollars?.without ?? 0) + cost(line.costs.uncompacted, then?.uncompacted),
  };
}

const CAUSES: Readonly<Record<CacheMissCause, CacheMiss>> = {
  expired: 'idle',
  edit: 'edited',
  'changed-request': 'unknown',
};

/** Why a prompt was not read from a cache; `undefined` when it was, as far as there was one. */
function missOf(
  { line, recent, promptTokens, cacheTtlMs }: Conversation,
  call: CallRecord,
  usage: AnsweredUsage,
): CacheMiss | undefined {
  const before = recent.at(-2);
  if (before === undefined) return 'first call';
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
  const cause = CAUSES[missed.cause];
  return cause === 'unknown' && call.bytes < before.bytes ? 'changed by the host' : cause;
}

function termsOf({ model, cacheTtlMs }: LineReport): CacheTerms {
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
  items.push(...added);
  if (items.length > count) items.splice(0, items.length - count);
}
