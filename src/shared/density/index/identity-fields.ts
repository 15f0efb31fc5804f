// The fields of a result that say which thing it is and in what state, or where a list goes on, wherever they stand among others:
// what is left of it should name the thing that was made, and the next page. Does not parse, since the text may be cut or malformed.

import { fieldsOf } from '../../json.js';
import { MAX_SEEN } from './names-in-text.js';

/** Names of fields, most telling first. Without one of the first, the others say too little. */
const TELLING: readonly RegExp[] = [
  /^(?:id|number|key|uuid|sha)$/i,
  /^(?:status|state|conclusion|success|ok|merged|dry_?run|failed|failures|rejected|(?:failed|failure|error)_?count)$/i,
  /^(?:html_?url|web_?url|url|\w{1,30}(?:_id|Id))$/,
  /^(?:\w{1,30}(?:number|_nr|_no|_url|_?ref|reference)|(?:booking|confirmation|tracking)_?code)$/i,
];
/** A state that says more than that all is well. */
const STATE =
  /^"\w+":"(?!(?:success|ok|done)|(?:complete|succee|finishe|create|update|delete|remove|save|sen)[dt])[a-z]/i;

/**
 * Returns the telling fields of an object as JSON of at most so many UTF-16 units; empty if it does not say which thing it is.
 *
 * @param isAnswer whether ids of any name say so, since the object answers a call that makes one @default false
 */
export function identityFields(json: string, maxLength: number, isAnswer = false): string {
  const found = TELLING.map((): string[] => []);
  for (const [name, value] of fieldsOf(json.slice(0, MAX_SEEN))) {
    found[TELLING.findIndex((telling) => telling.test(name))]?.push(`"${name}":${value}`);
  }
  const [own, , ids, numbers] = found.map(({ length }) => length > 0);
  const isInState = found[1]?.some((field) => STATE.test(field)) === true;
  if (own !== true && !(isAnswer && (ids === true || numbers === true || isInState))) return '';
  let fields = '';
  for (const field of found.flat()) {
    const more = fields === '' ? field : `${fields},${field}`;
    if (more.length + 2 <= maxLength) fields = more;
  }
  return fields === '' ? '' : `{${fields}}`;
}

/** Where a list goes on, as APIs call it: a field of JSON, also in a text of JSON, or of YAML; or a link in a header. */
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
/** Every such place matches it, and little else does: code is full of these words, and `NEXT` takes three times as long. */
const MAY_GO_ON = /(?:cursor|token|scroll_id|next)(?:[a-z_]{0,30}\\?"?\s{0,3}:|(?<=rel="?next))/i;
const IS_END = /\bhas_?(?:more|next(?:_?page)?)\\?"?\s{0,3}:\s{0,3}false\b/i;
/** Has the address or the number of a page; and each of a list of things may have one. */
const IS_NEXT = /^next(?:_?page)?$/i;
const IS_CURSOR = /^cursor$/i;
const ADDRESS = /^(?:https?:\/)?[/?]|^\d+$/;
/** As a style or a type has, and no token. */
const WORD = /^[A-Z]?[a-z-]+[;,]?$/;
/** How much of a long text's start and end is searched. */
const MAX_ENDS = 4_000;

/** Returns the field with which the next page of a list is asked for, its value of at most so many UTF-16 units; empty if there is none. */
export function nextPageIn(text: string, maxLength: number): string {
  const seen =
    text.length <= MAX_SEEN ? text : `${text.slice(0, MAX_ENDS)}\n${text.slice(-MAX_ENDS)}`;
  if (!MAY_GO_ON.test(seen) || IS_END.test(seen)) return '';
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
