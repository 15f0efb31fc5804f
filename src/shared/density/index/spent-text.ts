// Leaves out texts in the arguments of a write that are of no more use: what an edit replaced, or content that was written or read
// again.

import { SPENT_TEXT } from '../../call-name.js';
import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';
import { tokensOfCharacters } from '../../tokens/estimate.js';

/** Parameters for text that an edit replaces, by the names that agents use: `old_string`, `search`, `TargetContent`. */
const REPLACED_KEY =
  /^(?:(?:old|search|find|needle)(?:_?(?:str(?:ing)?|text|code|content))?|target_?content)$/i;
/** Parameters for the whole content of a file. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text']);
/** The patches of a script, whose other lines may start with a minus as well, and `SEARCH` blocks up to the replacement. */
const PATCHES =
  /\*\*\* Begin Patch[^]*?(?:\*\*\* End Patch|(?![^]))|^(?:<{5,}|-{5,}) SEARCH>?\r?\n[^]*?(?:^={5,}\r?$|(?![^]))/gm;
const MAY_BE_PATCH = /\*\*\* Begin Patch|^[<-]{5,} SEARCH/m;
const REMOVED_LINES = /(?:^-.*\n)+/gm;
const SEARCHED_LINES = /(?<=^[<-]+ SEARCH>?\r?\n)[^]+\n(?==+\r?$)/g;

/** Shorter texts are never left out. In UTF-16 units. */
const MIN_SPENT_LENGTH = 160;
/** Longer lists of edits, and edits nested deeper, stay as they are. */
const MAX_EDITS = 1_000;
const MAX_DEPTH = 6;

/** What can become useless in a write: the text that an edit replaced, the lines that a patch removed, or the content written. */
type SpendableText = 'replaced' | 'patched' | 'content';

/** The notes that replace spent texts. They claim nothing about the file, which may contain the text still or again. */
const WAS_REPLACED = `${SPENT_TEXT}what this edit has replaced]`;
const WAS_WRITTEN = `${SPENT_TEXT}written or read again since]`;

function spendableText(values: JsonRecord): SpendableText {
  const kinds = new Set<SpendableText>();
  mapTexts(values, '', (key, text) => {
    if (REPLACED_KEY.test(key)) kinds.add('replaced');
    else if (MAY_BE_PATCH.test(text)) kinds.add('patched');
    return text;
  });
  if (kinds.has('replaced')) return 'replaced';
  return kinds.has('patched') ? 'patched' : 'content';
}

/** Estimates the tokens that `withoutSpentText` saves. Content is spent only in writes of whole files, other texts only in others. */
export function spendableTokens(parameters: unknown, isWholeFile: boolean): number {
  const values = asRecord(parameters);
  if (values === undefined || isWholeFile !== (spendableText(values) === 'content')) return 0;
  let length = 0;
  mapSpendable(values, (text, note) => {
    length += text.length - note.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Replaces the spendable texts in arguments by a short note. Fields and their types stay. */
export function withoutSpentText(parameters: unknown): unknown {
  const values = asRecord(parameters);
  return values === undefined ? parameters : mapSpendable(values, (_, note) => note);
}

function mapSpendable(
  values: JsonRecord,
  replace: (text: string, note: string) => string,
): unknown {
  const kind = spendableText(values);
  const withoutLines = (lines: string): string =>
    lines.length < MIN_SPENT_LENGTH ? lines : `${replace(lines.slice(0, -1), WAS_REPLACED)}\n`;
  const withoutRemovedLines = (patch: string): string =>
    patch.startsWith('*')
      ? patch.replaceAll(REMOVED_LINES, (lines) => `-${withoutLines(lines.slice(1))}`)
      : patch.replace(SEARCHED_LINES, withoutLines);
  return mapTexts(values, '', (key, text) => {
    if (text.length < MIN_SPENT_LENGTH) return text;
    if (kind === 'patched') return text.replaceAll(PATCHES, withoutRemovedLines);
    if (kind === 'content') return CONTENT_KEYS.has(key) ? replace(text, WAS_WRITTEN) : text;
    return REPLACED_KEY.test(key) ? replace(text, WAS_REPLACED) : text;
  });
}

/** Maps the texts of arguments, also in lists and objects, given the name of the field that they are in. */
function mapTexts(
  value: unknown,
  key: string,
  textOf: (key: string, text: string) => string,
  depth: number = 0,
): unknown {
  if (typeof value === 'string') return textOf(key, value);
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return value;
  if (!Array.isArray(value)) {
    const fields = Object.entries(value).map(([name, field]) => [
      name,
      mapTexts(field, name, textOf, depth + 1),
    ]);
    return Object.fromEntries(fields);
  }
  if (value.length > MAX_EDITS) return value;
  return value.map((item) => mapTexts(item, key, textOf, depth + 1));
}
