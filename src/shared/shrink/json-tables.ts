// The shrinker `jsonTables`: removes white space from JSON and writes lists of objects with the same keys as tables. The output
// is JSON with the same values; JSON that does not survive a round trip exactly is unchanged.

import { isRecord, tryParseJson } from '../json.js';
import type { JsonRecord } from '../json.js';
import { usualOf } from './number-columns.js';
import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** Lists of fewer objects do not become tables. */
const MIN_ROWS = 3;
/** At least this share of a table's objects has the same keys in the same order. Not all: APIs omit fields without a value. */
const ROWS_SHARE = 0.5;
/** Lists nested in this many lists do not become tables. Objects around them do not count: APIs, such as GraphQL, wrap lists. */
const MAX_TABLE_DEPTH = 3;
/** Agents may add this many lines before an output. */
const MAX_HEADER_LINES = 12;
/** Agents may add this in front of the first line of an output. */
const LABEL = 'Output: ';
/** JSON that is nested deeper is unchanged. */
const MAX_DEPTH = 64;

/** Writes JSON with fewer characters. */
export const JSON_TABLES: Shrinker = {
  name: 'jsonTables',
  label: 'white space in JSON, lists of objects as "columns" and "rows"',
  from: 'lossless',
  isFinal: true,
  shrink({ text }) {
    const shorter = withTables(text, 0, text.length);
    if (shorter !== undefined || !/^[[{]/.test(text)) return shorter;
    // If a tool wraps its text in JSON, `result-text.ts` has already written out each text on lines of its own.
    return withTables(text, text.indexOf('"\n') + 2, text.lastIndexOf('\n"'));
  },
};

/** Shortens the JSON in a part of a text; `undefined` if there is none, or nothing is gained. */
function withTables(text: string, from: number, to: number): Draft | undefined {
  const [start, end] = placeOfJson(text, from, to);
  if (start >= end) return undefined;
  const json = text.slice(start, end);
  const compact = withoutSpaces(json);
  const value = compact === undefined ? undefined : tryParseJson(json);
  if (typeof value !== 'object' || value === null) return undefined;
  // Long numbers, escapes and duplicate keys do not survive a round trip.
  if (JSON.stringify(value) !== compact) return undefined;
  const written = jsonOf(value, 0);
  if (written.length >= json.length) return undefined;
  return Draft.ofText(text.slice(0, start) + written + text.slice(end));
}

/** Where a part may contain JSON: from one of its first lines to its last closing bracket. `[0, 0]` if nowhere. */
function placeOfJson(
  text: string,
  from: number,
  to: number,
): readonly [start: number, end: number] {
  let at = from;
  for (let line = 0; line < MAX_HEADER_LINES && at < to; line += 1) {
    const start = text.startsWith(LABEL, at) ? at + LABEL.length : at;
    const first = text.charAt(start);
    if (first === '[' || first === '{') {
      return [start, 1 + Math.max(text.lastIndexOf(']', to - 1), text.lastIndexOf('}', to - 1))];
    }
    const end = text.indexOf('\n', at);
    if (end === -1) break;
    at = end + 1;
  }
  return [0, 0];
}

/** JSON without white space between tokens; `undefined` if it is nested too deep. */
function withoutSpaces(json: string): string | undefined {
  let compact = '';
  let from = 0;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (isInText) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) isInText = false;
      continue;
    }
    if (code === 0x22) isInText = true;
    else if (code === 0x5b || code === 0x7b) depth += 1;
    else if (code === 0x5d || code === 0x7d) depth -= 1;
    else if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
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
  if (depth < MAX_TABLE_DEPTH && isRecord(value)) {
    const fields = Object.entries(value).map(
      ([key, field]) => `${JSON.stringify(key)}:${jsonOf(field, depth)}`,
    );
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The keys, in order, of at least `ROWS_SHARE` of a list's objects; `undefined` if there are none, or the list cannot be a table. */
function columnsOf(list: readonly unknown[]): readonly string[] | undefined {
  if (list.length < MIN_ROWS || !list.every(isRecord)) return undefined;
  const keys = usualOf(list.map(keysOf), ROWS_SHARE);
  const columns = keys === undefined ? [] : (JSON.parse(keys) as readonly string[]);
  return columns.length === 0 ? undefined : columns;
}

function keysOf(row: JsonRecord): string {
  return JSON.stringify(Object.keys(row));
}

/** Writes a table. Objects with other keys stay objects among its rows. */
function tableOf(rows: readonly JsonRecord[], columns: readonly string[], depth: number): string {
  const keys = JSON.stringify(columns);
  const cells = (row: JsonRecord): string =>
    Object.values(row)
      .map((cell) => jsonOf(cell, depth))
      .join(',');
  const lines = rows.map((row) => (keysOf(row) === keys ? `[${cells(row)}]` : jsonOf(row, depth)));
  return `{"columns":${keys},"rows":[\n${lines.join(',\n')}]}`;
}
