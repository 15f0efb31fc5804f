// A history as messages of OpenAI's Chat Completions: one message per result, without reasoning.

import { resultText, textsOf } from './block-text.js';

/** See `openai-chat.d.ts`. */
export function chatMessages(history) {
  return history.flatMap((entry) => {
    const texts = textsOf(entry);
    const content = texts.join('\n\n');
    if (entry.speaker === 'ai') {
      const calls = entry.blocks.filter(({ type }) => type === 'tool_call').map(toolCall);
      return [
        {
          role: 'assistant',
          content: texts.length === 0 ? null : content,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      ];
    }
    const results = entry.blocks
      .filter(({ type }) => type === 'tool_response')
      .map((block) => ({ role: 'tool', tool_call_id: block.callId, content: resultText(block) }));
    return texts.length === 0 ? results : [...results, { role: 'user', content }];
  });
}

function toolCall({ id, name, parameters }) {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(parameters) } };
}
