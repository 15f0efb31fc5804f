// Gemini's API: POST /v1beta/models/<model>:generateContent and :streamGenerateContent.

import { dataEvent, piecesOf } from './event-stream.js';

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

/** Models that sign the first call of each answer, with or without visible thoughts. */
const SIGNING_MODELS = /^gemini-([3-9]|\d\d)/;

export const geminiWire = {
  api: 'gemini',
  accepts: (path) => PATH.test(path),
  streams: (_body, path) => path.endsWith(':streamGenerateContent'),
  modelOf: (_body, path) => PATH.exec(path)[1],
  refusal,
  reply: (turn) => chunk(turn, partsOf(turn), true),
  events,
};

const STATUSES = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function refusal(status, message) {
  return { error: { code: status, message, status: STATUSES[status] ?? 'UNKNOWN' } };
}

function chunk({ number, model, inputTokens, outputTokens }, parts, isLast) {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(isLast && { finishReason: 'STOP' }) },
    ],
    usageMetadata: {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
    },
    modelVersion: model,
    responseId: `scripted-${number}`,
  };
}

function partsOf({ number, model, reasoning, text, toolCalls, callIds }) {
  const parts = [
    ...(text === undefined ? [] : [{ text }]),
    ...toolCalls.map(({ name, input }, at) => ({
      functionCall: { ...(callIds && { id: `scripted-${number}-${at}` }), name, args: input },
    })),
  ];
  const thoughts = reasoning === undefined ? [] : [{ text: reasoning, thought: true }];
  // Thoughts are signed on the first call, or on the text if there is none.
  const firstCall = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  const isSigned = reasoning !== undefined || (firstCall !== -1 && SIGNING_MODELS.test(model));
  if (!isSigned || parts.length === 0) return [...thoughts, ...parts];
  const thoughtSignature = Buffer.from(`scripted-${number}`).toString('base64');
  const signed = Math.max(0, firstCall);
  return [
    ...thoughts,
    ...parts.map((part, at) => (at === signed ? { ...part, thoughtSignature } : part)),
  ];
}

function* events(turn) {
  const parts = partsOf(turn).flatMap((part) => {
    if (part.text === undefined) return [part];
    const { text, thoughtSignature, ...rest } = part;
    const pieces = piecesOf(text).map((piece) => ({ ...rest, text: piece }));
    return thoughtSignature === undefined
      ? pieces
      : [...pieces.slice(0, -1), { ...pieces.at(-1), thoughtSignature }];
  });
  for (const part of parts.slice(0, -1)) yield dataEvent(chunk(turn, [part], false));
  yield dataEvent(chunk(turn, parts.slice(-1), true));
}
