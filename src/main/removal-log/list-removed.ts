// Lists the tool results whose originals are in a removal log, without their content.

import { keyOfCall } from '../../shared/call-name.js';
import { placeholderEnding } from '../../shared/placeholder.js';
import { digestResponse, summaryLine } from '../../shared/summarize/tool-summary.js';
import type { ResultSize } from '../../shared/summarize/tool-summary.js';
import { CallIndex } from './call-index.js';
import type { CallDetails, FoundCall } from './call-index.js';
import { readRemovals } from './removal-reader.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';

/** A removed result that `restore` can return. */
export interface RemovedResult {
  readonly callId: string;
  readonly toolName: string;
  /** The key parameter of its call: path, command or first short text. Absent if the call is not on record. */
  readonly key?: string;
  readonly isFailed: boolean;
  /** Absent for results without a size, such as numbers. */
  readonly size?: ResultSize;
  /** One line that describes the result, in the format of summaries. */
  readonly line: string;
  readonly sessionId: string;
  /** In milliseconds since the epoch. */
  readonly removedAt: number;
}

/**
 * Lists the results whose originals one session, or with `acrossSessions: true` any session, has recorded in a removal
 * log, in order of removal. If several calls share an id, it lists the one that `restore` returns. Reads the file once
 * and keeps one line per record in memory.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if the file cannot be read; TypeError if the scope names no session.
 */
export async function listRemoved(
  path: string,
  scope: SessionScope,
): Promise<readonly RemovedResult[]> {
  assertSessionScope(scope);
  const index = new CallIndex(DETAILS);
  for await (const removal of readRemovals(path)) {
    if (isInScope(scope, removal.record.sessionId)) index.note(removal);
  }
  return Array.from(index.callIds)
    .flatMap((callId) => index.find(callId, scope) ?? [])
    .sort(({ response: { detail: a } }, { response: { detail: b } }) => {
      return a.removedAt - b.removedAt || a.offset - b.offset;
    })
    .map(describe);
}

/** A recorded response without its payload. */
interface ResponseDetail {
  readonly callId: string;
  readonly isFailed: boolean;
  readonly digest: ReturnType<typeof digestResponse>;
  readonly removedAt: number;
  /** Offset of its record. */
  readonly offset: number;
}

/** What is kept of a call is its key parameter. */
const DETAILS: CallDetails<string | undefined, ResponseDetail> = {
  ofCall: keyOfCall,
  ofResponse: (response, { record, location }) => ({
    callId: response.callId,
    isFailed: Boolean(response.error),
    digest: digestResponse(response),
    removedAt: record.at,
    offset: location.offset,
  }),
};

function describe({
  response,
  call,
}: FoundCall<string | undefined, ResponseDetail>): RemovedResult {
  const { sessionId, toolName, detail } = response;
  const { callId, isFailed, digest, removedAt } = detail;
  const key = call?.detail;
  return {
    callId,
    toolName,
    ...(key !== undefined && { key }),
    isFailed,
    ...(!digest.isSummary && digest.size !== undefined && { size: digest.size }),
    line: summaryLine(digest, call && { key }, placeholderEnding(callId, 'pointer')),
    sessionId,
    removedAt,
  };
}
