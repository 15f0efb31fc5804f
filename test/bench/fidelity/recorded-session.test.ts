// Which edits of a session are looked at.

import { describe, expect, it } from 'vitest';
import { editsOf } from '../../../bench/fidelity/needs/edits.js';
import { agentPreset } from '../../../src/index.js';
import type { IContent, TranscriptFormat } from '../../../src/index.js';

function edited(
  format: TranscriptFormat,
  name: string,
  ...parameters: readonly object[]
): string[] {
  const entries = parameters.flatMap((each, at): IContent[] => {
    const id = `${at}`;
    const result = '[File: a.py (1 lines total)]\n1:first line';
    return [
      { speaker: 'ai', blocks: [{ type: 'tool_call', id, name, parameters: each }] },
      { speaker: 'tool', blocks: [{ type: 'tool_response', callId: id, toolName: name, result }] },
    ];
  });
  const preset = agentPreset(format);
  return editsOf({ format, entries, warnings: [], preset }).flatMap(({ lines }) => lines);
}

describe('editsOf', () => {
  const sed = { command: `sed -i 's/some old text/new/' a.py` };

  it('takes the edits of a shell where the agent has no other editor', () => {
    expect(edited('mini-swe-agent', 'bash', sed)).toEqual(['some old text']);
    expect(edited('claude-code', 'Bash', sed)).toEqual([]);
  });

  it('takes edits by number from the window before them', () => {
    const edit = { command: 'edit 1:1\nnew\nend_of_edit' };
    expect(edited('swe-agent', 'edit', { command: 'open a.py' }, edit)).toEqual(['first line']);
    expect(edited('swe-agent', 'edit', edit)).toEqual([]);
  });
});
