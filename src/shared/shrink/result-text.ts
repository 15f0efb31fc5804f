// The text of a result that shrinkers and line comparisons work on. Many tools wrap a file's text or a command's output in JSON,
// which turns it into one long line: its long strings are written out as lines, and the rest of the JSON stays. Data stays the
// JSON that the model is sent.
// A result whose failure is stated only in its JSON fields stays as it is, because other code reads the failure there.

import { endedInFailure } from '../outcome.js';
import { asRecord, isRecord, tryParseJson } from '../json.js';
import { payloadText } from '../tokens/content-text.js';

/** The label of results whose texts were written out. */
export const WRITTEN_OUT = 'texts in JSON on lines of their own';

/** Strings with fewer line breaks are not written out. */
const MIN_BREAKS = 2;
/** Longer JSON, in UTF-16 units, stays as it is: parsing happens where the history is indexed, which may be the turn's thread. */
const MAX_LENGTH = 1_000_000;
/** The strings to write out must be at least this share of the JSON, so that data stays data. */
const MIN_SHARE = 0.5;
/** A wrapper is at most a list of objects, or an MCP answer (one level more); deeper strings are data. */
const MAX_DEPTH = 2;
const MCP = /^\{"content":\s*\[/;
/** The start of a string that contains JSON itself: an object, or a list of objects. */
const DATA = /^"(?:\[\s?)?\{\\"/;
/** Characters that must stay escaped: providers reject lone surrogates, and databases reject NUL. */
const UNSENDABLE = /\0|\p{Surrogate}/u;

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Returns the text that shrinkers see: for a string, the string; for an object or a list of objects, the JSON that the model is
 * sent; in both cases with the long strings of wrapper JSON written out. `undefined` for anything else, and for objects that state
 * a failure or whose JSON is very long. Takes linear time.
 */
export function resultText(result: unknown): string | undefined {
  const json = isJson(result) ? payloadText(result) : result;
  if (typeof json !== 'string') return undefined;
  const isSeen = json === result || (json.length <= MAX_LENGTH && !endedInFailure(result));
  const asGiven = isSeen ? json : undefined;
  if (json.length > MAX_LENGTH || !/^[[{]/.test(json) || !(json.includes('\\n') || MCP.test(json)))
    return asGiven;
  const value = tryParseJson(json);
  const written = value === undefined ? undefined : writtenOut(json);
  const isSame = written !== undefined && endedInFailure(written) === endedInFailure(value);
  return isSame ? written : asGiven;
}

/** Whether the model is sent the result as JSON. Typed content reaches it as pictures and documents instead. */
function isJson(result: unknown): boolean {
  if (Array.isArray(result)) {
    return result.every((item) => isRecord(item) && item['type'] === undefined);
  }
  if (!isRecord(result)) return false;
  const { content } = result;
  return !Array.isArray(content) || content.every(isText);
}

/** Whether a part of MCP content is text. Parts without a type are data, which is sent as JSON too. */
function isText(part: unknown): boolean {
  const { type = 'text' } = asRecord(part) ?? {};
  return type === 'text';
}

/** Writes out the long strings of JSON; `undefined` if they are less than `MIN_SHARE` of it. */
function writtenOut(json: string): string | undefined {
  const isAnswer = MCP.test(json);
  const maxDepth = isAnswer ? MAX_DEPTH + 1 : MAX_DEPTH;
  let written = '';
  let from = 0;
  let length = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (OPENS.has(code)) depth += 1;
    else if (CLOSES.has(code)) depth -= 1;
    if (code !== QUOTE) continue;
    const end = endOfString(json, at);
    const text = depth <= maxDepth ? textIn(json.slice(at, end), isAnswer) : undefined;
    if (text !== undefined && json.charCodeAt(end) !== COLON) {
      written += `${json.slice(from, at)}"\n${text}\n"`;
      length += end - at;
      from = end;
    }
    at = end - 1;
  }
  return length < MIN_SHARE * json.length ? undefined : written + json.slice(from);
}

/** The end (exclusive) of the string that starts at `start`. The JSON must be valid. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
    if (json.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}

/**
 * The text to write out for a JSON string; `undefined` if the string stays as it is.
 *
 * @param isAnswer whether the string is part of an MCP answer, where it may itself be JSON
 */
function textIn(string: string, isAnswer: boolean): string | undefined {
  const isData = isAnswer && DATA.test(string);
  if (!isData && string.split('\\n', MIN_BREAKS + 1).length <= MIN_BREAKS) return undefined;
  const text = JSON.parse(string) as string;
  if (UNSENDABLE.test(text)) return undefined;
  const isLong = text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS;
  return isLong || (isData && tryParseJson(text) !== undefined) ? text : undefined;
}
