// Turns the flat plan of a density pass into entries to put in place and entries to remove. Looks at
// the entries that the plan names, and shares every block and every field that it does not change.

import { hasSubstance, isBlank, withResult } from '../../content.js';
import type { ContentBlock, IContent, TextBlock, ToolResponseBlock } from '../../content.js';
import { PRUNED_POINTER } from '../../density.js';
import type { DensityResult, PlaceholderForm } from '../../density.js';
import { answeredCall } from '../../summarize/answered-call.js';
import { summarizeToolResponse } from '../../summarize/tool-summary.js';
import { excerptOf } from '../index/excerpt.js';
import { INCLUSION_POINTER } from '../index/file-inclusions.js';
import { orphanedReasoning } from './orphaned-reasoning.js';
import type { DensityPlan } from './plan.js';
import { blocksOfDroppedCalls } from './shared-fate.js';

/**
 * Returns the edits of a plan for the history that it was computed from (or one that only grew since).
 * What is bound to a call of an ai entry goes with that, and so does reasoning that led to nothing that
 * stays. An entry that would keep nothing but blank text or reasoning is removed; a human one says in place of
 * its text that the file comes later.
 *
 * @param form what stands in place of results
 */
export function materializeDensityPlan(
  plan: DensityPlan,
  history: readonly IContent[],
  form: PlaceholderForm = 'pointer',
): DensityResult {
  const removals: number[] = [];
  const replacements = new Map<number, IContent>();
  const edits = new PlanReader(plan);
  const placeholder = placeholders(plan, history, form);
  for (let index = edits.nextEntry(); index !== undefined; index = edits.nextEntry()) {
    const entry = history[index];
    if (entry === undefined) {
      throw new RangeError(
        `The plan edits entry ${index}, but the history ends at ${history.length}.`,
      );
    }
    const blocks = editedBlocks(entry, index, edits, placeholder);
    if (saysSomething(blocks)) replacements.set(index, { ...entry, blocks });
    else if (entry.speaker !== 'human') removals.push(index);
    else replacements.set(index, { ...entry, blocks: [pointerText(entry.blocks)] });
  }
  return { removals, replacements, metadata: plan.metadata };
}

/** Makes what stands in place of the response at a place. */
type MakePlaceholder = (response: ToolResponseBlock, entry: number, block: number) => string;

function placeholders(
  { pointers }: DensityPlan,
  history: readonly IContent[],
  form: PlaceholderForm,
): MakePlaceholder {
  if (form === 'pointer' || pointers.length === 0) return () => PRUNED_POINTER;
  return (response, entry, block) =>
    summarizeToolResponse(response, answeredCall(history, entry, block), form);
}

/** Asks the blocks first that say something whatever they hold: their content need not be fetched. */
function saysSomething(blocks: readonly ContentBlock[]): boolean {
  return (
    blocks.some(({ type }) => type !== 'text' && type !== 'code' && type !== 'thinking') ||
    blocks.some(hasSubstance)
  );
}

function editedBlocks(
  { speaker, blocks }: IContent,
  index: number,
  edits: PlanReader,
  placeholder: MakePlaceholder,
): readonly ContentBlock[] {
  const edited = blocks.map((block, at) => editedBlock(block, index, at, edits, placeholder));
  edits.assertTaken(index);
  if (speaker === 'ai') {
    const isDropped = (place: number): boolean => edited[place] === null;
    for (const at of blocksOfDroppedCalls(blocks, isDropped)) edited[at] = null;
    for (const at of orphanedReasoning(blocks, isDropped)) edited[at] = null;
  }
  return edited.filter((block) => block !== null);
}

/** Returns what is left of a block; `null` when that is nothing. */
function editedBlock(
  block: ContentBlock,
  index: number,
  at: number,
  edits: PlanReader,
  placeholder: MakePlaceholder,
): ContentBlock | null {
  if (edits.takesDrop(index, at)) return null;
  if (edits.takesExcerpt(index, at)) return withExcerpt(block);
  const ranges = edits.takeCuts(index, at);
  if (edits.takesPointer(index, at) && block.type === 'tool_response') {
    return withResult(block, placeholder(block, index, at));
  }
  if (ranges.length === 0 || block.type !== 'text') return block;
  const text = withoutRanges(block.text, ranges);
  return isBlank(text) ? null : { ...block, text };
}

/** Only results that are texts are planned to be cut short. */
function withExcerpt(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_response' || typeof block.result !== 'string') return block;
  return withResult(block, excerptOf(block.result));
}

type Range = readonly [start: number, end: number];
const NO_RANGES: readonly Range[] = [];

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

/** Reads the ascending lists of a plan side by side, entry by entry and block by block. */
class PlanReader {
  readonly #plan: DensityPlan;
  #drop = 0;
  #pointer = 0;
  #excerpt = 0;
  #cut = 0;

  constructor(plan: DensityPlan) {
    this.#plan = plan;
  }

  /** The lowest entry that still has edits, or `undefined` when all were read. */
  nextEntry(): number | undefined {
    const { drops, pointers, excerpts, cuts } = this.#plan;
    const next = Math.min(
      drops[this.#drop] ?? Infinity,
      pointers[this.#pointer] ?? Infinity,
      excerpts[this.#excerpt] ?? Infinity,
      cuts[this.#cut] ?? Infinity,
    );
    return next === Infinity ? undefined : next;
  }

  takesDrop(entry: number, block: number): boolean {
    const { drops } = this.#plan;
    if (drops[this.#drop] !== entry || drops[this.#drop + 1] !== block) return false;
    this.#drop += 2;
    return true;
  }

  takesPointer(entry: number, block: number): boolean {
    const { pointers } = this.#plan;
    if (pointers[this.#pointer] !== entry || pointers[this.#pointer + 1] !== block) return false;
    this.#pointer += 2;
    return true;
  }

  takesExcerpt(entry: number, block: number): boolean {
    const { excerpts } = this.#plan;
    if (excerpts[this.#excerpt] !== entry || excerpts[this.#excerpt + 1] !== block) return false;
    this.#excerpt += 2;
    return true;
  }

  takeCuts(entry: number, block: number): readonly Range[] {
    const { cuts } = this.#plan;
    if (cuts[this.#cut] !== entry || cuts[this.#cut + 1] !== block) return NO_RANGES;
    const ranges: Range[] = [];
    while (cuts[this.#cut] === entry && cuts[this.#cut + 1] === block) {
      ranges.push([cuts[this.#cut + 2] ?? 0, cuts[this.#cut + 3] ?? 0]);
      this.#cut += 4;
    }
    return ranges;
  }

  /** Guards against a plan that names blocks which its entry does not have; the walk would not end. */
  assertTaken(entry: number): void {
    if (this.nextEntry() !== entry) return;
    throw new RangeError(`The plan edits blocks that entry ${entry} does not have.`);
  }
}
