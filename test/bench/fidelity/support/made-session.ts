// Sessions for tests of needs: a user, calls of Claude Code's tools and their results.

import { agentPreset } from '../../../../src/index.js';
import type { IContent } from '../../../../src/index.js';
import type { Transcript } from '../../../../src/transcripts.js';

/** A text of the user. */
export function user(text: string): IContent {
  return { speaker: 'human', blocks: [{ type: 'text', text }] };
}

/** A text of the agent. */
export function says(text: string): IContent {
  return { speaker: 'ai', blocks: [{ type: 'text', text }] };
}

/** A call and its result; `error` is set if it failed. */
export function exchange(
  id: string,
  name: string,
  parameters: object,
  result: string,
  error?: string,
): IContent[] {
  const failed = error === undefined ? {} : { error };
  return [
    { speaker: 'ai', blocks: [{ type: 'tool_call', id, name, parameters }] },
    {
      speaker: 'tool',
      blocks: [{ type: 'tool_response', callId: id, toolName: name, result, ...failed }],
    },
  ];
}

/** A command and its output. */
export function shell(id: string, command: string, result: string, error?: string): IContent[] {
  return exchange(id, 'Bash', { command }, result, error);
}

/** The read of a file. */
export function read(id: string, file: string, result: string): IContent[] {
  return exchange(id, 'Read', { file_path: file }, result);
}

/** A transcript of Claude Code with these entries. */
export function transcriptOf(...parts: readonly (IContent | readonly IContent[])[]): Transcript {
  const preset = agentPreset('claude-code');
  return { format: 'claude-code', entries: parts.flat(), warnings: [], preset };
}
