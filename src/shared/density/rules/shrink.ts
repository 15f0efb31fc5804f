// The rule `shrink`: shortens results before they are first sent, which invalidates no prompt cache, and never later. The
// shrinkers are in `shared/shrink`. Results with an error are not shrunk, and of file contents all text stays in view that an edit
// may have to quote.

import { callName, keyOfCall } from '../../call-name.js';
import type { ToolResponseBlock } from '../../content.js';
import { placeholderOf, shrinkSettingsOf } from '../../density.js';
import type { PassSettings, PlaceholderForm, ShrinkOption } from '../../density.js';
import { pushTo } from '../../lists-by-key.js';
import { MAX_HOST_LINES, outcomeOf } from '../../outcome.js';
import { placeholderEnding, SHOWN_THERE } from '../../placeholder.js';
import { resultText } from '../../shrink/result-text.js';
import {
  canBeReferenced,
  partOfRun,
  SHOWN_BEFORE_SHRINKER,
  shownBefore,
  sourceOfAll,
  withOthers,
} from '../../shrink/shown-before.js';
import type { ShownElsewhere } from '../../shrink/shown-before.js';
import { runsShrinker, withReferences } from '../../shrink/shrink-text.js';
import type { ShrinkSettings } from '../../shrink/shrink-text.js';
import { SHRINK_LEVELS } from '../../shrink/shrinker.js';
import type { ShrinkLevel } from '../../shrink/shrinker.js';
import { payloadText } from '../../tokens/content-text.js';
import { digestResponse, summaryLine } from '../../summarize/tool-summary.js';
import type { CallUse } from '../index/call-use.js';
import { hasPlaceholder, NONE } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';
import type { UnsentResult } from '../index/unsent-results.js';
import type { DensityRule } from './density-rule.js';
import { ACTION, isRemoved, markOf, ruleOf } from './marks.js';
import type { Marks } from './marks.js';
import { isJsonFile, runsInCall, shownRuns, shrunkFormOf } from './shown-runs.js';
import type { SeenResult, ShownRuns, ShrunkForm } from './shown-runs.js';

/** The level of sessions that configure none. */
export const DEFAULT_SHRINK: ShrinkOption = 'default';

/** A value of the setting `compression.density.shrink`. `preset`: the level with which the session was created. */
export type ShrinkChoice = 'preset' | 'off' | ShrinkLevel;

export const SHRINK_CHOICES: readonly ['preset', ...ShrinkChoice[]] = [
  'preset',
  'off',
  ...SHRINK_LEVELS,
];

/** A finding on a result that was not sent yet: it was shortened, or there was nothing to remove. */
export interface ShrinkFinding {
  readonly rule: 'shrink';
  readonly reason: 'shrunk' | 'whole';
  /** Its length before and after, in UTF-16 units. */
  readonly length: number;
  readonly left: number;
}

/** Duplicate ids are searched for among this many last results, which is farther back than any reference leads. */
const MAX_BACK = 1_000;

/** Shortens results that were not sent to the model yet. */
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
  reads: ['unsent'],
  mark: ({ index, settings, marks, mark }) => {
    keepSources(index, marks);
    const isMarked = (row: number): boolean => marks.responses[row] !== 0;
    for (const row of rowsToShrink(index, settings, isMarked, marks.referredBy)) {
      marks.responses[row] = mark(ACTION.shrink);
    }
    const unsent = index.unsentResults();
    return {
      ofResponse: (response) => {
        const result = unsent.get(response);
        if (result === undefined) return undefined;
        const { length } = payloadText(result.response.result);
        const text = result.shrunk?.text;
        const reason = text === undefined ? 'whole' : 'shrunk';
        return { rule: 'shrink', reason, length, left: text?.length ?? length };
      },
    };
  },
  say: ({ reason, length, left }) =>
    reason === 'shrunk'
      ? `It was not sent to the model yet, and is sent with ${left} of its ${length} characters.`
      : `It was not sent to the model yet, and none of its ${length} characters can be left out.`,
};

/**
 * Yields the rows of unsent results to shrink. Reads no older results except those that the unsent ones are compared with.
 *
 * @param isMarked whether a row is removed or shrunk, also by this pass: callers must mark each yielded row before they take the next
 * @param referredBy receives, by row, the rows that refer to it
 */
export function* rowsToShrink(
  index: HistoryIndex,
  settings: PassSettings,
  isMarked: (row: number) => boolean,
  referredBy: Marks['referredBy'],
): Generator<number, void, undefined> {
  let shared: ReadonlySet<number> | undefined;
  const mayBeSource = (row: number): boolean => {
    const id = index.responses.id.at(row);
    shared ??= sharedIds(index);
    return !isMarked(row) && !shared.has(id) && canBeReferenced(index.idOf(id));
  };
  for (const result of index.unsentResults().values()) {
    if (isMarked(result.row)) continue;
    if (shrunkBy(settings, result, index, mayBeSource, referredBy) !== undefined) yield result.row;
  }
}

/**
 * Records which results the results that stay refer to, and undoes the marks of earlier rules on those sources: otherwise, the
 * lines that the references stand for would be shown nowhere. Later calls with the name of a source keep their place, since references
 * count them: see `nameWithPosition`. Of these, only the results go.
 */
function keepSources(index: HistoryIndex, marks: Marks): void {
  const { calls, responses } = index;
  const pointerOf = (row: number): number => {
    const isSettled = hasPlaceholder(responses.flags.at(row));
    return isSettled ? 0 : markOf(ACTION.pointer, ruleOf(marks.responses[row] ?? 0));
  };
  /** By number of a call id, the newest result so far. */
  const newest = new Int32Array(index.idCount).fill(NONE);
  const references: { readonly row: number; readonly source: number }[] = [];
  for (let row = 0; row < responses.length; row += 1) {
    const list = responses.source.at(row);
    for (const id of list === NONE ? NO_IDS : index.idsListedIn(list)) {
      const source = newest[id] ?? NONE;
      if (source !== NONE) references.push({ row, source });
    }
    newest[responses.id.at(row)] = row;
  }
  // Newest first, because a result that stays keeps those that it refers to.
  for (const { row, source } of references.reverse()) {
    if (marks.responses[row] !== 0) continue;
    pushTo(marks.referredBy, source, row);
    marks.responses[source] = 0;
  }
  /** By number of a name, the first call whose result is referred to. */
  const firstCalls = new Map<number, number>();
  for (const row of marks.referredBy.keys()) {
    const call = responses.call.at(row);
    if (call === NONE) continue;
    const name = calls.name.at(call);
    firstCalls.set(name, Math.min(call, firstCalls.get(name) ?? call));
    marks.calls[call] = 0;
  }
  for (let call = 0; call < calls.length; call += 1) {
    if (!isRemoved(marks.calls[call])) continue;
    if ((firstCalls.get(calls.name.at(call)) ?? call) >= call) continue;
    const row = calls.response.at(call);
    marks.responses[row] = pointerOf(row);
    marks.calls[call] = 0;
  }
}

const NO_IDS: readonly number[] = [];

/** Returns the shortened text of a result, cached on it; `undefined` when it stays as it is. */
function shrunkBy(
  settings: PassSettings,
  result: UnsentResult,
  index: HistoryIndex,
  mayBeSource: (row: number) => boolean,
  referredBy: Marks['referredBy'],
): string | undefined {
  const shrink = shrinkSettingsOf(settings.shrink);
  if (shrink === undefined || isRecalled(result.response.toolName)) return undefined;
  const form = placeholderOf(settings);
  const isOn = runsShrinker(shrink, SHOWN_BEFORE_SHRINKER) && !settings.recencyPruning;
  const ending = placeholderEnding(result.response.callId, form);
  const use = index.useOf(result.call);
  const shown = isOn ? shownRuns(result, use, index, mayBeSource, shrink, ending) : NOT_SHOWN;
  const key = JSON.stringify([shrink, form, shown.runs]);
  if (result.shrunk?.settings !== key) {
    const text = shrunkResult(result, shown.runs, use, shrink, form);
    result.shrunk = { settings: key, text, ...(text === undefined ? NOT_SHOWN : shown) };
  }
  const { text, rows } = result.shrunk;
  for (const row of rows) pushTo(referredBy, row, result.row);
  return text;
}

const NOT_SHOWN: ShownRuns = { runs: [], rows: [] };

/** The ids that several results share, because some models restart the numbering of calls in each answer. */
function sharedIds({ responses: { id } }: HistoryIndex): ReadonlySet<number> {
  const seen = new Set<number>();
  const shared = new Set<number>();
  for (let row = Math.max(0, id.length - MAX_BACK); row < id.length; row += 1) {
    (seen.has(id.at(row)) ? shared : seen).add(id.at(row));
  }
  return shared;
}

/**
 * Returns the shortened text of a result; `undefined` when it stays as it is. Deterministic on any
 * thread.
 *
 * @param runs the lines of its `shrunkFormOf` that earlier results show
 * @param use what the catalog says about its call
 */
export function shrunkResult(
  seen: SeenResult,
  runs: readonly ShownElsewhere[],
  use: Pick<CallUse, 'kind' | 'command'>,
  settings: ShrinkSettings,
  form: PlaceholderForm,
): string | undefined {
  const { call, response } = seen;
  const { callId, result } = response;
  const { text = resultText(result) } = seen;
  if (text === undefined) return undefined;
  const ending = placeholderEnding(callId, form);
  const left = shrunkFormOf(seen, text, use, settings, ending);
  const isOn = runsShrinker(settings, SHOWN_BEFORE_SHRINKER);
  const shown = isOn ? withOthers(runs, runsInCall(call, left.lines)) : runs;
  const source = left.isWhole ? sourceOfAll(left.draft, shown) : undefined;
  if (source !== undefined) {
    // Has the form of a placeholder, so that the model does not mistake it for the text that it refers to.
    const name = source.name === callName(call) ? '' : `, ${source.name}`;
    const key = `${shownBefore(source.callId)}${name}: ${keyOfCall(call) ?? ''}`;
    const unfailed = outcomeOf(response) === 'unstated' ? SHOWN_THERE : 'success';
    return summaryLine(digestResponse(response), { key }, ending, unfailed);
  }
  if (isJsonFile(seen, text)) return undefined;
  return keepingOutcome(response, left, shown, (others) =>
    withReferences(text, left, others, left.call, ending),
  );
}

/**
 * Returns a shortened result; `undefined` if it stays whole. If the shortened result no longer states how its call ended, keeps the
 * first and last lines, in which hosts state that.
 */
function keepingOutcome(
  response: ToolResponseBlock,
  { draft }: ShrunkForm,
  shown: readonly ShownElsewhere[],
  shrunkWithout: (shown: readonly ShownElsewhere[]) => string | undefined,
): string | undefined {
  const left = shrunkWithout(shown);
  if (left === undefined) return left;
  const outcome = outcomeOf(response);
  const isStated = (result: string): boolean => outcomeOf({ ...response, result }) === outcome;
  if (outcome === 'unstated' || isStated(left)) return left;
  const { length: end } = draft.lines;
  const stating = [2, MAX_HOST_LINES].map((count) =>
    shrunkWithout(shown.flatMap((run) => partOfRun(run, count, end - count))),
  );
  return stating.find((each) => each === undefined || isStated(each)) ?? stating.at(-1);
}

/** Whether the tool recalls originals, whatever prefix a server gives its name: they were asked for in full. */
function isRecalled(toolName: string): boolean {
  return /(?:^|[^a-z])recall$/i.test(toolName);
}
