// A history as contents of Gemini's API: roles alternate, and a content with calls is followed by as many responses.

import { alternatingRuns, resultText, textOf } from './block-text.js';

/** See `gemini.d.ts`. */
export function geminiContents(history, { ids = false } = {}) {
  return alternatingRuns(history).map(({ isAssistant, blocks }) => {
    const results = blocks.filter(({ type }) => type === 'tool_response');
    const others = blocks.filter(({ type }) => type !== 'tool_response');
    return {
      role: isAssistant ? 'model' : 'user',
      parts: [...results, ...others].flatMap((block) => part(block, ids)),
    };
  });
}

function part(block, ids) {
  switch (block.type) {
    case 'tool_call':
      return [
        {
          functionCall: { ...(ids && { id: block.id }), name: block.name, args: block.parameters },
        },
      ];
    case 'tool_response': {
      const { callId, toolName, error } = block;
      const response = { [error === undefined ? 'output' : 'error']: resultText(block) };
      return [{ functionResponse: { ...(ids && { id: callId }), name: toolName, response } }];
    }
    default: {
      const text = textOf(block);
      return text === undefined ? [] : [{ text }];
    }
  }
}
