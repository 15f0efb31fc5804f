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
  const firstRequestOf = firstRequests(requests);
  const findings: Finding[] = [];
  /** The reply that the current reasoning belongs to, by the first request that contained it, and the cause found for it. */
  let reply = { request: -1, cause: null as Finding['cause'] | null };
  for (const [at, { part, turn, at: partAt }] of now.reasoning.entries()) {
    const request = firstRequestOf.get(sealOf(part)) ?? requests.length;
    if (request !== reply.request) {
      reply = { request, cause: causeOf(now, requests, firstRequestOf, at) };
    }
    if (reply.cause === null) continue;
    findings.push({ turn, part: partAt, subject: turns[turn]?.itemId ?? '', cause: reply.cause });
  }
  return findings;
};

/** The entry that breaks the binding of a reply's reasoning; `undefined` if it is unknown, `null` if the binding holds. */
function causeOf(
  now: Conversation,
  requests: readonly Conversation[],
  firstRequestOf: ReadonlyMap<string, number>,
  first: number,
): Finding['cause'] | null {
  const origin = originOf(sealOf(now.reasoning[first]?.part), requests, firstRequestOf);
  if (origin === undefined) return null;
  const change = changeBefore(now, first, origin);
  if (change !== null) return now.others[change]?.part.entry;
  for (let back = 1; back <= first; back += 1) {
    const present = now.reasoning[first - back];
    if (sealOf(present?.part) !== sealOf(origin.reasoning.at(-back)?.part))
      return present?.part.entry;
  }
  return null;
}

/** What a reply was generated from. */
interface Origin {
  readonly request: Conversation;
  /** Number of other parts of the request in front of the reply. */
  readonly length: number;
  /** The reasoning in front of it: the request's, then the reply's own. */
  readonly reasoning: readonly Placed[];
}

/** Finds what reasoning was generated from; `undefined` without earlier requests. */
function originOf(
  seal: string,
  requests: readonly Conversation[],
  firstRequestOf: ReadonlyMap<string, number>,
): Origin | undefined {
  const number = firstRequestOf.get(seal) ?? requests.length;
  const holder = requests[number];
  const own = holder?.reasoning.findIndex(({ part }) => sealOf(part) === seal) ?? 0;
  const before = holder?.reasoning.slice(0, own) ?? [];
  const request = requests[number - 1];
  if (request !== undefined) {
    const ofReply = before.filter(({ part }) => firstRequestOf.get(sealOf(part)) === number);
    return {
      request,
      length: request.others.length,
      reasoning: [...request.reasoning, ...ofReply],
    };
  }
  // Reasoning in the first request was generated from what is before it there; the actual request is not known.
  return holder && { request: holder, length: holder.othersBefore[own] ?? 0, reasoning: before };
}

/** The index of the first other part in front of a reply that differs from before, or `null`. */
function changeBefore(
  now: Conversation,
  first: number,
  { request, length }: Origin,
): number | null {
  const end = now.othersBefore[first] ?? 0;
  const changes = possibleStarts(now, request, length, end).map((start) => {
    // What stands in front of this start is gone, so it is not the reply's own.
    const isOwn = (other: Placed | undefined): boolean =>
      other?.role === 'assistant' &&
      (other.part.entry === now.reasoning[first]?.part.entry ||
        !request.others.slice(0, start).some((gone) => isSame(gone, other)));
    return firstChange(now, end, request.others.slice(start, length), isOwn);
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

/** The index of the first part that differs from before, or `null`. @param isOwn whether a part may belong to the reply itself */
function firstChange(
  { others }: Conversation,
  end: number,
  former: readonly Placed[],
  isOwn: (other: Placed | undefined) => boolean,
): number | null {
  for (const [at, part] of former.entries()) {
    if (!isSame(others[at], part) || at >= end) return at;
  }
  // Anything but the reply's own parts between the request and its reply was added later.
  for (let at = former.length; at < end; at += 1) {
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

/** By reasoning, the index of the first request that contains it; it was generated from the request before. */
function firstRequests(requests: readonly Conversation[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const [at, { reasoning }] of requests.entries()) {
    for (const { part } of reasoning) {
      const key = sealOf(part);
      if (!first.has(key)) first.set(key, at);
    }
  }
  return first;
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
