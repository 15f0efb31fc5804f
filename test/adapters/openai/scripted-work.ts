// What a scripted model does in the tests that run SDKs: it reads and changes the files of a small
// workspace over and over, now and then several at once, with reasoning and words between.

import { onTestFinished } from 'vitest';
import { fileTools } from '../../../examples/support/file-tools.js';
import type { FileTool } from '../../../examples/support/file-tools.js';
import type { ScriptedStep } from '../../../examples/support/scripted-provider.js';
import { makeTemporaryWorkspace } from '../../../examples/support/temporary-workspace.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';

const FILES = ['src/cart.js', 'src/price.js', 'README.md'];

/** What a model sums the job up with. */
export const SUMMARY = 'A shop is being tidied.';

/** By strategy, compactors whose window the job is too long for; those with a summarizer use it. */
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

/** The steps of a job with as many answers; the last of them calls nothing. */
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

/** The tools of a workspace that goes with the test. */
export async function workspaceTools(): Promise<readonly FileTool[]> {
  const workspace = await makeTemporaryWorkspace();
  onTestFinished(() => workspace.remove());
  return fileTools(workspace.root);
}

/** Runs a tool; what it throws becomes what it answers. */
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
