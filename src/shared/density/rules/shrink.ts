// The rule `shrink`: results are made smaller before the model is sent them, which costs no prompt cache, and never
// again. What each shrinker takes, `shared/shrink` says; what a file's text says is not shrunk, and neither are failures.

import type { ToolCallBlock } from '../../content.js';
import { placeholderOf } from '../../density.js';
import type { PassSettings, PlaceholderForm } from '../../density.js';
import { asRecord } from '../../json.js';
import { placeholderEnding } from '../../placeholder.js';
import { runsShrinker, shrinkText } from '../../shrink/shrink-text.js';
import {
  isShownId,
  MIN_RUN,
  SHOWN_BEFORE_SHRINKER,
  shownBefore,
  sourceOfAll,
  withOthers,
} from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import type { ShrinkerName, ShrinkSettings } from '../../shrink/shrink-text.js';
import type { ShrinkLevel, ShrinkPurpose } from '../../shrink/shrinker.js';
import { digestResponse, keyOfCall, summaryLine } from '../../summarize/tool-summary.js';
import type { CallUse } from '../index/call-use.js';
import { CALL_KIND, NONE } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { KnownStretches } from '../index/shown-lines.js';
import { withoutSpentText } from '../index/excerpt.js';
import { linesOf } from '../index/text-lines.js';
import type { TextLines } from '../index/text-lines.js';
import type { UnsentResult } from '../index/unsent-results.js';
import type { DensityRule } from './density-rule.js';
import { ACTION } from './marks.js';
import type { Marks } from './marks.js';
import { SHRINK_LEVELS } from '../../shrink/shrinker.js';

/**
 * How far results are shrunk before the model is sent them: not at all, by a level, or by a level with single shrinkers
 * off or on, which is `default` unless it is named.
 */
export type ShrinkOption =
  | 'off'
  | ShrinkLevel
  | ({ readonly level?: ShrinkLevel | undefined } & {
      readonly [Name in ShrinkerName]?: boolean | undefined;
    });

/** How far sessions shrink results unless they are told otherwise. */
export const DEFAULT_SHRINK: ShrinkOption = 'default';

/** The values of the setting `compression.density.shrink`. `preset`: as the session was created. */
export type ShrinkChoice = 'preset' | 'off' | ShrinkLevel;

/** All of them. */
export const SHRINK_CHOICES: readonly ['preset', ...ShrinkChoice[]] = [
  'preset',
  'off',
  ...SHRINK_LEVELS,
];

/** Of a result that the model was not sent yet: it is made smaller, or there is nothing to take. */
export interface ShrinkFinding {
  readonly rule: 'shrink';
  readonly reason: 'shrunk' | 'whole';
  /** Its length, and what is left of it, in UTF-16 units. */
  readonly length: number;
  readonly left: number;
}

/** So many results back a result is looked for that shows the same. */
const MAX_BACK = 1_000;
/** Of so many things in a list of a call the texts are looked at. */
const MAX_LISTED = 100;
/** A result that refers to another one keeps it for so many answers of the model. */
const FRESH_ANSWERS = 20;

/** Makes results smaller that the model was not sent yet. */
export const SHRINK: DensityRule<ShrinkFinding> = {
  name: 'shrink',
  item: 'shrunk result',
  counter: 'resultsShrunk',
  settings: [
    {
      field: 'shrink',
      description: 'How far results are shrunk before the model is sent them',
      type: 'enum',
      enumValues: SHRINK_CHOICES,
      valueOf: (choice: ShrinkChoice, given: unknown) => (choice === 'preset' ? given : choice),
    },
  ],
  reads: ['calls', 'unsent'],
  isOn: ({ shrink }) => shrinkSettingsOf(shrink) !== undefined,
  mark: ({ index, settings, marks, mark }) => {
    noteReferred(index, marks);
    const unsent = index.unsentResults();
    for (const result of unsent.values()) {
      if (marks.responses[result.row] !== 0) continue;
      if (shrunkBy(settings, result, index, marks) !== undefined) {
        marks.responses[result.row] = mark(ACTION.shrink);
      }
    }
    return {
      ofResponse: (response) => {
        const result = unsent.get(response);
        if (result === undefined) return undefined;
        const { length } = result.response.result;
        const text = result.shrunk?.text;
        const reason = text === undefined ? 'whole' : 'shrunk';
        return { rule: 'shrink', reason, length, left: text?.length ?? length };
      },
    };
  },
  say: ({ reason, length, left }) =>
    reason === 'shrunk'
      ? `The model was not sent it yet, and it is sent with ${left} of its ${length} characters.`
      : `The model was not sent it yet, and of its ${length} characters none are to be taken.`,
};

/** Notes the results that newer ones refer to, as long as these are so new that they would stay themselves. */
function noteReferred(index: HistoryIndex, marks: Marks): void {
  const { answers, responses } = index;
  const firstEntry = answers.at(Math.max(0, answers.length - FRESH_ANSWERS));
  const sources = new Set<string>();
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    if (responses.entry.at(row) < firstEntry) break;
    const ids = responses.source.at(row);
    if (ids === NONE || marks.responses[row] !== 0) continue;
    for (const id of index.idOf(ids).split(' ')) sources.add(id);
  }
  if (sources.size === 0) return;
  const last = Math.max(0, responses.length - MAX_BACK);
  for (let row = responses.length - 1; row >= last; row -= 1) {
    if (sources.has(index.idOf(responses.id.at(row)))) marks.referred.add(row);
  }
}

/** What takes the place of a result, which is found out once; `undefined` when it stays as it is. */
function shrunkBy(
  settings: PassSettings,
  result: UnsentResult,
  index: HistoryIndex,
  marks: Marks,
): string | undefined {
  const shrink = shrinkSettingsOf(settings.shrink);
  if (shrink === undefined || isRecalled(result.response.toolName)) return undefined;
  const form = placeholderOf(settings);
  const isOn = runsShrinker(shrink, SHOWN_BEFORE_SHRINKER) && !settings.recencyPruning;
  const runs = isOn ? standingRuns(result, index, marks) : [];
  const key = JSON.stringify([shrink, form, runs]);
  if (result.shrunk?.settings !== key) {
    const text = shrunkResult(result, runs, index.useOf(result.call), shrink, form);
    result.shrunk = { settings: key, text, runs };
  }
  return result.shrunk.text;
}

/** The lines of a result that earlier ones show which stay. */
function standingRuns(
  result: UnsentResult,
  index: HistoryIndex,
  marks: Marks,
): readonly ShownElsewhere[] {
  const stands = (row: number): boolean => marks.responses[row] === 0;
  return index.shownOf(result, stands).flatMap(({ row, ...lines }) => {
    const callId = index.idOf(index.responses.id.at(row));
    if (!isShownId(callId)) return [];
    marks.referred.add(row);
    return [{ ...lines, callId }];
  });
}

/**
 * Returns what takes the place of a result by some settings, `undefined` when it stays as it is: the same whenever and
 * wherever it is asked.
 *
 * @param runs its lines that earlier results show
 * @param use what the catalog says of its call
 */
export function shrunkResult(
  { call, response, lines }: Pick<UnsentResult, 'call' | 'response'> & Partial<UnsentResult>,
  runs: readonly ShownElsewhere[],
  { kind, command = '' }: Pick<CallUse, 'kind' | 'command'>,
  settings: ShrinkSettings,
  form: PlaceholderForm,
): string | undefined {
  const { callId, result } = response;
  const ending = placeholderEnding(callId, form);
  const isOn = runsShrinker(settings, SHOWN_BEFORE_SHRINKER);
  const shown = isOn ? withOthers(runs, runsInCall(call, result, lines)) : runs;
  const source = sourceOfAll(result, shown);
  if (source !== undefined) {
    // A placeholder, so that nothing takes it for the text that it speaks of.
    const key = `${shownBefore(source)}: ${keyOfCall(call) ?? ''}`;
    return summaryLine(digestResponse(response), { key }, ending);
  }
  const isFile = kind === CALL_KIND.unknown && mayShowFile(call);
  const purpose = isFile ? undefined : PURPOSES[kind];
  return shrinkText(result, shown, { purpose, command }, settings, ending);
}

/** The lines of a result that its call has in texts that stay there, as tools show what they have written. */
function runsInCall(
  { parameters }: ToolCallBlock,
  result: string,
  lines: TextLines | undefined,
): readonly ShownElsewhere[] {
  const known = new KnownStretches();
  const rows = new Map<number, number>();
  for (const text of textsIn(withoutSpentText(parameters))) {
    if (text.length < MIN_RUN) continue;
    rows.set(rows.size, rows.size);
    known.note(rows.size - 1, linesOf(text));
  }
  if (rows.size === 0) return [];
  const runs = known.shownIn(lines ?? linesOf(result), rows);
  return runs.map(({ row: _, ...run }) => ({ ...run, callId: null }));
}

/** The texts of arguments, and of those that have several of them. */
function textsIn(parameters: unknown): readonly string[] {
  const values = Object.values(asRecord(parameters) ?? {});
  const inner = values.flatMap((value) => {
    const listed: readonly unknown[] = Array.isArray(value) ? value.slice(0, MAX_LISTED) : [];
    return listed.flatMap((item) => Object.values(asRecord(item) ?? {}));
  });
  return [...values, ...inner].filter((value) => typeof value === 'string');
}

/** What an edit could need is in none of these. */
const PURPOSES: Readonly<Record<number, ShrinkPurpose>> = {
  [CALL_KIND.search]: 'search',
  [CALL_KIND.command]: 'command',
  [CALL_KIND.unknown]: 'unknown',
};

/** Whether a tool gives back what was taken away, by whatever server: that was asked for as it is. */
function isRecalled(toolName: string): boolean {
  return /(?:^|[^a-z])recall$/i.test(toolName);
}

/** Whether a tool that nobody knows may have been asked for a file. */
function mayShowFile({ parameters }: ToolCallBlock): boolean {
  const values = asRecord(parameters);
  return values === undefined || Object.keys(values).some((key) => /path|file|uri/i.test(key));
}

/** Returns what a pass goes by; `undefined` when nothing is shrunk. */
export function shrinkSettingsOf(option: ShrinkOption | undefined): ShrinkSettings | undefined {
  if (option === undefined || option === 'off') return undefined;
  if (typeof option === 'string') return { level: option };
  return { ...option, level: option.level ?? 'default' };
}
