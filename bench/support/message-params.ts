// The benchmarks' histories as messages of the Anthropic API.

import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { ContentBlock, IContent } from '../../src/index.js';
import { check } from './check.js';

/** Converts an entry of a generated history. */
export function toMessageParam({ speaker, blocks }: IContent): MessageParam {
  return { role: speaker === 'ai' ? 'assistant' : 'user', content: blocks.map(toPart) };
}

function toPart(block: ContentBlock): ContentBlockParam {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool_call':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.parameters };
    default:
      check(block.type === 'tool_response', `no message of the API for a ${block.type} block`);
      return {
        type: 'tool_result',
        tool_use_id: block.callId,
        content: [{ type: 'text', text: String(block.result) }],
      };
  }
}
