// Words that the sentences of rules are made of. Of a history they repeat names of tools and ids of calls, and
// nothing else.

import { onOneLine, shortened } from '../../shown-text.js';
import { shownToolName } from '../../placeholder.js';
import type { CallPlace } from '../explain/explanation.js';

const MAX_ID_LENGTH = 64;

/** Names a call by tool, id and entry. */
export function nameOfCall(call: CallPlace | null): string {
  if (call === null) return 'another call';
  const id = shortened(onOneLine(call.callId), MAX_ID_LENGTH);
  return `the ${shownToolName(call.toolName)} call ${id} in entry ${call.entry}`;
}

/** `once`, or so many times. */
export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** So many model calls. */
export function modelCalls(number: number): string {
  return `${count(number)} model ${number === 1 ? 'call' : 'calls'}`;
}

/** Made with the first number: it takes several milliseconds. */
let whole: Intl.NumberFormat | undefined;

/** A whole number, in groups of three digits. */
export function count(amount: number): string {
  whole ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  return whole.format(amount);
}
