// What may be printed: texts without the characters by which a session, a file's name or an error could steer the
// terminal. Everything that is written to stdout or stderr goes through here. Prints nothing.

import type { ContentLabel } from './content-label.js';

/** Control and format characters, those that turn the direction of a text around among them, and odd line breaks. */
const STEERING = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text on one line and without the characters by which a transcript could steer the terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}

/** A text of several lines in which such characters are shown as escapes. */
export function printableLines(text: string): string {
  return text.replace(STEERING, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

/**
 * A report as one JSON document that ends with a line break. Where the label hides content, these go: excerpts,
 * parameters, what a server said, and the workspace; paths become tags; names of tools and ids of calls stay as long as they are plain.
 * Figures, codes, and what the command line was given stay.
 */
export function jsonText(report: object, label: ContentLabel): string {
  const shown = label.isRedacted ? withoutContent(report, label) : report;
  return `${JSON.stringify(shown, null, 2).replace(STEERING, (character) =>
    character === '\n' ? character : escaped(character),
  )}\n`;
}

/** Of the file or folder that was asked for; all other paths are of the session. */
const OWN_PATH = 'path';

function withoutContent(report: object, label: ContentLabel): unknown {
  function hide(this: unknown, key: string, value: unknown): unknown {
    switch (key) {
      case 'excerpt':
      case 'parameter':
      case 'said':
        return undefined;
      case 'workspaceRoot':
        return null;
      case OWN_PATH:
        return typeof value === 'string' && this !== report ? label.ofPath(value) : value;
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

/** The names that the sentence of an explanation may hold. */
function namesOf(block: unknown): readonly string[] {
  const { toolName, callId, by } = block as Readonly<Record<string, unknown>>;
  const other = Object(by) as Readonly<Record<string, unknown>>;
  return [toolName, callId, other['toolName'], other['callId']].filter(
    (name) => typeof name === 'string',
  );
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}
