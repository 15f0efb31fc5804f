// Whether reasoning still stands behind what it was made from: newer models bind it to all that they were sent before.
// Goes by the requests that were sent; without these nothing can be told.

import { isDeepStrictEqual } from 'node:util';
import { COMPACTION_KIND } from '../content.js';
import { asRecord } from '../json.js';
import type { Check, Finding, ProviderRequest, Turn, TurnPart } from './provider-request.js';

/** A part and the place where it stands. */
interface Placed {
  readonly part: TurnPart;
  readonly role: Turn['role'];
  readonly turn: number;
  readonly at: number;
}

/** A conversation taken apart, in order. */
interface Conversation {
  readonly reasoning: readonly Placed[];
  readonly others: readonly Placed[];
  /** By piece of reasoning, how many others stand before it. */
  readonly othersBefore: readonly number[];
  /** The compaction of the provider's own that all of it stands behind. */
  readonly compaction?: Placed | undefined;
}

/**
 * Finds reasoning that is bound to another conversation than the one it stands in: something before it was changed, added,
 * taken away or moved, or reasoning between it and the start is gone while earlier reasoning stands, or is back. Reasoning
 * may be taken away from the start, from the end, or altogether. What stands before the newest compaction that the provider made
 * is not looked at, and what follows it may be the end of what was sent before it. The cause is the entry of the first difference.
 * Linear in the size of all requests. After Anthropic's and OpenAI's pages on preserved thinking and prefixes.
 */
export const isBoundElsewhere: Check = ({ turns, sent = [] }: ProviderRequest) => {
  const now = takenApart(turns);
  const requests = sent.map(takenApart);
  const firstRequestOf = firstRequests(requests);
  const findings: Finding[] = [];
  /** The reply whose reasoning is being looked at, by the request that held it first, and what is wrong with all of it. */
  let reply = { request: -1, cause: null as Finding['cause'] | null };
  for (const [at, { part, turn, at: partAt }] of now.reasoning.entries()) {
    const request = firstRequestOf.get(keyOf(part)) ?? requests.length;
    if (request !== reply.request || at === 0) {
      reply = { request, cause: causeOf(now, requests, firstRequestOf, at) };
    }
    if (reply.cause === null) continue;
    findings.push({ turn, part: partAt, subject: itemIdOf(turns[turn]), cause: reply.cause });
  }
  return findings;
};

/** What is wrong about what stands before a reply's reasoning; `null` when nothing is, `undefined` when it is no entry. */
function causeOf(
  now: Conversation,
  requests: readonly Conversation[],
  firstRequestOf: ReadonlyMap<string, number>,
  first: number,
): Finding['cause'] | null {
  const key = keyOf(now.reasoning[first]?.part);
  const request = firstRequestOf.get(key) ?? requests.length;
  const holder = requests[request];
  // What the first request held was made from what stands before it there; more is not known.
  const made = requests[request - 1] ?? holder;
  if (made === undefined) return null;
  const own = holder?.reasoning.findIndex(({ part }) => keyOf(part) === key) ?? 0;
  const length = made === holder ? (made.othersBefore[own] ?? 0) : made.others.length;
  const causes = startsOf(now, made, length).map((start) =>
    firstChange(now, now.othersBefore[first] ?? 0, made.others.slice(start, length)),
  );
  if (!causes.includes(null)) return causes[0];
  const ofReply = (holder?.reasoning.slice(0, own) ?? []).filter(
    ({ part }) => made === holder || firstRequestOf.get(keyOf(part)) === request,
  );
  const chain = made === holder ? ofReply : [...made.reasoning, ...ofReply];
  for (let back = 1; back <= first; back += 1) {
    const present = now.reasoning[first - back];
    if (keyOf(present?.part) !== keyOf(chain.at(-back)?.part)) return present?.part.entry;
  }
  return null;
}

/** Where what was sent may go on behind what the provider has compacted since: from the start where it has not. */
function startsOf(now: Conversation, made: Conversation, length: number): readonly number[] {
  if (now.compaction === undefined || isSame(now.compaction, made.compaction)) return [0];
  const kept = made.others.flatMap((part, at) => (isSame(now.others[0], part) ? at : []));
  return [length, ...kept];
}

/** The entry of the first of these parts that is another one than before, or `null`. */
function firstChange(
  { others }: Conversation,
  end: number,
  former: readonly Placed[],
): Finding['cause'] | null {
  for (const [at, part] of former.entries()) {
    if (!isSame(others[at], part) || at >= end) return others[at]?.part.entry;
  }
  // What stands between the request and its answer was not there when that was made.
  for (let at = former.length; at < end; at += 1) {
    const between = others[at];
    if (between !== undefined && between.role !== 'assistant') return between.part.entry;
  }
  return null;
}

function takenApart(turns: readonly Turn[]): Conversation {
  const reasoning: Placed[] = [];
  const others: Placed[] = [];
  const othersBefore: number[] = [];
  let compaction: Placed | undefined;
  for (const [turn, { role, parts }] of turns.entries()) {
    for (const [at, part] of parts.entries()) {
      if (part.kind === 'opaque' && isCompaction(part.content)) {
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

function isCompaction(content: unknown): boolean {
  return asRecord(content)?.['kind'] === COMPACTION_KIND;
}

/** By piece of reasoning, the first request that held it: the one before that is what it was made from. */
function firstRequests(requests: readonly Conversation[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const [at, { reasoning }] of requests.entries()) {
    for (const { part } of reasoning) {
      const key = keyOf(part);
      if (!first.has(key)) first.set(key, at);
    }
  }
  return first;
}

/** What tells one piece of reasoning from all others: what seals it. */
function keyOf(part: TurnPart | undefined): string {
  const { encryptedContent, signature } = (part?.content ?? {}) as Readonly<
    Record<string, string | undefined>
  >;
  return part === undefined ? '' : `${signature ?? ''}\0${encryptedContent ?? ''}`;
}

function itemIdOf(turn: Turn | undefined): string {
  return turn?.itemId ?? '';
}

function isSame(a: Placed | undefined, b: Placed | undefined): boolean {
  if (a === undefined || b === undefined || a.role !== b.role) return false;
  return a.part.content === b.part.content || isDeepStrictEqual(a.part.content, b.part.content);
}
