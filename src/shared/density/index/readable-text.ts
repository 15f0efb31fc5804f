// What a result says, as text in which names and outcomes can be looked for: without what terminals, hosts and JSON add to it.

import { asRecord, textOfParts } from '../../json.js';
import { withoutMark } from '../../shrink/shown-before.js';
import { withoutCodes } from '../../shown-text.js';
import { payloadText } from '../../tokens/content-text.js';
import { MAX_SEEN } from './names-in-text.js';

/** What a result says, without codes of terminals, notes of ours, reminders of hosts and escapes of JSON. */
export function readableText(result: unknown): string {
  return withoutEscapes(withoutReminders(withoutMark(withoutCodes(saidIn(result)))));
}

/** What an answer of MCP says; else the result as the model is sent it. */
export function saidIn(result: unknown): string {
  const content = asRecord(result)?.['content'];
  return textOfParts(Array.isArray(content) ? content : result) ?? payloadText(result);
}

const [REMINDER, REMINDER_END] = ['<system-reminder>', '</system-reminder>'];

/** A result without what its host reminds the model of behind it. */
function withoutReminders(text: string): string {
  let said = text;
  for (let end = said.trimEnd(); end.endsWith(REMINDER_END); end = said.trimEnd()) {
    const start = end.lastIndexOf(REMINDER);
    if (start <= 0) break;
    said = end.slice(0, start);
  }
  return said;
}

/** How JSON writes control characters, and some writers whatever is not ASCII, `<`, `&` and slashes. Line breaks are read as such. */
const ESCAPE = /\\(?:\/|u([\dA-Fa-f]{4}))/g;

/** A text with the characters that its JSON escapes: no escape is a name, and an address goes on behind one. */
function withoutEscapes(text: string): string {
  if (!text.includes('\\u') && !text.includes('\\/')) return text;
  const said = text.replace(ESCAPE, (_, code: string | undefined) => {
    if (code === undefined) return '/';
    const character = String.fromCharCode(parseInt(code, 16));
    return /["\\\p{Cc}]/u.test(character) ? ' ' : character;
  });
  return said.replace(/\p{Surrogate}/gu, ' ');
}

/** JSON in one line is as long as encoded text, of which nothing is read. */
export function withMembersInLines(text: string): string {
  if (!/^[{[]/.test(text) || text.includes('\n')) return text;
  return text.slice(0, MAX_SEEN).replaceAll(',"', ',\n"').replaceAll(',{', ',\n{');
}
