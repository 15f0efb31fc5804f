// Checks about reasoning: where it must and must not be, and whether it still follows the conversation that it was generated
// from. Whether the reasoning itself was changed is for `findViolations`, which compares a history with its base.

import { isDeepStrictEqual } from 'node:util';
import { COMPACTION_KIND } from '../content.js';
import { asRecord } from '../json.js';
import { findTurnStart } from '../turn-start.js';
import { callsOf, eachPart, eachTurn } from './provider-request.js';
import type { Check, Finding, ProviderRequest, Turn, TurnPart } from './provider-request.js';

const BLOCK_TYPES: Readonly<Record<TurnPart['kind'], string>> = {
  text: 'text',
  reasoning: 'thinking',
  call: 'tool_use',
  result: 'tool_result',
  media: 'image',
  opaque: 'block',
};

/** Reasoning is on, but the turn in progress begins with something else; the subject is its type. Compactions do not count. */
export const startsWithoutThinking: Check = ({ turns, thinking }) => {
  if (thinking !== true) return [];
  const { start } = findTurnStart(turns, ({ role, parts }) => {
    if (role === 'assistant') return 'answer';
    if (parts.some(({ kind }) => kind === 'result')) return 'results';
    return parts.length > 0 ? 'words' : 'other';
  });
  for (const [behind, { role, parts }] of turns.slice(start).entries()) {
    if (start === -1 || role !== 'assistant') break;
    const part = parts.findIndex((each) => !isCompaction(each));
    const kind = parts[part]?.kind;
    if (kind === 'reasoning') break;
    if (kind !== undefined) return [{ turn: start + behind, part, subject: BLOCK_TYPES[kind] }];
  }
  return [];
};

/** Reasoning is off, but the last turn is the assistant's and has some. */
export const endsWithThinking: Check = ({ turns, thinking }) => {
  const last = turns.length - 1;
  if (thinking !== false || turns[last]?.role !== 'assistant') return [];
  const part = turns[last].parts.findIndex(({ kind }) => kind === 'reasoning');
  return part === -1 ? [] : [{ turn: last, part }];
};

/** Reasoning has no signature. */
export const isUnsigned: Check = eachPart((part) => part.kind === 'reasoning' && !part.isSigned);

/** A message ends with reasoning. */
export const closesWithThinking: Check = eachTurn(({ parts }) =>
  parts.at(-1)?.kind === 'reasoning' ? { part: parts.length - 1 } : undefined,
);

/**
 * Signatures are required, but the first call of a step of the current turn has none; the subject is its name. The turn
 * starts after the newest user message that is not only results.
 */
export const callsWithoutSignature: Check = ({ turns, requiresThoughtSignatures = false }) => {
  if (!requiresThoughtSignatures) return [];
  const start = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ kind }) => kind !== 'result'),
  );
  return turns.flatMap((turn, at) => {
    const [first] = callsOf(turn);
    if (at <= start || first === undefined || first.isSigned) return [];
    return [{ turn: at, part: turn.parts.indexOf(first), subject: first.name }];
  });
};

/**
 * A reasoning item with an id is not followed by the text or call of the same response, which is in the same entry of the
 * history; the subject is the id.
 */
export const standsAlone: Check = eachTurn((turn, at, turns) => {
  const { itemId } = turn;
  if (itemId === undefined || !isReasoning(turn)) return undefined;
  const next = turns[at + 1];
  const isFollowed = next?.role === 'assistant' && next.entry === turn.entry;
  return isFollowed ? undefined : { subject: itemId };
});

function isReasoning({ parts }: Turn): boolean {
  return parts.length > 0 && parts.every(({ kind }) => kind === 'reasoning');
}

/** A part and its position. */
interface Placed {
  readonly part: TurnPart;
  readonly role: Turn['role'];
  readonly turn: number;
  readonly at: number;
}

/** A conversation since the provider's last compaction, split into reasoning and other parts, in order. */
interface Conversation {
  readonly reasoning: readonly Placed[];
  readonly others: readonly Placed[];
  /** By reasoning part, the number of other parts before it. */
  readonly othersBefore: readonly number[];
  /** That compaction, made by the provider itself. */
  readonly compaction?: Placed | undefined;
}

/**
 * Finds reasoning that is bound to a different conversation: something before it was changed, added, removed or moved; or
 * earlier reasoning was removed from the middle or added again. Reasoning may be removed from the start, from the end, or
 * completely. Ignores everything before the provider's newest compaction; what follows it may be any suffix of what was sent
 * before it. The cause is the entry of the first difference. Without earlier requests (`sent`), finds nothing. Linear in the
 * size of all requests. Source: the documentation of Anthropic and OpenAI on preserved thinking and prefixes.
 */
export const isBoundElsewhere: Check = ({ turns, sent = [] }: ProviderRequest) => {
  const now = splitConversation(turns);
  const requests = sent.map(splitConversation);
  const places = placesOf(requests);
  const findings: Finding[] = [];
  let reply: Reply | undefined;
  for (const [first, { part, turn, at }] of now.reasoning.entries()) {
    const place = places.get(sealOf(part)) ?? { request: requests.length, reply: 0, index: 0 };
    if (place.request !== reply?.request || place.reply !== reply.reply) {
      const origin = originOf(place, requests, places);
      reply = { ...place, first, origin, cause: origin && causeOf(now, first, origin, reply) };
    }
    if (reply.cause === null) continue;
    findings.push({ turn, part: at, subject: turns[turn]?.itemId ?? '', cause: reply.cause });
  }
  return findings;
};

/** Where reasoning stands in the first request that contains it. */
interface Place {
  readonly request: number;
  /** Number of the reply among those that no request before contains; above 0 only if not all requests are known. */
  readonly reply: number;
  /** Index in the request's reasoning. */
  readonly index: number;
}

/** A reply of which reasoning is left, `first` being the first. */
interface Reply extends Place {
  readonly first: number;
  readonly origin: Origin | null;
  /** The entry that breaks the binding; `undefined` if it is unknown, `null` if the binding holds. */
  readonly cause: Finding['cause'] | null;
}

/** What a reply was generated from. */
interface Origin {
  readonly request: Conversation;
  /** Number of other parts of the request in front of the reply. */
  readonly length: number;
  /** The reasoning in front of it. */
  readonly reasoning: readonly Placed[];
  /** Number of those. */
  readonly count: number;
}

/** Finds what reasoning was generated from; `null` without earlier requests. */
function originOf(
  { request: number, reply, index }: Place,
  requests: readonly Conversation[],
  places: ReadonlyMap<string, Place>,
): Origin | null {
  const holder = requests[number];
  const request = reply === 0 ? requests[number - 1] : undefined;
  if (request !== undefined) {
    const before = holder?.reasoning.slice(0, index) ?? [];
    const ofReply = before.filter(({ part }) => places.get(sealOf(part))?.request === number);
    const reasoning = [...request.reasoning, ...ofReply];
    return { request, length: request.others.length, reasoning, count: reasoning.length };
  }
  if (holder === undefined) return null;
  // The actual request is not known, but what was before the reply in the next one.
  const length = holder.othersBefore[index] ?? 0;
  return { request: holder, length, reasoning: holder.reasoning, count: index };
}

function causeOf(
  now: Conversation,
  first: number,
  origin: Origin,
  previous: Reply | undefined,
): Reply['cause'] {
  // In one request, what breaks a reply breaks the next one, too, and what agreed is not compared again.
  const agreed = previous?.origin?.request === origin.request ? previous : undefined;
  if (agreed !== undefined && agreed.cause !== null) return agreed.cause;
  const change = changeBefore(now, first, origin, agreed?.origin?.length ?? 0);
  if (change !== null) return now.others[change]?.part.entry;
  for (let back = 1; back <= first - (agreed?.first ?? 0); back += 1) {
    const present = now.reasoning[first - back];
    if (sealOf(present?.part) !== sealOf(origin.reasoning[origin.count - back]?.part))
      return present?.part.entry;
  }
  return null;
}

/** The index of the first other part in front of a reply that differs from before, or `null`. */
function changeBefore(
  now: Conversation,
  first: number,
  { request, length }: Origin,
  agreed: number,
): number | null {
  const end = now.othersBefore[first] ?? 0;
  const starts = possibleStarts(now, request, length, end);
  const from = starts.length === 1 ? agreed : 0;
  const changes = starts.map((start) => {
    // What stands in front of this start is gone, so it is not the reply's own.
    const isOwn = (other: Placed | undefined): boolean =>
      other?.role === 'assistant' &&
      (other.part.entry === now.reasoning[first]?.part.entry ||
        !request.others.slice(0, start).some((gone) => isSame(gone, other)));
    return firstChange(now, { from, end }, request.others.slice(from + start, length), isOwn);
  });
  if (changes.includes(null)) return null;
  const [ifNothingIsKept = 0, ...ifKept] = changes as readonly number[];
  // The start with the longest agreement is the likely one.
  return ifKept.reduce((a, b) => Math.max(a, b), ifKept[0] ?? ifNothingIsKept);
}

/**
 * Where in a sent conversation the current one may start: at 0, or anywhere if the provider has compacted it since.
 *
 * @param length number of parts that were sent
 * @param end number of parts in front of the reply now
 */
function possibleStarts(
  now: Conversation,
  made: Conversation,
  length: number,
  end: number,
): readonly number[] {
  if (now.compaction === undefined || isSame(now.compaction, made.compaction)) return [0];
  const kept = made.others.flatMap((part, at) => (isSame(now.others[0], part) ? at : []));
  // At the end, if nothing in front of the reply is kept. If the first kept part was changed, it is still in its place.
  return [length, ...kept, Math.max(0, length - end)];
}

/**
 * The index of the first part that differs from before, or `null`.
 *
 * @param former the parts that were in front of the reply, from `from` on
 * @param isOwn whether a part may belong to the reply itself
 */
function firstChange(
  { others }: Conversation,
  { from, end }: { readonly from: number; readonly end: number },
  former: readonly Placed[],
  isOwn: (other: Placed | undefined) => boolean,
): number | null {
  for (const [index, part] of former.entries()) {
    const at = from + index;
    if (!isSame(others[at], part) || at >= end) return at;
  }
  // Anything but the reply's own parts between the request and its reply was added later.
  for (let at = from + former.length; at < end; at += 1) {
    if (!isOwn(others[at])) return at;
  }
  return null;
}

function splitConversation(turns: readonly Turn[]): Conversation {
  const reasoning: Placed[] = [];
  const others: Placed[] = [];
  const othersBefore: number[] = [];
  let compaction: Placed | undefined;
  for (const [turn, { role, parts }] of turns.entries()) {
    for (const [at, part] of parts.entries()) {
      if (isCompaction(part)) {
        compaction = { part, role, turn, at };
        for (const list of [reasoning, others, othersBefore]) list.length = 0;
        continue;
      }
      if (part.kind !== 'reasoning') {
        others.push({ part, role, turn, at });
        continue;
      }
      othersBefore.push(others.length);
      reasoning.push({ part, role, turn, at });
    }
  }
  return { reasoning, others, othersBefore, compaction };
}

function isCompaction({ kind, content }: TurnPart): boolean {
  return kind === 'opaque' && asRecord(content)?.['kind'] === COMPACTION_KIND;
}

/** By reasoning, where it stands in the first request that contains it. Between two replies, something is not the model's. */
function placesOf(requests: readonly Conversation[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [request, { reasoning, others, othersBefore }] of requests.entries()) {
    let last: Place | undefined;
    for (const [index, { part }] of reasoning.entries()) {
      const key = sealOf(part);
      if (places.has(key)) continue;
      const between = others.slice(last && othersBefore[last.index], othersBefore[index]);
      const isNext = last !== undefined && between.some(({ role }) => role !== 'assistant');
      last = { request, reply: (last?.reply ?? 0) + (isNext ? 1 : 0), index };
      places.set(key, last);
    }
  }
  return places;
}

/** Identifies reasoning by its signature and encrypted content. */
function sealOf(part: TurnPart | undefined): string {
  const { encryptedContent, signature } = (part?.content ?? {}) as Readonly<
    Record<string, string | undefined>
  >;
  return part === undefined ? '' : `${signature ?? ''}\0${encryptedContent ?? ''}`;
}

function isSame(a: Placed | undefined, b: Placed | undefined): boolean {
  if (a === undefined || b === undefined || a.role !== b.role) return false;
  return a.part.content === b.part.content || isDeepStrictEqual(a.part.content, b.part.content);
}
