// What is left of a result that leaves: below the placeholder the names that tell what was in it, its paths first, and the
// lines that say what failed. A pure function of the result; looks at a bounded part of it.

import type { ToolResponseBlock } from '../../content.js';
import { onOneLine, shortened } from '../../one-line.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { payloadText } from '../../tokens/content-text.js';
import { namesIn, seenLines } from './names-in-text.js';

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
