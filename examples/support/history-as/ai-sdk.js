// A history as the model messages of the AI SDK.

import { resultText, textOf } from './block-text.js';

/** See `ai-sdk.d.ts`. */
export function modelMessages(history) {
  return history.map(({ speaker, blocks }) => ({
    role: ROLES[speaker],
    content: blocks.flatMap(part),
  }));
}

const ROLES = { human: 'user', ai: 'assistant', tool: 'tool' };

function part(block) {
  switch (block.type) {
    case 'tool_call':
      return [
        {
          type: 'tool-call',
          toolCallId: block.id,
          toolName: block.name,
          input: block.parameters,
        },
      ];
    case 'tool_response':
      return [
        {
          type: 'tool-result',
          toolCallId: block.callId,
          toolName: block.toolName,
          output: {
            type: block.error === undefined ? 'text' : 'error-text',
            value: resultText(block),
          },
        },
      ];
    case 'thinking':
      return block.signature === undefined
        ? []
        : [
            {
              type: 'reasoning',
              text: block.thought,
              providerOptions: { anthropic: { signature: block.signature } },
            },
          ];
    default: {
      const text = textOf(block);
      return text === undefined ? [] : [{ type: 'text', text }];
    }
  }
}
