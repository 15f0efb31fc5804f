// Turns a result into plain text in which names and outcomes can be searched: removes what terminals, hosts and JSON add.

import { asRecord, textOfParts } from '../../json.js';
import { withoutMark } from '../../shrink/shown-before.js';
import { withoutCodes } from '../../shown-text.js';
import { payloadText } from '../../tokens/content-text.js';
import { MAX_SEEN } from './names-in-text.js';

/** The text of a result without terminal escape codes, the mark of shrinking, host reminders and JSON escapes. */
export function readableText(result: unknown): string {
  return withoutEscapes(withoutReminders(withoutMark(withoutCodes(sentText(result)))));
}

/** The text of an MCP answer; for any other result, the text that is sent to the model. */
export function sentText(result: unknown): string {
  const content = asRecord(result)?.['content'];
  return textOfParts(Array.isArray(content) ? content : result) ?? payloadText(result);
}

const [REMINDER, REMINDER_END] = ['<system-reminder>', '</system-reminder>'];

/** Removes the reminders that a host appends to a result. */
function withoutReminders(text: string): string {
  let readable = text;
  for (let end = readable.trimEnd(); end.endsWith(REMINDER_END); end = readable.trimEnd()) {
    const start = end.lastIndexOf(REMINDER);
    if (start <= 0) break;
    readable = end.slice(0, start);
  }
  return readable;
}

/** JSON escapes of slashes and code units. Escaped line breaks are left to `seenLines`. */
const ESCAPE = /\\(?:\/|u([\dA-Fa-f]{4}))/g;

/** Decodes JSON escapes, which would otherwise look like names or cut off a URL. Controls, quotes and surrogates become spaces. */
function withoutEscapes(text: string): string {
  if (!text.includes('\\u') && !text.includes('\\/')) return text;
  const readable = text.replace(ESCAPE, (_, code: string | undefined) => {
    if (code === undefined) return '/';
    const character = String.fromCharCode(parseInt(code, 16));
    return /["\\\p{Cc}]/u.test(character) ? ' ' : character;
  });
  return readable.replace(/\p{Surrogate}/gu, ' ');
}

/** Breaks one-line JSON into a line per member, because lines as long as encoded text are not searched. */
export function withMembersInLines(text: string): string {
  if (!/^[{[]/.test(text) || text.includes('\n')) return text;
  return text.slice(0, MAX_SEEN).replaceAll(',"', ',\n"').replaceAll(',{', ',\n{');
}
