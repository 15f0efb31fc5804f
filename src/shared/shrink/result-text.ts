// Returns a result as the text that shrinkers and line comparisons see. Many tools wrap file contents or command output in JSON,
// which makes one long line of it: the long texts in such JSON are unescaped onto lines of their own, and the rest of the JSON
// stays. Data is seen as the JSON that the model is sent.
// A result that states its failure only in JSON fields stays as it is, because other code reads the failure from these fields.

import { endedInFailure, MAX_HOST_LINES } from '../outcome.js';
import { asRecord, endOfString, isRecord, textOfParts, tryParseJson } from '../json.js';
import { payloadText } from '../tokens/content-text.js';
import { leftOut } from './shrinker.js';

/** The label of shrunk results whose texts were written out. */
export const WRITTEN_OUT = 'texts in JSON on lines of their own';

/** Minimum line breaks in a text that is written out, and minimum strings in a list of lines. */
const MIN_BREAKS = 2;
const MIN_LINES = 8;
/** Longer JSON, in UTF-16 units, stays as it is: it is parsed where the history is indexed, which may be the turn loop's thread. */
const MAX_LENGTH = 1_000_000;
/** Minimum share of the JSON that the written-out texts must make up, so that data stays data; and of a text that its JSON must. */
const MIN_SHARE = 0.5;
/** Maximum nesting of texts to write out: a wrapper is at most an object with a list of objects with an object each, as MCP's answers. */
const MAX_DEPTH = 4;
/** In place of a written-out text of at least this length, in UTF-16 units, that is the same as the one before it. */
const MIN_REPEATED = 200;
const REPEATED = `"${leftOut('the same text as before')}"`;
const JSON_START = /["[{]/;
/** Matches the start of JSON that may be an MCP answer, or the content of one. */
const MAY_BE_ANSWER = /^[[{][^]{0,1000}?"type":\s*"(?:text|resource)"/;
/** Matches lines that are resources, which clients of MCP put between other texts, and lines that are not. */
const RESOURCES = /^\{"type":"resource",.*$/gm;
/** Matches the start of a list of at least `MIN_LINES` strings. */
const MAY_BE_LINES = new RegExp(
  String.raw`\[\s*(?:"(?:[^"\\]|\\.){0,2000}",\s*){${MIN_LINES - 1}}"`,
);
/** Matches the start of a JSON string whose text is JSON itself: an object, or a list that begins with one or with a string. */
const DATA = /^"(?:\[\s?)?\{?\\"/;
/** Must stay escaped: providers reject lone surrogates, and databases reject NUL. */
const UNSENDABLE = /\0|\p{Surrogate}/u;

const [SPACE, QUOTE, COMMA, COLON, OPENS_LIST, CLOSES_LIST] = [0x20, 0x22, 0x2c, 0x3a, 0x5b, 0x5d];
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Returns a result as shrinkers see it: a string as it is, an object or a list of objects as the JSON that the model is sent; in
 * either, the long texts of a JSON wrapper are written out, also of one between a few lines of the host. A list of text parts is
 * their texts. What an MCP answer says twice stands there once. `undefined` for other results, and for objects and lists that state a
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
  const mayHaveTexts = part.includes('\\n') || MAY_BE_ANSWER.test(part) || MAY_BE_LINES.test(part);
  const value = mayHaveTexts ? tryParseJson(part) : undefined;
  if (value === undefined) return asGiven && withResources(asGiven);
  const isOfAnswer = isAnswer(value);
  const once = isOfAnswer ? withoutRepeated(part, value) : part;
  const hasFailed = endedInFailure(part === json ? value : json);
  for (const form of [writtenOut(once, isOfAnswer), once]) {
    if (form === undefined || form === part) continue;
    const text = json.slice(0, start) + form + json.slice(end);
    if (endedInFailure(text) === hasFailed) return text;
  }
  return asGiven;
}

/** Returns a text with the texts of resources on lines of their own. */
function withResources(text: string): string {
  const has = text.startsWith('{"type":"resource",') || text.includes('\n{"type":"resource",');
  return has ? text.replaceAll(RESOURCES, (line) => writtenOut(line) ?? line) : text;
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
  return type === 'text' || isResource(part);
}

/** Whether a part is a text with an address, as MCP's servers return files. */
function isResource(part: unknown): boolean {
  const { type, resource } = asRecord(part) ?? {};
  return type === 'resource' && typeof asRecord(resource)?.['text'] === 'string';
}

/** Whether a value is an answer of MCP, or only the content of one. */
function isAnswer(value: unknown): boolean {
  const parts = asRecord(value)?.['content'] ?? value;
  return Array.isArray(parts) && (parts !== value || parts.some((part) => isResource(part)));
}

/** Returns the JSON of an MCP answer without structured content that repeats its texts. */
function withoutRepeated(json: string, value: unknown): string {
  const fields = asRecord(value) ?? {};
  const isRepeated = isSaid(fields['structuredContent'], fields['content']);
  // JSON that is written otherwise than ours stays as it is, down to the digits of its numbers.
  if (!isRepeated || JSON.stringify(value) !== json) return json;
  return JSON.stringify({ ...fields, structuredContent: leftOut('the same as the content') });
}

/** Whether structured content is what the texts of content say: as JSON, or as its only field. */
function isSaid(structured: unknown, content: unknown): boolean {
  const said = isRecord(structured) ? textOfParts(content) : undefined;
  if (said === undefined || !isRecord(structured)) return false;
  const [only, ...others] = Object.values(structured);
  const alone = others.length === 0 ? only : undefined;
  const parsed = tryParseJson(said);
  const isSame = (each: unknown): boolean => JSON.stringify(each) === JSON.stringify(parsed);
  return alone === said || (parsed !== undefined && [structured, alone].some(isSame));
}

/**
 * Returns JSON with its long texts written out; `undefined` if they make up too little of it.
 *
 * @param isOfAnswer whether the JSON is an MCP answer, whose texts may be data as JSON, with such texts in turn
 */
function writtenOut(json: string, isOfAnswer = false): string | undefined {
  let written = '';
  let from = 0;
  let length = 0;
  let depth = 0;
  let last: string | undefined;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    const list = depth < MAX_DEPTH && code === OPENS_LIST ? linesIn(json, at) : undefined;
    if (list !== undefined) {
      written += `${json.slice(from, at)}[\n${list.text}\n]`;
      length += list.end - at;
      from = list.end;
      at = from - 1;
      continue;
    }
    if (OPENS.has(code)) depth += 1;
    else if (CLOSES.has(code)) depth -= 1;
    if (code !== QUOTE) continue;
    const end = endOfString(json, at);
    const text = depth <= MAX_DEPTH ? textIn(json.slice(at, end), isOfAnswer) : undefined;
    if (text !== undefined && json.charCodeAt(end) !== COLON) {
      const isRepeated = text === last && text.length >= MIN_REPEATED;
      written += json.slice(from, at) + (isRepeated ? REPEATED : `"\n${text}\n"`);
      length += end - at;
      from = end;
      last = text;
    }
    at = end - 1;
  }
  return length < MIN_SHARE * json.length ? undefined : written + json.slice(from);
}

/**
 * Returns the lines that a list of strings in JSON consists of, such as the paths of files; `undefined` for other lists, for short ones,
 * and for those that are not most of the JSON, such as the rows of a table.
 */
function linesIn(json: string, start: number): { text: string; end: number } | undefined {
  const least = MIN_SHARE * json.length;
  if (json.length - start < least) return undefined;
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== CLOSES_LIST; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at) - 1;
    else if (code !== COMMA && code > SPACE) return undefined;
  }
  const end = at + 1;
  if (end - start < least) return undefined;
  const lines = JSON.parse(json.slice(start, end)) as readonly string[];
  if (lines.length < MIN_LINES) return undefined;
  // Some keep their line breaks.
  const isBroken = lines[0]?.endsWith('\n') === true;
  const text = isBroken ? lines.join('').replace(/\n$/, '') : lines.join('\n');
  const isLines = lines.every((line) => [-1, line.length - 1].includes(line.indexOf('\n')));
  const isSame = text.split('\n').length === lines.length;
  return isLines && isSame && !UNSENDABLE.test(text) ? { text, end } : undefined;
}

/** Returns the text to write out for a JSON string, or `undefined` if the string stays as it is. */
function textIn(string: string, isOfAnswer: boolean): string | undefined {
  const isData = isOfAnswer && DATA.test(string);
  if (!isData && string.split('\\n', MIN_BREAKS + 1).length <= MIN_BREAKS) return undefined;
  const text = JSON.parse(string) as string;
  if (UNSENDABLE.test(text)) return undefined;
  if (isData && tryParseJson(text) !== undefined) return writtenOut(text) ?? text;
  return text.split('\n', MIN_BREAKS + 1).length > MIN_BREAKS ? text : undefined;
}
