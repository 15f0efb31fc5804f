// The fields of an object of JSON that say which thing it is and in what state, wherever they stand among its other fields:
// what is left of a result should name the thing that was made. Does not parse, since the text may be cut or malformed.

import { MAX_SEEN } from './names-in-text.js';

/** Names of fields, most telling first. Without one of the first, the others say too little. */
const TELLING: readonly RegExp[] = [
  /^(?:id|number|key|uuid|sha)$/i,
  /^(?:status|state|conclusion|success|ok|merged)$/i,
  /^(?:html_?url|web_?url|url|\w{1,30}(?:_id|Id))$/,
];
/** Behind a name: a value that is no list, no object and no long text. */
const VALUE = /\s*:\s*("[^"\\]{0,100}"|-?\d[\d.eE+-]{0,30}|true|false)(?=\s*[,}])/y;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** Returns the telling fields of an object as JSON of at most so many UTF-16 units; empty if it does not say which thing it is. */
export function identityFields(json: string, maxLength: number): string {
  const found = TELLING.map((): string[] => []);
  for (const [name, value] of fieldsOf(json.slice(0, MAX_SEEN))) {
    found[TELLING.findIndex((telling) => telling.test(name))]?.push(`"${name}":${value}`);
  }
  if (found[0]?.length === 0) return '';
  let fields = '';
  for (const field of found.flat()) {
    const more = fields === '' ? field : `${fields},${field}`;
    if (more.length + 2 <= maxLength) fields = more;
  }
  return fields === '' ? '' : `{${fields}}`;
}

/** The object's own fields with short values. */
function* fieldsOf(json: string): Generator<readonly [name: string, value: string]> {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === '"') {
      const end = endOfString(json, at);
      VALUE.lastIndex = end;
      const value = depth === 1 ? VALUE.exec(json)?.[1] : undefined;
      if (value !== undefined) yield [json.slice(at + 1, end - 1), value];
      at = end - 1;
    }
    if (depth === 0) return;
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
    if (json.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}
