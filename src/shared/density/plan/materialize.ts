// Turns the flat plan of a density pass into entries to put in place and entries to remove. Looks at
// the entries that the plan names, and shares every block and every field that it does not change.

import { hasSubstance, isBlank, withResult } from '../../content.js';
import type {
  ContentBlock,
  IContent,
  TextBlock,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../content.js';
import { placeholderOf, PRUNED_POINTER } from '../../density.js';
import type { DensityResult, PassSettings, PlaceholderForm } from '../../density.js';
import { answeredCalls } from '../../summarize/answered-calls.js';
import { summarizeToolResponse } from '../../summarize/tool-summary.js';
import { excerptOfBlock, withoutSpentText } from '../index/excerpt.js';
import { INCLUSION_POINTER } from '../index/file-inclusions.js';
import { ACTION } from '../rules/marks.js';
import { countItems, PlanCursor } from './plan.js';
import type { DensityPlan } from './plan.js';

/** What the rows of a result do not say by themselves. */
export interface MadeBy {
  readonly settings: PassSettings;
  /** Those that came with the plan. */
  readonly texts: readonly string[];
}

const MADE_BY = new WeakMap<DensityPlan, MadeBy>();

/** What the rows of a result were made by; `undefined` of those that were not made here. */
export function madeBy({ rows }: Pick<DensityResult, 'rows'>): MadeBy | undefined {
  return rows && MADE_BY.get(rows);
}

/**
 * Returns the edits of a plan for the history that it was computed from (or one that only grew since).
 * What is bound to a call of an ai entry goes with that, and so does reasoning that led to nothing that
 * stays. An entry that would keep nothing but blank text or reasoning is removed; a human one says in place of
 * its text that the file comes later.
 *
 * @param settings what the plan was made by
 * @param texts what it puts in place of results that it shrinks
 */
export function materializeDensityPlan(
  plan: DensityPlan,
  history: readonly IContent[],
  settings: PassSettings,
  texts: readonly string[] = [],
): DensityResult {
  const textOf = (number: number): MakeText => {
    const text = texts[number];
    if (text === undefined) throw new RangeError('The plan comes without what it shrinks to.');
    return () => text;
  };
  return materializeWith(plan, history, { settings, texts }, { textOf, put: putAtOnce });
}

/** Makes the text that takes the place of a response's result. */
export type MakeText = (response: ToolResponseBlock) => string;

/** How results come into the place of others. */
export interface ResultPlacement {
  /** By the number in its row, what a result shrinks to. */
  readonly textOf: (number: number) => MakeText;
  /** Returns the response with the text that is made of it, at once or later. */
  readonly put: (response: ToolResponseBlock, make: MakeText) => ToolResponseBlock;
}

const MADE = new WeakMap<ToolResponseBlock, ToolResponseBlock>();

/** One that was made before is that one again: so that it is known, and counted, wherever the edit is found anew. */
function putAtOnce(response: ToolResponseBlock, make: MakeText): ToolResponseBlock {
  const text = make(response);
  const known = MADE.get(response);
  if (known?.result === text) return known;
  const made = withResult(response, text);
  MADE.set(response, made);
  return made;
}

/** What is left of a response that gives way to an excerpt below a pointer. */
export function excerptedBlock(response: ToolResponseBlock): ToolResponseBlock {
  return putAtOnce(response, () => excerptOfBlock(response, PRUNED_POINTER));
}

const SHORTENED = new WeakMap<ToolCallBlock, ToolCallBlock>();

/** What is left of a call that loses the texts which are spent, made once. */
export function shortenedBlock(call: ToolCallBlock): ToolCallBlock {
  let shortened = SHORTENED.get(call);
  if (shortened === undefined) {
    shortened = { ...call, parameters: withoutSpentText(call.parameters) };
    SHORTENED.set(call, shortened);
  }
  return shortened;
}

/** As `materializeDensityPlan`, with results that may be made later. */
export function materializeWith(
  plan: DensityPlan,
  history: readonly IContent[],
  by: MadeBy,
  placement: ResultPlacement,
): DensityResult {
  const removals: number[] = [];
  const replacements = new Map<number, IContent>();
  const row = new PlanCursor(plan);
  const made = { placeholder: placeholders(history, placeholderOf(by.settings)), ...placement };
  while (!row.isAtEnd) {
    const index = row.entry;
    const entry = history[index];
    if (entry === undefined) {
      throw new RangeError(
        `The plan edits entry ${index}, but the history ends at ${history.length}.`,
      );
    }
    const blocks = editedBlocks(entry, row, made);
    if (saysSomething(blocks)) replacements.set(index, { ...entry, blocks });
    else if (entry.speaker !== 'human') removals.push(index);
    else replacements.set(index, { ...entry, blocks: [pointerText(entry.blocks)] });
  }
  return madeResult(plan, by, removals, replacements);
}

/** A result of rows, and what is remembered of them. */
export function madeResult(
  rows: DensityPlan,
  by: MadeBy,
  removals: readonly number[],
  replacements: ReadonlyMap<number, IContent>,
): DensityResult {
  MADE_BY.set(rows, by);
  return { removals, replacements, metadata: countItems(rows, by.settings), rows };
}

/** Makes what stands in place of the response at a place. */
type PlaceholderAt = (entry: number, block: number) => MakeText;

/** What stands in place of results. */
interface MadeTexts extends ResultPlacement {
  readonly placeholder: PlaceholderAt;
}

function placeholders(history: readonly IContent[], form: PlaceholderForm): PlaceholderAt {
  if (form === 'pointer') return () => () => PRUNED_POINTER;
  const callOf = answeredCalls(history);
  return (entry, block) => {
    const call = callOf(entry, block);
    return (response) => summarizeToolResponse(response, call, form);
  };
}

/** Asks the blocks first that say something whatever they hold: their content need not be fetched. */
function saysSomething(blocks: readonly ContentBlock[]): boolean {
  return (
    blocks.some(({ type }) => type !== 'text' && type !== 'code' && type !== 'thinking') ||
    blocks.some(hasSubstance)
  );
}

/** Leaves the cursor behind the rows of the entry. */
function editedBlocks(
  { speaker, blocks }: IContent,
  row: PlanCursor,
  made: MadeTexts,
): readonly ContentBlock[] {
  const index = row.entry;
  const edited = blocks.map((block, at) =>
    row.entry === index && row.block === at ? editedBlock(block, row, made) : block,
  );
  // A plan that names blocks which its entry does not have: the walk would not end.
  if (row.entry === index) {
    throw new RangeError(`The plan edits blocks that entry ${index} does not have.`);
  }
  if (speaker === 'ai') {
    const isDropped = (place: number): boolean => edited[place] === null;
    for (const at of blocksOfDroppedCalls(blocks, isDropped)) edited[at] = null;
    for (const at of orphanedReasoning(blocks, isDropped)) edited[at] = null;
  }
  return edited.filter((block) => block !== null);
}

/** Returns what the rows of a block leave of it, `null` when that is nothing, and the cursor behind them. */
function editedBlock(
  block: ContentBlock,
  row: PlanCursor,
  { placeholder, textOf, put }: MadeTexts,
): ContentBlock | null {
  const { entry, block: at } = row;
  let ranges: Range[] | undefined;
  let edited: ContentBlock | null = block;
  for (; row.entry === entry && row.block === at; row.next()) {
    switch (row.action) {
      case ACTION.drop:
      case ACTION.companion:
        edited = null;
        break;
      case ACTION.pointer:
        if (block.type === 'tool_response') edited = put(block, placeholder(entry, at));
        break;
      case ACTION.excerpt:
        if (block.type === 'tool_response') {
          const line = placeholder(entry, at);
          edited = put(block, (response) => excerptOfBlock(response, line(response)));
        }
        break;
      case ACTION.shorten:
        if (block.type === 'tool_call') edited = shortenedBlock(block);
        break;
      case ACTION.shrink: {
        const make = textOf(row.start);
        if (block.type === 'tool_response') edited = put(block, make);
        break;
      }
      case ACTION.cut:
        (ranges ??= []).push([row.start, row.end]);
        break;
    }
  }
  if (ranges === undefined || edited?.type !== 'text') return edited;
  const text = withoutRanges(edited.text, ranges);
  return isBlank(text) ? null : { ...edited, text };
}

type Range = readonly [start: number, end: number];

function withoutRanges(text: string, ranges: readonly Range[]): string {
  let kept = '';
  let from = 0;
  for (const [start, end] of ranges) {
    kept += text.slice(from, start);
    from = end;
  }
  return kept + text.slice(from);
}

/** Keeps whatever else the first text block carried beside its text. */
function pointerText(blocks: readonly ContentBlock[]): TextBlock {
  const first = blocks.find((block) => block.type === 'text');
  return { ...first, type: 'text', text: INCLUSION_POINTER };
}

/** Reasoning, and what it led to, as places among the blocks of an entry. */
export interface ReasoningStretch {
  /** Thinking blocks with nothing of substance between them, ascending; at least one. */
  readonly reasoning: readonly number[];
  /** The blocks of substance behind them up to the next reasoning, ascending; none at an entry's end. */
  readonly ledTo: readonly number[];
}

/** Lists the reasoning of an entry in its order. Blank text neither parts reasoning nor is led to. */
export function findReasoning(blocks: readonly ContentBlock[]): readonly ReasoningStretch[] {
  const stretches: { readonly reasoning: number[]; readonly ledTo: number[] }[] = [];
  blocks.forEach((block, at) => {
    const last = stretches.at(-1);
    if (block.type !== 'thinking') {
      if (last !== undefined && hasSubstance(block)) last.ledTo.push(at);
    } else if (last?.ledTo.length === 0) {
      last.reasoning.push(at);
    } else {
      stretches.push({ reasoning: [at], ledTo: [] });
    }
  });
  return stretches;
}

/**
 * Returns the places of the reasoning that goes with what is dropped: all that it led to does, and
 * that is something. Providers refuse reasoning that ends a message or stands without its item.
 */
export function orphanedReasoning(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  return findReasoning(blocks).flatMap(({ reasoning, ledTo }) =>
    ledTo.length > 0 && ledTo.every(isDropped) ? reasoning : [],
  );
}

/** Returns the places of the opaque blocks whose call is dropped, and no other of that id stays. */
export function blocksOfDroppedCalls(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  if (!blocks.some(sharesFate)) return NOWHERE;
  const dropped = new Set<string>();
  const kept = new Set<string>();
  blocks.forEach((block, at) => {
    if (block.type === 'tool_call') (isDropped(at) ? dropped : kept).add(block.id);
  });
  return blocks.flatMap((block, at) => {
    const callId = sharesFate(block) ? block.callId : undefined;
    return callId !== undefined && dropped.has(callId) && !kept.has(callId) ? at : [];
  });
}

/** Whether a block is bound to a call. */
export function sharesFate(
  block: ContentBlock,
): block is ContentBlock & { readonly type: 'opaque'; readonly callId: string } {
  return block.type === 'opaque' && block.callId !== undefined;
}

const NOWHERE: readonly number[] = [];
