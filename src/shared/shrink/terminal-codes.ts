// The shrinker `terminalCodes`: removes what a terminal would not show: escape codes, erased characters, and states of
// progress bars that were overwritten.

import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** Control and operating-system sequences, character sets, single-character codes. Lengths are limited to realistic ones. */
const CODES =
  /\u001b(?:\[[0-?]{0,48}[ -/]{0,4}[@-~]|\][^\u0007\u001b\n]{0,512}(?:\u0007|\u001b\\)|[()*+][A-Za-z0-9]|[=>78DEHMNOZc])/g;
const ERASED = /[^\n\b]\u0008/g;
const BELLS = /\u0007/g;
/** Characters that must be equal at the start for a line to count as overwritten by the next state. */
const SAME_START = 4;
const PERCENT = /^\d[\d.]*\s?%/;

/** Removes escape codes and overwritten progress. */
export const TERMINAL_CODES: Shrinker = {
  name: 'terminalCodes',
  label: 'terminal codes',
  from: 'lossless',
  shrink({ text }) {
    const hasCodes = /[\u0007\u0008\u001b]/.test(text);
    const shown = hasCodes ? text.replace(CODES, '').replace(ERASED, '').replace(BELLS, '') : text;
    const settled = withoutOverwritten(shown);
    return settled.length < text.length ? Draft.ofText(settled) : undefined;
  },
};

/** Removes states of lines that a later state has overwritten. */
function withoutOverwritten(text: string): string {
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
  return from === 0 ? text : kept + text.slice(from);
}

/** Whether a line state starts like the next one, which follows the carriage return at `end`. */
function isOverwritten(text: string, start: number, end: number): boolean {
  const shown = skipSpaces(text, start);
  if (end - shown < SAME_START) return false;
  const next = skipSpaces(text, end + 1);
  if (text.startsWith(text.slice(shown, shown + SAME_START), next)) return true;
  return PERCENT.test(text.slice(shown, shown + 8)) && PERCENT.test(text.slice(next, next + 8));
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 0x20) at += 1;
  return at;
}
