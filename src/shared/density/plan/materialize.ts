// Turns the rows of a plan into entries to replace and entries to remove. Reads only the entries
// that the plan names, and shares every block and field that it does not change.

import { hasSubstance, isBlank, withResult } from '../../content.js';
import type {
  ContentBlock,
  IContent,
  TextBlock,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../content.js';
import { placeholderOf } from '../../density.js';
import type { DensityResult, PassSettings, PlaceholderForm } from '../../density.js';
import { sourceIdsOf } from '../../shrink/shown-before.js';
import { answeredCalls } from '../../summarize/history-outline.js';
import { summarizeToolResponse } from '../../summarize/tool-summary.js';
import { excerptOfBlock } from '../index/excerpt.js';
import { INCLUSION_POINTER } from '../index/file-inclusions.js';
import { withoutSpentText } from '../index/spent-text.js';
import { ACTION } from '../rules/marks.js';
import { countItems, PlanCursor, pointerOf } from './plan.js';
import type { DensityPlan } from './plan.js';

/** What is needed, besides the rows, to make a density result again. */
export interface PlanInputs {
  readonly settings: PassSettings;
  /** The texts that came with the plan. */
  readonly texts: readonly string[];
}

const PLAN_INPUTS = new WeakMap<DensityPlan, PlanInputs>();

/** What the rows of a result were made with; `undefined` for results made elsewhere. */
export function planInputsOf({ rows }: Pick<DensityResult, 'rows'>): PlanInputs | undefined {
  return rows && PLAN_INPUTS.get(rows);
}

/**
 * Returns the edits of a plan for the history it was computed from (or one that only grew since).
 * Blocks bound to a dropped call of an ai entry go with it, and so does reasoning that led only to
 * dropped blocks. An entry left with nothing but blank text or reasoning is removed; a human entry
 * instead gets a note that the file comes later.
 *
 * @param settings what the plan was made with
 * @param texts the plan's replacements for shrunk results
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
  return materializeWith(plan, history, { settings, texts }, { textOf, replace: replaceNow });
}

/**
 * Makes the text that replaces a response's result.
 *
 * @param isPlain whether a shrunk one refers to no other result @default false
 */
export type MakeText = (response: ToolResponseBlock, isPlain?: boolean) => string;

/** How replacement texts get into responses. */
export interface ResultReplacer {
  /** The replacement for a shrunk result, by its index in the plan's row. */
  readonly textOf: (number: number) => MakeText;
  /** Returns the response with the made text as its result, now or lazily. */
  readonly replace: (response: ToolResponseBlock, make: MakeText) => ToolResponseBlock;
}

const MADE = new WeakMap<ToolResponseBlock, ToolResponseBlock>();

/** Returns the same block when the same edit is found again, so that its token count is reused. */
function replaceNow(response: ToolResponseBlock, make: MakeText): ToolResponseBlock {
  const text = make(response);
  const known = MADE.get(response);
  if (known?.result === text) return known;
  const made = withResult(response, text);
  MADE.set(response, made);
  return made;
}

/** What a shrunk result was made from. */
interface ShrunkFrom {
  readonly before: ToolResponseBlock;
  readonly settings: Pick<PassSettings, 'placeholder' | 'shrink'>;
}

/** Only for results that refer to others, because each entry keeps an original in memory. */
const SHRUNK_FROM = new WeakMap<ContentBlock, ShrunkFrom>();

/** Remembers what a result was shrunk from, if it refers to others. */
export function noteShrunk(shrunk: ToolResponseBlock, from: ShrunkFrom): void {
  if (sourceIdsOf(shrunk.result) !== '') SHRUNK_FROM.set(shrunk, from);
}

/** What a result that refers to others was shrunk from in this process; else `undefined`. */
export function shrunkFrom(block: ContentBlock): ShrunkFrom | undefined {
  return SHRUNK_FROM.get(block);
}

/** Returns the response with an excerpt below a bare pointer. */
export function excerptedBlock(response: ToolResponseBlock, pointer: string): ToolResponseBlock {
  return replaceNow(response, () => excerptOfBlock(response, pointer));
}

const SHORTENED = new WeakMap<ToolCallBlock, ToolCallBlock>();

/** Returns the call without spent texts. Cached per call. */
export function shortenedBlock(call: ToolCallBlock): ToolCallBlock {
  let shortened = SHORTENED.get(call);
  if (shortened === undefined) {
    shortened = { ...call, parameters: withoutSpentText(call.parameters) };
    SHORTENED.set(call, shortened);
  }
  return shortened;
}

/** Like `materializeDensityPlan`, with results that may be made lazily. */
export function materializeWith(
  plan: DensityPlan,
  history: readonly IContent[],
  by: PlanInputs,
  placement: ResultReplacer,
): DensityResult {
  const removals: number[] = [];
  const replacements = new Map<number, IContent>();
  const row = new PlanCursor(plan);
  const { settings } = by;
  const made = {
    placeholder: placeholders(history, placeholderOf(settings)),
    settings,
    ...placement,
  };
  while (!row.isAtEnd) {
    const index = row.entry;
    const entry = history[index];
    if (entry === undefined) {
      throw new RangeError(
        `The plan edits entry ${index}, but the history ends at ${history.length}.`,
      );
    }
    const blocks = editedBlocks(entry, row, made);
    if (blocks.some(hasSubstance)) replacements.set(index, { ...entry, blocks });
    else if (entry.speaker !== 'human') removals.push(index);
    else replacements.set(index, { ...entry, blocks: [pointerText(entry.blocks)] });
  }
  PLAN_INPUTS.set(plan, by);
  return { removals, replacements, metadata: countItems(plan, settings), rows: plan };
}

/** Returns the placeholder maker for the response in a row. */
type PlaceholderAt = (row: PlanCursor) => MakeText;

interface ReplacementTexts extends ResultReplacer {
  readonly placeholder: PlaceholderAt;
  readonly settings: PassSettings;
}

function placeholders(history: readonly IContent[], form: PlaceholderForm): PlaceholderAt {
  if (form === 'pointer') {
    return (row) => {
      const pointer = pointerOf(row);
      return () => pointer;
    };
  }
  const callOf = answeredCalls(history);
  return ({ entry, block }) => {
    const call = callOf(entry, block);
    return (response) => summarizeToolResponse(response, call, form);
  };
}

/** Moves the cursor past the rows of the entry. */
function editedBlocks(
  { speaker, blocks }: IContent,
  row: PlanCursor,
  made: ReplacementTexts,
): readonly ContentBlock[] {
  const index = row.entry;
  const edited = blocks.map((block, at) =>
    row.entry === index && row.block === at ? editedBlock(block, row, made) : block,
  );
  // Without this check, a plan that names blocks the entry does not have would make the caller loop forever.
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

/** Returns what is left of a block, `null` for nothing. Moves the cursor past the block's rows. */
function editedBlock(
  block: ContentBlock,
  row: PlanCursor,
  { placeholder, settings, textOf, replace }: ReplacementTexts,
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
        if (block.type === 'tool_response') edited = replace(block, placeholder(row));
        break;
      case ACTION.excerpt:
        if (block.type === 'tool_response') {
          const line = placeholder(row);
          edited = replace(block, (response) => excerptOfBlock(response, line(response)));
        }
        break;
      case ACTION.shorten:
        if (block.type === 'tool_call') edited = shortenedBlock(block);
        break;
      case ACTION.shrink: {
        const make = textOf(row.start);
        if (block.type !== 'tool_response') break;
        const shrunk = replace(block, make);
        noteShrunk(shrunk, { before: block, settings });
        edited = shrunk;
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

/** Keeps the other fields of the first text block. */
function pointerText(blocks: readonly ContentBlock[]): TextBlock {
  const first = blocks.find((block) => block.type === 'text');
  return { ...first, type: 'text', text: INCLUSION_POINTER };
}

/** Reasoning and what it led to, as block indices within an entry. */
export interface ReasoningStretch {
  /** Consecutive thinking blocks, ignoring blank text; ascending, at least one. */
  readonly reasoning: readonly number[];
  /** The blocks of substance up to the next reasoning, ascending; empty at the end of an entry. */
  readonly ledTo: readonly number[];
}

/**
 * Lists the reasoning of an entry in order. Blank text neither separates reasoning nor counts as an
 * outcome.
 */
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
 * Returns the indices of reasoning to drop: everything it led to, and at least one block, is
 * dropped. Providers refuse reasoning that ends a message or stands without its item.
 */
export function orphanedReasoning(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  return findReasoning(blocks).flatMap(({ reasoning, ledTo }) =>
    ledTo.length > 0 && ledTo.every(isDropped) ? reasoning : [],
  );
}

/**
 * Returns the indices of opaque blocks whose call is dropped while no other call with that id
 * stays.
 */
export function blocksOfDroppedCalls(
  blocks: readonly ContentBlock[],
  isDropped: (at: number) => boolean,
): readonly number[] {
  const dropped = new Set<string>();
  const kept = new Set<string>();
  blocks.forEach((block, at) => {
    if (block.type === 'tool_call') (isDropped(at) ? dropped : kept).add(block.id);
  });
  return blocks.flatMap((block, at) => {
    const callId = isBoundToCall(block) ? block.callId : undefined;
    return callId !== undefined && dropped.has(callId) && !kept.has(callId) ? at : [];
  });
}

/** Whether the block must stay together with a call. */
export function isBoundToCall(
  block: ContentBlock,
): block is ContentBlock & { readonly type: 'opaque'; readonly callId: string } {
  return block.type === 'opaque' && block.callId !== undefined;
}
