// The difference between two versions of an entry, by tool call, and between two versions of a history.

import { isToolCallBlock, isToolResponseBlock } from '../../index.js';
import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../../index.js';
import { groupBy } from './aggregate.js';

/** Blocks that belong together, before and after an edit. */
export interface BlockDifference {
  /** The call or response that was changed or removed; `null` for all other blocks together. */
  readonly tool: ToolCallBlock | ToolResponseBlock | null;
  readonly before: readonly ContentBlock[];
  /** Empty if nothing replaces them. */
  readonly after: readonly ContentBlock[];
}

/**
 * Lists the differences between two versions of an entry: tool blocks in order, then all other blocks together. Compares blocks
 * by reference, because edits keep unchanged blocks as the same objects.
 */
export function blockDifferences(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly BlockDifference[] {
  const keptBlocks = new Set(after);
  const formerBlocks = new Set(before);
  const added = after.filter((block) => !formerBlocks.has(block));
  const successors = groupBy(added, toolAndIdentityOf);
  const taken = new Map<string, number>();
  const differences: BlockDifference[] = [];
  const rest: ContentBlock[] = [];
  for (const block of before) {
    if (keptBlocks.has(block)) continue;
    if (!isToolCallBlock(block) && !isToolResponseBlock(block)) {
      rest.push(block);
      continue;
    }
    // Blocks of the same tool with the same id are paired in order.
    const key = toolAndIdentityOf(block);
    const at = taken.get(key) ?? 0;
    taken.set(key, at + 1);
    const after = successors.get(key)?.slice(at, at + 1) ?? [];
    differences.push({ tool: block, before: [block], after });
  }
  const addedRest = added.filter((block) => identityOf(block) === undefined);
  return rest.length === 0 && addedRest.length === 0
    ? differences
    : [...differences, { tool: null, before: rest, after: addedRest }];
}

/** What a compression changed. Kept entries are the same objects. */
export interface HistoryDifference {
  readonly removed: readonly IContent[];
  readonly added: readonly IContent[];
  /** The added entry that replaces a removed one: it has the same call or response. */
  readonly successors: ReadonlyMap<IContent, IContent>;
}

/** Compares a history before and after a compression. */
export function historyDifference(
  before: readonly IContent[],
  after: readonly IContent[],
): HistoryDifference {
  const [former, kept] = [new Set(before), new Set(after)];
  const removed = before.filter((entry) => !kept.has(entry));
  const added = after.filter((entry) => !former.has(entry));
  const byIdentity = new Map(
    added.flatMap((entry) => identitiesOf(entry).map((identity) => [identity, entry])),
  );
  const successors = new Map<IContent, IContent>();
  for (const entry of removed) {
    const found = identitiesOf(entry).find((identity) => byIdentity.has(identity));
    const successor = byIdentity.get(found ?? '');
    if (successor !== undefined) successors.set(entry, successor);
  }
  return { removed, added, successors };
}

function identitiesOf({ blocks }: IContent): readonly string[] {
  return blocks.map(identityOf).filter((identity) => identity !== undefined);
}

/** Returns the identity with the tool name, because blocks of different tools in one entry may have the same id. */
function toolAndIdentityOf(block: ContentBlock): string {
  return `${callOf(block).toolName ?? ''} ${identityOf(block) ?? ''}`;
}

/** Returns a key that a tool block keeps through edits; `undefined` for other blocks. */
function identityOf(block: ContentBlock): string | undefined {
  const { callId } = callOf(block);
  return callId === null ? undefined : `${block.type} ${callId}`;
}

/** Returns the call id and tool name of a call or response; both are `null` for other blocks. */
export function callOf(block: ContentBlock | null): {
  readonly callId: string | null;
  readonly toolName: string | null;
} {
  if (block?.type === 'tool_call') return { callId: block.id, toolName: block.name };
  if (block?.type === 'tool_response') return { callId: block.callId, toolName: block.toolName };
  return { callId: null, toolName: null };
}
