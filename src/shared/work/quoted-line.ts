// Texts of anybody's as lines of a record: a JSON string behind a dash. No text can leave its line, or begin one.

import { tryParseJson } from '../json.js';

const DASH = '- ';
/** What JSON leaves as it is and some readers take for the end of a line. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** Returns the line that quotes a text. */
export function lineOf(text: string): string {
  const json = JSON.stringify(text).replace(
    OTHER_LINE_ENDS,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return DASH + json;
}

/** UTF-8 bytes of the line that quotes a text, with its line feed. */
export function lineBytes(text: string): number {
  return Buffer.byteLength(lineOf(text)) + 1;
}

/** Returns the text that a line quotes, or `undefined` for one that quotes none. */
export function quotedIn(line: string): string | undefined {
  if (!line.startsWith(`${DASH}"`)) return undefined;
  const value = tryParseJson(line.slice(DASH.length));
  return typeof value === 'string' ? value : undefined;
}
