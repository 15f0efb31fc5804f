// A history as input items of OpenAI's Responses: every call and every output is a separate item.

import { resultText, textOf } from './block-text.js';

/** See `openai-responses.d.ts`. */
export function responseItems(history) {
  return history.flatMap(({ speaker, blocks }) =>
    blocks.flatMap((block) => {
      switch (block.type) {
        case 'tool_call':
          return [
            {
              type: 'function_call',
              call_id: block.id,
              name: block.name,
              arguments: JSON.stringify(block.parameters),
            },
          ];
        case 'tool_response':
          return [
            { type: 'function_call_output', call_id: block.callId, output: resultText(block) },
          ];
        default: {
          const content = textOf(block);
          if (content === undefined) return [];
          return [{ role: speaker === 'ai' ? 'assistant' : 'user', content }];
        }
      }
    }),
  );
}
