// Makes the pages of `report` for synthetic sessions.

import {
  agentPreset,
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/index.js';
import type { IContent } from '../../src/index.js';
import type { WorkingSetRules } from '../../src/density.js';
import type { Transcript } from '../../src/transcripts.js';
import { readPageAssets } from '../../src/cli/report/page-document.js';
import { createRedactedLabel, PLAIN_LABEL } from '../../src/cli/terminal/content-label.js';
import { renderPage, renderFolderPage } from '../../src/cli/report/render-page.js';
import { createReportPage } from '../../src/cli/report/report-page.js';
import type { Recording } from '../../src/cli/replay/recording.js';
import { replaySession } from '../../src/cli/replay/replay-session.js';
import type { ReplayOptions } from '../../src/cli/replay/replay-session.js';
import { folderSession } from '../../src/cli/report/folder-page.js';

const OPTIONS: ReplayOptions = {
  contextLimit: 200_000,
  offload: 'inline',
  strategy: 'high-density',
};

/** A transcript of entries, as recorded by Claude Code. */
export function transcriptOf(entries: readonly IContent[]): Transcript {
  const format = 'claude-code';
  return { format, workspaceRoot: '/w', entries, warnings: [], preset: agentPreset(format) };
}

/** A call and its response. */
export function step(id: string, tool: string, parameters: object, result: string): IContent[] {
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, result)]),
  ];
}

/** A session with that many model calls, in which files are read, written and read again. */
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
export type RecordOptions = Partial<ReplayOptions> & {
  readonly workingSet?: WorkingSetRules;
  readonly contextStarts?: readonly number[];
};

/** Plays a session with immediate edits, and records it. */
export function record(
  entries: readonly IContent[],
  { workingSet, contextStarts = [], ...options }: RecordOptions = {},
): Promise<Recording> {
  const file = '/home/secret/session.jsonl';
  const session: ReplayOptions['session'] = {
    edits: 'every-turn',
    // Otherwise results with equal lines would be shrunk before they leave.
    density: { shrink: 'off', ...(workingSet !== undefined && { workingSet }) },
  };
  const given = { ...OPTIONS, explains: true, session, ...options };
  return replaySession(file, { ...transcriptOf(entries), contextStarts }, given);
}

/** How to make a page. */
export type DocumentOptions = RecordOptions & { readonly isRedacted?: boolean };

const LABELS = { true: createRedactedLabel(Buffer.from('key')), false: PLAIN_LABEL };

/** Plays a session and makes its page. */
export async function documentOf(
  entries: readonly IContent[],
  { isRedacted = true, ...given }: DocumentOptions = {},
): Promise<string> {
  const recording = await record(entries, given);
  const { report } = recording;
  const policies = (['every-turn', 'batched'] as const).map((policy) => ({ policy, report }));
  const page = createReportPage(recording, LABELS[`${isRedacted}`], policies, given);
  return renderPage(page, await readPageAssets());
}

/** Plays sessions and makes the page of a folder of them. */
export async function folderDocumentOf(
  sessions: readonly (readonly IContent[])[],
  { isRedacted = true, ...given }: DocumentOptions = {},
): Promise<string> {
  const label = LABELS[`${isRedacted}`];
  const recordings = await Promise.all(sessions.map((entries) => record(entries, given)));
  const page = {
    title: label.ofPath('/home/secret'),
    isRedacted,
    sessions: recordings.map((recording) => folderSession(recording, label, '/home/secret')),
    unreadFiles: 1,
  };
  return renderFolderPage(page, await readPageAssets());
}
