// The shrinker `terminalCodes`: removes what a terminal would not show: escape codes, erased characters, and overwritten states
// of progress bars.

import { withoutCodes } from '../shown-text.js';
import { isDelimited, isSimilar } from './like-lines.js';
import { Draft, MAX_SCANNED_OF_LINE, mentionsFailure } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

const LINE = /[^\r\n]+/g;
const BELLS = /\u0007/g;
/**
 * A state counts as overwritten only if it starts with the same `SAME_START` characters as the next one. Each run of digits counts as
 * one digit, within the first `MAX_START` UTF-16 units.
 */
const SAME_START = 4;
const MAX_START = 24;
const PERCENT = /^\d[\d.]*\s?%/;

/** Removes escape codes and overwritten progress. Targets of hyperlinks stay. */
export const TERMINAL_CODES: Shrinker = {
  name: 'terminalCodes',
  label: 'terminal codes',
  from: 'lossless',
  shrink({ text }) {
    const shown = /[\u0007\u0008\u001b]/.test(text)
      ? withoutCodes(text).replace(LINE, withoutErased).replace(BELLS, '')
      : text;
    const settled = withoutOverwritten(shown);
    return settled.length < text.length ? Draft.ofText(settled) : undefined;
  },
};

/** Returns a line as a terminal shows it: a backspace moves the cursor back, and later characters overwrite earlier ones. */
function withoutErased(line: string): string {
  if (!line.includes('\b')) return line;
  const shown: string[] = [];
  let at = 0;
  for (const character of line) {
    if (character === '\b') at = Math.max(0, at - 1);
    else {
      shown[at] = character;
      at += 1;
    }
  }
  return shown.join('');
}

/** Removes states of a line that a later state overwrote after a carriage return. */
function withoutOverwritten(text: string): string {
  if (hasRowsByCarriageReturn(text)) return text;
  let kept = '';
  let from = 0;
  let start = 0;
  let lineEnd = text.indexOf('\n');
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) {
    for (; lineEnd !== -1 && lineEnd < at; lineEnd = text.indexOf('\n', start)) start = lineEnd + 1;
    if (isOverwritten(text, start, at)) {
      kept += text.slice(from, start);
      from = at + 1;
    }
    start = at + 1;
  }
  return kept + text.slice(from);
}

/** Whether a text is a table whose rows end with a carriage return alone, so that it is a line break and overwrites nothing. */
function hasRowsByCarriageReturn(text: string): boolean {
  if (text.includes('\n')) return false;
  const rows = text.trimEnd().split('\r');
  return isDelimited(rows, 0, rows.length);
}

/**
 * Whether the state from `start` to the carriage return at `end` starts like the next one. A state that mentions a failure or a
 * warning counts as overwritten only if the next one is similar as a whole; see `isSimilar`.
 */
function isOverwritten(text: string, start: number, end: number): boolean {
  const shown = skipSpaces(text, start);
  if (end - shown < SAME_START) return false;
  const next = skipSpaces(text, end + 1);
  const isSame = startOf(text, shown) === startOf(text, next);
  const isPercent = (at: number): boolean => PERCENT.test(text.slice(at, at + 8));
  if (!isSame && !(isPercent(shown) && isPercent(next))) return false;
  const state = text.slice(shown, Math.min(end, shown + MAX_SCANNED_OF_LINE));
  if (!mentionsFailure(state) && !WARNING.test(state)) return true;
  return isSimilar(text.slice(shown, end), text.slice(next, endOfState(text, next)));
}

/** Returns the normalized start of a state: the same for `[12/300] Build` and `[13/300] Build`. */
function startOf(text: string, at: number): string {
  return text
    .slice(at, at + MAX_START)
    .replace(/\d+/g, '0')
    .slice(0, SAME_START);
}

/** Maximum length of a state that is compared, in UTF-16 units; the rest is ignored. */
const MAX_STATE = 4_000;
const WARNING = /\bwarn/i;

function endOfState(text: string, start: number): number {
  const end = text.slice(start, start + MAX_STATE).search(/[\r\n]/);
  return end === -1 ? Math.min(text.length, start + MAX_STATE) : start + end;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20) at += 1;
  return at;
}
