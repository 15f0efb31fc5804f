// Streams JSON Lines in bounded memory. Reports every damaged line with its number, and recovers the
// complete objects on it. Independent of any format.

import { tryParseJson } from '../../shared/json.js';
import { jsonErrorOffset } from './json-error-offset.js';

/** A record or a description of damage, with its line number, counted from 1. */
export type JsonLine =
  | { readonly line: number; readonly value: unknown }
  | { readonly line: number; readonly damage: string };

/** Maximum length of a line in characters; longer ones are left out. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;

/** What is said of text with lone surrogates, which `readText` makes of bytes that are no UTF-8. */
export const INVALID_UNICODE = 'Text that is no valid Unicode was replaced by U+FFFD';

/** Maximum number of offsets on a damaged line at which parsing a record is attempted. */
const MAX_RECOVERY_ATTEMPTS = 64;

/** Splits text that arrives in pieces into lines. */
export class LineSplitter {
  #parts: string[] = [];
  #length = 0;
  readonly #maxLength: number;

  constructor(maxLength: number = MAX_LINE_LENGTH) {
    this.#maxLength = maxLength;
  }

  /** Returns the lines that this piece completes, with `undefined` in place of a line that is too long. */
  push(piece: string): (string | undefined)[] {
    const lines: (string | undefined)[] = [];
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      this.#keep(piece.slice(start, end));
      lines.push(this.end());
      start = end + 1;
    }
    this.#keep(piece.slice(start));
    return lines;
  }

  /** Returns the incomplete line so far. At the end of the text, this is the last line, without a line break. */
  end(): string | undefined {
    const line = this.#length > this.#maxLength ? undefined : this.#parts.join('');
    this.#parts = [];
    this.#length = 0;
    return line;
  }

  #keep(part: string): void {
    this.#length += part.length;
    if (this.#length > this.#maxLength) this.#parts = [];
    else if (part !== '') this.#parts.push(part);
  }
}

/** Yields the records of JSON Lines text. Skips blank lines. */
export async function* readJsonLines(
  pieces: AsyncIterable<string>,
  maxLength: number = MAX_LINE_LENGTH,
): AsyncGenerator<JsonLine> {
  const splitter = new LineSplitter(maxLength);
  let line = 0;
  for await (const piece of pieces) {
    for (const text of splitter.push(piece)) {
      line += 1;
      yield* parseLine(text, line);
    }
  }
  yield* parseLine(splitter.end(), line + 1);
}

function* parseLine(recorded: string | undefined, line: number): Generator<JsonLine> {
  if (recorded === undefined) {
    yield { line, damage: 'The line is too long to be read and was left out.' };
    return;
  }
  // After a crash, disk blocks that were allocated but never written read as NUL bytes.
  const withoutNul = recorded.includes('\0') ? recorded.replaceAll('\0', '') : recorded;
  if (withoutNul !== recorded) {
    yield { line, damage: `${recorded.length - withoutNul.length} NUL bytes were left out.` };
  }
  const text = withoutNul.toWellFormed();
  if (text !== withoutNul) yield { line, damage: `${INVALID_UNICODE}.` };
  if (!/\S/.test(text)) return;
  const whole = tryParseJson(text);
  if (whole !== undefined) {
    yield { line, value: whole };
    return;
  }
  const { values, rest } = recoverValues(text);
  for (const value of values) yield { line, value };
  if (rest === '') return;
  const what = values.length === 0 ? 'The line' : 'A part of the line';
  // The parser's own message is not used, because it quotes the line.
  const at = jsonErrorOffset(text);
  yield { line, damage: `${what} is no JSON and was left out: character ${at} ends it.` };
}

/** Finds complete objects on a line that is not JSON as a whole: several joined objects, or one appended to a truncated object. */
function recoverValues(text: string): { values: readonly unknown[]; rest: string } {
  const values: unknown[] = [];
  let start = 0;
  while (/^\s*\{/.test(text.slice(start))) {
    const end = start + jsonErrorOffset(text.slice(start));
    const value = tryParseJson(text.slice(start, end));
    if (value === undefined) break;
    values.push(value);
    start = end;
  }
  const rest = text.slice(start).trim();
  if (rest === '' || values.length > 0) return { values, rest };
  let at = text.indexOf('{"', 1);
  for (let attempts = 0; at !== -1 && attempts < MAX_RECOVERY_ATTEMPTS; attempts += 1) {
    const value = tryParseJson(text.slice(at));
    if (value !== undefined) return { values: [value], rest };
    at = text.indexOf('{"', at + 1);
  }
  return { values, rest };
}
