// Reduces entries to the part that is posted to a worker, and splits them into batches that can be posted without a noticeable pause.
// Only what the work needs is posted: opaque fields, media and metadata can be large, and may not be cloneable.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { entryCharacters } from '../../shared/tokens/estimate.js';

/** The fields of each type of block that a worker is sent. Others, which can be large or agents may add, are not sent. */
const POSTED: {
  readonly [Type in ContentBlock['type']]: readonly (keyof Extract<ContentBlock, { type: Type }>)[];
} = {
  text: ['text'],
  code: ['code', 'language'],
  media: ['mimeType', 'data', 'encoding', 'caption', 'filename'],
  thinking: ['thought', 'encryptedContent'],
  tool_call: ['id', 'name', 'parameters', 'parallelGroup', 'hasFixedParameters'],
  tool_response: ['callId', 'toolName', 'result', 'error', 'isComplete', 'mediaTokens'],
  opaque: ['kind', 'tokens', 'callId'],
};

/** Of media and encrypted reasoning only the presence is sent, because it decides whether a block carries content. */
const PRESENCE_ONLY: ReadonlySet<string> = new Set(['data', 'encryptedContent']);

/** Returns a reduced entry with the same tokens and the same staleness. */
export function postedPart({ speaker, blocks, metadata }: IContent): IContent {
  const posted = { speaker, blocks: blocks.map(postedBlock) };
  const isSummary = metadata?.isSummary === true;
  const synthetic = metadata?.synthetic === true;
  if (!isSummary && !synthetic) return posted;
  return {
    ...posted,
    metadata: { ...(isSummary && { isSummary }), ...(synthetic && { synthetic }) },
  };
}

/** Reduces a block, but never drops one: plans refer to blocks by index. */
function postedBlock(block: ContentBlock): ContentBlock {
  const given = block as unknown as Readonly<Record<string, unknown>>;
  const posted: Record<string, unknown> = { type: block.type };
  for (const field of POSTED[block.type]) {
    const value = given[field];
    if (value !== undefined) posted[field] = PRESENCE_ONLY.has(field) ? '' : value;
  }
  return posted as unknown as ContentBlock;
}

/** Maximum entries per batch: posting 256 of 1.9 kB takes 0.7 ms. */
export const MAX_BATCH_ENTRIES = 256;

/** Maximum UTF-16 units per batch, unless a single entry has more. */
export const MAX_BATCH_CHARACTERS = 1_000_000;

/** Entries that are posted together. */
export class Batch {
  readonly entries: IContent[] = [];
  #characters = 0;

  /** Approximate UTF-16 units of text. */
  get characters(): number {
    return this.#characters;
  }

  /** Adds an entry, unless the batch has others and would become too large. Returns whether it was added. */
  add(entry: IContent): boolean {
    const characters = this.#characters + entryCharacters(entry);
    const isFull = this.entries.length === MAX_BATCH_ENTRIES || characters > MAX_BATCH_CHARACTERS;
    if (isFull && this.entries.length > 0) return false;
    this.entries.push(entry);
    this.#characters = characters;
    return true;
  }
}

/** Splits entries into batches of what is posted of them, in order and lazily. */
export function* countBatches(
  contents: readonly IContent[],
): Generator<readonly IContent[], void, undefined> {
  for (let from = 0; from < contents.length;) {
    const batch = new Batch();
    while (from < contents.length && batch.add(contents[from] as IContent)) from += 1;
    yield batch.entries.map(postedPart);
  }
}
