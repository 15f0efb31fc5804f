// Says the findings of a density pass in words. Decides nothing; of the history it repeats names of tools and
// ids of calls, and nothing else.

import { shownToolName } from '../../summarize/placeholder.js';
import { onOneLine, shortened } from '../../summarize/one-line.js';
import type {
  CallPlace,
  CallPurpose,
  DensityFinding,
  ExplainedBlock,
  NoFinding,
  WorkingSetFinding,
} from './explanation.js';

const MAX_ID_LENGTH = 64;

/** What a sentence needs to know besides the finding. */
export type ExplainedSubject = Pick<ExplainedBlock, 'verdict' | 'toolName' | 'purpose'>;

/** Returns one or two sentences. */
export function explanationText(finding: DensityFinding, about: ExplainedSubject): string {
  switch (finding.rule) {
    case 'none':
      return NO_FINDINGS[finding.reason];
    case 'read-write':
      return finding.by === null
        ? 'No later write supersedes this read.'
        : `What was read was written later, last by ${nameOf(finding.by)}.`;
    case 'file-dedupe':
      return finding.by === null
        ? 'This is the newest inclusion of the file.'
        : `The file is included again in entry ${finding.by.entry}.`;
    case 'recency':
      return (
        `Of the results of ${shownToolName(about.toolName ?? '')} the newest ${finding.retained} stay, ` +
        `and this is number ${finding.rank}, counted from the newest.`
      );
    case 'working-set':
      return workingSetText(finding, about);
  }
}

const NO_FINDINGS: Readonly<Record<NoFinding['reason'], string>> = {
  'no-rule': 'No rule takes it away.',
  open: 'The call has no result yet.',
  'no-call': 'It answers no call that is known.',
  gone: 'A placeholder stands in its place already.',
  companion: 'It goes with what it belongs to.',
};

function workingSetText(
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
      return `It is new: ${sent}, and it stays for ${calls(lease)}.`;
    case 'touched':
      return (
        `Its file was touched by ${nameOf(by)}, ${calls(touch?.age ?? 0)} ago, ` +
        `and it stays for ${count(touch?.lease ?? 0)} from then on.`
      );
    case 'aged':
      return `It is long and no longer new: ${sent}, and it stays whole for ${calls(lease)}.`;
    case 'expired':
      return purpose === 'read'
        ? `Its time is over: ${sent}, it stays for ${calls(lease)}, and nothing touched its file lately.`
        : `Its time is over: ${sent}, and it stays for ${calls(lease)}.`;
    case 'forgotten':
      return `It is long past: ${sent}, and calls stay with what is left of their results for ${calls(lease)}.`;
    case 'repeated':
      return `The same call was made again: ${nameOf(by)}.`;
    case 'read-again':
      return `The same lines were read again by ${nameOf(by)}.`;
  }
}

function nameOf(call: CallPlace | null): string {
  if (call === null) return 'another call';
  const id = shortened(onOneLine(call.callId), MAX_ID_LENGTH);
  return `the ${shownToolName(call.toolName)} call ${id} in entry ${call.entry}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function calls(number: number): string {
  return `${count(number)} model ${number === 1 ? 'call' : 'calls'}`;
}

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function count(amount: number): string {
  return WHOLE.format(amount);
}
