// Makes pages about made-up sessions as the command `report` makes them about recorded ones.

import {
  agentPreset,
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/index.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import type { IContent } from '../../src/index.js';
import type { WorkingSetRules } from '../../src/density.js';
import type { Transcript } from '../../src/transcripts.js';
import { readClientAsset, readPageStyle } from '../../src/main/cli/report/client-asset.js';
import { createRedactedLabel, PLAIN_LABEL } from '../../src/main/cli/terminal/content-label.js';
import { renderPage } from '../../src/main/cli/report/render-page.js';
import { createReportPage } from '../../src/main/cli/report/report-page.js';
import { SessionRecorder } from '../../src/main/cli/report/session-recorder.js';
import type { Recording } from '../../src/main/cli/report/session-recorder.js';
import type { ReplayReport } from '../../src/main/cli/replay/replay-report.js';
import { replaySession } from '../../src/main/cli/replay/replay-session.js';
import type { ReplayOptions } from '../../src/main/cli/replay/replay-session.js';

const OPTIONS: ReplayOptions = {
  contextLimit: 200_000,
  offload: 'inline',
  strategy: 'high-density',
};

/** A session of entries, recorded by Claude Code. */
export function transcriptOf(
  entries: readonly IContent[],
  workingSet: WorkingSetRules = DEFAULT_WORKING_SET,
): Transcript {
  const format = 'claude-code';
  const preset = { ...agentPreset(format), workingSet };
  return { format, workspaceRoot: '/w', entries, warnings: [], preset };
}

/** A call and its response. */
export function step(id: string, tool: string, parameters: object, result: string): IContent[] {
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, result)]),
  ];
}

/** A session of so many model calls, in which files are read, written and read again. */
export function longSession(modelCalls: number): IContent[] {
  const tools = ['Read', 'Write', 'Bash'];
  const steps = Array.from({ length: modelCalls - 1 }, (_, at) => {
    const tool = tools[at % tools.length] ?? 'Read';
    const file = `/w/src/secret-part-${Math.floor(at / 6) % 40}.ts`;
    const parameters = tool === 'Bash' ? { command: `grep secret ${at}` } : { file_path: file };
    const id = `toolu_01${String(at).padStart(22, '0')}`;
    return step(id, tool, parameters, `secret line ${at} <of> "a" file\n`.repeat(at % 60));
  });
  return [humanText('fix the secret'), ...steps.flat(), aiContent('finished')];
}

/** How to play a session. */
export type RecordOptions = Partial<ReplayOptions> & { readonly workingSet?: WorkingSetRules };

/** Plays a session, and records it. */
export async function record(
  entries: readonly IContent[],
  { workingSet, ...options }: RecordOptions = {},
): Promise<{ readonly replay: ReplayReport; readonly recording: Recording }> {
  const transcript = transcriptOf(entries, workingSet);
  const observer = new SessionRecorder(transcript.preset.toolCatalog);
  const file = '/home/secret/session.jsonl';
  const replay = await replaySession(file, transcript, { ...OPTIONS, ...options, observer });
  return { replay, recording: observer.recording };
}

/** Plays a session, and makes the page about it. */
export async function documentOf(
  entries: readonly IContent[],
  options: RecordOptions & { readonly isRedacted?: boolean } = {},
): Promise<string> {
  const { isRedacted = true, ...given } = options;
  const { replay, recording } = await record(entries, given);
  const label = isRedacted ? createRedactedLabel(Buffer.from('key')) : PLAIN_LABEL;
  const page = createReportPage(replay, recording, label, undefined);
  return renderPage(page, { client: await readClientAsset(), style: await readPageStyle() });
}
