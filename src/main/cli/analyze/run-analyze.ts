// One run of `analyze`: finds the files, has them analyzed, prints. The only file that touches the
// terminal and the signals of the process while that goes on.

import { resolve } from 'node:path';
import type { AnalyzeArguments } from './analyze-command.js';
import type { AnalysisReport } from './analysis-report.js';
import { sumAnalyses } from './analysis-totals.js';
import { analyzeFiles } from './analyze-sessions.js';
import { findSources } from './analyze-sources.js';
import { EXIT } from '../terminal/exit-codes.js';
import { InterruptedError } from '../terminal/interrupted-error.js';
import { openProgressBar } from '../terminal/progress-bar.js';
import { renderAnalysis } from './render-analysis.js';
import { runExplain } from '../explain/run-explain.js';
import { contentLabel } from '../terminal/content-label.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText } from '../terminal/terminal-text.js';

/**
 * Analyzes a file or folder and prints what came of it; or explains one entry of a file.
 *
 * @returns the exit code
 * @throws InterruptedError on SIGINT; what reading a single file or counting throws.
 */
export async function runAnalyze(path: string, given: AnalyzeArguments): Promise<number> {
  const interruption = new AbortController();
  // Once only: a second SIGINT ends the process at once.
  const onInterrupt = (): void => {
    interruption.abort(new InterruptedError());
  };
  process.once('SIGINT', onInterrupt);
  try {
    if (given.explain !== undefined) {
      return await runExplain(path, given.explain, given, interruption.signal);
    }
    const report = await analyze(path, given, interruption.signal);
    process.stdout.write(
      given.json === true
        ? jsonText(report, contentLabel(given.redact))
        : renderAnalysis(report, terminalLayout()),
    );
    if (report.sessions.length > 0) return EXIT.done;
    console.error('ctxfold: No file of the folder is a session that can be read.');
    return EXIT.transcript;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

async function analyze(
  path: string,
  given: AnalyzeArguments,
  signal: AbortSignal,
): Promise<AnalysisReport> {
  const { isFolder, files } = await findSources(path, signal);
  const isWatched = process.stderr.isTTY && given.json !== true && files.length > 1;
  const progress = isWatched
    ? await openProgressBar(files.length, 'analyzing', 'files')
    : undefined;
  try {
    const { sessions, unread } = await analyzeFiles(files, {
      format: given.format,
      contextLimit: given.contextLimit,
      recencyRetention: given.recency,
      workspaceRoot: given.workspace === undefined ? undefined : resolve(given.workspace),
      threads: given.threads,
      skipsUnreadable: isFolder,
      signal,
      onProgress: progress?.update,
    });
    return {
      reportVersion: 1,
      path,
      isFolder,
      settings: {
        contextLimit: given.contextLimit ?? null,
        recencyRetention: given.recency ?? null,
      },
      sessions,
      totals: sumAnalyses(sessions),
      unread,
    };
  } finally {
    progress?.close();
  }
}
