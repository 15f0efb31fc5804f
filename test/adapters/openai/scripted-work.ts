// The script of a model in tests with real SDKs: it reads and changes the files of a small workspace repeatedly,
// sometimes several at once, with reasoning and texts in between.

import { onTestFinished } from 'vitest';
import { fileTools } from '../../../examples/support/file-tools.js';
import type { FileTool } from '../../../examples/support/file-tools.js';
import type { ScriptedStep } from '../../../examples/support/scripted-provider.js';
import { makeTemporaryWorkspace } from '../../../examples/support/temporary-workspace.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';

const FILES = ['src/cart.js', 'src/price.js', 'README.md'];

/** The model's summary of the job. */
export const SUMMARY = 'A shop is being tidied.';

/** Options per strategy with a window that the job exceeds, and a summarizer if the strategy uses one. */
export const TIGHT_COMPACTORS: readonly (readonly [string, CompactorOptions])[] = [
  ...(['high-density', 'top-down-truncation'] as const).map(tight),
  ...(['middle-out', 'one-shot'] as const).map((strategy) => {
    const [name, options] = tight(strategy);
    return [name, { ...options, summarizer: scriptedSummarizer(snapshot(SUMMARY)) }] as const;
  }),
];

function tight(
  strategy: NonNullable<EphemeralSettings['compression.strategy']>,
): readonly [string, CompactorOptions] {
  return [strategy, { contextLimit: 1_500, settings: { 'compression.strategy': strategy } }];
}

/** The steps of a job with that many answers, the last one without calls. */
export function scriptedWork(answers: number): readonly ScriptedStep[] {
  return Array.from({ length: answers }, (_, at): ScriptedStep => {
    if (at === answers - 1) return { text: 'All done.' };
    const path = FILES[at % FILES.length]!;
    const read = { name: 'read_file', input: { file_path: path } };
    const write = { name: 'write_file', input: { file_path: path, content: `${path} ${at}\n` } };
    const list = { name: 'list_directory', input: { path: '.' } };
    const missing = { name: 'read_file', input: { file_path: 'nowhere.ts' } };
    return {
      ...(at % 2 === 0 && { reasoning: `I think about ${path}.` }),
      ...(at % 3 === 0 && { text: `Now ${path}.` }),
      toolCalls: [[read], [write, list], [read, missing], [write]][at % 4]!,
    };
  });
}

/** The tools of a workspace that is deleted after the test. */
export async function workspaceTools(): Promise<readonly FileTool[]> {
  const workspace = await makeTemporaryWorkspace();
  onTestFinished(() => workspace.remove());
  return fileTools(workspace.root);
}

/** Runs a tool; returns a thrown error as its answer. */
export async function runTool(
  tools: readonly FileTool[],
  name: string,
  input: string,
): Promise<string> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) return `Error: there is no tool ${name}.`;
  return tool
    .run(JSON.parse(input) as Record<string, string>)
    .catch((error: unknown) => String(error));
}
