// Which rule took what from a history: pure functions from edits to attributions. Tokens are not
// counted here; each attribution names the entries whose counts tell its own.

import { PRUNING_RULES } from '../../../density.js';
import type { ContentBlock, EntryChange, IContent } from '../../../index.js';
import type { BlockExplanation } from '../../../density.js';
import type { EntryExplanation, RuleEdit, RuleName } from '../../../density.js';
import { blockDifferences, identityOf } from './entry-difference.js';
import type { BlockDifference } from './entry-difference.js';
import { groupBy } from './group-by.js';

/** What compressions do, and what reports call one and several of what they remove, in the order in which they list it. */
const COMPRESSION_ITEMS = {
  'summarized-result': ['summarized result', 'summarized results'],
  'folded-entry': ['entry summarized by the model', 'entries summarized by the model'],
  'dropped-entry': ['dropped entry', 'dropped entries'],
} as const;

type CompressionRule = keyof typeof COMPRESSION_ITEMS;

/** Why something was removed: a rule of pruning, or what a compression does. */
export type ReclaimRule = RuleName | CompressionRule;

/** What reports call one and several of what a rule removes. */
const ITEMS: ReadonlyMap<ReclaimRule, readonly [one: string, several: string]> = new Map<
  ReclaimRule,
  readonly [one: string, several: string]
>([
  ...PRUNING_RULES.map(({ name, item }) => [name, [item, `${item}s`]] as const),
  ...Object.entries(COMPRESSION_ITEMS).map(
    ([rule, items]) => [rule as CompressionRule, items] as const,
  ),
]);

/** All of them, in the order in which reports list them. */
export const RECLAIM_RULES: readonly ReclaimRule[] = [...ITEMS.keys()];

/** Returns what reports call one thing that a rule removes. */
export function itemOf(rule: ReclaimRule): string {
  return ITEMS.get(rule)?.[0] ?? rule;
}

/** Returns what reports call several of them. */
export function itemsOf(rule: ReclaimRule): string {
  return ITEMS.get(rule)?.[1] ?? rule;
}

/**
 * A part of an edit that one rule made. It reclaimed the tokens of `before` less those of `after`,
 * where `null` has none; over all attributions of an edit these differences sum up to what the whole
 * history became smaller by.
 */
export interface Attribution {
  readonly rule: ReclaimRule;
  /** The call concerned; the attributions of a call and of its response share it. */
  readonly callId: string | null;
  readonly toolName: string | null;
  /** Files whose inclusions were cut out. */
  readonly includedPaths: readonly string[];
  /** What a report counts: 0 for the second half of a pair. */
  readonly items: number;
  /** Why it was pruned; `null` for compressions, and where nobody was to say. */
  readonly why: BlockExplanation | null;
  readonly before: IContent | null;
  readonly after: IContent | null;
}

/** Says why something of a block was taken, or `null`. */
type SayWhy = (block?: number) => BlockExplanation | null;

/**
 * Attributes what a density pass did.
 *
 * @param edits which rule took what
 * @param explain says why, of the history as it was; without it nothing does
 */
export function attributePass(
  changes: readonly EntryChange[],
  edits: readonly RuleEdit[],
  explain?: (index: number) => EntryExplanation,
): readonly Attribution[] {
  const byEntry = groupBy(edits, ({ entry }) => entry);
  return changes.flatMap((change) => {
    const explained = explain?.(change.index).blocks.filter(({ verdict }) => verdict !== 'kept');
    const why: SayWhy = (at) =>
      explained?.find(({ block }) => at === undefined || block === at) ?? null;
    return attributeChange(change, byEntry.get(change.index) ?? [], why);
  });
}

function attributeChange(
  { before, after }: EntryChange,
  edits: readonly RuleEdit[],
  why: SayWhy,
): readonly Attribution[] {
  const differences = blockDifferences(before.blocks, after?.blocks ?? []);
  const rest = differences.find(({ tool }) => tool === null);
  const ofTools = differences.filter(({ tool }) => tool !== null);
  if (before.speaker === 'human')
    return [attributeInclusions(before, after, differences, edits, why)];
  // Reasoning and blank text leave only with the calls that they came with.
  const [first, ...others] = ofTools;
  if (first === undefined) return [];
  const widened =
    rest === undefined
      ? first
      : {
          ...first,
          before: [...first.before, ...rest.before],
          after: [...first.after, ...rest.after],
        };
  return [
    attributeTool(widened, before, after === null, edits, why),
    ...others.map((difference) => attributeTool(difference, before, false, edits, why)),
  ];
}

function attributeTool(
  { tool, before, after }: BlockDifference,
  entry: IContent,
  takesEntry: boolean,
  edits: readonly RuleEdit[],
  why: SayWhy,
): Attribution {
  const at = tool === null ? -1 : entry.blocks.indexOf(tool);
  const edit = edits.find(({ block, action }) => block === at && action !== 'ceded');
  const isPair = edit?.action === 'drop' || edit?.action === 'companion';
  return {
    rule: edit?.rule ?? 'dropped-entry',
    ...nameOf(tool),
    includedPaths: [],
    items: isPair && tool?.type === 'tool_response' ? 0 : 1,
    why: why(at),
    before: withBlocks(entry, before),
    after: takesEntry ? null : withBlocks(entry, after),
  };
}

function attributeInclusions(
  before: IContent,
  after: IContent | null,
  differences: readonly BlockDifference[],
  edits: readonly RuleEdit[],
  why: SayWhy,
): Attribution {
  const includedPaths = edits.flatMap(({ path }) => (path === null ? [] : [path]));
  return {
    rule: edits[0]?.rule ?? 'dropped-entry',
    callId: null,
    toolName: null,
    includedPaths,
    items: Math.max(1, includedPaths.length),
    why: why(),
    before: withBlocks(
      before,
      differences.flatMap((difference) => difference.before),
    ),
    after:
      after === null
        ? null
        : withBlocks(
            after,
            differences.flatMap((difference) => difference.after),
          ),
  };
}

/** What is known of a compression besides the histories. */
export interface CompressionOrigin {
  /** Whether a model's summary stands in for what left. */
  readonly isByModel: boolean;
  /** Entries that earlier compressions put in: they are no items when they leave. */
  readonly putIn: ReadonlySet<IContent>;
}

/**
 * Attributes a compression, given the whole history before and after it. Entries that a strategy
 * puts in, such as a summary, count against what left.
 */
export function attributeCompression(
  before: readonly IContent[],
  after: readonly IContent[],
  { isByModel, putIn }: CompressionOrigin,
): readonly Attribution[] {
  const rule = isByModel ? 'folded-entry' : 'dropped-entry';
  const kept = new Set(after);
  const former = new Set(before);
  const added = new Set(after.filter((entry) => !former.has(entry)));
  const byIdentity = new Map<string, IContent>();
  for (const entry of added) {
    for (const identity of entry.blocks.map(identityOf)) {
      if (identity !== undefined) byIdentity.set(identity, entry);
    }
  }
  const attributions: Attribution[] = [];
  for (const entry of before) {
    if (kept.has(entry)) continue;
    const successor = entry.blocks
      .map((block) => byIdentity.get(identityOf(block) ?? ''))
      .find((found) => found !== undefined);
    if (successor === undefined) {
      const items = putIn.has(entry) ? 0 : 1;
      attributions.push({
        rule,
        ...aboutEntry(entry),
        items,
        why: null,
        before: entry,
        after: null,
      });
      continue;
    }
    added.delete(successor);
    for (const difference of blockDifferences(entry.blocks, successor.blocks)) {
      attributions.push(attributeShrunk(difference, entry));
    }
  }
  for (const entry of added) {
    attributions.push({
      rule,
      ...aboutEntry(entry),
      items: 0,
      why: null,
      before: null,
      after: entry,
    });
  }
  return attributions;
}

function attributeShrunk({ tool, before, after }: BlockDifference, entry: IContent): Attribution {
  return {
    rule: after.length > 0 ? 'summarized-result' : 'dropped-entry',
    ...nameOf(tool),
    includedPaths: [],
    items: 1,
    why: null,
    before: withBlocks(entry, before),
    after: withBlocks(entry, after),
  };
}

function aboutEntry(entry: IContent): Pick<Attribution, 'callId' | 'toolName' | 'includedPaths'> {
  const tool = entry.blocks.find((block) => identityOf(block) !== undefined) ?? null;
  return { ...nameOf(tool), includedPaths: [] };
}

function nameOf(block: ContentBlock | null): Pick<Attribution, 'callId' | 'toolName'> {
  if (block?.type === 'tool_call') return { callId: block.id, toolName: block.name };
  if (block?.type === 'tool_response') return { callId: block.callId, toolName: block.toolName };
  return { callId: null, toolName: null };
}

/** The entry reduced to some blocks. Counted, it has the overhead of an entry, which cancels out. */
function withBlocks({ speaker }: IContent, blocks: readonly ContentBlock[]): IContent {
  return { speaker, blocks };
}
