// Validates what a worker sent back. A faulty thread may answer anything, so no part of a reply is used before its shape was
// checked; linear in edits, never in payloads.

import type { DensityBase } from '../../shared/density.js';
import { PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import { ACTION, ACTION_NAMES } from '../../shared/density/rules/marks.js';
import { WorkerPoolError, reviveError } from '../../shared/errors.js';
import type { WireError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type {
  CountPackedRequest,
  OptimizeRequest,
  TaskRequest,
  TaskValue,
} from '../../shared/protocol.js';

/** The value of a successful reply. */
export interface ReadReply<Value> {
  readonly value: Value;
  /** Run time in the worker, in milliseconds. */
  readonly runMs: number;
}

/**
 * Validates the reply to `request` and returns its value.
 *
 * @throws WorkerPoolError `WORKER_INVALID_RESULT` for an invalid reply; the revived error if the task itself failed, which is
 *   never a `WorkerPoolError`.
 */
export function readReply<Request extends TaskRequest>(
  request: Request,
  reply: unknown,
): ReadReply<TaskValue<Request>> {
  const { value, runMs } = readEnvelope(reply, (problem) => invalid(request, problem));
  const problem = findProblem(request, value);
  if (problem !== undefined) throw invalid(request, problem);
  // The only cast of external data: `findProblem` has just validated it.
  return { value: value as unknown as TaskValue<Request>, runMs };
}

/**
 * Opens a reply of any kind.
 *
 * @throws the revived error of a failure reply; what `invalid` creates for an invalid one.
 */
export function readEnvelope(
  reply: unknown,
  invalid: (problem: string) => Error,
): ReadReply<JsonRecord> {
  if (!isRecord(reply) || !isDuration(reply.runMs)) throw invalid('no reply envelope');
  if (reply.ok === false && isWireError(reply.error)) throw reviveError(reply.error);
  if (reply.ok !== true || !isRecord(reply.value)) throw invalid('neither value nor error');
  return { value: reply.value, runMs: reply.runMs };
}

function findProblem(request: TaskRequest, value: JsonRecord): string | undefined {
  switch (request.kind) {
    case 'optimize':
      return findPlanProblem(request, value);
    case 'count':
      return findCountProblem(request.contents.length, value);
    case 'count-packed':
      return findPackedProblem(request, value);
    case 'open':
    case 'probe':
      return Number.isInteger(value.threadId) ? undefined : 'no thread id';
  }
}

function findPlanProblem(request: OptimizeRequest, value: JsonRecord): string | undefined {
  return findPlanOfBaseProblem(request.base, value);
}

/** Returns what is wrong with a plan for `expected`, or `undefined`. */
export function findPlanOfBaseProblem(
  expected: DensityBase,
  { base, plan, texts = [] }: JsonRecord,
): string | undefined {
  if (!isRecord(base) || !(plan instanceof Int32Array)) return 'no plan';
  const { revision, length } = expected;
  if (base.revision !== revision || base.length !== length) return 'a plan for another base';
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return 'no texts';
  return isPlan(plan, length, texts.length) ? undefined : 'edits that are none of this history';
}

/** Whether all rows have a valid entry, block, action and rule, and ascend. */
function isPlan(plan: Int32Array, length: number, texts: number): boolean {
  if (!isEditList(plan, ROW_LENGTH, length)) return false;
  let [lastEntry, lastBlock] = [-1, -1];
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    const { entry, block, action, rule, start, end } = row;
    if (block < 0 || action <= ACTION.none || action >= ACTION_NAMES.length) return false;
    if (rule < 0 || rule >= DENSITY_RULES.length) return false;
    if (action === ACTION.cut && (start < 0 || end < start)) return false;
    if (action === ACTION.shrink && (start < 0 || start >= texts)) return false;
    if (entry < lastEntry || (entry === lastEntry && block < lastBlock)) return false;
    [lastEntry, lastBlock] = [entry, block];
  }
  return true;
}

function findCountProblem(entries: number, { tokens }: JsonRecord): string | undefined {
  if (!(tokens instanceof Int32Array) || tokens.length !== entries)
    return 'not one count per entry';
  return tokens.every((count) => count >= 0) ? undefined : 'a negative count';
}

function findPackedProblem({ packed }: CountPackedRequest, value: JsonRecord): string | undefined {
  const { blocks } = value;
  if (!(blocks instanceof Int32Array) || blocks.length !== 2 * packed.blocks) {
    return 'not two counts per block';
  }
  return findCountProblem(packed.entries, value);
}

/** Whether a value consists of rows of `width` numbers that start with an entry index below `length`. */
export function isEditList(value: unknown, width: number, length: number): boolean {
  if (!(value instanceof Int32Array) || value.length % width !== 0) return false;
  for (let at = 0; at < value.length; at += width) {
    const entry = value[at] ?? -1;
    if (entry < 0 || entry >= length) return false;
  }
  return true;
}

function isWireError(value: unknown): value is WireError & JsonRecord {
  return isRecord(value) && typeof value.name === 'string' && typeof value.message === 'string';
}

export function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

function invalid(request: TaskRequest, problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `A worker answered a task of kind ${JSON.stringify(request.kind)} with ${problem}.`,
    'WORKER_INVALID_RESULT',
  );
}
