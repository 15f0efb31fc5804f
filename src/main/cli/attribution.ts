// Which rule took what from a history: pure functions from edits to attributions. Tokens are not
// counted here; each attribution names the entries whose counts tell its own.

import { explainDensity, isTextBlock } from '../../index.js';
import type {
  BlockExplanation,
  ContentBlock,
  DensityConfig,
  DensityRule,
  EntryChange,
  EntryExplanation,
  IContent,
} from '../../index.js';
import { blockDifferences, identityOf } from './entry-difference.js';
import type { BlockDifference } from './entry-difference.js';

/** Why something was removed, in the order in which reports list it. */
export const RECLAIM_RULES = [
  'superseded-read',
  'repeated-inclusion',
  'old-result',
  'working-set',
  'summarized-result',
  'folded-entry',
  'dropped-entry',
] as const;

export type ReclaimRule = (typeof RECLAIM_RULES)[number];

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
  /** Why it was pruned, without content of the session; `null` for compressions. */
  readonly why: string | null;
  readonly before: IContent | null;
  readonly after: IContent | null;
}

/** What each phase of a density pass removes. */
const RULES: Readonly<Record<DensityRule, ReclaimRule | undefined>> = {
  'read-write': 'superseded-read',
  'file-dedupe': 'repeated-inclusion',
  recency: 'old-result',
  'working-set': 'working-set',
  none: undefined,
};

/**
 * Attributes what a density pass did to one entry.
 *
 * @param explanation that of the entry, in the history as it was
 */
export function attributeChange(
  { before, after }: EntryChange,
  { blocks: explained }: EntryExplanation,
): readonly Attribution[] {
  const differences = blockDifferences(before.blocks, after?.blocks ?? []);
  const rest = differences.find(({ tool }) => tool === null);
  const ofTools = differences.filter(({ tool }) => tool !== null);
  if (before.speaker === 'human')
    return [attributeInclusions(before, after, differences, explained)];
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
    attributeTool(widened, before, after === null, explained),
    ...others.map((difference) => attributeTool(difference, before, false, explained)),
  ];
}

/**
 * Attributes what a density pass did.
 *
 * @param history the whole history before it
 * @param config what the pass was made by
 */
export function attributePass(
  changes: readonly EntryChange[],
  history: readonly IContent[],
  config: DensityConfig,
): readonly Attribution[] {
  const { explain } = explainDensity(history, config);
  return changes.flatMap((change) => attributeChange(change, explain(change.index)));
}

function attributeTool(
  { tool, before, after }: BlockDifference,
  entry: IContent,
  takesEntry: boolean,
  explained: readonly BlockExplanation[],
): Attribution {
  const at = tool === null ? -1 : entry.blocks.indexOf(tool);
  const explanation = explained.find(({ block }) => block === at);
  const isPair = explanation?.verdict === 'dropped';
  return {
    rule: RULES[explanation?.rule ?? 'none'] ?? 'superseded-read',
    ...nameOf(tool),
    includedPaths: [],
    items: isPair && tool?.type === 'tool_response' ? 0 : 1,
    why: explanation?.text ?? null,
    before: withBlocks(entry, before),
    after: takesEntry ? null : withBlocks(entry, after),
  };
}

function attributeInclusions(
  before: IContent,
  after: IContent | null,
  differences: readonly BlockDifference[],
  explained: readonly BlockExplanation[],
): Attribution {
  const former = differences.flatMap((difference) => difference.before);
  const present = differences.flatMap((difference) => difference.after);
  const left = includedPathsOf(present);
  const includedPaths = includedPathsOf(former).filter((path) => {
    const at = left.indexOf(path);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return {
    rule: 'repeated-inclusion',
    callId: null,
    toolName: null,
    includedPaths,
    items: Math.max(1, includedPaths.length),
    why: explained.find(({ verdict }) => verdict !== 'kept')?.text ?? null,
    before: withBlocks(before, former),
    after: after === null ? null : withBlocks(after, present),
  };
}

/** `--- <path> ---` as a line, or `Content from @<path>:` as a block. */
const INCLUSION_HEADING =
  /^(?:--- (?!End of content ---|Content from referenced files ---)(.+) ---|\s*Content from @(.+):)\s*$/gm;

/** Lists the files that blocks of a human entry include, in their order; one as often as it is there. */
export function includedPathsOf(blocks: readonly ContentBlock[]): string[] {
  return blocks
    .filter(isTextBlock)
    .flatMap(({ text }) => Array.from(text.matchAll(INCLUSION_HEADING)))
    .map((match) => (match[1] ?? match[2] ?? '').trim());
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
