// Checks about calls and their results, for three kinds of protocols: all results of a turn's calls in the next turn; one
// tool message per result after the message with the calls; or calls and outputs as separate items of a list.

import { callsOf, eachPart, eachTurn, resultsOf } from './provider-request.js';
import type { Check, Finding, ProviderRequest, Turn } from './provider-request.js';
import { pushTo } from '../lists-by-key.js';

/** Calls of a turn have no result in the tool messages directly after it, or else in the next turn; the subject is their ids. */
export const unanswered: Check = eachTurn((turn, at, turns) => {
  const calls = callsOf(turn);
  if (calls.length === 0) return undefined;
  const messages = toolMessagesAfter(turns, at).flatMap((answer) => resultsOf(turns[answer]));
  const results = messages.length > 0 ? messages : resultsOf(turns[at + 1]);
  const answered = new Set(results.map(({ callId }) => callId));
  const missing = calls.filter(({ id }) => !answered.has(id));
  return missing.length === 0 ? undefined : { subject: idsOf(missing) };
});

/** A result belongs to no call of the turn before; the subject is its id. */
export const uncalledInTurnBefore: Check = eachTurn((turn, at, turns) => {
  const called = new Set(callsOf(turns[at - 1]).map(({ id }) => id));
  return findResults(turn, at, ({ callId }) => !called.has(callId));
});

/** A turn has a second result of a call; the subject is its id. */
export const answeredTwiceInTurn: Check = eachTurn((turn, at) => {
  const seen = new Set<string>();
  return findResults(turn, at, ({ callId }) => seen.size === seen.add(callId).size);
});

/** Something else is before a result of a turn; the subject is the number of results. */
export const resultsNotFirst: Check = eachTurn(({ parts }) => {
  const results = parts.filter(({ kind }) => kind === 'result').length;
  const last = parts.findLastIndex(({ kind }) => kind === 'result');
  return last < results ? undefined : { subject: String(results) };
});

/** A turn has more results than the turn before has calls. */
export const moreResultsThanCalls: Check = eachTurn((turn, at, turns) =>
  resultsOf(turn).length > callsOf(turns[at - 1]).length ? {} : undefined,
);

/** A turn with calls is followed by a different number of results. */
export const countsDiffer: Check = eachTurn((turn, at, turns) => {
  const calls = callsOf(turn).length;
  return calls === 0 || calls === resultsOf(turns[at + 1]).length ? undefined : {};
});

/** Results follow a turn without calls. */
export const resultsWithoutCalls: Check = eachTurn((turn, at, turns) =>
  resultsOf(turn).length > 0 && callsOf(turns[at - 1]).length === 0 ? {} : undefined,
);

/** A turn with calls follows neither the user nor results. */
export const callsAfterAssistant: Check = eachTurn((turn, at, turns) => {
  const before = turns[at - 1]?.role;
  return callsOf(turn).length === 0 || before === 'user' || before === 'tool' ? undefined : {};
});

/** A turn has something besides results, and the model does not accept that. */
export const resultsMixed: Check = ({ turns, allowsTextBesideResults = true }) =>
  allowsTextBesideResults
    ? []
    : turns.flatMap((turn, at): readonly Finding[] => {
        const results = resultsOf(turn).length;
        return results === 0 || results === turn.parts.length ? [] : [{ turn: at }];
      });

/** A tool message does not follow a message with calls. */
export const messagesWithoutCalls: Check = ({ turns }) => {
  const behind = new Set(messagesBehindCalls(turns).flatMap(({ answers }) => answers));
  return turns.flatMap(({ role }, turn) =>
    role === 'tool' && !behind.has(turn) ? [{ turn }] : [],
  );
};

/** A tool message follows a message with calls, but names none of them; the subject is its id. */
export const messagesOfOtherCalls: Check = ({ turns }) =>
  messagesBehindCalls(turns).flatMap(({ caller, answers }) => {
    const called = new Set(callsOf(turns[caller]).map(({ id }) => id));
    return answers.flatMap((at) => findResults(turns[at], at, ({ callId }) => !called.has(callId)));
  });

/** Two tool messages after one message name the same call; the subject is its id. */
export const answeredTwiceByMessages: Check = ({ turns }) =>
  messagesBehindCalls(turns).flatMap(({ answers }) => {
    const seen = new Set<string>();
    return answers.flatMap((at) =>
      findResults(turns[at], at, ({ callId }) => seen.size === seen.add(callId).size),
    );
  });

/** A call has the id of an earlier one; the subject is the id. */
export const repeatsCallId: Check = (request) => {
  const seen = new Set<string>();
  return eachPart((part) =>
    part.kind === 'call' && seen.size === seen.add(part.id).size ? part.id : false,
  )(request);
};

/** The id of a call has characters that providers refuse; the subject is the id. */
export const hasOddCallId: Check = eachPart((part) =>
  part.kind === 'call' && !/^[a-zA-Z0-9_-]+$/.test(part.id) ? part.id : false,
);

/** The arguments of a call are not an object; the subject is its name. */
export const hasOddArguments: Check = eachPart((part) =>
  part.kind === 'call' && !part.hasObjectArguments ? part.name : false,
);

/** A result marks its tool as failed, but has no content. */
export const failsSilently: Check = eachPart(
  (part) => part.kind === 'result' && part.isError && part.isEmpty,
);

/** A request without tools has calls or results. Found at the first of them. */
export const usesUndefinedTools: Check = (request) =>
  request.definesTools === false
    ? eachPart(({ kind }) => kind === 'call' || kind === 'result')(request).slice(0, 1)
    : [];

/** A call item is not followed by its output; the subject is its id. */
export const callsWithoutOutput: Check = (request) => pairItems(request).open;

/** An output item has no open call before it; the subject is its id. */
export const outputsWithoutCall: Check = (request) => pairItems(request).stray;

/** Two items have the same id; the subject is the id. */
export const repeatsItemId: Check = (request) => {
  const seen = new Set<string>();
  return eachTurn(({ itemId }) =>
    itemId !== undefined && seen.size === seen.add(itemId).size ? { subject: itemId } : undefined,
  )(request);
};

/** The id of a call's item has the wrong prefix; the subject is the id. */
export const hasOddItemId: Check = eachTurn(({ itemId, parts }) =>
  itemId !== undefined && parts[0]?.kind === 'call' && !itemId.startsWith('fc')
    ? { subject: itemId }
    : undefined,
);

interface AnsweredMessage {
  readonly caller: number;
  /** The tool messages directly after it. */
  readonly answers: readonly number[];
}

function messagesBehindCalls(turns: readonly Turn[]): readonly AnsweredMessage[] {
  return turns.flatMap((turn, caller) => {
    if (callsOf(turn).length === 0) return [];
    return [{ caller, answers: toolMessagesAfter(turns, caller) }];
  });
}

function toolMessagesAfter(turns: readonly Turn[], caller: number): readonly number[] {
  const answers: number[] = [];
  for (let at = caller + 1; turns[at]?.role === 'tool'; at += 1) answers.push(at);
  return answers;
}

function findResults(
  turn: Turn | undefined,
  at: number,
  isFound: (result: { readonly callId: string }) => boolean,
): readonly Finding[] {
  return (turn?.parts ?? []).flatMap((part, index) =>
    part.kind === 'result' && isFound(part)
      ? [{ turn: at, part: index, subject: part.callId }]
      : [],
  );
}

function idsOf(calls: readonly { readonly id: string }[]): string {
  return calls.map(({ id }) => id).join(', ');
}

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
        pushTo(waiting, part.id, finding);
      } else if (part.kind === 'result' && waiting.get(part.callId)?.pop() === undefined) {
        stray.push({ turn, part: at, subject: part.callId });
      }
    });
  });
  return { open: [...waiting.values()].flat(), stray };
}
