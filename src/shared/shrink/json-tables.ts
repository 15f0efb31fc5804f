// The shrinker `jsonTables`: removes white space from JSON and writes lists of objects with the same keys as tables. The output
// is JSON with the same values. JSON that does not survive a round trip through `JSON.parse` exactly is unchanged.

import { endOfString, isRecord, tryParseJson } from '../json.js';
import type { JsonRecord } from '../json.js';
import { usualOf } from './number-columns.js';
import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** Minimum number of objects in a list that becomes a table. */
const MIN_ROWS = 3;
/** Minimum share of a list's objects with the same keys in the same order. Not all of them: APIs omit fields without a value. */
const ROWS_SHARE = 0.5;
/** Lists nested in this many other lists stay lists. Enclosing objects do not count: APIs such as GraphQL wrap their lists. */
const MAX_TABLE_DEPTH = 3;
/** The lines of a header that agents may put before JSON, and the label that they may put before the first line of an output. */
const BEFORE_JSON = /(?:[^\n]*\n){0,11}?(?:Output: )?(?=[[{])/y;
/** JSON that is nested deeper is unchanged. */
const MAX_DEPTH = 64;

/** Writes JSON compactly, with tables for lists of objects. */
export const JSON_TABLES: Shrinker = {
  name: 'jsonTables',
  label: 'white space in JSON, lists of objects as "columns" and "rows"',
  from: 'lossless',
  keepsValues: true,
  shrink({ text }) {
    // The JSON may wrap the tool's output: then `result-text.ts` has put each text on lines of its own, after `"` and before `"`.
    return (
      withTables(text, 0, text.length) ??
      withTables(text, text.indexOf('"\n') + 2, text.lastIndexOf('\n"'))
    );
  },
};

/** Shortens the JSON in a part of a text; `undefined` if there is none, or nothing is gained. */
function withTables(text: string, from: number, to: number): Draft | undefined {
  const [start, end] = placeOfJson(text, from, to);
  const json = text.slice(start, end);
  const compact = withoutSpaces(json);
  if (compact === undefined) return undefined;
  const value = tryParseJson(json);
  // Long numbers, escapes and duplicate keys do not survive a round trip.
  if (JSON.stringify(value) !== compact) return undefined;
  const written = jsonOf(value, 0);
  if (written.length >= json.length) return undefined;
  return Draft.ofText(text.slice(0, start) + written + text.slice(end));
}

/** Returns the range of a part that may be JSON: from a bracket that starts one of its first lines to its last closing bracket. */
function placeOfJson(
  text: string,
  from: number,
  to: number,
): readonly [start: number, end: number] {
  BEFORE_JSON.lastIndex = from;
  if (!BEFORE_JSON.test(text)) return [0, 0];
  const end = 1 + Math.max(text.lastIndexOf(']', to - 1), text.lastIndexOf('}', to - 1));
  return [BEFORE_JSON.lastIndex, end];
}

/** Returns JSON without white space between tokens, or `undefined` if it is nested too deeply. */
function withoutSpaces(json: string): string | undefined {
  let compact = '';
  let from = 0;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (character === '"') at = endOfString(json, at) - 1;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    else if (' \n\r\t'.includes(character)) {
      compact += json.slice(from, at);
      from = at + 1;
    }
    if (depth > MAX_DEPTH) return undefined;
  }
  return compact + json.slice(from);
}

function jsonOf(value: unknown, depth: number): string {
  if (depth < MAX_TABLE_DEPTH && Array.isArray(value)) {
    const columns = columnsOf(value);
    if (columns !== undefined) return tableOf(value as readonly JsonRecord[], columns, depth + 1);
    return `[${value.map((each) => jsonOf(each, depth + 1)).join(',')}]`;
  }
  if (isRecord(value)) {
    const fields = Object.entries(value).map(
      ([key, field]) => `${JSON.stringify(key)}:${jsonOf(field, depth)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Returns the keys that most objects of a list have, in order; `undefined` if the list cannot become a table. */
function columnsOf(list: readonly unknown[]): readonly string[] | undefined {
  if (list.length < MIN_ROWS || !list.every(isRecord)) return undefined;
  const keys = usualOf(list.map(keysOf), ROWS_SHARE);
  const columns = keys === undefined ? [] : (JSON.parse(keys) as readonly string[]);
  return columns.length === 0 ? undefined : columns;
}

function keysOf(row: JsonRecord): string {
  return JSON.stringify(Object.keys(row));
}

/** Writes a list as a table. Objects with other keys stay objects among the rows. */
function tableOf(rows: readonly JsonRecord[], columns: readonly string[], depth: number): string {
  const keys = JSON.stringify(columns);
  const cells = (row: JsonRecord): string =>
    Object.values(row)
      .map((cell) => jsonOf(cell, depth))
      .join(',');
  const lines = rows.map((row) => (keysOf(row) === keys ? `[${cells(row)}]` : jsonOf(row, depth)));
  return `{"columns":${keys},"rows":[\n${lines.join(',\n')}]}`;
}
