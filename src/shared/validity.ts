// The rules that every history must follow so that providers accept it; continuity.ts has those for a compacted history and
// its base. Finds violations; repairs nothing.

import { carriesContent, hasSubstance } from './content.js';
import { runSlices } from './slices.js';
import type { ContentBlock, IContent } from './content.js';
import { findBreaksWithBase } from './continuity.js';
import { overUncheckedEntries } from './ingestion.js';
import { pushTo } from './lists-by-key.js';
import type { Violation } from './violation.js';

/**
 * Lists the violations in a history, ascending by entry and block. With `base`, the history that this one was made from,
 * also what was not preserved.
 *
 * A response belongs to the nearest earlier call with its id that has no response yet; an incomplete one leaves its call
 * open. An open call is valid until an ai or human entry follows. Linear in the size of both histories.
 *
 * @throws TypeError if an argument is not a history: an array of entries that `history.add` would accept.
 */
export function findViolations(
  history: readonly IContent[],
  base?: readonly IContent[],
): readonly Violation[] {
  const find = (): readonly Violation[] =>
    overUncheckedEntries('the history', history, () => findAll(history, base));
  return base === undefined ? find() : overUncheckedEntries('the base', base, find);
}

function findAll(
  history: readonly IContent[],
  base: readonly IContent[] | undefined,
): readonly Violation[] {
  const violations = [
    ...history.flatMap(findEntryViolations),
    ...runSlices(pairingViolationsInSlices(history)),
    ...(base === undefined ? [] : findBreaksWithBase(history, base)),
  ];
  return violations.sort((a, b) => a.entry - b.entry || (a.block ?? -1) - (b.block ?? -1));
}

function findEntryViolations(content: IContent, entry: number): readonly Violation[] {
  const violations: Violation[] = [];
  if (!content.blocks.some(hasSubstance)) {
    const isReasoning = content.speaker === 'ai' && content.blocks.some(carriesContent);
    violations.push(
      isReasoning
        ? { rule: 'reasoning-only', entry, message: 'The ai entry has nothing but reasoning.' }
        : { rule: 'empty-entry', entry, message: `The ${content.speaker} entry is empty.` },
    );
  }
  content.blocks.forEach((block, at) => {
    if (block.type === 'tool_call' && content.speaker !== 'ai') {
      const message = `Call ${block.id} is in a ${content.speaker} entry.`;
      violations.push({ rule: 'call-outside-ai', entry, block: at, message });
    }
    if (block.type === 'tool_response' && content.speaker !== 'tool') {
      const message = `The response to ${block.callId} is in a ${content.speaker} entry.`;
      violations.push({ rule: 'response-outside-tool', entry, block: at, message });
    }
    if (hasLoneSurrogate(block)) {
      const message = `A text of the ${block.type} block has half of a surrogate pair.`;
      violations.push({ rule: 'lone-surrogate', entry, block: at, message });
    }
  });
  return violations;
}

interface Place {
  readonly entry: number;
  readonly block: number;
  readonly id: string;
}

/** A response without an open call. */
interface StrayResponse extends Place {
  /** Whether an earlier call has its id; that call was already answered. */
  readonly isAnswered: boolean;
}

/** Entries checked between two yields. */
const ENTRIES_PER_SLICE = 128;

/** Pairs calls and responses in one pass, in slices, with a stack of open calls per id. */
export function* pairingViolationsInSlices(
  history: readonly IContent[],
): Generator<void, readonly Violation[], undefined> {
  const openCalls = new Map<string, Place[]>();
  const strays: StrayResponse[] = [];
  // By index: `entries()` would allocate a pair per entry and block, and a first request waits for this.
  for (let entry = 0; entry < history.length; entry += 1) {
    if (entry % ENTRIES_PER_SLICE === 0) yield;
    const { blocks } = history[entry] as IContent;
    for (let block = 0; block < blocks.length; block += 1) {
      const part = blocks[block] as ContentBlock;
      if (part.type === 'tool_call') {
        const place = { entry, block, id: part.id };
        pushTo(openCalls, part.id, place);
      } else if (part.type === 'tool_response') {
        const open = openCalls.get(part.callId);
        if (open === undefined || open.length === 0) {
          strays.push({ entry, block, id: part.callId, isAnswered: open !== undefined });
        } else if (part.isComplete !== false) {
          open.pop();
        }
      }
    }
  }

  const lastTurn = history.findLastIndex(({ speaker }) => speaker !== 'tool');
  const unanswered = [...openCalls.values()].flat().filter(({ entry }) => entry < lastTurn);
  return [
    ...unanswered.map(describeUnpairedCall),
    ...strays.map((stray) => describeStray(stray, openCalls.has(stray.id))),
  ];
}

function describeUnpairedCall({ entry, block, id }: Place): Violation {
  const message = `Call ${id} has no response, but the conversation continues.`;
  return { rule: 'unpaired-call', entry, block, message };
}

function describeStray(stray: StrayResponse, isCallKnown: boolean): Violation {
  const { entry, block, id } = stray;
  if (stray.isAnswered) {
    const message = `Call ${id} already has a response.`;
    return { rule: 'duplicate-response', entry, block, message };
  }
  if (!isCallKnown) {
    return { rule: 'unpaired-response', entry, block, message: `There is no call ${id}.` };
  }
  const message = `The response to ${id} is before the call.`;
  return { rule: 'response-before-call', entry, block, message };
}

/** With the `u` flag, a whole pair is one code point, so only halves match. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether any string in a value, keys included, has half of a surrogate pair. Handles any depth, and cycles. */
export function hasLoneSurrogate(root: unknown): boolean {
  const pending: unknown[] = [root];
  const seen = new Set<object>();
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') {
      if (LONE_SURROGATE.test(value)) return true;
    } else if (typeof value === 'object' && value !== null && !seen.has(value)) {
      seen.add(value);
      if (Array.isArray(value)) {
        for (const item of Object.values(value)) pending.push(item ?? null);
      } else {
        for (const [key, item] of Object.entries(value)) pending.push(key, item ?? null);
      }
    }
  }
  return false;
}
