// The figures of a replay that are sums over its recording.

import type { TranscriptWarning } from '../../transcripts.js';
import { RECLAIM_RULES } from '../measure/attribution.js';
import { groupBy, sumOf, sumsOf } from '../measure/aggregate.js';
import type {
  ModelCall,
  ReclaimedItem,
  ReplayTotals,
  RuleTotal,
  WarningGroup,
} from './replay-report.js';
import type { TokenPair } from './money.js';
import { sumUse } from './summarizer-meter.js';
import { largestRows, reclaimedBy } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import type { Recorded } from './recording.js';
import type { RecordedPreflight } from './session-recorder.js';

/** Maximum number of largest items. */
const LARGEST_ITEMS = 10;

/** Sums up a recording. The last preflight belongs to no model call: it shows the end of the session. */
export function replayTotals(
  recorded: readonly RecordedPreflight[],
  { rows, contexts, tokensOf }: Pick<Recorded, 'rows' | 'contexts' | 'tokensOf'>,
  contextLimit: number,
): ReplayTotals {
  const rowsByTurn = groupBy(rows, ({ turn }) => turn);
  const preflights = recorded.map(({ busyMs: _, costs: __, ...preflight }, at): ModelCall => ({
    ...preflight,
    edits: totalsOf(rowsByTurn.get(at) ?? []),
  }));
  const modelCalls = preflights.slice(0, -1);
  const { entry: _, ...end } = preflights.at(-1) as ModelCall;
  const overLimit = preflights.findIndex(({ tokens }) => tokens.without > contextLimit);
  return {
    modelCalls,
    end,
    tokens: {
      without: sumOf(contexts, ({ added }) => sumOf(added, tokensOf)),
      with: sumOf(contexts, ({ remaining }) => sumOf(remaining, tokensOf)),
    },
    input: sumPairs(modelCalls.map(({ tokens }) => tokens)),
    firstCallOverLimit: overLimit === -1 ? null : overLimit + 1,
    reclaimed: totalsOf(rows),
    largest: largestRows(rows)
      .slice(0, LARGEST_ITEMS)
      .map((row): ReclaimedItem => {
        const { rule, speaker, tool, subject, turn } = row;
        return {
          ...{ rule, speaker, tool },
          path: subject?.path ?? null,
          parameter: subject?.excerpt ?? null,
          tokens: reclaimedBy(row),
          modelCall: turn < modelCalls.length ? turn + 1 : null,
        };
      }),
    summarizer: sumUse(preflights.map(({ summarizer }) => summarizer)),
  };
}

/** Adds token pairs. */
export function sumPairs(pairs: readonly TokenPair[]): TokenPair {
  return sumsOf(pairs, ['without', 'with']);
}

/** Returns what each rule removed, in the order of reports, without rules that removed nothing. */
function totalsOf(rows: readonly EditRow[]): readonly RuleTotal[] {
  const byRule = groupBy(rows, ({ rule }) => rule);
  return RECLAIM_RULES.flatMap((rule) => {
    const group = byRule.get(rule);
    if (group === undefined) return [];
    return [{ rule, items: sumOf(group, ({ items }) => items), tokens: sumOf(group, reclaimedBy) }];
  });
}

const MAX_PLACES = 5;

/** Matches warnings of damaged lines and captures the part before the offset, which alone differs between them. */
const DETAIL = /^((?:The|A part of the) line is no JSON and was left out): .*$/s;

/** Groups warnings by message, in order of first occurrence, so that a damaged file does not fill the screen. */
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
