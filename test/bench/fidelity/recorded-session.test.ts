// The edits of a session that are measured.

import { describe, expect, it } from 'vitest';
import { editsOf } from '../../../bench/fidelity/needs/edits.js';
import { agentPreset } from '../../../src/index.js';
import type { IContent } from '../../../src/index.js';
import type { TranscriptFormat } from '../../../src/transcripts.js';
import { gapsOf } from '../../../bench/fidelity/gaps.js';
import { recordContexts } from '../../../bench/fidelity/recorded-session.js';
import { exchange, read, says, transcriptOf, user } from './support/made-session.js';

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

  it('includes edits by shell commands if the agent has no other editor', () => {
    expect(edited('mini-swe-agent', 'bash', sed)).toEqual(['some old text']);
    expect(edited('claude-code', 'Bash', sed)).toEqual([]);
  });

  it('includes edits of numbered lines, with the text of the window before them', () => {
    const edit = { command: 'edit 1:1\nnew\nend_of_edit' };
    expect(edited('swe-agent', 'edit', { command: 'open a.py' }, edit)).toEqual(['first line']);
    expect(edited('swe-agent', 'edit', edit)).toEqual([]);
  });
});

describe('recordContexts', () => {
  const source = read('read', 'a.ts', 'const first = 1;');
  const edit = exchange(
    'edit',
    'Edit',
    { file_path: 'a.ts', old_string: 'const first = 1;' },
    'ok',
  );
  const summary: IContent = { ...user('So far: a.ts was read.'), metadata: { isSummary: true } };

  it('starts a new context where the agent compacted', () => {
    const transcript = transcriptOf(user('Go.'), source, summary, edit, says('Done.'));
    const [before, after, ...others] = recordContexts('made', transcript);
    expect([before?.source, after?.source, others]).toEqual(['made', 'made', []]);
    expect(before?.transcript.entries).toEqual(transcript.entries.slice(0, 3));
    expect(after?.transcript.entries).toEqual(transcript.entries.slice(3));
    // Reads before the summary are not in the context, whatever a policy keeps.
    expect([after?.edits, after?.unseenEdits]).toEqual([[], 1]);
  });

  it('has one context if the agent did not compact, and for a session that begins with a summary', () => {
    expect(recordContexts('made', transcriptOf(user('Go.'), source, edit))).toHaveLength(1);
    const [only, ...others] = recordContexts('made', transcriptOf(summary, source, edit));
    expect([only?.edits.length, others]).toEqual([1, []]);
  });
});

describe('gapsOf', () => {
  it("treats the time of a request's last entry as the time of the request", () => {
    const at = (entry: IContent, timestamp?: number): IContent => {
      return timestamp === undefined ? entry : { ...entry, metadata: { timestamp } };
    };
    const entries = [
      at(user('a'), 100),
      at(says('b'), 160),
      at(user('c'), 400),
      at(says('d'), 900),
    ];
    expect(gapsOf(entries)).toEqual([0, 300]);
    expect(
      gapsOf([...entries, at(user('e')), at(says('f')), at(user('g'), 350), says('h')]),
    ).toEqual([0, 300, 0, 0]);
  });
});
