// How calls and results stand to each other where a turn can hold several of them: the results of one
// turn's calls in the next turn, or one tool message each behind the message that calls.

import { callsOf, eachPart, eachTurn, resultsOf } from './part-search.js';
import type { Check, Finding, Turn } from './provider-request.js';

/** Calls of a turn have no result in the next one; the subject is their ids. */
export const unansweredInNextTurn: Check = eachTurn((turn, at, turns) => {
  const answered = new Set(resultsOf(turns[at + 1]).map(({ callId }) => callId));
  const missing = callsOf(turn).filter(({ id }) => !answered.has(id));
  return missing.length === 0 ? undefined : { subject: idsOf(missing) };
});

/** A result is not that of a call in the turn before; the subject is its id. */
export const uncalledInTurnBefore: Check = eachTurn((turn, at, turns) => {
  const called = new Set(callsOf(turns[at - 1]).map(({ id }) => id));
  return findResults(turn, at, ({ callId }) => !called.has(callId));
});

/** A turn holds a second result of one call; the subject is its id. */
export const answeredTwiceInTurn: Check = eachTurn((turn, at) => {
  const seen = new Set<string>();
  return findResults(turn, at, ({ callId }) => seen.size === seen.add(callId).size);
});

/** Something stands before the last result of a turn; the subject is the number of results. */
export const resultsNotFirst: Check = eachTurn(({ parts }) => {
  const results = parts.filter(({ kind }) => kind === 'result').length;
  const last = parts.findLastIndex(({ kind }) => kind === 'result');
  return last < results ? undefined : { subject: String(results) };
});

/** A turn holds more results than the one before holds calls. */
export const moreResultsThanCalls: Check = eachTurn((turn, at, turns) =>
  resultsOf(turn).length > callsOf(turns[at - 1]).length ? {} : undefined,
);

/** A turn that calls is followed by another number of results. */
export const countsDiffer: Check = eachTurn((turn, at, turns) => {
  const calls = callsOf(turn).length;
  return calls === 0 || calls === resultsOf(turns[at + 1]).length ? undefined : {};
});

/** Results stand behind a turn that calls nothing. */
export const resultsWithoutCalls: Check = eachTurn((turn, at, turns) =>
  resultsOf(turn).length > 0 && callsOf(turns[at - 1]).length === 0 ? {} : undefined,
);

/** A turn that calls follows neither the user nor results. */
export const callsAfterAssistant: Check = eachTurn((turn, at, turns) => {
  const before = turns[at - 1]?.role;
  return callsOf(turn).length === 0 || before === 'user' || before === 'tool' ? undefined : {};
});

/** Something stands beside results, and the model does not take that. */
export const resultsMixed: Check = ({ turns, allowsTextBesideResults = true }) =>
  allowsTextBesideResults
    ? []
    : turns.flatMap((turn, at): readonly Finding[] => {
        const results = resultsOf(turn).length;
        return results === 0 || results === turn.parts.length ? [] : [{ turn: at }];
      });

/** Calls of a message have no tool message right behind it; the subject is their ids. */
export const unansweredByMessages: Check = ({ turns }) =>
  messagesBehindCalls(turns).flatMap(({ caller, answers }): readonly Finding[] => {
    const answered = new Set(answers.flatMap((at) => resultsOf(turns[at]).map((r) => r.callId)));
    const missing = callsOf(turns[caller]).filter(({ id }) => !answered.has(id));
    return missing.length === 0 ? [] : [{ turn: caller, subject: idsOf(missing) }];
  });

/** A tool message stands behind no message that calls. */
export const messagesWithoutCalls: Check = ({ turns }) => {
  const behind = new Set(messagesBehindCalls(turns).flatMap(({ answers }) => answers));
  return turns.flatMap(({ role }, turn) =>
    role === 'tool' && !behind.has(turn) ? [{ turn }] : [],
  );
};

/** A tool message stands behind a message that calls, but names none of its calls; the subject is its id. */
export const messagesOfOtherCalls: Check = ({ turns }) =>
  messagesBehindCalls(turns).flatMap(({ caller, answers }) => {
    const called = new Set(callsOf(turns[caller]).map(({ id }) => id));
    return answers.flatMap((at) => findResults(turns[at], at, ({ callId }) => !called.has(callId)));
  });

/** Two tool messages behind one message name the same call; the subject is its id. */
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

/** The id of a call holds other characters than providers allow; the subject is the id. */
export const hasOddCallId: Check = eachPart((part) =>
  part.kind === 'call' && !/^[a-zA-Z0-9_-]+$/.test(part.id) ? part.id : false,
);

/** The arguments of a call are no object; the subject is its name. */
export const hasOddArguments: Check = eachPart((part) =>
  part.kind === 'call' && !part.hasObjectArguments ? part.name : false,
);

/** A result says that the tool failed, and nothing else. */
export const failsSilently: Check = eachPart(
  (part) => part.kind === 'result' && part.isError && part.isEmpty,
);

/** There are calls or results in a request without tools: found at the first of them. */
export const usesUndefinedTools: Check = (request) =>
  request.definesTools === false
    ? eachPart(({ kind }) => kind === 'call' || kind === 'result')(request).slice(0, 1)
    : [];

interface AnsweredMessage {
  readonly caller: number;
  /** The tool messages right behind it. */
  readonly answers: readonly number[];
}

function messagesBehindCalls(turns: readonly Turn[]): readonly AnsweredMessage[] {
  return turns.flatMap((turn, caller) => {
    if (callsOf(turn).length === 0) return [];
    const answers: number[] = [];
    for (let at = caller + 1; turns[at]?.role === 'tool'; at += 1) answers.push(at);
    return [{ caller, answers }];
  });
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
