// How a call came out, where neither a field nor an exit code says it: by the words of its result. What a tool only shows, as a
// page, a log or an issue, may tell of failures that are none of the call.

import type { ToolResponseBlock } from './content.js';
import { endedInFailure, textOfResult } from './exit-code.js';
import { countsFailures, mayReportFailure, reportsFailure } from './shrink/failures-first.js';
import { MAX_TELLING } from './shrink/shrinker.js';
import { endOfNumber } from './shrink/shown-before.js';

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const SHOWS = setOf(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output plan query read screenshot scroll search show snapshot status think todo todos view wait',
);

/** The words of a tool's name, in small letters. */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Whether a tool by its name only shows something, as `order_status`. */
export function onlyShows(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => SHOWS.has(word));
}

/** Whether a call has failed, as far as its result says. */
export function hasFailed({ toolName, result, error }: ToolResponseBlock): boolean {
  if (Boolean(error) || endedInFailure(result)) return true;
  return !onlyShows(toolName) && sumsUpFailure(textOfResult(result));
}

/** How much of a text's end is searched for how it came out: UTF-16 units, lines for counts, and lines for other reports. */
const MAX_END = 2_000;
const MAX_COUNTS = 40;
const MAX_END_LINES = 12;
/** How much of a text is searched for reports, in UTF-16 units. */
const MAX_SEEN = 65_536;

/** How tests and builds say that all is well, whatever their output tells of errors before. */
const ALL_IS_WELL =
  /\b[1-9]\d* (?:\w+ )?pass(?:ed|ing)\b|\b0 (?:failures|failed|failing|errors)\b|\bBUILD SUCCESS|\btest result: ok\b|\b(?:TEST|BUILD) SUCCEEDED\b|\b[Aa]ll (?:\w+ )?(?:tests|checks) pass/;

/** Whether the last lines of a text report a failure, as of tests that fail where no exit code is told. */
export function sumsUpFailure(text: string): boolean {
  const said = lastLines(text);
  if (said.some(countsFailures)) return true;
  const wellAt = said.findLastIndex((line) => ALL_IS_WELL.test(line));
  return said.slice(Math.max(wellAt + 1, said.length - MAX_END_LINES)).some(reportsFailure);
}

/** Whether a text reports a failure anywhere, without ending well. */
export function mayHaveFailed(text: string): boolean {
  if (sumsUpFailure(text)) return true;
  const seen = text.slice(0, MAX_SEEN);
  if (!mayReportFailure(seen) || lastLines(text).some((line) => ALL_IS_WELL.test(line))) {
    return false;
  }
  return seen.split('\n').some((line) => reportsFailure(line.slice(0, MAX_TELLING)));
}

function lastLines(text: string): readonly string[] {
  const lines = text.slice(-MAX_END).split('\n');
  const said = lines.filter((line) => line.trim() !== '' && endOfNumber(line, 0) === -1);
  return said.slice(-MAX_COUNTS);
}
