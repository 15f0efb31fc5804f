// A history as messages of Anthropic's API: roles alternate, and the results of a message's calls come first in the
// next message.

import { alternatingRuns, resultText, textOf } from './block-text.js';

/** See `anthropic.d.ts`. */
export function anthropicMessages(history) {
  return alternatingRuns(history).map(({ isAssistant, blocks }) => {
    const results = blocks.filter(({ type }) => type === 'tool_response');
    const others = blocks.filter(({ type }) => type !== 'tool_response');
    return {
      role: isAssistant ? 'assistant' : 'user',
      content: [...results, ...others].flatMap(contentBlock),
    };
  });
}

function contentBlock(block) {
  switch (block.type) {
    case 'tool_call':
      return [{ type: 'tool_use', id: block.id, name: block.name, input: block.parameters }];
    case 'tool_response':
      return [
        {
          type: 'tool_result',
          tool_use_id: block.callId,
          content: resultText(block),
          ...(block.error !== undefined && { is_error: true }),
        },
      ];
    case 'thinking':
      return block.signature === undefined
        ? []
        : [{ type: 'thinking', thinking: block.thought, signature: block.signature }];
    case 'media':
      return [{ type: 'image', source: imageSource(block) }];
    default: {
      const text = textOf(block);
      return text === undefined ? [] : [{ type: 'text', text }];
    }
  }
}

function imageSource({ encoding, mimeType, data }) {
  return encoding === 'url'
    ? { type: 'url', url: data }
    : { type: 'base64', media_type: mimeType, data };
}
