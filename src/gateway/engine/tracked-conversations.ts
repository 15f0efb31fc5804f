// Tracks the conversations that pass through a gateway by their latest body: which conversation a request continues, and
// how much of the request is already parsed. Compacts nothing.

import type { CompactCall } from '../../adapters/request/adapter-options.js';
import { commonPrefixLength, skipSpace, skipValue } from '../body/json-scan.js';
import type { ByteRange } from '../body/json-scan.js';
import type { ListInBody } from '../body/list-in-body.js';
import type { SentList } from '../body/pieces.js';
import { asRecord, textOfParts } from '../../shared/json.js';
import { SetsByKey } from '../../shared/sets-by-key.js';
import { callsIn, isFromModel, isFromUser } from './apis.js';
import { firstOf, haveSharedId, idOf, isSame } from './conversation-id.js';
import type { ConversationKey } from './conversation-id.js';
import type { WatchedSession } from './watched-session.js';

/** One conversation. */
export interface TrackedConversation extends ConversationKey {
  readonly id: string;
  /** The message list of the latest body, with the byte ranges of its elements. */
  list: ListInBody;
  messages: readonly object[];
  /** How `list` was sent; `undefined` if it was not edited. Set by `TrackedConversations.noteSent`. */
  sent: SentList | undefined;
  /** `undefined` until the first call of the conversation has begun. */
  watched: WatchedSession | undefined;
  /** Receives the usage that the provider reports for the newest call. */
  takeUsage: ((usage: CompactCall) => void) | undefined;
  /** Whether the conversation has reasoning that may be bound to other messages than those that will be sent. */
  hasBoundReasoning: boolean;
  /** Whether bound reasoning was removed from the conversation. */
  hasLostReasoning: boolean;
  /** Number of calls that are being compacted. The conversation is not evicted while there are any. */
  openCalls: number;
}

/** The messages at the start of a new body that are known already. */
export interface KnownStart {
  /** The conversation with the longest common prefix. */
  readonly conversation: TrackedConversation | undefined;
  /** The parsed messages whose bytes are unchanged. */
  readonly messages: readonly object[];
  /** Their ranges in the new body. */
  readonly elements: readonly ByteRange[];
}

/** A list of messages, and what is known about the conversation that it belongs to. */
export interface TrackedRequest {
  readonly about: ConversationKey;
  readonly list: ListInBody;
  readonly messages: readonly object[];
  /** The result of `knownStart` for the list. */
  readonly known: KnownStart;
}

/** The conversation that a list belongs to. */
interface RecordedRequest {
  readonly conversation: TrackedConversation;
  readonly isNew: boolean;
  /** Whether the list does not continue the conversation's last list, but is a rewrite of it by the host. */
  readonly isRewritten: boolean;
}

const CLOSE_LIST = 0x5d;
/** Limit for the bytes of all kept bodies together. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** The conversations of a gateway, least recently used first. */
export class TrackedConversations {
  readonly #maxConversations: number;
  /** By id, least recently used first. */
  readonly #conversations = new Map<string, TrackedConversation>();
  /** By hash of the first message, least recently used first. */
  readonly #byFirst = new SetsByKey<number, TrackedConversation>();
  /** Bytes of the kept bodies of all conversations. */
  #keptBytes = 0;
  readonly #areShared: boolean;
  readonly #onEvicted: (conversation: TrackedConversation) => void;

  /**
   * @param areShared whether other processes serve the same conversations, so that all must derive the same ids
   * @param onEvicted called with each evicted conversation
   */
  constructor(
    maxConversations: number,
    areShared: boolean,
    onEvicted: (conversation: TrackedConversation) => void,
  ) {
    this.#maxConversations = maxConversations;
    this.#areShared = areShared;
    this.#onEvicted = onEvicted;
  }

  /** Returns the conversation with an id; `undefined` if it is unknown or was evicted. */
  named(id: string): TrackedConversation | undefined {
    return this.#conversations.get(id);
  }

  /** Finds the conversation of a scope that has the most leading elements in common with the list at `start`. */
  knownStart(scope: string, bytes: Buffer, start: number): KnownStart {
    let best: TrackedConversation | undefined;
    let bestCount = 0;
    const first = skipSpace(bytes, start + 1);
    const isEmpty = bytes[first] === CLOSE_LIST;
    const end = isEmpty ? first : skipValue(bytes, first);
    for (const conversation of this.#byFirst.of(keyOf(bytes, { start: first, end }))) {
      if (conversation.scope !== scope) continue;
      const count = commonElements(conversation.list, bytes, start);
      if (count < bestCount || count === 0) continue;
      best = conversation;
      bestCount = count;
    }
    if (best === undefined) return { conversation: undefined, messages: [], elements: [] };
    const moved = start - best.list.start;
    const elements = best.list.elements.slice(0, bestCount);
    return {
      conversation: best,
      messages: best.messages.slice(0, bestCount),
      elements:
        moved === 0
          ? elements
          : elements.map(({ start: from, end }) => ({ start: from + moved, end: end + moved })),
    };
  }

  /**
   * Records a list as the latest one of the conversation that it belongs to, or as the first one of a new conversation, and opens a call. May evict
   * other conversations.
   */
  record({ about, list, messages, known: start }: TrackedRequest): RecordedRequest {
    const isOf = (conversation: TrackedConversation): boolean =>
      hasKey(conversation, about) &&
      (!this.#areShared || haveSharedId(conversation.messages, messages));
    const continued = this.#findContinued(isOf, messages, start);
    const known = continued ?? this.#findRewritten(isOf, messages);
    const conversation: TrackedConversation = known ?? {
      ...about,
      id: this.#newId(about, messages),
      ...{ list, messages, sent: undefined },
      ...{ watched: undefined, takeUsage: undefined, hasBoundReasoning: false },
      hasLostReasoning: start.conversation?.hasLostReasoning === true,
      openCalls: 0,
    };
    conversation.openCalls += 1;
    if (known !== undefined) this.#remove(known);
    // Without the other fields, which are not needed later.
    conversation.list = { ...list, fields: {} };
    conversation.messages = messages;
    this.#conversations.set(conversation.id, conversation);
    this.#byFirst.add(firstKeyOf(conversation), conversation);
    this.#keptBytes += keptBytes(conversation);
    this.#makeRoom();
    return { conversation, isNew: known === undefined, isRewritten: known !== continued };
  }

  /** Keeps how the conversation's latest list was sent. */
  noteSent(conversation: TrackedConversation, sent: SentList | undefined): void {
    this.#keptBytes -= keptBytes(conversation);
    conversation.sent = sent;
    this.#keptBytes += keptBytes(conversation);
  }

  /** Returns the conversation that a list would continue; a list without a name matches conversations of any name. Records nothing. */
  continuedBy({ about, messages, known }: TrackedRequest): TrackedConversation | undefined {
    const isOf = (conversation: TrackedConversation): boolean =>
      hasKey(conversation, { ...about, name: about.name ?? conversation.name });
    return this.#findContinued(isOf, messages, known);
  }

  #findContinued(
    isOf: (conversation: TrackedConversation) => boolean,
    messages: readonly object[],
    { conversation: likely, messages: known }: KnownStart,
  ): TrackedConversation | undefined {
    // The whole conversation is a byte-exact prefix of the list, and no conversation has more in common with it.
    if (likely?.messages.length === known.length && isOf(likely)) return likely;
    let best: TrackedConversation | undefined;
    let bestLength = 0;
    for (const conversation of this.#conversations.values()) {
      if (!isOf(conversation)) continue;
      const length = commonMessages(conversation.messages, messages);
      if (length < bestLength || !continues(conversation.messages, messages, length)) continue;
      best = conversation;
      bestLength = length;
    }
    return best;
  }

  /**
   * Finds the conversation whose last messages or calls a list contains, after its host has summarized or cleared the earlier ones, or has
   * reformatted all of them.
   */
  #findRewritten(
    isOf: (conversation: TrackedConversation) => boolean,
    messages: readonly object[],
  ): TrackedConversation | undefined {
    let best: TrackedConversation | undefined;
    let mostKept = MIN_KEPT;
    const calls = new Set(messages.flatMap(callsIn));
    const hasAnswers = messages.some(isFromModel);
    for (const conversation of hasAnswers ? this.#conversations.values() : []) {
      if (!isOf(conversation)) continue;
      const hasOtherOpening = !haveSameOpening(conversation.messages, messages);
      const kept = Math.max(
        answersKept(conversation.messages, messages, hasOtherOpening),
        callsKept(conversation.messages, calls, hasOtherOpening),
      );
      if (kept < mostKept) continue;
      best = conversation;
      mostKept = kept;
    }
    return best;
  }

  /** Returns the id of a new conversation; if others begin alike, a number makes it unique in this process. */
  #newId(about: ConversationKey, messages: readonly object[]): string {
    const base = idOf(about, messages, this.#areShared);
    let id = base;
    for (let number = 2; this.#conversations.has(id); number += 1) id = `${base}-${number}`;
    return id;
  }

  #makeRoom(): void {
    for (const oldest of this.#conversations.values()) {
      const hasRoom = this.#conversations.size <= this.#maxConversations;
      if (hasRoom && this.#keptBytes <= MAX_KEPT_BYTES) return;
      if (oldest.openCalls > 0) continue;
      this.#remove(oldest);
      this.#onEvicted(oldest);
    }
  }

  #remove(conversation: TrackedConversation): void {
    this.#conversations.delete(conversation.id);
    this.#byFirst.delete(firstKeyOf(conversation), conversation);
    this.#keptBytes -= keptBytes(conversation);
  }
}

function keptBytes({ list, sent }: TrackedConversation): number {
  return list.bytes.length + (sent?.text.length ?? 0);
}

/**
 * Number of whole elements of a known list that the list at `at` begins with: a binary search for the end of the common bytes. The
 * elements are objects, so that none is only the beginning of another one.
 */
function commonElements(
  { bytes: known, start, elements }: ListInBody,
  bytes: Buffer,
  at: number,
): number {
  const common = start + commonPrefixLength(known, start, bytes, at);
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((elements[middle]?.end ?? Infinity) <= common) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of bytes that `keyOf` samples. */
const SEEN_BYTES = 64;

/** A cheap hash of a message (FNV-1a over sampled bytes): rules out most conversations without comparing bodies. */
function keyOf(bytes: Uint8Array, { start, end }: ByteRange): number {
  const step = Math.ceil((end - start) / SEEN_BYTES);
  let key = end - start;
  for (let at = end - 1; at >= start; at -= step) {
    key = Math.imul(key ^ (bytes[at] ?? 0), 0x01000193);
  }
  return key;
}

function firstKeyOf({ list: { bytes, elements } }: TrackedConversation): number {
  return keyOf(bytes, elements[0] ?? { start: 0, end: 0 });
}

/** Number of equal leading messages. Nearly all are identical objects, which makes the comparison cheap. */
function commonMessages(known: readonly object[], messages: readonly object[]): number {
  let length = 0;
  while (length < known.length && isSame(known[length], messages[length])) length += 1;
  return length;
}

/**
 * Whether messages continue a conversation: the common prefix must contain a message of the user and all answers of the model. Other
 * messages at the end of the conversation may have been replaced.
 */
function continues(known: readonly object[], messages: readonly object[], common: number): boolean {
  if (known.slice(common).some(isFromModel)) return false;
  return common === known.length || messages.slice(0, common).some(isFromUser);
}

/** Minimum of kept answers or calls. A single one may occur in two conversations, such as the call that all of them begin with. */
const MIN_KEPT = 2;

function hasKey(conversation: TrackedConversation, { scope, api, name }: ConversationKey): boolean {
  return conversation.scope === scope && conversation.api === api && conversation.name === name;
}

/**
 * Counts how many of a conversation's answers a list has kept at any position, back from the last answer to the first mismatch.
 *
 * @param hasOtherOpening whether the list begins with other words of the user: its host may have summarized it, or it may be a different
 *   conversation about a similar request
 */
function answersKept(
  known: readonly object[],
  messages: readonly object[],
  hasOtherOpening: boolean,
): number {
  const last = known.findLastIndex(isFromModel);
  if (last === -1) return 0;
  const at = messages.findLastIndex((message) => isSame(known[last], message));
  const kept: object[] = [];
  let back = 0;
  for (; back <= Math.min(last, at); back += 1) {
    const message = known[last - back] ?? {};
    if (!isSame(message, messages[at - back])) break;
    if (isFromModel(message)) kept.push(message);
  }
  const isAll = !known.slice(0, last - back + 1).some(isFromModel);
  return (hasOtherOpening && isAll ? kept.filter(isUniqueAnswer) : kept).length;
}

/** Like `answersKept`, but counts the conversation's calls. */
function callsKept(
  known: readonly object[],
  calls: ReadonlySet<string>,
  hasOtherOpening: boolean,
): number {
  const kept: string[] = [];
  for (let at = known.length - 1; at >= 0; at -= 1) {
    const own = callsIn(known[at]);
    const gap = own.findLastIndex((call) => !calls.has(call));
    kept.push(...own.slice(gap + 1));
    if (gap !== -1) return kept.length;
  }
  return (hasOtherOpening ? kept.filter(hasUniqueId) : kept).length;
}

/** A heuristic for whether an answer occurs in one conversation only: it has a unique call, or long text and no calls. */
function isUniqueAnswer(message: object): boolean {
  const calls = callsIn(message);
  const { content } = asRecord(message) ?? {};
  return calls.length === 0
    ? (textOfParts(content)?.length ?? 0) > LONG_TEXT
    : calls.some(hasUniqueId);
}

/** Whether a call has an id that is not numbered. Models that number their calls make equal calls for similar requests. */
function hasUniqueId(call: string): boolean {
  return !NUMBERED.test(call);
}

/** Texts longer than this, in UTF-16 units, are taken to be unique. */
const LONG_TEXT = 80;
/** Matches the text of a call whose id is numbered, such as `call_1` or `functions.read:0`. */
const NUMBERED = /^\["(?:[^"]*[^"A-Za-z\d])?[A-Za-z]{0,8}\d{1,6}"/;

/** Whether two conversations begin with the same text of the user, regardless of how it is split into parts. */
function haveSameOpening(known: readonly object[], messages: readonly object[]): boolean {
  const [first, other] = [firstOf(known), firstOf(messages)];
  const words = wordsOf(first);
  return words === undefined ? isSame(first, other) : words === wordsOf(other);
}

function wordsOf(message: object | undefined): string | undefined {
  const { content, parts = content } = asRecord(message) ?? {};
  return textOfParts(parts);
}
