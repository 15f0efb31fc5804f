// The errors of the removal log: they name the file, the system's error and what to do, and never contain recorded content.

import { asError, CtxfoldError, isError, systemCode } from '../../shared/errors.js';
import { shownId } from '../../shared/shown-text.js';

const ADVICE: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space there.',
  EDQUOT: 'The disk quota is used up: free some space there.',
  EFBIG: 'The file has reached the size limit: raise the limit or start another file.',
  EACCES: 'Permission was refused: choose a path that this user may use.',
  EPERM: 'The operation is not permitted: choose a path that this user may use.',
  EROFS: 'The file system is read-only: choose another path.',
  // Node also reports `ENOENT` for a folder that it cannot create on a read-only file system.
  ENOENT: 'It does not exist: check the path, and that its file system is not read-only.',
  EISDIR: 'It is a directory: name a file.',
  // Reported for creating a folder at the path of a file.
  EEXIST: 'A part of the path is no directory: check the path.',
  ENOTDIR: 'A part of the path is no directory: check the path.',
  ELOOP: 'It is a symbolic link: name the file that it points to.',
  EMFILE: 'Too many files are open: raise the limit or close some.',
  EIO: 'The device failed: choose a path on another one.',
  ECONNREFUSED: 'Nothing listens there: start the server, or check its address.',
  ENOTFOUND: 'Its name is not known: check its address.',
  // PostgreSQL's codes for a missing table, and for a write to a read-only replica.
  '42P01': 'Create its tables with POSTGRES_MIGRATION.',
  '25006': 'Connect to the primary.',
};

/** Creates the error for a failed write. The changes that should have been recorded must not be applied. */
export function writeFailed(path: string, cause: unknown): CtxfoldError {
  return new CtxfoldError(
    `The removal log ${path} could not be written (${reasonOf(cause)}).${adviceFor(cause)} ` +
      'Nothing that it was to record has been changed.',
    'REMOVAL_LOG_WRITE_FAILED',
    { cause },
  );
}

/** Whether an error was created by `writeFailed`. */
export function isWriteFailure(thrown: unknown): thrown is CtxfoldError {
  return thrown instanceof CtxfoldError && thrown.code === 'REMOVAL_LOG_WRITE_FAILED';
}

/** Creates the error for a failed read. */
export function readFailed(path: string, cause: unknown): CtxfoldError {
  return new CtxfoldError(
    `The removal log ${path} could not be read (${reasonOf(cause)}).${adviceFor(cause)}`,
    'REMOVAL_LOG_READ_FAILED',
    { cause },
  );
}

/** Creates the error for a call without a recorded original. */
export function notInRemovalLog(path: string, callId: string, skippedBytes: number): CtxfoldError {
  const damage =
    skippedBytes === 0 ? '' : ` ${skippedBytes} bytes of it were damaged and left out.`;
  return new CtxfoldError(
    `The removal log ${path} holds no original result of the call ${shownId(callId)}.${damage} ` +
      'Only what a pass removed or replaced is recorded; look in the history itself, or run the tool again.',
    'NOT_IN_REMOVAL_LOG',
  );
}

/** Whether an error says that an original is not on record, rather than that a log could not be read. */
export function isNotInRemovalLog(thrown: unknown): boolean {
  return thrown instanceof CtxfoldError && thrown.code === 'NOT_IN_REMOVAL_LOG';
}

/** Creates the error for a closed writer. */
export function writerClosed(path: string, what: string): CtxfoldError {
  return new CtxfoldError(`The writer of ${path} is closed: ${what}`, 'CLOSED');
}

/** Returns the code of a system error, because its message would repeat the path; the message of any other error. */
function reasonOf(cause: unknown): string {
  const isOfSystem = isError(cause) && 'syscall' in cause;
  const code = isOfSystem ? systemCode(cause) : undefined;
  return code ?? asError(cause).message;
}

/** Returns advice about a system error, with a leading space; an empty string for any other error. */
export function adviceFor(cause: unknown): string {
  const advice = ADVICE[systemCode(cause) ?? ''];
  return advice === undefined ? '' : ` ${advice}`;
}

/**
 * Creates the error for restoring where there is no removal log.
 *
 * @param who such as `The session keeps no`
 * @param advice what else may help
 */
export function keepsNoRemovalLog(who: string, callId: string, advice: string = ''): CtxfoldError {
  return new CtxfoldError(
    `${who} removal log to restore call ${shownId(callId)} from; create sessions with removalLogDirectory or removalLogPath.${advice}`,
    'NOT_IN_REMOVAL_LOG',
  );
}
