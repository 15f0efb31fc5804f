// Finds the fields of a JSON result that identify a thing and its state, or the items of a list, and the field that leads to the next
// page. An excerpt should keep these. Scans where it can, because the text may be cut off or malformed.

import { asArray, asRecord, fieldsOf, tryParseJson } from '../../json.js';
import { MAX_SEEN } from './names-in-text.js';

/** Field names by importance: own id, state, ids and links, numbers and codes. Without an own id, the others usually say too little. */
const IDENTITY_NAMES: readonly RegExp[] = [
  /^(?:id|number|key|uuid|sha)$/i,
  /^(?:status|state|conclusion|success|ok|merged|dry_?run|failed|failures|rejected|(?:failed|failure|error)_?count)$/i,
  /^(?:html_?url|web_?url|url|\w{1,30}(?:_id|Id))$/,
  /^(?!documentation_)(?:\w{1,30}(?:number|_nr|_no|_url|_?ref|reference)|(?:booking|confirmation|reservation|tracking)(?:_?code)?)$/i,
];
/** A state that says more than mere success. */
const INFORMATIVE_STATE =
  /^"\w+":"(?!(?:success|ok|done)|(?:complete|succee|finishe|create|update|delete|remove|save|sen)[dt])[a-z]/i;

/**
 * Returns the identifying fields of an object as JSON of at most `maxLength` UTF-16 units; empty if they do not identify it.
 *
 * @param isAnswer whether the object answers a call that may have made it, so that other ids, numbers or a state suffice @default false
 */
export function identityFields(json: string, maxLength: number, isAnswer = false): string {
  const found = IDENTITY_NAMES.map((): string[] => []);
  for (const [name, value] of fieldsOf(json.slice(0, MAX_SEEN))) {
    found[IDENTITY_NAMES.findIndex((pattern) => pattern.test(name))]?.push(`"${name}":${value}`);
  }
  const [own, , ids, numbers] = found.map(({ length }) => length > 0);
  const isInState = found[1]?.some((field) => INFORMATIVE_STATE.test(field)) === true;
  if (own !== true && !(isAnswer && (ids === true || numbers === true || isInState))) return '';
  let fields = '';
  for (const field of found.flat()) {
    const more = fields === '' ? field : `${fields},${field}`;
    if (more.length + 2 <= maxLength) fields = more;
  }
  return fields === '' ? '' : `{${fields}}`;
}

/** The fields by which calls name an item of a list, the likeliest first: what users call it, its own id, another id, its address. */
const ITEM_NAMES: readonly RegExp[] = [
  /^(?:number|iid|key|identifier)$/i,
  /^(?:_?id|uuid|sha|ts)$/i,
  /^\w{1,30}(?:_id|Id)$/,
  /^(?:html_?|web_?)?(?:url|link|href)$/i,
];
const MESSAGE_TIME = 'ts';
/** Fewer items are no list that is worked through. */
const MIN_ITEMS = 3;
/** Values of the JSON that are searched for a list, fields of an item that are, and UTF-16 units of JSON that is parsed. */
const MAX_VALUES = 200;
const MAX_FIELDS = 50;
const MAX_PARSED = 2 * MAX_SEEN;

/** A list of items: objects, or rows of a table with these columns. */
interface ItemList {
  readonly fields: readonly string[];
  readonly items: readonly unknown[];
}

/**
 * Returns what the next calls name the items of a JSON list by, as `id: a b c`. Empty if there is no list, if nothing tells its items
 * apart, or if that takes more than `maxLength` UTF-16 units: an agent that misses one of the ids reads the list again.
 */
export function itemIdsIn(text: string, maxLength: number): string {
  const lists = text.length > MAX_PARSED ? [] : listsIn(jsonIn(text));
  if (lists.some(({ items }) => items.length > maxLength)) return '';
  const [name, ...ids] = longest(lists.map(idsOf));
  const line = name === undefined ? '' : `${name}: ${ids.join(' ')}`;
  return line.length <= maxLength ? line : '';
}

function longest<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  return lists.reduce((best, list) => (list.length > best.length ? list : best), []);
}

/** The field that tells most items apart, the likeliest of several, and its values; empty if it does not tell most items apart. */
function idsOf({ fields, items }: ItemList): readonly string[] {
  const found = ITEM_NAMES.flatMap((pattern) =>
    fields.flatMap((field, at) => {
      if (!pattern.test(field)) return [];
      const values = items.map((item) =>
        Array.isArray(item) ? (item as readonly unknown[])[at] : asRecord(item)?.[field],
      );
      const ids = values.filter((value) => isId(field, value)).map(String);
      return [[field, ...new Set(ids)]];
    }),
  );
  const best = longest(found);
  const ids = best.length - 1;
  return ids >= MIN_ITEMS && 2 * ids > items.length ? best : [];
}

/** The JSON that a text consists of, below a line of the host at most. */
function jsonIn(text: string): unknown {
  const start = text.slice(0, MAX_ENDS).search(/^[[{]/m);
  if (start === -1) return undefined;
  return tryParseJson(
    text.slice(start, 1 + Math.max(text.lastIndexOf(']'), text.lastIndexOf('}'))),
  );
}

/** The lists of objects that are not inside of other lists. Shrinking may have made one a table with columns and rows. */
function listsIn(json: unknown): readonly ItemList[] {
  const lists: ItemList[] = [];
  const pending: unknown[] = [json];
  for (let at = 0; at < pending.length && at < MAX_VALUES; at += 1) {
    const value = asRecord(pending[at]) ?? {};
    const columns = asArray(value['columns']).slice(0, MAX_FIELDS);
    const rows = asArray(value['rows']);
    const isTable = rows.length > 0 && columns.length > 0 && columns.every(isText);
    const list = asArray(pending[at]);
    const objects = list.map((item) => asRecord(asRecord(item)?.['node'] ?? item));
    const items = objects.filter((item) => item !== undefined);
    const fields = Object.keys(items[0] ?? {}).slice(0, MAX_FIELDS);
    if (isTable) lists.push({ fields: columns, items: rows });
    else if (items.length > 0) lists.push({ fields, items });
    else pending.push(...Object.values(value).slice(0, MAX_VALUES));
  }
  return lists;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Slack names messages by times such as `1700000000.000100`. The times of log lines name nothing. */
function isId(field: string, value: unknown): boolean {
  const isTime = field === MESSAGE_TIME;
  if (typeof value === 'number') return !isTime && Number.isSafeInteger(value);
  return isText(value) && (isTime ? /^\d+\.\d+$/ : /^[^\s\p{C}]{1,120}$/u).test(value);
}

/** Names that APIs give to the next page of a list. `NEXT` finds them as fields of JSON, escaped JSON or YAML, and as header links. */
const NAME =
  /\b((?:(?:end|next)_?)?cursor|next[a-z_]{0,24}(?:token|marker|link|ur[il])|(?:page|pagination|continuation)_?token|_?scroll_id|next(?:_?page)?)/
    .source;
const NEXT = new RegExp(
  [
    String.raw`${NAME}\\?"\s{0,3}:\s{0,3}(?:\\?"([^"\\\s]+)|(\d+)\b)`,
    String.raw`^[ -]{0,20}${NAME}: +(\S+)$`,
    String.raw`<([^<>\s]+)>;\s{0,3}rel="?next`,
  ].join('|'),
  'gim',
);
/** Pre-filter: matches wherever `NEXT` does and rarely elsewhere, though code is full of these words. `NEXT` takes 3 times as long. */
const MAY_HAVE_NEXT =
  /(?:cursor|token|scroll_id|next)(?:[a-z_]{0,30}\\?"?\s{0,3}:|(?<=rel="?next))/i;
const IS_END = /\bhas_?(?:more|next(?:_?page)?)\\?"?\s{0,3}:\s{0,3}false\b/i;
/** `next` counts only with a page's address or number, `cursor` only if there is no other name: each item of a list may have one. */
const IS_NEXT = /^next(?:_?page)?$/i;
const IS_CURSOR = /^cursor$/i;
const ADDRESS = /^(?:https?:\/)?[/?]|^\d+$/;
/** A plain word, as in a style sheet (`cursor: pointer`) or a type declaration; never a page token. */
const WORD = /^[A-Z]?[a-z-]+[;,]?$/;
/** UTF-16 units searched at each end of a long text. */
const MAX_ENDS = 4_000;

/** Returns the last field that leads to the next page, as `name: value` with a value of at most `maxLength` UTF-16 units; empty if none. */
export function nextPageIn(text: string, maxLength: number): string {
  const seen =
    text.length <= MAX_SEEN ? text : `${text.slice(0, MAX_ENDS)}\n${text.slice(-MAX_ENDS)}`;
  if (!MAY_HAVE_NEXT.test(seen) || IS_END.test(seen)) return '';
  let [found, foundName] = ['', 'cursor'];
  for (const [, quoted, text, number, plain, line, link] of seen.matchAll(NEXT)) {
    const name = quoted ?? plain ?? 'next';
    const value = text ?? number ?? line ?? link ?? '';
    if (value.length > maxLength || WORD.test(value)) continue;
    if (IS_NEXT.test(name) && !ADDRESS.test(value)) continue;
    if (IS_CURSOR.test(name) && !IS_CURSOR.test(foundName)) continue;
    [found, foundName] = [`${name}: ${value}`, name];
  }
  return found;
}
