// Recorded sessions as API messages, for tests that play them through adapters.

import { readTranscript } from '../../src/transcripts.js';
import type { IContent } from '../../src/shared/content.js';

const FIXTURES = 'test/fixtures/transcripts';

export type Json = Readonly<Record<string, unknown>>;

/** The first entries of a recording in the fixtures, prepared by `entriesWithTurns`. */
export function recordedEntries(file: string, limit?: number): Promise<readonly IContent[]> {
  return entriesWithTurns(`${FIXTURES}/${file}`, limit);
}

/** The first entries of a recording, with a user message after every tenth result, so that turns end. */
export async function entriesWithTurns(
  file: string,
  limit: number = Infinity,
): Promise<readonly IContent[]> {
  const { entries } = await readTranscript(file);
  return entries
    .slice(0, limit)
    .flatMap((entry, at) =>
      entry.speaker === 'tool' && at % 10 === 9
        ? [entry, { speaker: 'human', blocks: [{ type: 'text', text: `Go on, ${at}.` }] } as const]
        : [entry],
    );
}

/** The content of a Messages API message. */
export function claudeBlocks({ blocks }: IContent): Json[] {
  return blocks.flatMap((block): Json[] => {
    if (block.type === 'text' && block.text.trim() !== '')
      return [{ type: 'text', text: block.text }];
    if (block.type === 'tool_call') {
      const { id, name, parameters } = block;
      return [{ type: 'tool_use', id, name, input: parameters }];
    }
    if (block.type !== 'tool_response') return [];
    return [{ type: 'tool_result', tool_use_id: block.callId, content: textOf(block.result) }];
  });
}

/** Items of the Responses API. */
export function responseItems(entries: readonly IContent[]): Json[] {
  return entries.flatMap(({ speaker, blocks }) => {
    const role = speaker === 'ai' ? 'assistant' : 'user';
    return blocks.flatMap((block): Json[] => {
      if (block.type === 'text') return [{ type: 'message', role, content: block.text }];
      if (block.type === 'tool_call') {
        const { id, name, parameters } = block;
        const call = { call_id: id, name, arguments: JSON.stringify(parameters) };
        return [{ type: 'function_call', ...call }];
      }
      if (block.type !== 'tool_response') return [];
      const output = textOf(block.result);
      return [{ type: 'function_call_output', call_id: block.callId, output }];
    });
  });
}

function textOf(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result);
}
