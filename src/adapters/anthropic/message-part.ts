// Parts of messages of Anthropic's Messages API, of which only `type` is checked.

import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta/messages';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { programsIn } from '../format/pinned-calls.js';
import type { CallsInMessage } from '../format/pinned-calls.js';
import { isCompactionPart } from '../format/provider-compaction.js';

/** A message of `client.messages` or of `client.beta.messages`. */
export type AnthropicMessage = MessageParam | BetaMessageParam;

/** A content block of any type. */
export interface MessagePart {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function isMessagePart(value: unknown): value is MessagePart {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** Whether a part is reasoning, readable or redacted. */
export function isReasoning({ type }: MessagePart): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** Returns the calls in a message. The message is bound if it has a failed compaction, a list of tools, or a change of such a list. */
export function callsIn(parts: readonly MessagePart[]): CallsInMessage {
  const calls: string[] = [];
  const serverCalls: string[] = [];
  const answered: string[] = [];
  const programs: unknown[] = [];
  for (const part of parts) {
    const { type, id } = part;
    if (type === 'tool_use') programs.push(...programsIn(part['caller']));
    if (typeof id === 'string' && type.endsWith('tool_use'))
      (type === 'tool_use' ? calls : serverCalls).push(id);
    if (typeof part['tool_use_id'] === 'string') answered.push(part['tool_use_id']);
  }
  return { calls, serverCalls, answered, programs, staysPinned: parts.some(isAlwaysPinned) };
}

function isAlwaysPinned(part: MessagePart): boolean {
  return ALWAYS_PINNED_TYPES.has(part.type) && !isCompactionPart(part);
}

const ALWAYS_PINNED_TYPES: ReadonlySet<string> = new Set([
  'compaction',
  'mcp_tool_listing',
  'tool_addition',
  'tool_removal',
]);

/** Whether a part is an image, or a document without inline text. */
export function isFile({ type, source }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'image') return true;
  if (type !== 'document' || !isRecord(source)) return false;
  return source['type'] !== 'text' && source['type'] !== 'content';
}

/** Returns the media type of a file, by which its tokens are estimated; `undefined` for any other part. */
export function fileType(part: JsonRecord): string | undefined {
  if (!isFile(part)) return undefined;
  return part['type'] === 'image' ? 'image/*' : 'application/octet-stream';
}
