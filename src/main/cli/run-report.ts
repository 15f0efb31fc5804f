// One run of `report`: plays a file, and writes the page about it.

import { writeFile } from 'node:fs/promises';
import type { ModelChoice } from './model-options.js';
import type { ReportArguments } from './report-command.js';
import { readClientAsset, readPageStyle } from './report/client-asset.js';
import { createRedactedLabel, PLAIN_LABEL } from './report/content-label.js';
import { renderPage } from './report/render-page.js';
import { createReportPage } from './report/report-page.js';
import { SessionRecorder } from './report/session-recorder.js';
import { playFile, tellStop } from './run-replay.js';
import { formatCount, printable } from './text-layout.js';

/**
 * Plays a file and writes the page.
 *
 * @param model the model that writes summaries, when the strategy asks one
 * @returns the exit code
 * @throws InterruptedError on SIGINT; what reading, playing or writing throws.
 */
export async function runReport(
  file: string,
  given: ReportArguments,
  model: ModelChoice | null,
): Promise<number> {
  // Before the session is played: a page that cannot be made costs no model call.
  const assets = { client: await readClientAsset(), style: await readPageStyle() };
  let recorder: SessionRecorder | undefined;
  const replay = await playFile(file, given, model, {
    isQuiet: false,
    observe: (transcript) => (recorder = new SessionRecorder(transcript.preset.toolCatalog)),
  });
  if (recorder === undefined) return tellStop(replay, true);
  const label = given.redact ? createRedactedLabel() : PLAIN_LABEL;
  const page = createReportPage(replay, recorder.recording, label, given.title);
  const document = renderPage(page, assets);
  await writeFile(given.output, document);
  const kilobytes = formatCount(Buffer.byteLength(document) / 1000);
  process.stdout.write(`${printable(given.output)} written, ${kilobytes} kB\n`);
  return tellStop(replay, true);
}
