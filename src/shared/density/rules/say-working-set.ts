// Says in words why a result stays in the working set, or has left it. Decides nothing.

import type { ExplainedSubject } from '../explain/explanation.js';
import { count, modelCalls, nameOfCall, times } from './words.js';
import type { WorkingSetFinding } from './working-set.js';

/** Returns one or two sentences. */
export function sayWorkingSet(finding: WorkingSetFinding, { verdict }: ExplainedSubject): string {
  const { isWaiting, waitingTokens, neededTokens } = finding;
  const reason = reasonText(finding);
  if (isWaiting && finding.reason === 'aged') return reason;
  if (isWaiting && neededTokens === Infinity)
    return `${reason} It waits: all results together have few tokens.`;
  if (isWaiting) {
    return (
      `${reason} It waits: results like it would give back ${count(waitingTokens)} tokens together, ` +
      `and ${count(neededTokens)} would be worth a rewrite of the prompt cache.`
    );
  }
  if (verdict === 'kept' || verdict === 'dropped') return reason;
  return `${reason} ${verdict === 'excerpt' ? 'An excerpt' : 'A placeholder'} takes its place.`;
}

function reasonText({ reason, age, time, tokens, by }: WorkingSetFinding): string {
  const sent = `the model was sent it ${times(age)}`;
  const stays = `it stays for ${modelCalls(time)}`;
  switch (reason) {
    case 'unsent':
      return 'The model was not sent it yet.';
    case 'small':
      return `It is small, with ${count(tokens)} tokens.`;
    case 'fresh':
      return `It is new: ${sent}, and ${stays}.`;
    case 'aged':
      return `It is no longer new, and leaves when others do: ${sent}, and else ${stays}.`;
    case 'expired':
      return `Its time is over: ${sent}, and ${stays}.`;
    case 'repeated':
      return `The same call was made again: ${nameOfCall(by)}.`;
    case 'read-again':
      return `The same lines were read again by ${nameOfCall(by)}.`;
  }
}
