// Restores original tool responses that a pass removed, pruned or compressed.

import type { ContentBlock, ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { CallIndex } from './call-index.js';
import type { CallDetails, FoundCall, Sighting } from './call-index.js';
import { readRemovalAt, RemovalReading } from './removal-reader.js';
import type { LocatedRemoval, RecordPlace, RemovalSource } from './removal-reader.js';
import type { RemovalRecord } from './removal-record.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import { notInRemovalLog, readFailed } from './removal-log-errors.js';

/** An original tool response. */
export interface RestoredResponse {
  readonly response: ToolResponseBlock;
  /** The call that the response answers; absent if the call was not recorded because the history still has it. */
  readonly call?: ToolCallBlock;
  readonly sessionId: string;
  /** When it was recorded, in milliseconds since the epoch. */
  readonly recordedAt: number;
}

/**
 * Restores the original response to a call from the records of one session or, with
 * `acrossSessions: true`, of any. Reads the whole file once; `RemovalLog.restore` reads single records.
 *
 * A call can be on record several times: its original response, then the stand-ins with which passes replaced it. An entry that equals
 * the replacement of an earlier entry is a stand-in, and so is the pruned pointer. A response that looks like a placeholder or an
 * excerpt is used only if there is no other; a response that equals a stand-in of another session, which may be the same conversation
 * before a restart, is used last. Of several originals, the latest is used: if several calls had the same id, it belongs to the newest
 * call. The returned call is of the same session and tool.
 *
 * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` if no original is on record, `REMOVAL_LOG_READ_FAILED` if the
 * file cannot be read; TypeError if the scope names no session.
 */
export async function restore(
  path: string,
  callId: string,
  scope: SessionScope,
): Promise<RestoredResponse> {
  assertSessionScope(scope);
  const index = new CallIndex(PLACES);
  const source = { path };
  const reading = new RemovalReading(source);
  for await (const located of reading) {
    if (isInScope(scope, located.record.sessionId)) index.note(located, callId);
  }
  const found = index.find(callId, scope);
  if (found === undefined) throw notInRemovalLog(path, callId, reading.skippedBytes);
  return readFound(source, callId, found);
}

/** Position of a block in its record. */
export interface BlockPlace extends RecordPlace {
  readonly block: number;
}

/** Has an index keep where a call and its response are recorded. */
export const PLACES: CallDetails<BlockPlace, BlockPlace> = {
  ofCall: placeOf,
  ofResponse: placeOf,
};

function placeOf(block: ContentBlock, { record, location }: LocatedRemoval): BlockPlace {
  const at = record.entry.blocks.indexOf(block);
  return { offset: location.offset, seq: record.seq, block: at };
}

/**
 * Reads an original response from its record, and its call from another one.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if a record is no longer at its place.
 */
export async function readFound(
  source: RemovalSource,
  callId: string,
  found: FoundCall<BlockPlace, BlockPlace>,
): Promise<RestoredResponse> {
  const record = await readSighting(source, found.response);
  const response = blockAt(record, found.response);
  if (response === undefined || !isToolResponseBlock(response) || response.callId !== callId)
    throw notThere(source, found.response);
  const call = found.call && blockAt(await readSighting(source, found.call), found.call);
  return {
    response,
    ...(call !== undefined && isToolCallBlock(call) && call.id === callId && { call }),
    sessionId: record.sessionId,
    recordedAt: record.at,
  };
}

function blockAt(
  { entry }: RemovalRecord,
  { detail }: Sighting<BlockPlace>,
): ContentBlock | undefined {
  return entry.blocks[detail.block];
}

async function readSighting(
  source: RemovalSource,
  sighting: Sighting<BlockPlace>,
): Promise<RemovalRecord> {
  const record = await readRemovalAt(source, sighting.detail);
  if (record?.sessionId === sighting.sessionId) return record;
  throw notThere(source, sighting);
}

function notThere({ path }: RemovalSource, { detail }: Sighting<BlockPlace>): Error {
  return readFailed(
    path,
    new Error(`The record at offset ${detail.offset} was altered or cut off.`),
  );
}
