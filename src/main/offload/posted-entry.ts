// The part of an entry that is posted to a worker, and batches that can be posted without a noticeable pause. As little is posted
// as the work needs: opaque fields, media and metadata can be large and need not be cloneable.

import { carriesContent } from '../../shared/content.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../../shared/content.js';
import { excerptStandIn } from '../../shared/density/index/excerpt.js';
import { placeholderKind } from '../../shared/placeholder.js';
import { estimateResultTokens, entryCharacters } from '../../shared/tokens/estimate.js';

/** A reduced entry with the same tokens and the same staleness. */
export function countablePart(entry: IContent): IContent {
  return trimmed(entry, countableBlock);
}

/**
 * A reduced entry with the same staleness, for entries whose tokens need no counting there. It carries content if the entry
 * does: entries without content are left out of a curated history.
 */
export function indexablePart(entry: IContent): IContent {
  // A human's text may include files, which the worker detects.
  return entry.speaker === 'human' ? countablePart(entry) : trimmed(entry, indexableBlock);
}

function trimmed(
  { speaker, blocks, metadata }: IContent,
  part: (block: ContentBlock) => ContentBlock,
): IContent {
  const trimmedBlocks = blocks.map(part);
  if (metadata?.isSummary !== true && metadata?.synthetic !== true) {
    return { speaker, blocks: trimmedBlocks };
  }
  return {
    speaker,
    blocks: trimmedBlocks,
    metadata: {
      ...(metadata.isSummary === true && { isSummary: true }),
      ...(metadata.synthetic === true && { synthetic: true }),
    },
  };
}

/** The fields that are posted of each type of block: agents may add others. */
const POSTED: {
  readonly [Type in ContentBlock['type']]: readonly (keyof Extract<ContentBlock, { type: Type }>)[];
} = {
  text: ['text'],
  code: ['code', 'language'],
  media: ['mimeType', 'encoding', 'caption', 'filename'],
  thinking: ['thought'],
  tool_call: ['id', 'name', 'parameters', 'parallelGroup'],
  tool_response: ['callId', 'toolName', 'result', 'error', 'isComplete', 'mediaTokens'],
  opaque: ['kind', 'tokens', 'callId'],
};

function countableBlock(block: ContentBlock): ContentBlock {
  const given = block as unknown as Readonly<Record<string, unknown>>;
  const posted: Record<string, unknown> = { type: block.type };
  for (const key of POSTED[block.type]) if (given[key] !== undefined) posted[key] = given[key];
  if (block.type === 'media') posted['data'] = '';
  // Its presence decides whether the block carries content.
  if (block.type === 'thinking' && block.encryptedContent !== undefined) {
    posted['encryptedContent'] = '';
  }
  return posted as unknown as ContentBlock;
}

/** Blocks keep their indices, which plans refer to. */
function indexableBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'tool_call':
    case 'opaque':
      return countableBlock(block);
    case 'tool_response':
      return indexableResponse(block);
    default:
      return carriesContent(block) ? PLACEHOLDER : EMPTY_PLACEHOLDER;
  }
}

/** A placeholder tells a pass that nothing is left to prune; otherwise it needs to know the size of the result. */
function indexableResponse(block: ToolResponseBlock): ToolResponseBlock {
  const error = block.error && '-';
  if (placeholderKind(block) !== 'none') return responseWith(block, block.result, error);
  const result = excerptStandIn(block.result);
  const mediaTokens = estimateResultTokens(block) - estimateResultTokens({ result });
  return { ...responseWith(block, result, error), mediaTokens };
}

function responseWith(
  { callId, toolName, isComplete }: ToolResponseBlock,
  result: unknown,
  error: string | undefined,
): ToolResponseBlock {
  return {
    type: 'tool_response',
    callId,
    toolName,
    result,
    ...(error !== undefined && { error }),
    ...(isComplete !== undefined && { isComplete }),
  };
}

const PLACEHOLDER: ContentBlock = { type: 'text', text: '-' };
const EMPTY_PLACEHOLDER: ContentBlock = { type: 'text', text: '' };

/** Maximum entries per batch: posting 256 of 1.9 kB takes 0.7 ms. */
export const MAX_BATCH_ENTRIES = 256;

/** Maximum UTF-16 units per batch, unless a single entry has more. */
export const MAX_BATCH_CHARACTERS = 1_000_000;

/** Splits entries into batches, in order and lazily. */
export function* countBatches(
  contents: readonly IContent[],
): Generator<readonly IContent[], void, undefined> {
  let batch: IContent[] = [];
  let characters = 0;
  for (const entry of contents) {
    const length = entryCharacters(entry);
    const isFull = batch.length === MAX_BATCH_ENTRIES || characters + length > MAX_BATCH_CHARACTERS;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(countablePart(entry));
    characters += length;
  }
  if (batch.length > 0) yield batch;
}
