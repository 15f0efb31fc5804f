// Puts equal warnings of a transcript's reader together, so that a damaged file fills no screen.

import type { TranscriptWarning } from '../../../transcripts.js';
import { groupBy } from './group-by.js';
import type { WarningGroup } from '../replay/replay-report.js';

const MAX_PLACES = 5;

/** Where a damaged line is damaged: never twice the same. */
const DETAIL = /^((?:The|A part of the) line is no JSON and was left out): .*$/s;

/** Groups warnings by message, in the order in which each message came first. */
export function groupWarnings(warnings: readonly TranscriptWarning[]): readonly WarningGroup[] {
  const groups = groupBy(warnings, ({ message }) => message.replace(DETAIL, '$1'));
  return Array.from(groups, ([message, group]) => ({
    message,
    count: group.length,
    places: group.flatMap(placeOf).slice(0, MAX_PLACES),
  }));
}

function placeOf({ line, place }: TranscriptWarning): readonly string[] {
  if (line !== undefined) return [`line ${line}`];
  return place === undefined ? [] : [place];
}
