// Restores original tool responses that a pass removed, pruned or compressed.

import type { ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { isPointer } from '../../shared/placeholder.js';
import { CallIndex } from './call-index.js';
import type { CallSighting } from './call-index.js';
import { readRemovalAt, RemovalReading } from './removal-reader.js';
import type { RemovalSource } from './removal-reader.js';
import type { RemovalRecord } from './removal-record.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import { weightOf } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';
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
  const index = new CallIndex();
  const source = { path };
  const reading = new RemovalReading(source);
  for await (const located of reading) {
    if (isInScope(scope, located.record.sessionId)) index.note(located, callId);
  }
  const restored = await restoreFromSightings(source, callId, index.sightings(callId), scope);
  if (restored === undefined) throw notInRemovalLog(path, callId, reading.skippedBytes);
  return restored;
}

/**
 * Restores a response from indexed sightings, last one first. Reads one record, and one more for the call.
 *
 * @returns `undefined` if none of them is an original
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if a record is no longer at its place.
 */
export async function restoreFromSightings(
  source: RemovalSource,
  callId: string,
  sightings: readonly CallSighting[],
  scope: SessionScope,
): Promise<RestoredResponse | undefined> {
  const relevant = sightings.filter(({ sessionId }) => isInScope(scope, sessionId));
  let best: CallSighting | undefined;
  let leastWeight = Infinity;
  for (const sighting of relevant) {
    if (sighting.doubt === null) continue;
    const weight = weightWithin(scope, sighting.doubt);
    if (weight >= leastWeight) continue;
    leastWeight = weight;
    best = sighting;
  }
  if (best === undefined) return undefined;
  const record = await readSighting(source, best);
  const response = record.entry.blocks.findLast(
    (block): block is ToolResponseBlock =>
      isToolResponseBlock(block) &&
      block.callId === callId &&
      block.isComplete !== false &&
      !isPointer(block.result),
  );
  if (response === undefined) throw notThere(source, best);
  const call = await findCall(source, callId, best, relevant);
  return {
    response,
    ...(call !== undefined && { call }),
    sessionId: record.sessionId,
    recordedAt: record.at,
  };
}

/** Returns the weight of a doubt. Ignores stand-ins of other sessions if only one session is searched. */
function weightWithin({ acrossSessions }: SessionScope, doubt: Doubt): number {
  return weightOf(acrossSessions === true ? doubt : { ...doubt, isStandInElsewhere: false });
}

async function findCall(
  source: RemovalSource,
  callId: string,
  { sessionId, toolName }: CallSighting,
  sightings: readonly CallSighting[],
): Promise<ToolCallBlock | undefined> {
  const sighting = sightings.find(
    (candidate) =>
      candidate.doubt === null &&
      candidate.sessionId === sessionId &&
      candidate.toolName === toolName,
  );
  if (sighting === undefined) return undefined;
  const { entry } = await readSighting(source, sighting);
  return entry.blocks
    .filter(isToolCallBlock)
    .findLast(({ id, name }) => id === callId && name === toolName);
}

async function readSighting(source: RemovalSource, sighting: CallSighting): Promise<RemovalRecord> {
  const record = await readRemovalAt(source, sighting.place);
  if (record?.sessionId === sighting.sessionId) return record;
  throw notThere(source, sighting);
}

function notThere({ path }: RemovalSource, { place }: CallSighting): Error {
  return readFailed(
    path,
    new Error(`The record at offset ${place.offset} was altered or cut off.`),
  );
}
