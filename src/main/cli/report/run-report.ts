// One run of `report`: plays a file, and writes the page about it.

import { open } from 'node:fs/promises';
import type { ModelChoice } from '../replay/model-options.js';
import type { ReportArguments } from './report-command.js';
import { readClientAsset, readPageStyle } from './client-asset.js';
import { contentLabel } from '../terminal/content-label.js';
import { renderPage } from './render-page.js';
import { createReportPage } from './report-page.js';
import { SessionRecorder } from './session-recorder.js';
import { playFile, tellStop } from '../replay/run-replay.js';
import { printable } from '../terminal/terminal-text.js';
import { formatCount } from '../terminal/text-layout.js';

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
  const label = contentLabel(given.redact);
  const page = createReportPage(replay, recorder.recording, label, given.title);
  const document = renderPage(page, assets);
  await writePage(given.output, document, label.isRedacted);
  const kilobytes = formatCount(Buffer.byteLength(document) / 1000);
  process.stdout.write(`${printable(given.output)} written, ${kilobytes} kB\n`);
  return tellStop(replay, true);
}

/** Content of a session is for whoever had the page made, also where a file of that name was open to all. */
async function writePage(path: string, document: string, isRedacted: boolean): Promise<void> {
  const file = await open(path, 'w', isRedacted ? 0o666 : 0o600);
  try {
    if (!isRedacted && (await file.stat()).isFile()) await file.chmod(0o600);
    await file.writeFile(document);
  } finally {
    await file.close();
  }
}
