// OpenAI's Responses: POST /v1/responses. Answers are lists of items; nothing is stored.

import { namedEvent, piecesOf } from './event-stream.js';
import { openaiRefusal } from './openai-refusal.js';

export const openaiResponsesWire = {
  api: 'openai-responses',
  accepts: (path) => path.endsWith('/responses'),
  streams: (body) => body.stream === true,
  modelOf: ({ model }) => model,
  refusal: (status, message) => openaiRefusal(status, message, 'input'),
  reply: (turn) => finished(turn, outputOf(turn)),
  events,
};

function envelope({ number, model }) {
  return {
    id: `resp_scripted_${number}`,
    object: 'response',
    created_at: 0,
    model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
  };
}

function finished(turn, output) {
  const { inputTokens, outputTokens } = turn;
  return {
    ...envelope(turn),
    status: 'completed',
    output,
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function outputOf({ number, reasoning, text, toolCalls }) {
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_scripted_${number}`,
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: `sealed_scripted_${number}`,
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            type: 'message',
            id: `msg_scripted_${number}`,
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
          },
        ]),
    ...toolCalls.map(({ name, input }, at) => ({
      type: 'function_call',
      id: `fc_scripted_${number}_${at}`,
      call_id: `call_scripted_${number}_${at}`,
      name,
      arguments: JSON.stringify(input),
      status: 'completed',
    })),
  ];
}

function* events(turn) {
  const output = outputOf(turn);
  let sequence = 0;
  const event = (type, fields) => namedEvent({ type, sequence_number: sequence++, ...fields });
  const begun = { ...envelope(turn), status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response: begun });
  yield event('response.in_progress', { response: begun });
  for (const [output_index, item] of output.entries()) {
    yield event('response.output_item.added', { output_index, item: emptied(item) });
    for (const [type, fields] of contentEvents(item)) {
      yield event(type, { item_id: item.id, output_index, ...fields });
    }
    yield event('response.output_item.done', { output_index, item });
  }
  yield event('response.completed', { response: finished(turn, output) });
}

function emptied(item) {
  const begun = { ...item, ...(item.status !== undefined && { status: 'in_progress' }) };
  if (item.type === 'message') return { ...begun, content: [] };
  if (item.type === 'reasoning') return { ...begun, summary: [] };
  return { ...begun, arguments: '' };
}

function* contentEvents(item) {
  if (item.type === 'message') {
    const [part] = item.content;
    yield ['response.content_part.added', { content_index: 0, part: { ...part, text: '' } }];
    for (const delta of piecesOf(part.text)) {
      yield ['response.output_text.delta', { content_index: 0, delta, logprobs: [] }];
    }
    yield ['response.output_text.done', { content_index: 0, text: part.text, logprobs: [] }];
    yield ['response.content_part.done', { content_index: 0, part }];
  } else if (item.type === 'reasoning') {
    const [part] = item.summary;
    yield [
      'response.reasoning_summary_part.added',
      { summary_index: 0, part: { ...part, text: '' } },
    ];
    for (const delta of piecesOf(part.text)) {
      yield ['response.reasoning_summary_text.delta', { summary_index: 0, delta }];
    }
    yield ['response.reasoning_summary_text.done', { summary_index: 0, text: part.text }];
    yield ['response.reasoning_summary_part.done', { summary_index: 0, part }];
  } else {
    for (const delta of piecesOf(item.arguments)) {
      yield ['response.function_call_arguments.delta', { delta }];
    }
    yield ['response.function_call_arguments.done', { name: item.name, arguments: item.arguments }];
  }
}
