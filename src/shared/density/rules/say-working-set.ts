// Says in words why a result stays in the working set, or has left it. Decides nothing.

import type { CallPurpose, ExplainedSubject } from '../explain/explanation.js';
import { count, modelCalls, nameOfCall, times } from './words.js';
import type { WorkingSetFinding } from './working-set.js';

/** Returns one or two sentences. */
export function sayWorkingSet(
  finding: WorkingSetFinding,
  { verdict, purpose }: ExplainedSubject,
): string {
  const { isWaiting, staleTokens, neededTokens } = finding;
  const reason = reasonText(finding, purpose);
  if (isWaiting) {
    return (
      `${reason} It waits: results like it would give back ${count(staleTokens)} tokens together, ` +
      `and ${count(neededTokens)} would be worth a rewrite of the prompt cache.`
    );
  }
  if (verdict === 'kept' || verdict === 'dropped') return reason;
  return `${reason} ${verdict === 'excerpt' ? 'An excerpt' : 'A placeholder'} takes its place.`;
}

function reasonText(
  { reason, age, lease, tokens, by, touch }: WorkingSetFinding,
  purpose: CallPurpose | null,
): string {
  const sent = `the model was sent it ${times(age)}`;
  switch (reason) {
    case 'unsent':
      return 'The model was not sent it yet.';
    case 'small':
      return `It is small, with ${count(tokens)} tokens.`;
    case 'fresh':
      return `It is new: ${sent}, and it stays for ${modelCalls(lease)}.`;
    case 'touched':
      return (
        `Its file was touched by ${nameOfCall(by)}, ${modelCalls(touch?.age ?? 0)} ago, ` +
        `and it stays for ${count(touch?.lease ?? 0)} from then on.`
      );
    case 'aged':
      return `It is long and no longer new: ${sent}, and it stays whole for ${modelCalls(lease)}.`;
    case 'expired':
      return purpose === 'read'
        ? `Its time is over: ${sent}, it stays for ${modelCalls(lease)}, and nothing touched its file lately.`
        : `Its time is over: ${sent}, and it stays for ${modelCalls(lease)}.`;
    case 'forgotten':
      return `It is long past: ${sent}, and calls stay with what is left of their results for ${modelCalls(lease)}.`;
    case 'repeated':
      return `The same call was made again: ${nameOfCall(by)}.`;
    case 'read-again':
      return `The same lines were read again by ${nameOfCall(by)}.`;
  }
}
