// Anthropic's Messages API: POST /v1/messages.

import { namedEvent, piecesOf } from './event-stream.js';

export const anthropicWire = {
  api: 'anthropic',
  accepts: (path) => path.endsWith('/messages'),
  streams: (body) => body.stream === true,
  modelOf: ({ model }) => model,
  refusal,
  reply: (turn) => ({
    ...envelope(turn),
    content: contentOf(turn),
    stop_reason: stopReason(turn),
    usage: usageOf(turn, turn.outputTokens),
  }),
  events,
};

const ERROR_TYPES = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function refusal(status, message) {
  const type = ERROR_TYPES[status] ?? 'api_error';
  return { type: 'error', error: { type, message }, request_id: 'req_scripted' };
}

function envelope({ number, model }) {
  return {
    id: `msg_scripted_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function contentOf({ number, reasoning, text, toolCalls }) {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reasoning, signature: `sig_scripted_${number}` }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...toolCalls.map(({ name, input }, at) => ({
      type: 'tool_use',
      id: `toolu_scripted_${number}_${at}`,
      name,
      input,
    })),
  ];
}

function stopReason({ toolCalls }) {
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn';
}

function usageOf({ inputTokens }, outputTokens) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}

function* events(turn) {
  yield namedEvent({
    type: 'message_start',
    message: { ...envelope(turn), usage: usageOf(turn, 1) },
  });
  for (const [index, block] of contentOf(turn).entries()) {
    yield namedEvent({ type: 'content_block_start', index, content_block: emptied(block) });
    for (const delta of deltasOf(block)) {
      yield namedEvent({ type: 'content_block_delta', index, delta });
    }
    yield namedEvent({ type: 'content_block_stop', index });
  }
  yield namedEvent({
    type: 'message_delta',
    delta: { stop_reason: stopReason(turn), stop_sequence: null },
    usage: { output_tokens: turn.outputTokens },
  });
  yield namedEvent({ type: 'message_stop' });
}

function emptied(block) {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block) {
  if (block.type === 'text') {
    return piecesOf(block.text).map((text) => ({ type: 'text_delta', text }));
  }
  if (block.type === 'thinking') {
    return [
      ...piecesOf(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block.signature },
    ];
  }
  return piecesOf(JSON.stringify(block.input)).map((piece) => ({
    type: 'input_json_delta',
    partial_json: piece,
  }));
}
