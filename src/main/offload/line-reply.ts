// Reads what came over a line. As with the pool, nothing of a reply is used before its shape was
// checked; that costs time in proportion to edits and to entries that came in.

import type { DensityBase } from '../../shared/density.js';
import { reviveError, WorkerPoolError } from '../../shared/errors.js';
import type {
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
} from '../../shared/resident-protocol.js';
import { findPlanOfBaseProblem, isDuration, isEditList, isRecord, isWireError } from './reply.js';
import type { UnknownRecord } from './reply.js';
import type { LineOutcome } from './resident-line.js';

/**
 * Checks the reply to a delta, on a line whose worker counts tokens or does not.
 *
 * @throws WorkerPoolError `WORKER_INVALID_RESULT` for one that does not answer it; the revived error
 * when the delta was refused.
 */
export function readDeltaReply(
  delta: HistoryDelta,
  countsTokens: boolean,
  reply: unknown,
): LineOutcome<DeltaValue> {
  const { value, runMs } = readEnvelope(reply);
  const staged = delta.steps.reduce(
    (sum, step) => sum + (step.kind === 'stage' ? step.contents.length : 0),
    0,
  );
  const { tokens, totalTokens, pass } = value;
  if (!(tokens instanceof Int32Array) || tokens.length !== staged) {
    throw invalid('not one count per entry');
  }
  if (countsTokens && tokens.some((count) => count < 0)) throw invalid('a negative count');
  if (typeof totalTokens !== 'number') throw invalid('no total');
  if (!isBase(value.base, delta.after)) throw invalid('another state');
  if ((pass !== undefined) !== (delta.pass !== undefined))
    throw invalid('a pass missing or unasked');
  if (pass !== undefined) assertPass(delta.after, pass);
  return { value: value as unknown as DeltaValue, runMs };
}

/** Checks the reply to a question for a pass on the state of `base`. @throws as `readDeltaReply` does. */
export function readPassReply(base: DensityBase, reply: unknown): LineOutcome<PlannedPass> {
  const { value, runMs } = readEnvelope(reply);
  assertPass(base, value);
  return { value: value as unknown as PlannedPass, runMs };
}

interface Envelope {
  readonly value: UnknownRecord;
  readonly runMs: number;
}

/** Checks the reply to a compression's question. @throws as `readDeltaReply` does. */
export function readCompressionReply(reply: unknown): LineOutcome<PlannedCompression | null> {
  if (isRecord(reply) && reply.ok === true && reply.value === null && isDuration(reply.runMs)) {
    return { value: null, runMs: reply.runMs };
  }
  const { value, runMs } = readEnvelope(reply);
  const { length, drops, summarized, lines, tokensAfter } = value;
  if (typeof length !== 'number') throw invalid('no compression');
  const areEdits =
    isEditList(drops, 1, length) &&
    isEditList(summarized, 2, length) &&
    isEditList(tokensAfter, 2, length);
  if (!areEdits) throw invalid('edits that are none of this history');
  const areLines =
    Array.isArray(lines) &&
    lines.length * 2 === (summarized as Int32Array).length &&
    lines.every((line) => typeof line === 'string');
  if (!areLines) throw invalid('not one line per result');
  return { value: value as unknown as PlannedCompression, runMs };
}

/** The value of a reply that says `ok`; the error of one that does not is thrown. */
function readEnvelope(reply: unknown): Envelope {
  if (!isRecord(reply) || !isDuration(reply.runMs)) throw invalid('no reply envelope');
  if (reply.ok === false && isWireError(reply.error)) throw reviveError(reply.error);
  if (reply.ok !== true || !isRecord(reply.value)) throw invalid('neither value nor error');
  return { value: reply.value, runMs: reply.runMs };
}

function assertPass(base: DensityBase, pass: unknown): void {
  if (!isRecord(pass)) throw invalid('no pass');
  const problem = findPlanOfBaseProblem(base, pass.base, pass.plan);
  if (problem !== undefined) throw invalid(problem);
  if (!isEditList(pass.tokensAfter, 2, base.length)) throw invalid('tokens of no entry');
  if (!isDuration(pass.runMs)) throw invalid('no duration');
}

function isBase(value: unknown, expected: DensityBase): boolean {
  return (
    isRecord(value) && value.revision === expected.revision && value.length === expected.length
  );
}

function invalid(problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `A resident history answered with ${problem}.`,
    'WORKER_INVALID_RESULT',
  );
}
