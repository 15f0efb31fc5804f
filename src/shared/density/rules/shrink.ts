// The rule `shrink`: results are made smaller before the model is sent them, which costs no prompt cache, and never
// again. What each shrinker takes, `shared/shrink` says; what a file's text says is not shrunk, and neither are failures.

import type { ToolCallBlock } from '../../content.js';
import { placeholderOf } from '../../density.js';
import type { PassSettings, PlaceholderForm } from '../../density.js';
import { asRecord, clip } from '../../json.js';
import { placeholderEnding } from '../../placeholder.js';
import { isShrunk, runsShrinker, shrinkText, SHOWN_BEFORE } from '../../shrink/shrink-text.js';
import type { ShrinkSettings } from '../../shrink/shrink-text.js';
import type { ShrinkPurpose } from '../../shrink/shrinker.js';
import { digestResponse, keyOfCall, summaryLine } from '../../summarize/tool-summary.js';
import { CALL_KIND, isGone, NONE, RESPONSE_FLAG } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import { NO_TEXT } from '../index/unsent-results.js';
import type { UnsentResult } from '../index/unsent-results.js';
import type { DensityRule } from './density-rule.js';
import { ACTION } from './marks.js';
import type { Marks } from './marks.js';
import { shrinkSettingsOf, SHRINK_CHOICES } from './shrink-settings.js';
import type { ShrinkChoice } from './shrink-settings.js';

/** Of a result that the model was not sent yet: it is made smaller, or there is nothing to take. */
export interface ShrinkFinding {
  readonly rule: 'shrink';
  readonly reason: 'shrunk' | 'whole';
  /** Its length, and what is left of it, in UTF-16 units. */
  readonly length: number;
  readonly left: number;
}

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
    const unsent = index.unsentResults();
    for (const result of unsent) {
      if (marks.responses[result.row] !== 0) continue;
      if (shrunkBy(settings, result, index, marks) !== undefined) {
        marks.responses[result.row] = mark(ACTION.shrink);
      }
    }
    return {
      ofResponse: (response) => {
        const result = unsent.find(({ row }) => row === response);
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

/** What takes the place of a result, which is found out once; `undefined` when it stays as it is. */
function shrunkBy(
  settings: PassSettings,
  result: UnsentResult,
  index: HistoryIndex,
  marks: Marks,
): string | undefined {
  const shrink = shrinkSettingsOf(settings.shrink);
  if (shrink === undefined) return undefined;
  const form = placeholderOf(settings);
  const source = settings.recencyPruning ? NONE : sourceOf(result, index, marks, shrink);
  const key = JSON.stringify([shrink, form, source]);
  if (result.shrunk?.settings === key) return result.shrunk.text;
  const text =
    source === NONE
      ? shrunkText(result, index, shrink, form)
      : shownBeforeLine(result, index.idOf(index.responses.id.at(source)), form);
  result.shrunk = { settings: key, text };
  return text;
}

/** The row of an earlier result that shows the same text, and stays; or `NONE`. */
function sourceOf(
  { row, response }: UnsentResult,
  { responses }: HistoryIndex,
  marks: Marks,
  settings: ShrinkSettings,
): number {
  const text = responses.text.at(row);
  const isOff = !runsShrinker(settings, { name: SHOWN_BEFORE, from: 'lossless' });
  if (text === NO_TEXT || isOff || isRecalled(response.toolName)) return NONE;
  for (let earlier = row - 1; earlier >= 0; earlier -= 1) {
    if (responses.text.at(earlier) !== text || marks.responses[earlier] !== 0) continue;
    const flags = responses.flags.at(earlier);
    if (!isGone(flags) && (flags & RESPONSE_FLAG.failed) === 0) return earlier;
  }
  return NONE;
}

/** A line that is a placeholder like any other, so that nothing takes it for the text that it speaks of. */
function shownBeforeLine(
  { call, response }: UnsentResult,
  sourceId: string,
  form: PlaceholderForm,
): string {
  const key = keyOfCall(call) ?? '';
  const digest = digestResponse(response);
  const ending = placeholderEnding(response.callId, form);
  return summaryLine(
    digest,
    { key: `unchanged, as shown above by ${clip(sourceId)}: ${key}` },
    ending,
  );
}

function shrunkText(
  { call, response }: UnsentResult,
  index: HistoryIndex,
  settings: ShrinkSettings,
  form: PlaceholderForm,
): string | undefined {
  const { kind, command = '' } = index.useOf(call);
  const purpose = PURPOSES[kind];
  if (purpose === undefined || isRecalled(call.name) || isShrunk(response.result)) return undefined;
  if (purpose === 'unknown' && mayShowFile(call)) return undefined;
  return shrinkText(response.result, { purpose, command }, settings, response.callId, form);
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
