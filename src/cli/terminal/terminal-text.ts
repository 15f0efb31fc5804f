// Sanitizes text for printing: a session, a file name or an error must not be able to send control sequences to
// the terminal. Everything written to stdout or stderr passes through here.

import type { ContentLabel } from './content-label.js';

/** Control and format characters, including bidi overrides, and Unicode line separators. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Returns the text on one line, with unsafe characters and runs of white space replaced by a space. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** Returns the text with unsafe characters other than line breaks shown as `\uXXXX`. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (character) => (character === '\n' ? character : escaped(character)));
}

/**
 * Returns a report as one JSON document that ends with a line break. A redacting label removes excerpts, parameters,
 * server messages and the workspace, replaces paths and the names of files in a folder by tags, and keeps tool names and call ids only if they are plain.
 * Figures, codes and command-line arguments stay.
 */
export function jsonText(report: object, label: ContentLabel): string {
  const shown = label.isRedacted ? withoutContent(report, label) : report;
  return `${printableLines(JSON.stringify(shown, null, 2))}\n`;
}

function withoutContent(report: object, label: ContentLabel): unknown {
  const { file, path: given = file } = report as Readonly<Record<string, unknown>>;
  function hide(this: unknown, key: string, value: unknown): unknown {
    switch (key) {
      case 'excerpt':
      case 'parameter':
      case 'said':
        return undefined;
      case 'workspaceRoot':
        return null;
      case 'path':
        return typeof value === 'string' && value !== given ? label.ofPath(value) : value;
      case 'file':
        return isFoundFile(this) && value !== given ? label.ofPath(this.file) : value;
      case 'paths':
        return Array.isArray(value) ? value.map((path) => label.ofPath(String(path))) : value;
      case 'tool':
      case 'toolName':
      case 'callId':
        return typeof value === 'string' ? label.ofName(value) : value;
      case 'text':
        return namesOf(this).every((name) => label.ofName(name) === name) ? value : null;
      default:
        return value;
    }
  }
  return JSON.parse(JSON.stringify(report, hide)) as unknown;
}

/** Whether an object is a session or an unread file. Another file, that of a removal log, is a command-line argument. */
function isFoundFile(holder: unknown): holder is { readonly file: string } {
  const { file, format, code } = Object(holder) as Readonly<Record<string, unknown>>;
  return typeof file === 'string' && (format !== undefined || code !== undefined);
}

/** Returns the names that the text of an explanation may quote. */
function namesOf(block: unknown): readonly string[] {
  const { toolName, callId, by } = block as Readonly<Record<string, unknown>>;
  const other = Object(by) as Readonly<Record<string, unknown>>;
  return [toolName, callId, other['toolName'], other['callId']].filter(
    (name) => typeof name === 'string',
  );
}

/** Returns `\uXXXX` for each UTF-16 unit, which is a valid escape in JSON too. */
export function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
