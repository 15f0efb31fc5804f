// The difference between two versions of an entry, by tool call.

import { isToolCallBlock, isToolResponseBlock } from '../../index.js';
import type { ContentBlock, ToolCallBlock, ToolResponseBlock } from '../../index.js';
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
  const taken = new Map<string | undefined, number>();
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

/** Returns the identity with the tool name, because blocks of different tools in one entry may have the same id. */
function toolAndIdentityOf(block: ContentBlock): string | undefined {
  const identity = identityOf(block);
  if (isToolCallBlock(block)) return `${block.name} ${identity ?? ''}`;
  return isToolResponseBlock(block) ? `${block.toolName} ${identity ?? ''}` : identity;
}

/** Returns a key that a tool block keeps through edits; `undefined` for other blocks. */
export function identityOf(block: ContentBlock): string | undefined {
  if (isToolCallBlock(block)) return `call ${block.id}`;
  if (isToolResponseBlock(block)) return `response ${block.callId}`;
  return undefined;
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
