// The benchmarks' histories as messages of the AI SDK, and back.

import type { ModelMessage } from 'ai';
import type { ContentBlock, IContent } from '../../src/index.js';
import { toolCall, toolResponse } from '../../src/index.js';
import { check } from './check.js';

/** Converts an entry of a generated history. */
export function toModelMessage({ speaker, blocks }: IContent): ModelMessage {
  if (speaker === 'human') return { role: 'user', content: blocks.map(toTextPart) };
  if (speaker === 'ai') {
    return {
      role: 'assistant',
      content: blocks.map((block) =>
        block.type === 'tool_call'
          ? {
              type: 'tool-call',
              toolCallId: block.id,
              toolName: block.name,
              input: block.parameters,
            }
          : toTextPart(block),
      ),
    };
  }
  return {
    role: 'tool',
    content: blocks.map((block) => {
      check(block.type === 'tool_response', `a ${block.type} block in a tool entry`);
      return {
        type: 'tool-result',
        toolCallId: block.callId,
        toolName: block.toolName,
        output: { type: 'text', value: String(block.result) },
      };
    }),
  };
}

function toTextPart(block: ContentBlock): { type: 'text'; text: string } {
  check(block.type === 'text', `no message of the AI SDK for a ${block.type} block`);
  return { type: 'text', text: block.text };
}

const SPEAKERS = { user: 'human', assistant: 'ai', tool: 'tool' } as const;

/** Converts such a message back. */
export function toEntry({ role, content }: ModelMessage): IContent {
  check(role !== 'system' && typeof content !== 'string', `no entry for a ${role} message`);
  return { speaker: SPEAKERS[role], blocks: content.map(toBlock) };
}

type ModelPart = Exclude<ModelMessage['content'], string>[number];

function toBlock(part: ModelPart): ContentBlock {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'tool-call') return toolCall(part.toolCallId, part.toolName, part.input);
  check(part.type === 'tool-result' && part.output.type === 'text', `no block for ${part.type}`);
  return toolResponse(part.toolCallId, part.toolName, part.output.value);
}
