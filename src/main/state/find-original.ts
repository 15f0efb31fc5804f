// Finds the original of a result that an edit removed: among the added entries, or in the store.

import { isToolCallBlock } from '../../shared/content.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../../shared/content.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { tryParseJson } from '../../shared/json.js';
import type { RestoredResponse } from '../removal-log/restore.js';
import type { StateKeeper } from './state-keeper.js';

/** Returns the result of a call; `undefined` if it is unknown. */
export async function findOriginal(
  callId: string,
  sessionId: string,
  added: readonly IContent[],
  keeper: StateKeeper | undefined,
): Promise<RestoredResponse | undefined> {
  const isIt = (block: ContentBlock): block is ToolResponseBlock =>
    block.type === 'tool_response' && block.callId === callId;
  const at = added.findLastIndex(({ blocks }) => blocks.some(isIt));
  const response = added[at]?.blocks.find(isIt) ?? responseOf(await keeper?.get(callId), callId);
  if (response === undefined) return undefined;
  const call = added
    .slice(0, Math.max(0, at))
    .flatMap(({ blocks }) => blocks.filter(isToolCallBlock))
    .findLast(({ id }) => id === callId);
  const recordedAt = added[at]?.metadata?.timestamp ?? 0;
  return { response, sessionId, recordedAt, ...(call !== undefined && { call }) };
}

/** Parses and validates a stored response, because a store may return anything. */
function responseOf(json: string | undefined, callId: string): ToolResponseBlock | undefined {
  const entry: unknown = { speaker: 'tool', blocks: [tryParseJson(json ?? '')] };
  try {
    assertIngestible(entry, 0);
  } catch {
    return undefined;
  }
  const [response] = entry.blocks;
  return response?.type === 'tool_response' && response.callId === callId ? response : undefined;
}
