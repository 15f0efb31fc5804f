// Restores original tool responses that a pass removed, pruned or compressed.

import type { ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { isPointer } from '../../shared/placeholder.js';
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

/** Has an index keep where a call and its response are recorded. */
export const PLACES: CallDetails<RecordPlace, RecordPlace> = {
  ofCall: (_, removal) => placeOf(removal),
  ofResponse: (_, removal) => placeOf(removal),
};

function placeOf({ record, location }: LocatedRemoval): RecordPlace {
  return { offset: location.offset, seq: record.seq };
}

/**
 * Reads an original response from its record, and its call from another one.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if a record is no longer at its place.
 */
export async function readFound(
  source: RemovalSource,
  callId: string,
  found: FoundCall<RecordPlace, RecordPlace>,
): Promise<RestoredResponse> {
  const record = await readSighting(source, found.response);
  const response = record.entry.blocks.findLast(
    (block): block is ToolResponseBlock =>
      isToolResponseBlock(block) &&
      block.callId === callId &&
      block.isComplete !== false &&
      !isPointer(block.result),
  );
  if (response === undefined) throw notThere(source, found.response);
  const call =
    found.call &&
    (await readSighting(source, found.call)).entry.blocks.findLast(
      (block): block is ToolCallBlock =>
        isToolCallBlock(block) && block.id === callId && block.name === found.call?.toolName,
    );
  return {
    response,
    ...(call !== undefined && { call }),
    sessionId: record.sessionId,
    recordedAt: record.at,
  };
}

async function readSighting(
  source: RemovalSource,
  sighting: Sighting<RecordPlace>,
): Promise<RemovalRecord> {
  const record = await readRemovalAt(source, sighting.detail);
  if (record?.sessionId === sighting.sessionId) return record;
  throw notThere(source, sighting);
}

function notThere({ path }: RemovalSource, { detail }: Sighting<RecordPlace>): Error {
  return readFailed(
    path,
    new Error(`The record at offset ${detail.offset} was altered or cut off.`),
  );
}
