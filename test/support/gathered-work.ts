// What is collected of calls that leave: short forms of calls with their results, and the record of them.

import { KNOWN_TOOL_CATALOG } from '../../src/main/formats/known-tools.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { outlineHistory } from '../../src/shared/summarize/history-outline.js';
import { gatherWork, NO_WORK } from '../../src/shared/work/work-record.js';
import type { WorkRecord } from '../../src/shared/work/work-record.js';

export function gather(history: readonly IContent[], earlier: WorkRecord = NO_WORK): WorkRecord {
  const { callOf } = outlineHistory(history);
  const toolCatalog = KNOWN_TOOL_CATALOG;
  return gatherWork({ history, fateOf: () => 'removed', callOf, toolCatalog, earlier });
}

let calls = 0;
export function call(
  tool: string,
  parameters: unknown,
  result: unknown,
  error?: string,
): IContent[] {
  const id = `c${(calls += 1)}`;
  return [
    aiContent([toolCall(id, tool, parameters)]),
    toolContent([toolResponse(id, tool, result, error)]),
  ];
}

export const bash = (command: string, result: unknown, error?: string): IContent[] =>
  call('Bash', { command }, result, error);
export const edit = (path: string, error?: string): IContent[] =>
  call('Edit', { file_path: path, old_string: 'a', new_string: 'b' }, 'done', error);

export function done(...entries: readonly IContent[][]): Record<string, string> {
  return Object.fromEntries(gather(entries.flat()).done);
}

export const OK: object = { output: 'ok', exit_code: 0 };
