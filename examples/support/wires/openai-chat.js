// OpenAI's Chat Completions: POST /v1/chat/completions.

import { dataEvent, piecesOf } from './event-stream.js';
import { openaiRefusal } from './openai-refusal.js';

export const openaiChatWire = {
  api: 'openai-chat',
  accepts: (path) => path.endsWith('/chat/completions'),
  streams: (body) => body.stream === true,
  modelOf: ({ model }) => model,
  refusal: (status, message) => openaiRefusal(status, message, 'messages'),
  reply: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: messageOf(turn),
        logprobs: null,
        finish_reason: finishReason(turn),
      },
    ],
    usage: usageOf(turn),
  }),
  events,
};

function envelope({ number, model }, object) {
  return { id: `chatcmpl-scripted-${number}`, object, created: 0, model };
}

function messageOf(turn) {
  const calls = callsOf(turn);
  return {
    role: 'assistant',
    content: turn.text ?? null,
    refusal: null,
    // OpenAI does not return reasoning, but compatible servers use this field.
    ...(turn.reasoning !== undefined && { reasoning_content: turn.reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function callsOf({ number, toolCalls }) {
  return toolCalls.map(({ name, input }, at) => ({
    id: `call_scripted_${number}_${at}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
}

function finishReason({ toolCalls }) {
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}

function usageOf({ inputTokens, outputTokens }) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

function* events(turn) {
  const chunk = (delta, finish_reason = null) =>
    dataEvent({
      ...envelope(turn, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
  yield chunk({ role: 'assistant', content: '' });
  for (const reasoning_content of piecesOf(turn.reasoning ?? ''))
    yield chunk({ reasoning_content });
  for (const content of piecesOf(turn.text ?? '')) yield chunk({ content });
  for (const [index, call] of callsOf(turn).entries()) {
    const { name, arguments: text } = call.function;
    yield chunk({ tool_calls: [{ ...call, index, function: { name, arguments: '' } }] });
    for (const piece of piecesOf(text)) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, finishReason(turn));
  yield dataEvent({
    ...envelope(turn, 'chat.completion.chunk'),
    choices: [],
    usage: usageOf(turn),
  });
  yield 'data: [DONE]\n\n';
}
