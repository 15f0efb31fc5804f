// Runs `analyze`: finds the files, analyzes them, prints the result.

import { runExplain } from '../explain/run-explain.js';
import type { ReplaySetup } from '../replay/replay-session.js';
import { exitCodeOfFolder } from '../replay/run-replay.js';
import { findSessionFiles } from '../replay/session-files.js';
import { contentLabel } from '../terminal/content-label.js';
import { EXIT } from '../terminal/exit-codes.js';
import { interruptible } from '../terminal/interruptible.js';
import { openProgress } from '../terminal/progress-bar.js';
import { printMessage, printText } from '../terminal/print.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText, printable } from '../terminal/terminal-text.js';
import type { AnalyzeArguments } from './analyze-command.js';
import type { AnalysisReport } from './analysis-report.js';
import { sumAnalyses } from './analysis-totals.js';
import { analyzeFiles } from './analyze-sessions.js';
import { renderAnalysis } from './render-analysis.js';
import { renderSuggestion } from './suggestion.js';

/**
 * Analyzes a file or folder and prints the result, or explains one entry of a file.
 *
 * @returns the exit code
 * @throws InterruptedError on SIGINT; errors of reading a single file and of playing.
 */
export function runAnalyze(path: string, given: AnalyzeArguments): Promise<number> {
  return interruptible(async (signal) => {
    const { explain } = given;
    if (explain !== undefined) return runExplain(path, explain, given, setupOf(given), signal);
    const report = await analyze(path, given, signal);
    const layout = terminalLayout();
    if (given.json === true) process.stdout.write(jsonText(report, contentLabel(given.redact)));
    else if (given.suggest !== true) printText(renderAnalysis(report, layout));
    else printText(renderSuggestion(report, layout.width, given.workspace));
    const stop = report.isFolder ? null : (report.sessions[0]?.stop ?? null);
    if (stop === null) return exitCodeOfFolder(report.sessions);
    // The figures on a terminal already show the reason.
    if (given.json === true || given.suggest === true || !process.stdout.isTTY)
      printMessage(printable(stop));
    // No model is asked here, so only the window can stop it.
    return EXIT.windowExceeded;
  });
}

/** Returns how sessions are played, for analyses and explanations alike. */
function setupOf(given: AnalyzeArguments): ReplaySetup {
  return {
    contextLimit: given.contextLimit,
    offload: 'auto',
    strategy: 'high-density',
    recencyRetention: given.recency,
    workspaceRoot: given.workspace,
    threads: given.threads,
    price: given.price,
  };
}

async function analyze(
  path: string,
  given: AnalyzeArguments,
  signal: AbortSignal,
): Promise<AnalysisReport> {
  const progress = await openProgress(given.json === true);
  try {
    const { isFolder, files } = await findSessionFiles(path, signal);
    const { sessions, unread } = await analyzeFiles(files, {
      ...setupOf(given),
      format: given.format,
      skipsUnreadable: isFolder,
      signal,
      progress,
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
    progress.close();
  }
}
