// Walking over the turns of a request: the small vocabulary that the checks are written in.

import type { CallPart, Check, Finding, ResultPart, Turn, TurnPart } from './provider-request.js';

/** Makes a check that finds every part for which `subject` gives a text, or `true`. */
export function eachPart(subject: (part: TurnPart) => string | boolean): Check {
  return ({ turns }) => {
    const findings: Finding[] = [];
    turns.forEach(({ parts }, turn) => {
      parts.forEach((part, at) => {
        const found = subject(part);
        if (found === true) findings.push({ turn, part: at });
        else if (found !== false) findings.push({ turn, part: at, subject: found });
      });
    });
    return findings;
  };
}

/** Makes a check that finds every turn for which `find` gives something. */
export function eachTurn(
  find: (
    turn: Turn,
    at: number,
    turns: readonly Turn[],
  ) => Omit<Finding, 'turn'> | readonly Finding[] | undefined,
): Check {
  return ({ turns }) => {
    const findings: Finding[] = [];
    turns.forEach((turn, at) => {
      const found = find(turn, at, turns);
      if (found === undefined) return;
      // Not by a spread: a turn may hold more findings than a call takes arguments.
      if ('length' in found) for (const finding of found) findings.push(finding);
      else findings.push({ ...found, turn: at });
    });
    return findings;
  };
}

/** The calls of a turn, if it is the assistant's. */
export function callsOf(turn: Turn | undefined): readonly CallPart[] {
  if (turn?.role !== 'assistant') return [];
  return turn.parts.filter((part): part is CallPart => part.kind === 'call');
}

/** The results in a turn. */
export function resultsOf(turn: Turn | undefined): readonly ResultPart[] {
  return (turn?.parts ?? []).filter((part): part is ResultPart => part.kind === 'result');
}
