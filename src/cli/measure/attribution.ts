// Attributes edits to rules. Pure functions that do not count tokens: each attribution contains the entries before and after,
// which the caller counts.

import { PRUNING_RULES } from '../../density.js';
import type { ContentBlock, EntryChange, IContent } from '../../index.js';
import type { BlockExplanation, EntryExplanation, RuleEdit, RuleName } from '../../density.js';
import { blockDifferences, callOf } from './entry-difference.js';
import type { BlockDifference, HistoryDifference } from './entry-difference.js';
import { groupBy } from './aggregate.js';

/** The effects of compressions. */
type CompressionRule = 'summarized-result' | 'folded-entry' | 'dropped-entry';

/** Why something was removed: a pruning rule, or the effect of a compression. */
export type ReclaimRule = RuleName | CompressionRule;

/** Singular and plural of the items that a rule removes, in the order of reports. */
const ITEMS = new Map<ReclaimRule, readonly [one: string, several: string]>([
  ...PRUNING_RULES.map(({ name, item }) => [name, [item, `${item}s`]] as const),
  ['summarized-result', ['summarized result', 'summarized results']],
  ['folded-entry', ['entry summarized by the model', 'entries summarized by the model']],
  ['dropped-entry', ['dropped entry', 'dropped entries']],
]);

/** All rules in the order of reports. */
export const RECLAIM_RULES: readonly ReclaimRule[] = [...ITEMS.keys()];

/** Returns the singular of what a rule removes. */
export function itemOf(rule: ReclaimRule): string {
  return ITEMS.get(rule)?.[0] ?? rule;
}

/** Returns the plural of what a rule removes; any other name as it is. */
export function itemsOf(rule: string): string {
  const items: ReadonlyMap<string, readonly [one: string, several: string]> = ITEMS;
  return items.get(rule)?.[1] ?? rule;
}

/**
 * The part of an edit that one rule made. It reclaimed the tokens of `before` minus those of `after`, with 0 for `null`. Over
 * all attributions of an edit, these differences sum up to the reduction of the history.
 */
export interface Attribution {
  readonly rule: ReclaimRule;
  /** Id of the call; a response has the id of its call. */
  readonly callId: string | null;
  readonly toolName: string | null;
  /** Files whose inclusions were removed. */
  readonly includedPaths: readonly string[];
  /** Number of items in reports: 0 for the response of a removed pair, whose call counts, and for entries that a compression inserted. */
  readonly items: number;
  /** Why it was pruned; `null` for compressions, without `explain`, and for shrunk results: they all have the same reason. */
  readonly why: BlockExplanation | null;
  readonly before: IContent | null;
  readonly after: IContent | null;
}

/** Returns why the block at an index was edited, or the first explanation of the entry if no index is given. */
type ExplainBlock = (block?: number) => BlockExplanation | null;

/**
 * Attributes the changes of a density pass.
 *
 * @param edits the edits of each rule
 * @param explain explains entries of the history before the pass. @default no explanations
 */
export function attributePass(
  changes: readonly EntryChange[],
  edits: readonly RuleEdit[],
  explain?: (index: number) => EntryExplanation,
): readonly Attribution[] {
  const byEntry = groupBy(edits, ({ entry }) => entry);
  return changes.flatMap((change) => {
    const why: ExplainBlock = (at) =>
      explain?.(change.index).blocks.find(
        ({ block, verdict }) => verdict !== 'kept' && (at === undefined || block === at),
      ) ?? null;
    return attributeChange(change, byEntry.get(change.index) ?? [], why);
  });
}

function attributeChange(
  { before, after }: EntryChange,
  edits: readonly RuleEdit[],
  why: ExplainBlock,
): readonly Attribution[] {
  const differences = blockDifferences(before.blocks, after?.blocks ?? []);
  if (before.speaker === 'human')
    return [attributeInclusions(before, after, differences, edits, why)];
  const [first, ...others] = differences;
  if (first === undefined) return [];
  // Reasoning and blank text that leave with the calls of their entry count for the first call.
  const parts = [first, ...others.filter(({ tool }) => tool === null)];
  const widened = {
    tool: first.tool,
    before: parts.flatMap((part) => part.before),
    after: parts.flatMap((part) => part.after),
  };
  return [
    attributeTool(widened, before, after === null, edits, why),
    ...others
      .filter(({ tool }) => tool !== null)
      .map((difference) => attributeTool(difference, before, false, edits, why)),
  ];
}

function attributeTool(
  { tool, before, after }: BlockDifference,
  entry: IContent,
  removesEntry: boolean,
  edits: readonly RuleEdit[],
  why: ExplainBlock,
): Attribution {
  const at = tool === null ? -1 : entry.blocks.indexOf(tool);
  const edit = edits.find(({ block, action }) => block === at && action !== 'superseded');
  const isPair = edit?.action === 'drop' || edit?.action === 'companion';
  return {
    rule: edit?.rule ?? 'dropped-entry',
    ...callOf(tool),
    includedPaths: [],
    items: isPair && tool?.type === 'tool_response' ? 0 : 1,
    why: edit === undefined || edit.action === 'shrink' ? null : why(at),
    before: withBlocks(entry, before),
    after: removesEntry ? null : withBlocks(entry, after),
  };
}

function attributeInclusions(
  before: IContent,
  after: IContent | null,
  differences: readonly BlockDifference[],
  edits: readonly RuleEdit[],
  why: ExplainBlock,
): Attribution {
  const includedPaths = edits.flatMap(({ path }) => (path === null ? [] : [path]));
  return {
    rule: edits[0]?.rule ?? 'dropped-entry',
    callId: null,
    toolName: null,
    includedPaths,
    items: Math.max(1, includedPaths.length),
    why: why(),
    before: { ...before, blocks: differences.flatMap((difference) => difference.before) },
    after: after && { ...after, blocks: differences.flatMap((difference) => difference.after) },
  };
}

/** Facts about a compression that its entries do not show. */
interface CompressionOrigin {
  /** Whether a model's summary replaces what was removed. */
  readonly isByModel: boolean;
  /** Whether an earlier compression inserted an entry. Removing one is not counted as an item. */
  readonly isInserted: (entry: IContent) => boolean;
}

/**
 * Attributes a compression. Inserted entries, such as a summary, get attributions with `before: null`, so that their tokens reduce
 * the sum.
 */
export function attributeCompression(
  { removed, added, successors }: HistoryDifference,
  { isByModel, isInserted }: CompressionOrigin,
): readonly Attribution[] {
  const rule = isByModel ? 'folded-entry' : 'dropped-entry';
  const replacements = new Set(successors.values());
  const inserted = added.filter((entry) => !replacements.has(entry));
  return [
    ...removed.flatMap((entry) => {
      const successor = successors.get(entry);
      if (successor !== undefined) return attributeReplacement(entry, successor);
      return compressed(rule, toolOf(entry), isInserted(entry) ? 0 : 1, entry, null);
    }),
    ...inserted.map((entry) => compressed(rule, toolOf(entry), 0, null, entry)),
  ];
}

function attributeReplacement(entry: IContent, successor: IContent): readonly Attribution[] {
  return blockDifferences(entry.blocks, successor.blocks).map(({ tool, before, after }) => {
    const rule = after.length > 0 ? 'summarized-result' : 'dropped-entry';
    return compressed(rule, tool, 1, withBlocks(entry, before), withBlocks(entry, after));
  });
}

/** Returns the first call or response of an entry. */
function toolOf(entry: IContent): ContentBlock | null {
  return entry.blocks.find((block) => callOf(block).callId !== null) ?? null;
}

function compressed(
  rule: CompressionRule,
  tool: ContentBlock | null,
  items: number,
  before: IContent | null,
  after: IContent | null,
): Attribution {
  return { rule, ...callOf(tool), includedPaths: [], items, why: null, before, after };
}

/** Returns an entry with only some blocks. Its count includes the per-entry overhead, which cancels out between before and after. */
function withBlocks({ speaker }: IContent, blocks: readonly ContentBlock[]): IContent {
  return { speaker, blocks };
}
