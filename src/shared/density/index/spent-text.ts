// Texts in the arguments of a write that are of no more use: what an edit has replaced, and what was written and then
// written or read again. Says where they stand and what takes their place; whether they are spent, it does not know.

import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';
import { tokensOfCharacters } from '../../tokens/estimate.js';

/** What an edit replaces, by the names that agents give it. */
const REPLACED_KEYS: ReadonlySet<string> = new Set([
  ...['old_string', 'old_str', 'old_text', 'oldString', 'oldText', 'old'],
]);
/** What is written as a whole. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text']);
/** Several edits in one call. */
const EDITS_KEY = 'edits';
const PATCH = '*** Begin Patch';
const REMOVED_LINES = /(?:^-.*\n)+/gm;

/** UTF-16 units: a shorter text stays. */
const MIN_LENGTH = 160;
const LEFT_OUT = '[left out: no longer in the file]';
const MAX_EDITS = 1_000;

/** What the texts of a call's arguments are, as far as they can be spent. */
export type SpendableText = 'replaced' | 'content';

/** Which texts of arguments can be spent: what they replace, where they do; else what they write. */
export function spendableText(parameters: unknown): SpendableText {
  const values = asRecord(parameters) ?? {};
  const replaces = Object.entries(values).some(
    ([key, value]) => REPLACED_KEYS.has(key) || key === EDITS_KEY || isPatch(value),
  );
  return replaces ? 'replaced' : 'content';
}

/** About how many tokens arguments lose by `withoutSpentText`. */
export function spendableTokens(parameters: unknown): number {
  let length = 0;
  shortened(parameters, (text) => {
    length += text.length - LEFT_OUT.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Returns arguments with a few words in place of the texts that can be spent. All fields stay, and texts are texts. */
export function withoutSpentText(parameters: unknown): unknown {
  return shortened(parameters, () => LEFT_OUT);
}

function shortened(parameters: unknown, replace: (text: string) => string): unknown {
  const values = asRecord(parameters);
  if (values === undefined) return parameters;
  const keys = spendableText(values) === 'replaced' ? REPLACED_KEYS : CONTENT_KEYS;
  const edits = values[EDITS_KEY];
  const isList = keys === REPLACED_KEYS && Array.isArray(edits) && edits.length <= MAX_EDITS;
  return {
    ...shortenedTexts(values, keys, replace),
    ...(isList && {
      [EDITS_KEY]: edits.map((edit: unknown) => {
        const fields = asRecord(edit);
        return fields === undefined ? edit : shortenedTexts(fields, keys, replace);
      }),
    }),
  };
}

function shortenedTexts(
  values: JsonRecord,
  keys: ReadonlySet<string>,
  replace: (text: string) => string,
): JsonRecord {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (typeof value !== 'string' || value.length < MIN_LENGTH) return [key, value];
      if (keys.has(key)) return [key, replace(value)];
      if (!isPatch(value)) return [key, value];
      return [
        key,
        value.replace(REMOVED_LINES, (lines) =>
          lines.length < MIN_LENGTH ? lines : `-${replace(lines.slice(1, -1))}\n`,
        ),
      ];
    }),
  );
}

function isPatch(value: unknown): value is string {
  return typeof value === 'string' && value.includes(PATCH);
}
