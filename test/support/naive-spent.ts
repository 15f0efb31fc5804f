// A second implementation of which argument texts of a write are spent, for the tools of random histories. Shares no code
// with src/shared/density/.

import type { ToolCallBlock } from '../../src/shared/content.js';

const LEFT_OUT: Readonly<Record<string, string>> = {
  replaced: '[left out: what this edit has replaced]',
  content: '[left out: written or read again since]',
};
const LONG = 160;

/** Their approximate tokens; 0 for a tool that does not write what its arguments suggest. */
export function naiveSpendable(call: ToolCallBlock): number {
  const texts = textsOf(call.parameters);
  const note = LEFT_OUT[texts.kind] ?? '';
  const isWhole = call.name === 'write_file';
  if (isWhole !== (texts.kind === 'content')) return 0;
  const length = texts.list.reduce((sum, text) => sum + text.length - note.length, 0);
  return Math.ceil(length / 4);
}

/** The call without them. */
export function naivelyShortened(call: ToolCallBlock): ToolCallBlock {
  let json = JSON.stringify(call.parameters);
  const { kind, list } = textsOf(call.parameters);
  for (const text of list) {
    json = json.replace(JSON.stringify(text).slice(1, -1), () => LEFT_OUT[kind] ?? '');
  }
  return { ...call, parameters: JSON.parse(json) as unknown };
}

function textsOf(parameters: unknown): { readonly kind: string; readonly list: readonly string[] } {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    return { kind: 'content', list: [] };
  }
  const values = parameters as Readonly<Record<string, unknown>>;
  const { old_string: old, edits, content, patch } = values;
  const isPatch = typeof patch === 'string' && patch.includes('*** Begin Patch');
  if (old === undefined && !('edits' in values) && !isPatch) {
    return { kind: 'content', list: longOnes([content]) };
  }
  const listed = Array.isArray(edits)
    ? edits.map((edit: Readonly<Record<string, unknown>> | null) => edit?.['old_string'])
    : [];
  const runs = isPatch && patch.length >= LONG ? runsOf(patch) : [];
  return { kind: 'replaced', list: [...longOnes([old]), ...longOnes(listed), ...runs] };
}

/** Runs of consecutive lines that a patch removes, without the leading sign and the last line break. */
function runsOf(patch: string): readonly string[] {
  const runs: string[] = [];
  let run = '';
  for (const line of patch.split(/(?<=\n)/)) {
    if (line.startsWith('-') && line.endsWith('\n')) run += line;
    else {
      if (run.length >= LONG) runs.push(run.slice(1, -1));
      run = '';
    }
  }
  if (run.length >= LONG) runs.push(run.slice(1, -1));
  return runs;
}

function longOnes(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) =>
    typeof value === 'string' && value.length >= LONG ? value : [],
  );
}
