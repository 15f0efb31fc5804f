// Runs `replay`: finds the files, plays them, prints the report.

import { EXIT } from '../terminal/exit-codes.js';
import { contentLabel } from '../terminal/content-label.js';
import { printText, printMessage } from '../terminal/print.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText } from '../terminal/terminal-text.js';
import { playFiles, setupOf, withSessions } from './play-file.js';
import type { ReplayArguments } from './replay-command.js';
import { folderReport, renderFolder } from './render-folder.js';
import type { FolderReplayReport } from './render-folder.js';
import type { ReplayOptions } from './replay-session.js';
import { renderReport } from './render-report.js';
import { stopMessage } from './replay-report.js';
import type { ReplayReport } from './replay-report.js';
import { assertNotRecordedSession } from './session-files.js';
import type { SessionFiles } from './session-files.js';

/**
 * Replays a file or a folder and prints the report.
 *
 * @returns the exit code
 * @throws UsageError if an option is invalid; InterruptedError on SIGINT; errors of reading a single file and of playing.
 */
export async function runReplay(path: string, given: ReplayArguments): Promise<number> {
  const setup = setupOf(given);
  await assertNotRecordedSession(path, given.removalLog);
  const isJson = given.json === true;
  const report = await withSessions(path, setup, isJson, (found, options) =>
    replay(path, found, options),
  );
  if (isJson) process.stdout.write(jsonText(report, contentLabel(given.redact)));
  if ('sessions' in report) {
    if (!isJson) printText(renderFolder(report, terminalLayout()));
    return exitCodeOfFolder(report.sessions);
  }
  if (!isJson) printText(renderReport(report, terminalLayout()));
  // A report on a terminal already shows why the replay stopped.
  return exitCodeOfReplay(report, isJson || !process.stdout.isTTY);
}

async function replay(
  path: string,
  found: SessionFiles,
  options: ReplayOptions,
): Promise<ReplayReport | FolderReplayReport> {
  const { sessions, unread } = await playFiles(found, options, ({ report }) => report);
  const [session] = sessions;
  return found.isFolder || session === undefined ? folderReport(path, sessions, unread) : session;
}

/** Returns the exit code for the sessions of a folder. Prints a message if there are none. */
export function exitCodeOfFolder(sessions: readonly unknown[]): number {
  if (sessions.length > 0) return EXIT.done;
  printMessage('No file in the folder is a readable session.');
  return EXIT.transcript;
}

/** Returns the exit code of a replay. With `printsStop`, prints why it stopped early, if it did. */
export function exitCodeOfReplay(report: ReplayReport, printsStop: boolean): number {
  const stop = stopMessage(report);
  if (stop === null) return EXIT.done;
  if (printsStop) printMessage(stop);
  return report.compressionFailure === null ? EXIT.windowExceeded : EXIT.compressionFailed;
}
