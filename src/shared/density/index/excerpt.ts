// What is left of a result that leaves: below the placeholder the names that tell what was in it, its paths first, and the
// lines that say what failed. A pure function of the result; looks at a bounded part of it.

import type { ToolResponseBlock } from '../../content.js';
import { onOneLine, shortened } from '../../shown-text.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { payloadText } from '../../tokens/content-text.js';
import { namesIn, seenLines } from './names-in-text.js';
import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';

/** About how many tokens a result has to have for its names to be worth keeping. */
const MIN_TOKENS = 150;
/** About how many tokens a placeholder has. */
export const PLACEHOLDER_TOKENS = 16;
/** UTF-16 units of the names: a share of the result, and no more than a fixed number. */
const NAMES_SHARE = 0.1;
const MAX_NAMES_LENGTH = 400;
/** Lines that tell of a failure, and UTF-16 units of each. */
const MAX_FAILURES = 2;
const MAX_FAILURE_LENGTH = 120;
const FAILED = '\nIt failed with: ';
const NAMED = '\nIt named: ';
/** No excerpt is longer, with the longest placeholder. */
const MAX_LENGTH = 1_200;

/** Stand for a result that can be cut short and for an excerpt where nothing else of them matters. No JSON, so that no tool returns them. */
const LONG_RESULT = 0n;
const OLD_EXCERPT = 1n;

const FAILURE =
  /\b(?:error(?:\[\w+\])?:|FAIL(?:ED)?\b|\w*(?:Error|Exception)\b|panicked at|not ok\b)/;
/** One of them stands in each such line. */
const FAILURE_SIGNS = ['rror', 'FAIL', 'Exception', 'panicked at', 'not ok'];

/**
 * Returns what stands in place of a result: the placeholder, and below it what the result named and how it failed. The
 * placeholder alone when it named nothing.
 */
export function excerptOf(result: unknown, placeholder: string): string {
  return placeholder + namedIn(result);
}

const NAMED_IN = new WeakMap<ToolResponseBlock, string>();

/** The same of a block of a history, which is read once however often an edit of it is found and does not land. */
export function excerptOfBlock(response: ToolResponseBlock, placeholder: string): string {
  let named = NAMED_IN.get(response);
  if (named === undefined) {
    named = namedIn(response.result);
    NAMED_IN.set(response, named);
  }
  return placeholder + named;
}

/** What stands below the placeholder: nothing when the result named nothing. */
function namedIn(result: unknown): string {
  const text = payloadText(result);
  const names = namesIn(text, Math.min(MAX_NAMES_LENGTH, NAMES_SHARE * text.length));
  if (names.length === 0) return '';
  const failures = failuresIn(text).map(
    (line) => FAILED + shortened(onOneLine(line), MAX_FAILURE_LENGTH),
  );
  return `${NAMED}${names.join(' ')}${failures.join('')}`;
}

/** Texts are asked before lines: most tell of no failure. */
function failuresIn(text: string): readonly string[] {
  if (!FAILURE_SIGNS.some((sign) => text.includes(sign))) return [];
  return seenLines(text)
    .filter((line) => FAILURE.test(line))
    .slice(0, MAX_FAILURES);
}

/** About how many tokens an excerpt of a result with so many has. */
export function excerptTokens(tokens: number): number {
  return PLACEHOLDER_TOKENS + Math.min(tokensOfCharacters(MAX_NAMES_LENGTH), NAMES_SHARE * tokens);
}

/** Whether a result is so long that an excerpt of it is worth its tokens. */
export function isExcerptible(result: unknown): boolean {
  if (result === LONG_RESULT) return true;
  return !isExcerpt(result) && estimateResultTokens({ result }) >= MIN_TOKENS;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  if (typeof result !== 'string') return result === OLD_EXCERPT;
  return result.length <= MAX_LENGTH && result.startsWith('[') && result.includes(`]${NAMED}`);
}

/** Returns next to nothing that can be cut short when a result can, and is an excerpt when that is one. */
export function excerptStandIn(result: unknown): unknown {
  if (isExcerptible(result)) return LONG_RESULT;
  return isExcerpt(result) ? OLD_EXCERPT : '';
}

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
const MIN_SPENT_LENGTH = 160;
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
  mapSpendable(parameters, (text) => {
    length += text.length - LEFT_OUT.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Returns arguments with a few words in place of the texts that can be spent. All fields stay, and texts are texts. */
export function withoutSpentText(parameters: unknown): unknown {
  return mapSpendable(parameters, () => LEFT_OUT);
}

function mapSpendable(parameters: unknown, replace: (text: string) => string): unknown {
  const values = asRecord(parameters);
  if (values === undefined) return parameters;
  const keys = spendableText(values) === 'replaced' ? REPLACED_KEYS : CONTENT_KEYS;
  const edits = values[EDITS_KEY];
  const isList = keys === REPLACED_KEYS && Array.isArray(edits) && edits.length <= MAX_EDITS;
  return {
    ...replacedIn(values, keys, replace),
    ...(isList && {
      [EDITS_KEY]: edits.map((edit: unknown) => {
        const fields = asRecord(edit);
        return fields === undefined ? edit : replacedIn(fields, keys, replace);
      }),
    }),
  };
}

function replacedIn(
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
