// Tracks the conversations ("lines") that pass through a gateway by their latest body: which conversation a request continues, and
// how much of the request is already parsed. Compacts nothing.

import { createHash } from 'node:crypto';
import {
  isSameButForCacheMarks,
  textWithoutCacheMarks,
} from '../../adapters/format/cache-marks.js';
import type { CompactCall } from '../../adapters/request/adapter-options.js';
import { commonPrefixLength, skipSpace, skipValue } from '../body/json-scan.js';
import type { ByteRange } from '../body/json-scan.js';
import type { ListInBody } from '../body/list-in-body.js';
import type { SentList } from '../body/pieces.js';
import { asRecord, textOfParts } from '../../shared/json.js';
import { callsIn, isFromModel, isFromUser } from './apis.js';
import type { ApiName } from './apis.js';
import type { WatchedSession } from './edit-log.js';

/** What all requests of a line have in common. */
interface LineKey {
  readonly scope: string;
  readonly api: ApiName;
  readonly name: string | undefined;
}

/** One conversation. */
export interface Line extends LineKey {
  readonly id: string;
  /** The message list of the latest body, with the byte ranges of its elements. */
  list: ListInBody;
  /** Hash of the first message: lists that begin with the same message have the same hash. */
  firstKey: number;
  messages: readonly object[];
  /** How `list` was sent; `undefined` if it was not edited. */
  sent: SentList | undefined;
  /** `undefined` until the first call of the conversation has begun. */
  watched: WatchedSession | undefined;
  /** Receives the usage that the provider reports for the newest call. */
  takeUsage: ((usage: CompactCall) => void) | undefined;
  /** Whether the conversation has reasoning that may be bound to other messages than those that will be sent. */
  hasBoundReasoning: boolean;
  /** Whether bound reasoning was removed from the conversation. */
  hasLostReasoning: boolean;
  /** Number of calls that are being compacted. The line is not evicted while there are any. */
  openCalls: number;
}

/** The messages at the start of a new body that are known already. */
export interface KnownStart {
  /** The line with the longest common prefix. */
  readonly line: Line | undefined;
  /** The parsed messages whose bytes are unchanged. */
  readonly messages: readonly object[];
  /** Their ranges in the new body. */
  readonly elements: readonly ByteRange[];
}

/** The line that a list belongs to. */
interface TakenLine {
  readonly line: Line;
  readonly isNew: boolean;
  /** Whether the list does not continue the line's last list, but is a rewrite of it by the host. */
  readonly isRewritten: boolean;
}

const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;
/** Limit for the bytes of all kept bodies together. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** The conversations of a gateway, least recently used first. */
export class Lines {
  readonly #maxLines: number;
  /** By id, least recently used first. */
  readonly #lines = new Map<string, Line>();
  readonly #areShared: boolean;
  readonly #onGone: (line: Line) => void;

  /**
   * @param areShared whether other processes serve the same conversations, so that all must derive the same ids
   * @param onGone called with each evicted line
   */
  constructor(maxLines: number, areShared: boolean, onGone: (line: Line) => void) {
    this.#maxLines = maxLines;
    this.#areShared = areShared;
    this.#onGone = onGone;
  }

  /** Returns the line with an id; `undefined` if it is unknown or was evicted. */
  named(id: string): Line | undefined {
    return this.#lines.get(id);
  }

  /** Finds the line of a scope that has the most leading elements in common with the list at `start`. */
  knownStart(scope: string, bytes: Buffer, start: number): KnownStart {
    let best: Line | undefined;
    let bestCount = 0;
    const first = skipSpace(bytes, start + 1);
    const isEmpty = bytes[first] === CLOSE_LIST;
    const key = isEmpty ? undefined : keyOf(bytes, { start: first, end: skipValue(bytes, first) });
    for (const line of this.#lines.values()) {
      if (line.firstKey !== key || line.scope !== scope) continue;
      const count = commonElements(line.list, bytes, start);
      if (count < bestCount || count === 0) continue;
      best = line;
      bestCount = count;
    }
    if (best === undefined) return { line: undefined, messages: [], elements: [] };
    const moved = start - best.list.start;
    const elements = best.list.elements.slice(0, bestCount);
    return {
      line: best,
      messages: best.messages.slice(0, bestCount),
      elements:
        moved === 0
          ? elements
          : elements.map(({ start: from, end }) => ({ start: from + moved, end: end + moved })),
    };
  }

  /**
   * Records a list as the latest one of the line that it belongs to, or as the first one of a new line, and opens a call. May evict
   * other lines.
   *
   * @param start the result of `knownStart` for the list
   */
  take(
    about: LineKey,
    list: ListInBody,
    messages: readonly object[],
    start: KnownStart,
  ): TakenLine {
    const isOf = (line: Line): boolean => hasKey(line, about);
    const continued = this.#continuedLine(isOf, messages, start);
    const known = continued ?? this.#rewrittenLine(about, messages);
    const firstKey = keyOf(list.bytes, list.elements[0]);
    const line: Line = known ?? {
      ...about,
      id: this.#idOf(about, messages),
      ...{ list, firstKey, messages, sent: undefined },
      ...{ watched: undefined, takeUsage: undefined, hasBoundReasoning: false },
      hasLostReasoning: start.line?.hasLostReasoning === true,
      openCalls: 0,
    };
    line.openCalls += 1;
    line.list = list;
    line.firstKey = firstKey;
    line.messages = messages;
    this.#lines.delete(line.id);
    this.#lines.set(line.id, line);
    this.#makeRoom();
    return { line, isNew: known === undefined, isRewritten: known !== continued };
  }

  /** Returns the line that a list would continue; a list without a name matches lines of any name. Records nothing. */
  continuedBy(about: LineKey, messages: readonly object[], start: KnownStart): Line | undefined {
    const isOf = (line: Line): boolean => hasKey(line, { ...about, name: about.name ?? line.name });
    return this.#continuedLine(isOf, messages, start);
  }

  #continuedLine(
    isOf: (line: Line) => boolean,
    messages: readonly object[],
    { line: likely, messages: known }: KnownStart,
  ): Line | undefined {
    // The whole line is a byte-exact prefix of the list, and no line has more in common with it.
    if (likely?.messages.length === known.length && isOf(likely)) return likely;
    let best: Line | undefined;
    let bestLength = 0;
    for (const line of this.#lines.values()) {
      if (!isOf(line)) continue;
      const length = commonLength(line.messages, messages);
      if (length < bestLength || !goesOn(line.messages, messages, length)) continue;
      best = line;
      bestLength = length;
    }
    return best;
  }

  /**
   * Finds the line whose last messages or calls a list contains, after its host has summarized or cleared the earlier ones, or has
   * reformatted all of them.
   */
  #rewrittenLine(about: LineKey, messages: readonly object[]): Line | undefined {
    let best: Line | undefined;
    let mostKept = LEAST_KEPT;
    const calls = new Set(messages.flatMap(callsIn));
    const hasAnswers = messages.some(isFromModel);
    for (const line of hasAnswers ? this.#lines.values() : []) {
      if (!hasKey(line, about)) continue;
      // A shared id is derived from the first message: with another one, another process would derive another id.
      if (this.#areShared && !isSame(firstOf(line.messages), firstOf(messages))) continue;
      const isLike = !hasOpeningOf(line.messages, messages);
      const kept = Math.max(
        answersKept(line.messages, messages, isLike),
        callsKept(line.messages, calls, isLike),
      );
      if (kept < mostKept) continue;
      best = line;
      mostKept = kept;
    }
    return best;
  }

  /** Derives the id of a new line; if conversations are shared, the same in every process. */
  #idOf({ scope, api, name }: LineKey, messages: readonly object[]): string {
    // Ignores cache marks: agents set one on the first message only as long as it is near the end.
    const first = textWithoutCacheMarks({ ...firstOf(messages) });
    // The scope is part of a shared id, so that no user can reach another one's conversation by repeating its messages.
    const parts = this.#areShared ? [scope, api, name ?? null, first] : [api, name ?? first];
    const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    const base = `${api}-${digest.slice(0, this.#areShared ? 32 : 16)}`;
    let id = base;
    for (let number = 2; this.#lines.has(id); number += 1) id = `${base}-${number}`;
    return id;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const line of this.#lines.values()) bytes += keptBytes(line);
    for (const oldest of this.#lines.values()) {
      if (this.#lines.size <= this.#maxLines && bytes <= MAX_KEPT_BYTES) return;
      if (oldest.openCalls > 0) continue;
      this.#lines.delete(oldest.id);
      bytes -= keptBytes(oldest);
      this.#onGone(oldest);
    }
  }
}

function keptBytes({ list, sent }: Line): number {
  return list.bytes.length + (sent?.text.length ?? 0);
}

/** Number of whole elements of a known list that the list at `at` begins with: a binary search for the end of the common bytes. */
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
  // If the last common element is no object, it may be only a prefix of the new list's element, such as `1` of `12`.
  const last = elements[low - 1]?.end;
  return last === common && known[last - 1] !== CLOSE_OBJECT ? low - 1 : low;
}

/** Number of bytes that `keyOf` samples. */
const SEEN_BYTES = 64;

/** A cheap hash of a message (FNV-1a over sampled bytes): rules out most lines without comparing bodies. */
function keyOf(bytes: Uint8Array, { start, end }: ByteRange = NOTHING): number {
  const step = Math.ceil((end - start) / SEEN_BYTES);
  let key = end - start;
  for (let at = end - 1; at >= start; at -= step) {
    key = Math.imul(key ^ (bytes[at] ?? 0), 0x01000193);
  }
  return key;
}

const NOTHING: ByteRange = { start: 0, end: 0 };

/** Number of equal leading messages. Nearly all are identical objects, which makes the comparison cheap. */
function commonLength(known: readonly object[], messages: readonly object[]): number {
  let length = 0;
  while (length < known.length && isSame(known[length], messages[length])) length += 1;
  return length;
}

/**
 * Whether messages continue a conversation: the common prefix must contain a message of the user and all answers of the model. Other
 * messages at the end of the conversation may have been replaced.
 */
function goesOn(known: readonly object[], messages: readonly object[], common: number): boolean {
  if (known.slice(common).some(isFromModel)) return false;
  return common === known.length || messages.slice(0, common).some(isFromUser);
}

/** Minimum of kept answers or calls. A single one may occur in two conversations, such as the call that all of them begin with. */
const LEAST_KEPT = 2;

function hasKey(line: Line, { scope, api, name }: LineKey): boolean {
  return line.scope === scope && line.api === api && line.name === name;
}

/**
 * Counts how many of a conversation's answers a list has kept at any position, back from the last answer to the first mismatch.
 *
 * @param isLike whether the list begins with other words of the user: its host may have summarized it, or it may be a different
 *   conversation about a similar request
 */
function answersKept(
  known: readonly object[],
  messages: readonly object[],
  isLike: boolean,
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
  return (isLike && isAll ? kept.filter(isOfOneOnly) : kept).length;
}

/** Like `answersKept`, but counts the conversation's calls. */
function callsKept(known: readonly object[], calls: ReadonlySet<string>, isLike: boolean): number {
  const kept: string[] = [];
  for (let at = known.length - 1; at >= 0; at -= 1) {
    const own = callsIn(known[at]);
    const gap = own.findLastIndex((call) => !calls.has(call));
    kept.push(...own.slice(gap + 1));
    if (gap !== -1) return kept.length;
  }
  return (isLike ? kept.filter(isUnique) : kept).length;
}

/** A heuristic for whether an answer occurs in one conversation only: it has a unique call, or long text and no calls. */
function isOfOneOnly(message: object): boolean {
  const calls = callsIn(message);
  const { content } = asRecord(message) ?? {};
  return calls.length === 0
    ? (textOfParts(content)?.length ?? 0) > LONG_TEXT
    : calls.some(isUnique);
}

/** Whether a call has an id that is not numbered. Models that number their calls make equal calls for similar requests. */
function isUnique(call: string): boolean {
  return !NUMBERED.test(call);
}

/** Texts longer than this, in UTF-16 units, are taken to be unique. */
const LONG_TEXT = 80;
/** Matches the text of a call whose id is numbered, such as `call_1` or `functions.read:0`. */
const NUMBERED = /^\["(?:[^"]*[^"A-Za-z\d])?[A-Za-z]{0,8}\d{1,6}"/;

/** Whether two conversations begin with the same text of the user, regardless of how it is split into parts. */
function hasOpeningOf(known: readonly object[], messages: readonly object[]): boolean {
  const [first, other] = [firstOf(known), firstOf(messages)];
  const words = wordsOf(first);
  return words === undefined ? isSame(first, other) : words === wordsOf(other);
}

function wordsOf(message: object | undefined): string | undefined {
  const { content, parts = content } = asRecord(message) ?? {};
  return textOfParts(parts);
}

/** The message that identifies a conversation: the user's first message, or else the first message. */
function firstOf(messages: readonly object[]): object | undefined {
  return messages.find(isFromUser) ?? messages[0];
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return a === b || (b !== undefined && isSameButForCacheMarks(a, b));
}
