// What replaces pruned payloads: for a result, an excerpt of the names, paths and failures in it
// below the placeholder; for the arguments of a write, a note in place of spent texts. Pure
// functions that read a bounded part of the payload.

import type { ToolResponseBlock } from '../../content.js';
import { onOneLine, shortened } from '../../shown-text.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { payloadText } from '../../tokens/content-text.js';
import { MAX_SEEN, namesIn, seenLines } from './names-in-text.js';
import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';

/** Results with fewer estimated tokens get no excerpt. */
const MIN_TOKENS = 150;
/** Estimated tokens of a placeholder. */
export const PLACEHOLDER_TOKENS = 16;
/** Length of the names in UTF-16 units: a share of the result, with a maximum. */
const NAMES_SHARE = 0.1;
const MAX_NAMES_LENGTH = 400;
/** Failure lines that are quoted, and UTF-16 units of each. */
const MAX_FAILURES = 2;
const MAX_FAILURE_LENGTH = 120;
const FAILED = '\nIt failed with: ';
const NAMED = '\nIt named: ';
/** The longest excerpt, including the longest placeholder. */
const MAX_LENGTH = 1_200;

/**
 * Stand-ins for a long result and for an excerpt where nothing else matters about them. BigInts are
 * not JSON, so no tool returns them.
 */
const LONG_RESULT = 0n;
const OLD_EXCERPT = 1n;

const FAILURE =
  /\b(?:error(?:\[\w+\])?:|FAIL(?:ED)?\b|\w*(?:Error|Exception)\b|panicked at|not ok\b)/;
/** Every failure line contains one of these. */
const FAILURE_SIGNS = ['rror', 'FAIL', 'Exception', 'panicked at', 'not ok'];

const NAMED_IN = new WeakMap<ToolResponseBlock, string>();

/**
 * Returns the replacement of a result: the placeholder, followed by the names and failures in it,
 * if any. Cached: an edit may be found many times before it lands.
 */
export function excerptOfBlock(response: ToolResponseBlock, placeholder: string): string {
  let named = NAMED_IN.get(response);
  if (named === undefined) {
    named = namedIn(response.result);
    NAMED_IN.set(response, named);
  }
  return placeholder + named;
}

/** The part below the placeholder; empty if the result names nothing. */
function namedIn(result: unknown): string {
  const payload = payloadText(result);
  const text = withMembersInLines(payload);
  const names = namesIn(text, Math.min(MAX_NAMES_LENGTH, NAMES_SHARE * payload.length));
  if (names.length === 0) return '';
  const failures = failuresIn(text).map(
    (line) => FAILED + shortened(onOneLine(line), MAX_FAILURE_LENGTH),
  );
  return `${NAMED}${names.join(' ')}${failures.join('')}`;
}

/** JSON in one line is as long as encoded text, of which nothing is read. */
function withMembersInLines(text: string): string {
  if (!/^[{[]/.test(text) || text.includes('\n')) return text;
  return text.slice(0, MAX_SEEN).replaceAll(',"', ',\n"').replaceAll(',{', ',\n{');
}

/** Tests the whole text first: most have no failures. */
function failuresIn(text: string): readonly string[] {
  if (!FAILURE_SIGNS.some((sign) => text.includes(sign))) return [];
  return seenLines(text)
    .filter((line) => FAILURE.test(line))
    .slice(0, MAX_FAILURES);
}

/** Estimates the tokens of an excerpt from those of the result. */
export function excerptTokens(tokens: number): number {
  return PLACEHOLDER_TOKENS + Math.min(tokensOfCharacters(MAX_NAMES_LENGTH), NAMES_SHARE * tokens);
}

/** Whether a result is long enough for an excerpt. */
export function isExcerptible(result: unknown): boolean {
  if (result === LONG_RESULT) return true;
  return !isExcerpt(result) && estimateResultTokens({ result }) >= MIN_TOKENS;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  if (typeof result !== 'string') return result === OLD_EXCERPT;
  return result.length <= MAX_LENGTH && result.startsWith('[') && result.includes(`]${NAMED}`);
}

/**
 * Returns a small stand-in for a result that `isExcerptible` and `isExcerpt` judge the same way.
 */
export function excerptStandIn(result: unknown): unknown {
  if (isExcerptible(result)) return LONG_RESULT;
  return isExcerpt(result) ? OLD_EXCERPT : '';
}

/** Parameters for text that an edit replaces, by the names that agents use. */
const REPLACED_KEYS: ReadonlySet<string> = new Set([
  ...['old_string', 'old_str', 'old_text', 'oldString', 'oldText', 'old'],
]);
/** Parameters for the whole content of a file. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text']);
/** A list of edits in one call. */
const EDITS_KEY = 'edits';
const PATCH = '*** Begin Patch';
const REMOVED_LINES = /(?:^-.*\n)+/gm;

/** Shorter texts stay. In UTF-16 units. */
const MIN_SPENT_LENGTH = 160;
const MAX_EDITS = 1_000;

/** What the spendable texts of a call are. */
export type SpendableText = 'replaced' | 'content';

/** Stands in their place. Says nothing about the file: it may contain them again, or still. */
const LEFT_OUT: Readonly<Record<SpendableText, string>> = {
  replaced: '[left out: what this edit has replaced]',
  content: '[left out: written or read again since]',
};

/** Edits can have spent replaced text; other writes, spent content. */
export function spendableText(parameters: unknown): SpendableText {
  const values = asRecord(parameters) ?? {};
  const replaces = Object.entries(values).some(
    ([key, value]) => REPLACED_KEYS.has(key) || key === EDITS_KEY || isPatch(value),
  );
  return replaces ? 'replaced' : 'content';
}

/** Estimates how many tokens `withoutSpentText` saves. */
export function spendableTokens(parameters: unknown): number {
  let length = 0;
  const note = LEFT_OUT[spendableText(parameters)];
  mapSpendable(parameters, (text) => {
    length += text.length - note.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Replaces the spendable texts of arguments by a short note. Fields and their types stay. */
export function withoutSpentText(parameters: unknown): unknown {
  const note = LEFT_OUT[spendableText(parameters)];
  return mapSpendable(parameters, () => note);
}

function mapSpendable(parameters: unknown, replace: (text: string) => string): unknown {
  const values = asRecord(parameters);
  if (values === undefined) return parameters;
  const keys = spendableText(values) === 'replaced' ? REPLACED_KEYS : CONTENT_KEYS;
  const edits = values[EDITS_KEY];
  const isList = keys === REPLACED_KEYS && Array.isArray(edits) && edits.length <= MAX_EDITS;
  return {
    ...mapTexts(values, keys, replace),
    ...(isList && {
      [EDITS_KEY]: edits.map((edit: unknown) => {
        const fields = asRecord(edit);
        return fields === undefined ? edit : mapTexts(fields, keys, replace);
      }),
    }),
  };
}

function mapTexts(
  values: JsonRecord,
  keys: ReadonlySet<string>,
  replace: (text: string) => string,
): JsonRecord {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (typeof value !== 'string' || value.length < MIN_SPENT_LENGTH) return [key, value];
      if (keys.has(key)) return [key, replace(value)];
      if (!isPatch(value)) return [key, value];
      return [
        key,
        value.replace(REMOVED_LINES, (lines) =>
          lines.length < MIN_SPENT_LENGTH ? lines : `-${replace(lines.slice(1, -1))}\n`,
        ),
      ];
    }),
  );
}

function isPatch(value: unknown): value is string {
  return typeof value === 'string' && value.includes(PATCH);
}
