// Returns a result as the text that shrinkers and line comparisons see. Many tools wrap file contents or command output in JSON,
// which makes one long line of it: the long texts in such JSON are unescaped onto lines of their own, and the rest of the JSON
// stays. Data is seen as the JSON that the model is sent.
// A result that states its failure only in JSON fields stays as it is, because other code reads the failure from these fields.

import { endedInFailure, MAX_HOST_LINES } from '../outcome.js';
import { asRecord, endOfString, isRecord, textOfParts, tryParseJson } from '../json.js';
import { payloadText } from '../tokens/content-text.js';

/** The label of shrunk results whose texts were written out. */
export const WRITTEN_OUT = 'texts in JSON on lines of their own';

/** Minimum line breaks in a text that is written out. */
const MIN_BREAKS = 2;
/** Longer JSON, in UTF-16 units, stays as it is: it is parsed where the history is indexed, which may be the turn loop's thread. */
const MAX_LENGTH = 1_000_000;
/** Minimum share of the JSON that the written-out texts must make up, so that data stays data; and of a text that its JSON must. */
const MIN_SHARE = 0.5;
/** Maximum nesting of texts to write out: a wrapper is at most a list of objects; MCP's answers have one level more. Deeper is data. */
const MAX_DEPTH = 2;
const JSON_START = /["[{]/;
const MCP = /^\{"content":\s*\[/;
/** Matches the start of a JSON string whose text is JSON itself: an object, or a list that begins with one. */
const DATA = /^"(?:\[\s?)?\{\\"/;
/** Must stay escaped: providers reject lone surrogates, and databases reject NUL. */
const UNSENDABLE = /\0|\p{Surrogate}/u;

const [QUOTE, COLON] = [0x22, 0x3a];
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Returns a result as shrinkers see it: a string as it is, an object or a list of objects as the JSON that the model is sent; in
 * either, the long texts of a JSON wrapper are written out, also of one between a few lines of the host. A list of text parts is their texts. `undefined` for other results, and for objects and lists that state a
 * failure or whose JSON is longer than `MAX_LENGTH`. Linear in the length of the result.
 */
export function resultText(result: unknown): string | undefined {
  if (isTexts(result)) return resultText(textOfParts(result));
  const json = isJson(result) ? payloadText(result) : result;
  if (typeof json !== 'string') return undefined;
  const isSeen = json === result || (json.length <= MAX_LENGTH && !endedInFailure(result));
  const asGiven = isSeen ? json : undefined;
  if (json.length > MAX_LENGTH) return asGiven;
  const [start, end] = placeOfJson(json);
  const part = json.slice(start, end);
  if (!(part.includes('\\n') || MCP.test(part))) return asGiven;
  const value = tryParseJson(part);
  const writtenPart = value === undefined ? undefined : writtenOut(part);
  if (writtenPart === undefined) return asGiven;
  const written = json.slice(0, start) + writtenPart + json.slice(end);
  const isSame = endedInFailure(written) === endedInFailure(part === json ? value : json);
  return isSame ? written : asGiven;
}

/** The range of a text that may be JSON: a line that is most of it, below and above lines of the host, or all of it. */
function placeOfJson(text: string): readonly [start: number, end: number] {
  let start = 0;
  for (let line = 0; line < MAX_HOST_LINES; line += 1) {
    const next = text.indexOf('\n', start);
    const end = next === -1 ? text.length : next;
    const isMost = end - start >= MIN_SHARE * text.length;
    if (isMost && JSON_START.test(text.charAt(start))) return [start, end];
    if (isMost || next === -1) break;
    start = next + 1;
  }
  return [0, JSON_START.test(text.charAt(0)) ? text.length : 0];
}

/** Whether a result is a list of nothing but texts, as MCP's clients pass them on. */
function isTexts(result: unknown): boolean {
  const isPart = (part: unknown): boolean =>
    isRecord(part) && part['type'] === 'text' && Object.keys(part).length === 2;
  return Array.isArray(result) && result.length > 0 && result.every(isPart);
}

/** Whether the model is sent the result as JSON. Of content with other types than text, it is sent the images and documents. */
function isJson(result: unknown): boolean {
  if (Array.isArray(result)) {
    return result.every((item) => isRecord(item) && item['type'] === undefined);
  }
  if (!isRecord(result)) return false;
  const { content } = result;
  return !Array.isArray(content) || content.every(isText);
}

/** Whether a part of content is a text, as in MCP's answers, or has no type and is data. */
function isText(part: unknown): boolean {
  const { type = 'text' } = asRecord(part) ?? {};
  return type === 'text';
}

/** Returns JSON with its long texts written out; `undefined` if they make up too little of it. */
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

/**
 * Returns the text to write out for a JSON string, or `undefined` if the string stays as it is.
 *
 * @param isAnswer whether the JSON is an MCP answer, whose texts may be data as JSON
 */
function textIn(string: string, isAnswer: boolean): string | undefined {
  const isData = isAnswer && DATA.test(string);
  if (!isData && string.split('\\n', MIN_BREAKS + 1).length <= MIN_BREAKS) return undefined;
  const text = JSON.parse(string) as string;
  if (UNSENDABLE.test(text)) return undefined;
  const isLong = text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS;
  return isLong || (isData && tryParseJson(text) !== undefined) ? text : undefined;
}
