// Maps failures of worker threads to WorkerPoolError.

import { isError, systemCode, textOf, WorkerPoolError } from '../../shared/errors.js';

/**
 * Maps the failure of a task; the original is the `cause`. Recognizes the messages of Node 20 to 24; everything else is
 * `WORKER_FAILED`.
 */
export function toPoolError(thrown: unknown): WorkerPoolError {
  const cause = { cause: thrown };
  if (isRefusal(thrown)) {
    return new WorkerPoolError(
      'The request cannot be sent to a worker; it must be plain data that is not nested too deep.',
      'WORKER_FAILED',
      cause,
    );
  }
  if (systemCode(thrown) === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new WorkerPoolError(
      'A worker ran out of memory; lower maxResidentSessions, or raise threads.',
      'WORKER_OUT_OF_MEMORY',
      cause,
    );
  }
  const message = isError(thrown) ? (textOf(thrown, 'message') ?? '') : '';
  const detail = message === '' ? 'no reason was given' : message;
  return new WorkerPoolError(`A worker failed: ${detail}`, 'WORKER_FAILED', cause);
}

/** Whether the request itself could not be posted: no thread is at fault, and retrying is useless. */
export function isRequestRefused(error: WorkerPoolError): boolean {
  return error.code === 'WORKER_FAILED' && isRefusal(error.cause);
}

export function diedError(exitCode: number): WorkerPoolError {
  return new WorkerPoolError(
    `A worker died while it ran a task (exit code ${exitCode}).`,
    'WORKER_DIED',
  );
}

export function timeoutError(timeoutMs: number): WorkerPoolError {
  return new WorkerPoolError(
    `A task did not finish within ${timeoutMs} ms; its thread was stopped.`,
    'WORKER_TIMEOUT',
  );
}

export function closedError(): WorkerPoolError {
  return new WorkerPoolError('The worker pool is closed.', 'CLOSED');
}

export function queueFullError(capacity: number): WorkerPoolError {
  return new WorkerPoolError(
    `The queue of the worker pool is full: ${capacity} tasks wait already.`,
    'POOL_QUEUE_FULL',
  );
}

export function unavailableError(reason: string, cause: unknown): WorkerPoolError {
  const options = cause === undefined ? undefined : { cause };
  return new WorkerPoolError(
    `The worker pool is not available: ${reason}.`,
    'POOL_UNAVAILABLE',
    options,
  );
}

/** Structured clone refused the request, or overflowed the stack. */
function isRefusal(thrown: unknown): boolean {
  if (!isError(thrown)) return false;
  if (thrown.name === 'DataCloneError') return true;
  return thrown.name === 'RangeError' && /Maximum call stack size exceeded/.test(thrown.message);
}
