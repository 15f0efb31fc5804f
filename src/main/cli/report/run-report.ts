// One run of `report`: plays a file, or those of a folder, and writes the page about it.

import { open } from 'node:fs/promises';
import type { ModelChoice } from '../replay/model-options.js';
import type { ReportArguments } from './report-command.js';
import { readClientAsset, readPageStyle } from './client-asset.js';
import { contentLabel } from '../terminal/content-label.js';
import { renderPage, renderFolderPage } from './render-page.js';
import { createReportPage } from './report-page.js';
import { playFile, tellStop, interruptible } from '../replay/run-replay.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount } from '../terminal/text-layout.js';
import { getCompressionStrategy } from '../../../strategies.js';
import type { EditPolicy } from '../../../index.js';
import { isUnreadable } from '../analyze/analyze-sessions.js';
import { findSources } from '../analyze/analyze-sources.js';
import { EXIT } from '../terminal/exit-codes.js';
import { openProgressBar } from '../terminal/progress-bar.js';
import type { PolicyFigures } from './cache-section.js';
import { folderSession } from './folder-page.js';
import type { FolderSession } from './folder-page.js';
import type { Recording } from '../replay/recording.js';

/**
 * Plays a file or a folder and writes the page.
 *
 * @param model the model that writes summaries, when the strategy asks one
 * @returns the exit code
 * @throws InterruptedError on SIGINT; what reading a single file, playing or writing throws.
 */
export async function runReport(
  path: string,
  given: ReportArguments,
  model: ModelChoice | null,
): Promise<number> {
  // Before anything is played: a page that cannot be made costs no model call.
  const assets = { client: await readClientAsset(), style: await readPageStyle() };
  const label = contentLabel(given.redact);
  return await interruptible(async (signal) => {
    const { isFolder, files } = await findSources(path, signal);
    if (!isFolder) {
      const recording = await playFile(path, given, model, { signal, explains: true });
      const policies = await comparePolicies(path, given, recording, signal);
      const { title, price } = given;
      const page = createReportPage(recording, { label, title, price, policies });
      await writePage(given, renderPage(page, assets));
      return tellStop(recording.report, true);
    }
    const sessions: FolderSession[] = [];
    let unreadFiles = 0;
    for await (const recording of playFiles(files, given, model, signal)) {
      if (recording === null) unreadFiles += 1;
      else sessions.push(folderSession(recording, label, given.price));
    }
    if (sessions.length === 0) {
      console.error('ctxfold: No file of the folder is a session that can be read.');
      return EXIT.transcript;
    }
    const title = given.title ?? label.ofPath(path);
    const { isRedacted } = label;
    const page = { title, isRedacted, sessions, unreadFiles };
    await writePage(given, renderFolderPage(page, assets));
    return EXIT.done;
  });
}

/** Plays one file after the other; `null` stands for one that cannot be read. */
async function* playFiles(
  files: readonly string[],
  given: ReportArguments,
  model: ModelChoice | null,
  signal: AbortSignal,
): AsyncGenerator<Recording | null> {
  const progress = process.stderr.isTTY
    ? await openProgressBar(files.length, 'playing', 'files')
    : undefined;
  try {
    for (const [at, file] of files.entries()) {
      const options = { signal, isQuiet: true, explains: true };
      yield await playFile(file, given, model, options).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!isUnreadable(error)) throw error;
        return null;
      });
      progress?.update(at + 1);
    }
  } finally {
    progress?.close();
  }
}

/** The one that a replay goes by comes first. */
const POLICIES: readonly EditPolicy[] = ['batched', 'every-turn', 'at-birth'];

/** Longer sessions are not played again. */
const MAX_COMPARED_ENTRIES = 3_000;

/** Plays the session once more for each other policy, where that asks no model and takes no long time. */
async function comparePolicies(
  file: string,
  given: ReportArguments,
  { report, requests }: Recording,
  signal: AbortSignal,
): Promise<readonly PolicyFigures[]> {
  const [first, ...others] = POLICIES;
  if (report.entries > MAX_COMPARED_ENTRIES || first === undefined) return [];
  if (getCompressionStrategy(given.strategy).requiresLLM) return [];
  const figures: PolicyFigures[] = [
    { policy: first, requests, tokensAtEnd: report.end.tokens.with },
  ];
  const { removalLog: _, ...quietly } = given;
  for (const policy of others) {
    const played = await playFile(file, { ...quietly, offload: 'inline' }, null, {
      ...{ signal, isQuiet: true },
      session: { edits: policy },
    });
    const tokensAtEnd = played.report.end.tokens.with;
    figures.push({ policy, requests: played.requests, tokensAtEnd });
  }
  return figures;
}

/** Content of a session is for whoever had the page made, also where a file of that name was open to all. */
async function writePage({ output, redact }: ReportArguments, document: string): Promise<void> {
  const file = await open(output, 'w', redact ? 0o666 : 0o600);
  try {
    if (!redact && (await file.stat()).isFile()) await file.chmod(0o600);
    await file.writeFile(document);
  } finally {
    await file.close();
  }
  const kilobytes = formatCount(Buffer.byteLength(document) / 1000);
  process.stdout.write(`${printable(output)} written, ${kilobytes} kB\n`);
}
