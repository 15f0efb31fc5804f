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

export function modelCalls(number: number): string {
  return `${count(number)} model ${number === 1 ? 'call' : 'calls'}`;
}

/** Created on first use: it takes several milliseconds. */
let whole: Intl.NumberFormat | undefined;

/** Formats a whole number with thousands separators. */
export function count(amount: number): string {
  whole ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  return whole.format(amount);
}
