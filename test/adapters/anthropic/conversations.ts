// Conversations for tests: an agent reads a file, writes it, and continues.

import type { MessageParam, ToolUseBlockParam } from '@anthropic-ai/sdk/resources/messages';

/** A text of some hundred tokens that differs for each name. */
export function longText(name: string): string {
  return `${name}: `.concat('const answer = 42; '.repeat(60));
}

export interface CallOptions {
  /** Reasoning in front of the call. */
  readonly thinking?: string;
}

/** A call and its answer. */
export function exchange(
  id: string,
  name: 'read_file' | 'write_file' | 'search',
  path: string,
  { thinking }: CallOptions = {},
): MessageParam[] {
  const use: ToolUseBlockParam = { type: 'tool_use', id, name, input: { file_path: path } };
  return [
    {
      role: 'assistant',
      content:
        thinking === undefined
          ? [use]
          : [{ type: 'thinking', thinking, signature: `sig_${id}` }, use],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: longText(`${name} ${id}`) }],
    },
  ];
}

/** A user message. */
export function ask(content: string): MessageParam {
  return { role: 'user', content };
}

/** An assistant message. */
export function say(content: string): MessageParam {
  return { role: 'assistant', content };
}

/** A conversation in which the first read is stale: its two messages are removed, five are left. */
export function staleRead(options: CallOptions = {}): MessageParam[] {
  return [
    ask('Fix a.ts.'),
    ...exchange('toolu_1', 'read_file', 'a.ts', options),
    ...exchange('toolu_2', 'write_file', 'a.ts', options),
    ...exchange('toolu_3', 'search', 'b.ts', options),
  ];
}
