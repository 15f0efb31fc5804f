// Runs `report`: plays a file or a folder, and writes the page.

import { constants, statSync } from 'node:fs';
import { access, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ReportArguments } from './report-command.js';
import { contentLabel } from '../terminal/content-label.js';
import { renderPage, renderFolderPage, TITLE } from './render-page.js';
import { readPageAssets } from './page-document.js';
import { createReportPage } from './report-page.js';
import { playFiles, setupOf, withSessions } from '../replay/play-file.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { replaySession } from '../replay/replay-session.js';
import { exitCodeOfFolder, exitCodeOfReplay } from '../replay/run-replay.js';
import { assertNotRecordedSession, readSession } from '../replay/session-files.js';
import { UsageError } from '../terminal/options.js';
import { printText, STANDARD_STREAM } from '../terminal/print.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount } from '../terminal/text-layout.js';
import { getCompressionStrategy } from '../../strategies.js';
import type { EditPolicy } from '../../index.js';
import type { PolicyReport } from './report-page.js';
import { folderSession } from './folder-page.js';
import type { Recording } from '../replay/recording.js';

/**
 * Plays a file or a folder and writes the page.
 *
 * @returns the exit code
 * @throws UsageError if an option is invalid; InterruptedError on SIGINT; errors of reading a single file, of playing and of writing.
 */
export async function runReport(path: string, given: ReportArguments): Promise<number> {
  const setup = setupOf(given);
  await assertNotRecordedSession(path, given.removalLog);
  await assertNotRecordedSession(path, given.output, '--output');
  // Check the output and the assets before playing: a late failure would waste time and paid model calls.
  await whileWriting(given.output, () => assertWritable(given.output));
  const assets = await readPageAssets();
  const label = contentLabel(given.redact);
  return await withSessions(path, setup, false, async (found, options) => {
    if (!found.isFolder) {
      const transcript = await readSession(path, options);
      const recording = await replaySession(path, transcript, { ...options, explains: true });
      const compared = { ...options, removalLog: undefined, offload: 'inline' } as const;
      const policies = await comparePolicies(recording.report, (edits) =>
        replaySession(path, transcript, { ...compared, session: { edits } }),
      );
      const page = createReportPage(recording, label, policies, given);
      options.progress?.close();
      await whileWriting(given.output, () => writePage(given, renderPage(page, assets)));
      return exitCodeOfReplay(recording.report, true);
    }
    const { sessions, unread } = await playFiles(found, { ...options, explains: true }, (played) =>
      folderSession(played, label, path),
    );
    options.progress?.close();
    const code = exitCodeOfFolder(sessions);
    if (sessions.length === 0) return code;
    const title = given.title ?? label.ofPath(path);
    const { isRedacted } = label;
    const page = { title, isRedacted, sessions, unreadFiles: unread.length };
    await whileWriting(given.output, () => writePage(given, renderFolderPage(page, assets)));
    return code;
  });
}

/**
 * @throws UsageError if the default output file exists and is not a page of this command. A file named with `--output` may be
 *   overwritten.
 */
export async function assertOverwritable(output: string): Promise<void> {
  const text = await readFile(output, 'utf8').catch(() => undefined);
  if (text?.includes(TITLE) === false)
    throw new UsageError(
      `${output} is there already and is no page of ctxfold: name a file with --output.`,
    );
}

/** The compared edit policies. The first is the default, whose figures the main replay already has. */
const POLICIES = ['auto', 'every-turn', 'at-birth'] as const;

/** The edit policies are not compared on longer sessions, because each policy takes one more replay. */
const MAX_COMPARED_ENTRIES = 3_000;

/** Plays the session again for each other edit policy. Returns no reports if the strategy needs a model or the session is too long. */
async function comparePolicies(
  report: ReplayReport,
  play: (policy: EditPolicy) => Promise<Recording>,
): Promise<readonly PolicyReport[]> {
  const { entries, settings } = report;
  if (entries > MAX_COMPARED_ENTRIES || getCompressionStrategy(settings.strategy).requiresLLM)
    return [];
  const [first, ...others] = POLICIES;
  const compared: PolicyReport[] = [{ policy: first, report }];
  for (const policy of others) compared.push({ policy, report: (await play(policy)).report });
  return compared;
}

/** Adds the purpose and the path to errors of the file system, which name only the failed operation. */
async function whileWriting(output: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The page cannot be written to ${output}: ${reason}`, { cause: error });
  }
}

/** Checks that the page can be written, without changing the file. @throws an error of the file system if it cannot. */
async function assertWritable(output: string): Promise<void> {
  if (output === STANDARD_STREAM) return;
  const there = statSync(output, { throwIfNoEntry: false });
  if (there === undefined) await access(dirname(output), constants.W_OK);
  // Do not probe a pipe: opening and closing it would signal the end to its reader.
  else if (there.isFile() || there.isDirectory())
    await (await open(output, constants.O_WRONLY)).close();
}

/** Writes the page. With content, only the owner may read it, even if the file existed with other permissions. */
async function writePage({ output, redact }: ReportArguments, document: string): Promise<void> {
  if (output === STANDARD_STREAM) {
    process.stdout.write(document);
    return;
  }
  const file = await open(output, 'w', redact ? 0o666 : 0o600);
  try {
    if (!redact && (await file.stat()).isFile()) await file.chmod(0o600);
    await file.writeFile(document);
  } finally {
    await file.close();
  }
  const kilobytes = formatCount(Buffer.byteLength(document) / 1000);
  printText(`${printable(output)} written, ${kilobytes} kB\n`);
}
