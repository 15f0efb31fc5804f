// What an edit took from one entry, told apart by tool call; sums and rules are the callers'.

import { isToolCallBlock, isToolResponseBlock } from '../../../index.js';
import type { ContentBlock, ToolCallBlock, ToolResponseBlock } from '../../../index.js';
import { groupBy } from './group-by.js';

/** Blocks that belong together, as they stood before and as they stand after. */
export interface BlockDifference {
  /** The call or response that changed or left; `null` for all blocks that are neither, together. */
  readonly tool: ToolCallBlock | ToolResponseBlock | null;
  readonly before: readonly ContentBlock[];
  /** Empty when nothing took their place. */
  readonly after: readonly ContentBlock[];
}

/**
 * Lists what differs between two versions of one entry: tool blocks in their order, then the rest.
 * Blocks that both versions share are the same objects, as every edit leaves them.
 */
export function blockDifferences(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly BlockDifference[] {
  const keptBlocks = new Set(after);
  const formerBlocks = new Set(before);
  const added = after.filter((block) => !formerBlocks.has(block));
  const successors = groupBy(added, nameAndIdentityOf);
  const taken = new Map<string | undefined, number>();
  const differences: BlockDifference[] = [];
  const rest: ContentBlock[] = [];
  for (const block of before) {
    if (keptBlocks.has(block)) continue;
    if (!isToolCallBlock(block) && !isToolResponseBlock(block)) {
      rest.push(block);
      continue;
    }
    // One block takes the place of one: where an id is repeated, the first.
    const key = nameAndIdentityOf(block);
    const at = taken.get(key) ?? 0;
    const successor = successors.get(key)?.[at];
    taken.set(key, at + 1);
    differences.push({
      tool: block,
      before: [block],
      after: successor === undefined ? [] : [successor],
    });
  }
  const addedRest = added.filter((block) => identityOf(block) === undefined);
  return rest.length === 0 && addedRest.length === 0
    ? differences
    : [...differences, { tool: null, before: rest, after: addedRest }];
}

/** An id that is repeated within an entry may be that of another tool. */
function nameAndIdentityOf(block: ContentBlock): string | undefined {
  const identity = identityOf(block);
  if (isToolCallBlock(block)) return `${block.name} ${identity ?? ''}`;
  return isToolResponseBlock(block) ? `${block.toolName} ${identity ?? ''}` : identity;
}

/** What makes a tool block the same one in both versions; `undefined` for all other blocks. */
export function identityOf(block: ContentBlock): string | undefined {
  if (isToolCallBlock(block)) return `call ${block.id}`;
  if (isToolResponseBlock(block)) return `response ${block.callId}`;
  return undefined;
}
