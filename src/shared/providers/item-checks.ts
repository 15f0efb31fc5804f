// How calls and outputs stand to each other where each is an item of its own, anywhere in a list; and
// the ids of items. A history knows few of those: what it does not know is not judged.

import { eachTurn } from './part-search.js';
import type { Check, Finding, ProviderRequest } from './provider-request.js';

/** A call has no output behind it; the subject is its id. */
export const callsWithoutOutput: Check = (request) => pairItems(request).open;

/** An output has no call before it that waits for one; the subject is its id. */
export const outputsWithoutCall: Check = (request) => pairItems(request).stray;

/** Two items have one id; the subject is the id. */
export const repeatsItemId: Check = (request) => {
  const seen = new Set<string>();
  return eachTurn(({ itemId }) =>
    itemId !== undefined && seen.size === seen.add(itemId).size ? { subject: itemId } : undefined,
  )(request);
};

/** The id of a call's item does not say that it is one; the subject is the id. */
export const hasOddItemId: Check = eachTurn(({ itemId, parts }) =>
  itemId !== undefined && parts[0]?.kind === 'call' && !itemId.startsWith('fc')
    ? { subject: itemId }
    : undefined,
);

interface Pairing {
  readonly open: readonly Finding[];
  readonly stray: readonly Finding[];
}

function pairItems({ turns }: ProviderRequest): Pairing {
  const waiting = new Map<string, Finding[]>();
  const stray: Finding[] = [];
  turns.forEach(({ parts }, turn) => {
    parts.forEach((part, at) => {
      if (part.kind === 'call') {
        const finding = { turn, part: at, subject: part.id };
        const calls = waiting.get(part.id);
        if (calls === undefined) waiting.set(part.id, [finding]);
        else calls.push(finding);
      } else if (part.kind === 'result' && waiting.get(part.callId)?.pop() === undefined) {
        stray.push({ turn, part: at, subject: part.callId });
      }
    });
  });
  return { open: [...waiting.values()].flat(), stray };
}
