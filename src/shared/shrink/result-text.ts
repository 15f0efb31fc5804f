// The text that shrinkers and comparisons of lines see of a result. Many tools wrap what they read or what a command printed
// in JSON, which turns it into one long line: there, its long texts are written out in lines, and the rest of the JSON stays. Data
// is seen as the JSON that the model is sent.
// A result whose fields alone say that it failed stays as it is, for others read it there.

import { endedInFailure } from '../outcome.js';
import { asRecord, isRecord, tryParseJson } from '../json.js';
import { payloadText } from '../tokens/content-text.js';

/** Said of results whose texts were written out. */
export const WRITTEN_OUT = 'texts in JSON on lines of their own';

/** Texts with fewer line breaks stay as they are. */
const MIN_BREAKS = 2;
/** Longer JSON stays as it is: it is parsed where the history is indexed, which may be the turn's thread. */
const MAX_LENGTH = 1_000_000;
/** Texts that are written out are at least this share of the JSON, so that what is data stays data. */
const MIN_SHARE = 0.5;
/** A wrapper is a list of objects at most, or what MCP answers; deeper texts are data. */
const MAX_DEPTH = 2;
const MCP = /^\{"content":\s*\[/;
/** The start of a text that is JSON itself. */
const DATA = /^"(?:\[\s?)?\{\\"/;
/** Not sent as it is: providers refuse half of a surrogate pair, and databases NUL. */
const UNSENDABLE = /\0|\p{Surrogate}/u;

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Returns what shrinkers see of a result: of a text, the text; of an object or a list of objects, the JSON that the model is
 * sent. `undefined` for anything else, what failed, and very long JSON. Linear.
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

/** Whether a model is sent the result's JSON; of content with types, it sees pictures and documents. */
function isJson(result: unknown): boolean {
  if (Array.isArray(result)) {
    return result.every((item) => isRecord(item) && item['type'] === undefined);
  }
  if (!isRecord(result)) return false;
  const { content } = result;
  return !Array.isArray(content) || content.every(isText);
}

/** Of content as MCP answers; whatever else has no type is data. */
function isText(part: unknown): boolean {
  const { type = 'text' } = asRecord(part) ?? {};
  return type === 'text';
}

/** Writes out the long texts of JSON; `undefined` if they are too little of it. */
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

/** The end of the string that starts at `start`, in valid JSON. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
    if (json.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}

/**
 * The text that is written out for a string of JSON; `undefined` if it stays as it is.
 *
 * @param isAnswer whether it may be data that MCP answers
 */
function textIn(string: string, isAnswer: boolean): string | undefined {
  const isData = isAnswer && DATA.test(string);
  if (!isData && string.split('\\n', MIN_BREAKS + 1).length <= MIN_BREAKS) return undefined;
  const text = JSON.parse(string) as string;
  if (UNSENDABLE.test(text)) return undefined;
  const isLong = text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS;
  return isLong || (isData && tryParseJson(text) !== undefined) ? text : undefined;
}
