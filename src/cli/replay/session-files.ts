// Finds and reads the session files at a path that the user gives.

import { statSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CtxfoldError } from '../../index.js';
import type { ErrorCode } from '../../index.js';
import { readTranscript } from '../../transcripts.js';
import type { Transcript, TranscriptFormat } from '../../transcripts.js';
import { UsageError } from '../terminal/options.js';
import { STANDARD_STREAM } from '../terminal/print.js';
import type { Progress } from '../terminal/progress-bar.js';

/** The files at a path. */
export interface SessionFiles {
  readonly isFolder: boolean;
  /** Sorted by name. */
  readonly files: readonly string[];
}

/** A file that is damaged or not a session. */
export interface UnreadFile {
  readonly file: string;
  readonly code: ErrorCode;
  /** Does not name the file, so that reports can group files by reason. */
  readonly reason: string;
}

/** Subfolders that never contain sessions. */
const SKIPPED_FOLDER = /^(?:\.git|node_modules)$/;

/**
 * Lists the file at a path, or all files in the folder and its subfolders, each once even if links, also hard ones, lead to it. A
 * missing path and a folder that cannot be listed count as files, so that reading them reports the error.
 *
 * @throws the signal's reason.
 */
export async function findSessionFiles(path: string, signal?: AbortSignal): Promise<SessionFiles> {
  const top = path === STANDARD_STREAM ? undefined : await contentOf(path);
  if (top === undefined) return { isFolder: false, files: [path] };
  const files: string[] = [];
  const links: string[] = [];
  // Grows while it is walked over.
  const found = [...top];
  for (const each of found) {
    signal?.throwIfAborted();
    const place = join(each.parentPath, each.name);
    if (each.isSymbolicLink()) links.push(place);
    else if (each.isFile()) files.push(place);
    else if (each.isDirectory() && !SKIPPED_FOLDER.test(each.name)) {
      const content = await contentOf(place);
      if (content === undefined) files.push(place);
      for (const inner of content ?? []) found.push(inner);
    }
  }
  const known = new Map<string, string>();
  const note = (id: string, place: string): void => {
    if (!known.has(id)) known.set(id, place);
  };
  for (const file of files.sort()) note((await idOf(file)) ?? file, file);
  for (const link of links.sort()) {
    // Links to folders are not followed: they may form a cycle.
    const id = await idOf(link);
    if (id !== undefined) note(id, link);
  }
  return { isFolder: true, files: [...known.values()].sort() };
}

/** Returns what is the same for all links to a file; `undefined` for anything but a file. */
async function idOf(place: string): Promise<string | undefined> {
  const status = await stat(place, { bigint: true }).catch(() => undefined);
  return status?.isFile() === true ? `${status.dev}:${status.ino}` : undefined;
}

/** Returns what is in a folder; `undefined` if it cannot be listed, as of a file. */
function contentOf(place: string): Promise<readonly Dirent[] | undefined> {
  return readdir(place, { withFileTypes: true }).catch(() => undefined);
}

/** Returns the size of a file in bytes; 0 if there is none. */
export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

/** How to read a session. */
export interface ReadSessionOptions {
  /** @default detected */
  readonly format?: TranscriptFormat | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly progress?: Progress | undefined;
}

const MEGABYTE = 1_000_000;

/**
 * Reads a file, or stdin.
 *
 * @throws as `readTranscript` does; CtxfoldError `UNKNOWN_FORMAT` for a file that has no entry in the given format, and is of another one
 */
export async function readSession(
  file: string,
  { format, signal, progress }: ReadSessionOptions,
): Promise<Transcript> {
  const isPiped = file === STANDARD_STREAM;
  // Without this, an abort would wait for stdin, which may never end.
  const hangUp = (): void => void process.stdin.destroy();
  if (isPiped) signal?.addEventListener('abort', hangUp, { once: true });
  const onRead = isPiped ? undefined : await beginReading(file, progress);
  const reading = readTranscript(isPiped ? process.stdin : file, { format, signal, onRead });
  if (format === undefined || isPiped) return reading;
  const isEmpty = await reading.then(
    ({ entries }) => entries.length === 0,
    () => true,
  );
  const other = isEmpty ? await formatOf(file, signal) : undefined;
  signal?.throwIfAborted();
  if (other === undefined || other === format) return reading;
  throw new CtxfoldError(
    `The transcript has no entries in the format ${format}. It looks like ${other}. Leave out --format to have it detected.`,
    'UNKNOWN_FORMAT',
  );
}

/** Begins a bar; `undefined` for a file without a size, as its bar would be full from the start. */
async function beginReading(
  file: string,
  progress: Progress | undefined,
): Promise<((length: number) => void) | undefined> {
  const bytes = progress === undefined ? 0 : await sizeOf(file);
  if (bytes === 0) return undefined;
  const update = progress?.begin(Math.ceil(bytes / MEGABYTE), 'reading', 'MB');
  return (length) => update?.(Math.floor(length / MEGABYTE));
}

/** Returns the format that a file is recognized as, if any. */
function formatOf(
  file: string,
  signal: AbortSignal | undefined,
): Promise<TranscriptFormat | undefined> {
  return readTranscript(file, { signal }).then(
    ({ format }) => format,
    () => undefined,
  );
}

/**
 * @throws UsageError if an output file is the recorded session itself, even under another name such as a link, or another recorded
 *   session.
 */
export async function assertNotRecordedSession(
  file: string,
  kept: string | undefined,
  option: string = '--removal-log',
): Promise<void> {
  if (kept === undefined) return;
  if (kept === STANDARD_STREAM && option === '--removal-log') {
    throw new UsageError('--removal-log: expected a file, since it is read back.');
  }
  const statistics = statSync(kept, { throwIfNoEntry: false, bigint: true });
  if (statistics?.isFile() !== true) return;
  const recorded = statSync(file, { throwIfNoEntry: false, bigint: true });
  if (statistics.ino === recorded?.ino && statistics.dev === recorded.dev)
    throw new UsageError(`${option}: this is the recorded session itself; use another file.`);
  // The file may be one of the sessions in the folder that is played.
  if (await isSession(kept))
    throw new UsageError(`${option}: this is a recorded session; use another file.`);
}

/** Whether a file is a readable session with entries. */
function isSession(file: string): Promise<boolean> {
  return readTranscript(file).then(
    ({ entries }) => entries.length > 0,
    () => false,
  );
}

/** Returns the result of `run`, or why the file is no readable session. @throws the signal's reason; other errors of `run`. */
export async function unlessUnreadable<Result>(
  file: string,
  signal: AbortSignal | undefined,
  run: () => Promise<Result>,
): Promise<Result | UnreadFile> {
  try {
    return await run();
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof CtxfoldError)) throw error;
    const { code, message } = error;
    if (code !== 'UNKNOWN_FORMAT' && code !== 'UNREADABLE_TRANSCRIPT') throw error;
    const unnamed = message.replace(`, open '${file}'`, '').replaceAll(file, 'The transcript');
    return { file, code, reason: unnamed };
  }
}
