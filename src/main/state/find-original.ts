// Finds the original of a result that an edit removed: among the added entries, or in the store.

import { isToolCallBlock } from '../../shared/content.js';
import type { IContent, ToolResponseBlock } from '../../shared/content.js';
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
  for (let at = added.length - 1; at >= 0; at -= 1) {
    const { blocks, metadata } = added[at] ?? NO_ENTRY;
    for (const response of blocks) {
      if (response.type !== 'tool_response' || response.callId !== callId) continue;
      const call = added
        .slice(0, at)
        .flatMap((entry) => entry.blocks.filter(isToolCallBlock))
        .findLast(({ id }) => id === callId);
      const recordedAt = metadata?.timestamp ?? 0;
      return { response, sessionId, recordedAt, ...(call !== undefined && { call }) };
    }
  }
  const response = responseOf(await keeper?.get(callId), callId);
  return response && { response, sessionId, recordedAt: 0 };
}

const NO_ENTRY: IContent = { speaker: 'human', blocks: [] };

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
