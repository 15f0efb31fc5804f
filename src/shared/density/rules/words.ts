// Phrases shared by the rules' sentences. From the history they quote only tool names and call ids.

import { onOneLine, shortened } from '../../shown-text.js';
import { shownToolName } from '../../placeholder.js';
import type { CallPlace } from './finding.js';

const MAX_ID_LENGTH = 64;

export function nameOfCall(call: CallPlace | null): string {
  if (call === null) return 'another call';
  const id = shortened(onOneLine(call.callId), MAX_ID_LENGTH);
  return `the ${shownToolName(call.toolName)} call ${id} in entry ${call.entry}`;
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** `1 token`, `2 tokens` */
export function numberOf(amount: number, one: string): string {
  return `${count(amount)} ${one}${amount === 1 ? '' : 's'}`;
}

/** Created on first use: it takes several milliseconds. */
let whole: Intl.NumberFormat | undefined;

/** Formats a whole number with thousands separators. */
export function count(amount: number): string {
  whole ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  return whole.format(amount);
}
